"""Density of optimal final errors, against integrals, scikit-learn and known distributions."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import cumulative_trapezoid, quad, trapezoid
from sklearn.neighbors import KernelDensity

from sksearch.stats import _density
from sksearch.stats._density import Density, silverman_bandwidth

VALUES = np.random.default_rng(0).gamma(2, size=200)


def test_one_value_is_the_kernel():
    density = Density([3.0], bandwidth=2)
    assert density.support == (1, 5)
    np.testing.assert_allclose(
        density.pdf([1, 2, 3, 4, 5]), [0, 0.75 * 0.75 / 2, 0.375, 0.75 * 0.75 / 2, 0]
    )
    np.testing.assert_allclose(density.cdf([0, 1, 3, 5, 9]), [0, 0, 0.5, 1, 1], atol=1e-15)


def test_density_is_scikit_learns():
    x = np.linspace(-1, 12, 300)
    theirs = KernelDensity(kernel="epanechnikov", bandwidth=0.3).fit(VALUES[:, np.newaxis])
    ours = Density(VALUES, bandwidth=0.3).pdf(x)
    np.testing.assert_allclose(ours, np.exp(theirs.score_samples(x[:, np.newaxis])), atol=1e-12)


def test_density_integrates_to_one_over_its_support():
    for bandwidth in (None, 0.01, 5):
        density = Density(VALUES[:20], bandwidth)
        kinks = np.unique([VALUES[:20] - density.bandwidth, VALUES[:20] + density.bandwidth])
        pieces = [quad(lambda x, d=density: d.pdf([x])[0], a, b)[0] for a, b in pairwise(kinks)]
        assert sum(pieces) == pytest.approx(1, abs=1e-12)
        assert (density.pdf(np.add(density.support, [-1e-9, 1e-9])) == 0).all()


def test_cdf_is_the_integral_of_the_pdf():
    density = Density(VALUES)
    x = np.linspace(*density.support, 100_001)
    integral = cumulative_trapezoid(density.pdf(x), x, initial=0)
    np.testing.assert_allclose(density.cdf(x), integral, atol=1e-7)
    assert density.cdf(density.support).tolist() == pytest.approx([0, 1], abs=1e-12)


def test_mean_matches_the_values():
    density = Density(VALUES, bandwidth=0.7)
    x = np.linspace(*density.support, 100_001)
    assert density.mean == VALUES.mean()
    assert trapezoid(x * density.pdf(x), x) == pytest.approx(density.mean, abs=1e-7)


def test_blocks_do_not_change_the_density(monkeypatch):
    x = np.linspace(-1, 12, 1001)
    whole = Density(VALUES).pdf(x)
    monkeypatch.setattr(_density, "BLOCK", 500)
    np.testing.assert_array_equal(Density(VALUES).pdf(x), whole)


def test_the_rule_is_near_the_best_bandwidth_for_normal_values():
    # 2.345 sd n^(-1/5) minimises the integrated error for the normal distribution; Silverman's is
    # 0.85 of it, for distributions with two modes.
    values = stats.norm.ppf((np.arange(10_000) + 0.5) / 10_000)
    best = (40 * np.sqrt(np.pi)) ** 0.2 * 10_000**-0.2
    assert silverman_bandwidth(values) / best == pytest.approx(0.9 / 1.06, rel=2e-3)


def test_the_rule_estimates_a_distribution_well():
    density = Density(np.random.default_rng(1).normal(size=7000))
    x = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(density.pdf(x), stats.norm.pdf(x), atol=0.02)


def test_the_rule_scales_with_the_values_and_not_with_outliers():
    h = silverman_bandwidth(VALUES)
    assert silverman_bandwidth(100 * VALUES - 7) == pytest.approx(100 * h)
    assert silverman_bandwidth([*VALUES, 1e9]) == pytest.approx(h, rel=0.05)


def test_the_rule_falls_back_to_the_deviation_where_the_quartiles_are_equal():
    values = [1.0] * 90 + [2.0] * 10
    expected = _density.CONSTANT * np.std(values) * 100**-0.2
    assert silverman_bandwidth(values) == pytest.approx(expected)


def test_equal_values_need_a_bandwidth():
    values = [0.1] * 3
    assert np.std(values) > 0, "since their mean is not exactly 0.1"
    assert silverman_bandwidth(values) == 0
    with pytest.raises(ValueError, match="all values are equal"):
        Density(values)
    assert Density(values, bandwidth=0.5).pdf([0.1])[0] == pytest.approx(1.5)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="must be positive"):
        Density(VALUES, bandwidth=0)
    with pytest.raises(ValueError, match="non-finite"):
        Density([1, np.inf])
