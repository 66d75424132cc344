"""Pictures that compare methods: regret at any moment, and critical differences."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sksearch.plotting import CriticalDifferenceDisplay, RegretDisplay
from sksearch.stats import bootstrap_interval, ranks
from sksearch.stats._ranks import critical_difference

RNG = np.random.default_rng(0)
GRID = np.arange(1.0, 31)
RUNS = np.minimum.accumulate(RNG.random((15, 30)), axis=1)


def band_of(collection, x):
    """Lowest and highest point of a band at x."""
    vertices = collection.get_paths()[0].vertices
    at_x = vertices[vertices[:, 0] == x, 1]
    return at_x.min(), at_x.max()


def test_line_is_the_mean_and_band_its_interval():
    ax = RegretDisplay.from_results({"a": RUNS}, GRID).ax_
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), RUNS.mean(axis=0))
    low, high = bootstrap_interval(RUNS)
    # A step ends where the next begins: at one point lie the band before and the band from it on.
    bottom, top = band_of(ax.collections[0], GRID[10])
    assert bottom == pytest.approx(low[9:11].min())
    assert top == pytest.approx(high[9:11].max())
    assert ax.get_yscale() == "log"


def test_quartiles_of_runs():
    ax = RegretDisplay.from_results(RUNS, GRID, band="quartiles", unit="seconds").ax_
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), np.median(RUNS, axis=0))
    bottom, _ = band_of(ax.collections[0], GRID[-1])
    assert bottom == pytest.approx(np.quantile(RUNS[:, -1], 0.25))
    assert ax.get_xlabel() == "Seconds"
    assert ax.get_ylabel() == "Median regret, quartiles of runs"
    assert ax.get_legend() is None


def test_a_line_begins_where_all_runs_have_a_result():
    runs = RUNS.copy()
    runs[3, :5] = np.nan
    line = RegretDisplay.from_results({"a": runs}, GRID).ax_.get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), GRID[5:])
    np.testing.assert_allclose(line.get_ydata(), runs[:, 5:].mean(axis=0))


def test_regrets_of_zero_leave_the_axis_below():
    runs = RUNS.copy()
    runs[:, 20:] = 0
    ax = RegretDisplay.from_results({"a": runs, "b": RUNS}, GRID).ax_
    lowest = min(runs[:, :20].mean(axis=0).min(), RUNS.mean(axis=0).min())
    assert 0 < ax.get_ylim()[0] < lowest
    heights = ax.transData.transform(ax.get_lines()[0].get_xydata())[:, 1]
    assert np.isfinite(heights).all(), "or the line would end above"
    assert (heights[20:] < ax.bbox.y0).all()
    assert (heights[:20] > ax.bbox.y0).all()


def test_one_run_has_a_line_without_a_band():
    ax = RegretDisplay.from_results(RUNS[:1], GRID).ax_
    bottom, top = band_of(ax.collections[0], GRID[0])
    assert bottom == top == RUNS[0, 0]


@pytest.mark.parametrize(
    ("grid", "scale"),
    [(np.geomspace(1, 100, 30), "log"), (np.linspace(1, 100, 30), "linear"),
     (np.linspace(0, 1, 30), "linear")],
)  # fmt: skip
def test_the_axis_is_spaced_as_the_grid(grid, scale):
    assert RegretDisplay.from_results(RUNS, grid).ax_.get_xscale() == scale


def test_searches_have_names_and_colours_of_their_own():
    results = {f"search {i}": RUNS + i for i in range(9)}
    ax = RegretDisplay.from_results(results, GRID).ax_
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(results)
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.get_lines()}
    assert len(looks) == 9


def test_a_search_that_found_the_best_at_once_leaves_below():
    results = {"all": RUNS * 0, "some": RUNS}
    ax = RegretDisplay.from_results(results, GRID).ax_
    assert ax.get_ylim() == RegretDisplay.from_results(RUNS, GRID).ax_.get_ylim()


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({"a": RUNS[:, :9]}, {}, "30 points of grid"),
        (RUNS, {"band": "sd"}, "band='sd' must be one of"),
        (RUNS * 0, {}, "No regret is positive"),
        ({"a": np.vstack([RUNS, np.full(30, np.nan)])}, {}, "no point of grid in common"),
        ({}, {}, "results is empty"),
    ],
)
def test_regrets_that_cannot_be_drawn_are_refused(results, options, message):
    with pytest.raises(ValueError, match=message):
        RegretDisplay.from_results(results, GRID, **options)
    assert not plt.get_fignums()


def cd_display(mean_ranks, cd):
    names = [f"method {i}" for i in range(len(mean_ranks))]
    return CriticalDifferenceDisplay(
        mean_ranks=mean_ranks, names=names, critical_difference=cd
    ).plot()


def brute_force_groups(mean_ranks, cd):
    """All maximal runs of sorted ranks within cd, of two or more methods."""
    r = sorted(mean_ranks)
    runs = {(i, j) for i in range(len(r)) for j in range(i + 1, len(r)) if r[j] - r[i] <= cd}
    inner = {(i, j) for i, j in runs for a, b in runs - {(i, j)} if a <= i and j <= b}
    return [(r[i], r[j]) for i, j in sorted(runs - inner)]


def test_groups_are_all_that_do_not_differ():
    for n in (2, 3, 6, 12):
        for cd in (0.1, 1.0, 3.0, 20.0):
            mean_ranks = 1 + RNG.random(n) * (n - 1)
            assert cd_display(mean_ranks, cd).groups == brute_force_groups(mean_ranks, cd)
            plt.close("all")


def test_bars_join_groups_and_do_not_touch():
    display = cd_display([1, 2, 3, 4, 5, 6.5], 1.5)
    assert display.groups == [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6.5)]
    bars = [line.get_xydata() for line in display.ax_.get_lines() if line.get_linewidth() == 4]
    assert [tuple(bar[:, 0]) for bar in bars] == display.groups
    for i, a in enumerate(bars):
        for b in bars[i + 1 :]:
            assert a[0, 1] != b[0, 1] or a[1, 0] < b[0, 0]


def test_each_name_stands_at_the_end_of_its_line_without_overlap():
    mean_ranks = [2.0, 2.0, 2.05, 2.1, 6.5, 6.6, 6.75]
    display = cd_display(mean_ranks, 0.5)
    display.figure_.canvas.draw()
    texts = [t for t in display.ax_.texts if "method" in t.get_text()]
    assert sorted(t.get_text().replace("method ", "m").split()[0] for t in texts[:4]) == [
        "m0", "m1", "m2", "m3"
    ]  # fmt: skip
    boxes = [t.get_window_extent() for t in display.ax_.texts]
    for i, a in enumerate(boxes):
        assert not any(a.overlaps(b) for b in boxes[i + 1 :])
        assert display.figure_.bbox.x0 <= a.x0
        assert a.x1 <= display.figure_.bbox.x1
    for text in texts:
        rank = mean_ranks[int(text.get_text().split("method ")[1].split()[0])]
        ends = [
            line.get_xydata() for line in display.ax_.get_lines()
            if len(line.get_xdata()) == 3 and line.get_ydata()[2] == text.get_position()[1]
            and (line.get_xdata()[2] == 1) == (text.get_ha() == "right")
        ]  # fmt: skip
        assert len(ends) == 1
        assert ends[0][0].tolist() == [rank, 0]
        assert f"{rank:.2f}" in text.get_text()


def test_the_critical_difference_is_nemenyis():
    r = ranks(RNG.random((12, 4)))
    display = CriticalDifferenceDisplay.from_ranks(r, "abcd", alpha=0.1)
    assert display.critical_difference == critical_difference(4, 12, alpha=0.1)
    np.testing.assert_array_equal(display.mean_ranks, r.mean(axis=0))
    assert any(f"{display.critical_difference:.2f}" in t.get_text() for t in display.ax_.texts)


def test_given_axes_are_drawn_on():
    _, axes = plt.subplots(ncols=2)
    r = ranks(RNG.random((12, 4)))
    assert CriticalDifferenceDisplay.from_ranks(r, "abcd", ax=axes[1]).ax_ is axes[1]
    assert RegretDisplay.from_results(RUNS, GRID, ax=axes[0]).ax_ is axes[0]


def test_names_and_ranks_must_match():
    with pytest.raises(ValueError, match="names has 2 entries"):
        CriticalDifferenceDisplay.from_ranks(ranks(RNG.random((5, 3))), ["a", "b"])
    with pytest.raises(ValueError, match="a row for each problem"):
        CriticalDifferenceDisplay.from_ranks([1, 2, 3], "abc")
    with pytest.raises(ValueError, match="non-finite"):
        CriticalDifferenceDisplay.from_ranks([[1, np.nan, 2]], "abc")


def test_long_names_leave_room_for_the_axis_of_ranks():
    found = np.arange(12.0) + np.zeros((30, 1))
    figures = [
        CriticalDifferenceDisplay.from_ranks(ranks(found), [c * n for c in "abcdefghijkl"]).figure_
        for n in (2, 40)
    ]
    assert figures[0].get_figwidth() == 7.5
    assert figures[1].get_figwidth() > 12
