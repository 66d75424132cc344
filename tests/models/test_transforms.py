"""Scores as a Gaussian process can model them."""

import numpy as np
import pytest
from scipy.stats import norm

from sksearch.models import robust_power_transform
from sksearch.models._transforms import standardise


def rng(seed=0):
    return np.random.default_rng(seed)


SCORES = {
    "normal": rng(0).normal(size=30),
    "heavy tail": -np.exp(3 * rng(1).normal(size=30)),
    "diverged": np.r_[rng(2).random(20), -1e6 * rng(3).random(10)],
    "outlier above": np.r_[rng(4).random(20), 1e6],
    "ties": np.round(rng(5).random(30), 1),
    "two": np.array([0.3, 0.1]),
    "accuracies": 0.97 + 1e-4 * rng(6).random(12),
}


@pytest.mark.parametrize("transform", [robust_power_transform, standardise])
@pytest.mark.parametrize("y", SCORES.values(), ids=SCORES)
def test_transforms_are_monotone_and_leave_ties_ties(transform, y):
    before = y.copy()
    z = transform(y)
    np.testing.assert_array_equal(y, before)
    order = np.argsort(y)
    steps, kept = np.diff(y[order]), np.diff(z[order])
    assert (kept >= 0).all()
    assert (kept[steps == 0] == 0).all()
    better = y[order][:-1] >= np.median(y)
    assert (kept[better & (steps > 0)] > 0).all(), "where the maximum is looked for"


@pytest.mark.parametrize("transform", [robust_power_transform, standardise])
@pytest.mark.parametrize("y", SCORES.values(), ids=SCORES)
def test_they_have_mean_zero_and_spread_one(transform, y):
    z = transform(y)
    assert z.mean() == pytest.approx(0, abs=1e-10)
    assert z.std() == pytest.approx(1)


@pytest.mark.parametrize("transform", [robust_power_transform, standardise])
@pytest.mark.parametrize("y", SCORES.values(), ids=SCORES)
@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_units_do_not_matter(transform, y, scale):
    np.testing.assert_allclose(transform(scale * y), transform(y), atol=1e-8)
    shifted = transform(y + 100.0) if np.ptp(y) < 1e4 else transform(y)
    np.testing.assert_allclose(shifted, transform(y), atol=1e-6)


@pytest.mark.parametrize("transform", [robust_power_transform, standardise])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e6, 1e100])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_equal_scores_are_zeros(transform, value, n):
    np.testing.assert_allclose(transform(np.full(n, value)), np.zeros(n), atol=1e-12)


@pytest.mark.parametrize("transform", [robust_power_transform, standardise])
def test_rounding_is_not_a_difference(transform):
    y = 0.3 + np.array([0, 1e-16, -1e-16, 0, 2e-16])
    assert len(set(y)) > 1
    np.testing.assert_array_equal(transform(y), np.zeros(5))


def test_values_of_a_normal_distribution_stay_about_where_they_are():
    y = norm.ppf((np.arange(200) + 0.5) / 200)
    np.testing.assert_allclose(robust_power_transform(y), (y - y.mean()) / y.std(), atol=0.1)


@pytest.mark.parametrize("n_diverged", [1, 3, 6, 10])
@pytest.mark.parametrize("worst", [-1e3, -1e6, -1e13])
def test_how_bad_the_worst_are_does_not_matter(worst, n_diverged):
    """Diverged trainings, if fewer than half, leave the differences among the others."""
    y = np.r_[np.linspace(0.5, 1, 11), worst * np.linspace(1, 2, n_diverged)]
    z = robust_power_transform(y)
    assert np.ptp(z[:11]) > 0.25
    assert z[:11].min() > z[11:].max()


@pytest.mark.parametrize("n_diverged", [1, 9])
def test_a_training_that_overflowed_is_only_bad(n_diverged):
    y = np.r_[0.5, 0.6, 0.7, 0.8, -1e300 * np.linspace(0.5, 1, n_diverged)]
    z = robust_power_transform(y)
    assert np.isfinite(z).all()
    assert z[:4].min() > z[4:].max()
