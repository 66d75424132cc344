"""Pictures of curves and of best losses show the numbers of `sksearch.stats`."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sksearch.plotting import DensityDisplay, ProfileDisplay
from sksearch.stats import Density, profiles

RNG = np.random.default_rng(0)
CURVES = RNG.random((12, 1)) + RNG.random((12, 9)) / 5
OPTIMA = {"random": RNG.random((300, 8)).min(axis=1), "twice": RNG.random((300, 16)).min(axis=1)}


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_mean_median_and_cloud_are_the_profiles():
    display = ProfileDisplay.from_curves(CURVES)
    mean, median = (line.get_ydata() for line in display.ax_.get_lines()[:2])
    expected = profiles(CURVES)
    np.testing.assert_array_equal(mean, expected.mean)
    np.testing.assert_array_equal(median, expected.median)
    assert display.ax_.get_lines()[1].get_linestyle() == "--"
    curves, cloud = display.ax_.collections
    np.testing.assert_array_equal([s[:, 1] for s in curves.get_segments()], CURVES)
    heights = cloud.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((expected.mean + expected.sd).max())
    assert heights.min() == pytest.approx((expected.mean - expected.sd).min())


def test_order_stands_below_on_the_same_epochs():
    display = ProfileDisplay.from_curves(CURVES)
    order = display.order_ax_.get_lines()[0]
    np.testing.assert_array_equal(order.get_xdata(), np.arange(1, 10))
    np.testing.assert_array_equal(order.get_ydata(), profiles(CURVES).dynamic_order)
    assert legend_texts(display.order_ax_) == [f"{profiles(CURVES).order_at_ends:.2f}"]
    assert display.order_ax_.get_xlabel() == "Epochs"
    assert display.order_ax_.get_shared_x_axes().joined(display.ax_, display.order_ax_)


def test_several_sets_have_their_own_colours_and_names():
    display = ProfileDisplay.from_curves({"a": CURVES, "b": CURVES + 1})
    assert legend_texts(display.ax_) == ["a", "b", "mean", "median", "one sd", "curve"]
    lines = display.ax_.get_lines()
    assert lines[0].get_color() == lines[1].get_color() != lines[2].get_color()
    assert [text.split()[0] for text in legend_texts(display.order_ax_)] == ["a", "b"]


def test_resources_and_axes_can_be_given():
    _, ax = plt.subplots()
    resources = 2 ** np.arange(9)
    display = ProfileDisplay.from_curves(CURVES, resources=resources, unit="trees", ax=ax)
    assert display.ax_ is ax
    assert display.order_ax_ is None
    np.testing.assert_array_equal(ax.get_lines()[0].get_xdata(), resources)
    assert ax.get_xlabel() == "Trees"
    _, pair = plt.subplots(nrows=2)
    assert ProfileDisplay(curves={"": CURVES}).plot(pair).order_ax_ is pair[1]
    with pytest.raises(ValueError, match="resources has 8 values, but curves have"):
        ProfileDisplay.from_curves(CURVES, resources=resources[:8])


def test_no_curves_are_refused():
    with pytest.raises(ValueError, match="curves is empty"):
        ProfileDisplay.from_curves({})
    with pytest.raises(ValueError, match="at least two"):
        ProfileDisplay.from_curves({"a": CURVES[:1]})


def test_densities_and_their_means():
    display = DensityDisplay.from_values(OPTIMA)
    lines = display.ax_.get_lines()
    for i, values in enumerate(OPTIMA.values()):
        density, stem, dot = lines[3 * i : 3 * i + 3]
        np.testing.assert_allclose(density.get_ydata(), Density(values).pdf(density.get_xdata()))
        assert stem.get_xdata().tolist() == [values.mean()] * 2
        assert dot.get_ydata()[0] == Density(values).pdf([values.mean()])[0]
        assert legend_texts(display.ax_)[i].endswith(f"mean {values.mean():#.4g}")
    assert display.ax_.get_ylim()[0] == 0


def test_one_bandwidth_for_all():
    display = DensityDisplay.from_values(OPTIMA, bandwidth=0.1)
    assert {density.bandwidth for density in display.densities.values()} == {0.1}


def test_an_optimizer_that_always_ends_alike_borrows_the_smallest_bandwidth():
    display = DensityDisplay.from_values(OPTIMA | {"always": [0.01] * 300})
    rules = [Density(values).bandwidth for values in OPTIMA.values()]
    assert display.densities["always"].bandwidth == min(rules)
    with pytest.raises(ValueError, match="all values are equal"):
        DensityDisplay.from_values({"always": [0.01] * 300})


def test_one_bad_run_does_not_squeeze_the_picture():
    for values in (np.r_[OPTIMA["random"], 1e6], np.r_[OPTIMA["random"][:9], 1e6]):
        ax = DensityDisplay.from_values(values).ax_
        low, high = ax.get_xlim()
        assert high < 2
        assert low < values.min()
        assert ax.get_xlabel() == f"Best loss of a run ({sum(values > high)} above)"
        assert ax.get_lines()[-1].get_marker() == ">"
