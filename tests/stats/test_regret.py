"""Regrets on a common scale and grid, and intervals of their means."""

import numpy as np
import pytest

from sksearch.stats import anytime_regret, bootstrap_interval, normalised_regret

RNG = np.random.default_rng(0)


def test_best_is_zero_and_the_reference_one():
    regret = normalised_regret([[-1, 0, 1, 2], [10, 20, 30, 40]], [[-1], [10]], [[1], [30]])
    assert regret.tolist() == [[0, 0.5, 1, 1.5], [0, 0.5, 1, 1.5]]


def test_what_failed_stays_missing():
    assert np.isnan(normalised_regret([np.nan], 0, 1)).all()
    assert normalised_regret([np.inf], 0, 1).tolist() == [np.inf]


@pytest.mark.parametrize(("best", "reference"), [(1, 1), (1, 0), (np.nan, 1), (0, np.inf)])
def test_a_scale_without_length_is_refused(best, reference):
    with pytest.raises(ValueError, match="greater than best"):
        normalised_regret([1, 2], best, reference)


def test_incumbents_are_what_was_known_by_then():
    resources = np.sort(RNG.integers(30, size=12)).astype(float)  # with results at one moment
    incumbents = np.minimum.accumulate(RNG.random(12))
    grid = np.arange(-1, 32, 0.5)
    values = anytime_regret(resources, incumbents, grid)
    for moment, value in zip(grid, values, strict=True):
        known = [i for r, i in zip(resources, incumbents, strict=True) if r <= moment]
        assert value == known[-1] if known else np.isnan(value)


def test_before_the_first_result_is_what_the_caller_says():
    assert anytime_regret([5], [0.2], [4, 5], before=1.0).tolist() == [1, 0.2]


@pytest.mark.parametrize(
    ("resources", "incumbents"), [([2, 1], [1, 1]), ([1, 2], [1]), ([], []), ([np.nan], [1])]
)
def test_results_out_of_order_are_refused(resources, incumbents):
    with pytest.raises(ValueError):
        anytime_regret(resources, incumbents, [1, 2])


def test_intervals_cover_as_often_as_they_say():
    samples = RNG.exponential(size=(30, 400))
    low, high = bootstrap_interval(samples, level=0.9, n_resamples=500)
    assert 0.83 < np.mean((low < 1) & (high > 1)) < 0.94


def test_intervals_of_a_large_sample_match_the_normal_distribution():
    values = RNG.normal(5, 2, size=2000)
    low, high = bootstrap_interval(values)
    width = 2 * 1.96 * values.std() / np.sqrt(2000)
    assert high - low == pytest.approx(width, rel=0.06)
    assert (low + high) / 2 == pytest.approx(values.mean(), abs=width / 10)


def test_a_column_is_its_own_sample():
    values = RNG.random((15, 3))
    low, high = bootstrap_interval(values, statistic=np.median)
    assert low.shape == high.shape == (3,)
    assert ((low < np.median(values, axis=0)) & (np.median(values, axis=0) < high)).all()


def test_the_seed_decides():
    values = RNG.random(20)
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values) != bootstrap_interval(values, random_state=1)


def test_equal_values_have_an_interval_of_no_width():
    values = np.column_stack([np.full(10, 0.1), RNG.random(10)])
    low, high = bootstrap_interval(values)
    np.testing.assert_allclose([low[0], high[0]], 0.1)
    assert low[1] < high[1]


def test_a_median_of_nearly_equal_values_has_an_interval():
    low, high = bootstrap_interval([1.0] * 19 + [2.0], statistic=np.median)
    assert (low, high) == (1, 1)


def test_one_run_has_no_interval():
    with pytest.raises(ValueError, match="at least two"):
        bootstrap_interval([1.0])
    with pytest.raises(ValueError, match="level=95"):
        bootstrap_interval([1.0, 2.0], level=95)
