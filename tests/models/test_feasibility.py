"""The probability that a candidate does not fail."""

import numpy as np
import pytest
from scipy.stats import norm

from tests.models.cases import MIXED, feasibility_of, finite_differences, points, rng


def fitted(n=40, seed=0, categorical=(False, False)):
    """Failures where the first coordinate is above 0.6."""
    U = points(n, list(categorical), seed=seed)
    return feasibility_of(list(categorical), U, U[:, 0] <= 0.6), U


def probability(model, U):
    return np.exp(model.log_probability(np.asarray(U, dtype=float)))


def test_it_tells_where_candidates_fail():
    model, _ = fitted()
    assert (probability(model, [[0.1, 0.5], [0.3, 0.2], [0.4, 0.9]]) > 0.9).all()
    assert (probability(model, [[0.8, 0.5], [0.95, 0.1]]) < 0.1).all()
    along = probability(model, np.column_stack([np.linspace(0.45, 0.75, 9), np.full(9, 0.5)]))
    assert along[0] > 0.9
    assert along[-1] < 0.1
    assert (np.diff(along) < 0.01).all()


def test_it_tells_which_choice_fails():
    U = points(40, [False, True], seed=3)
    model = feasibility_of([False, True], U, U[:, 1] != 0.375)
    assert (probability(model, [[0.3, 0.125], [0.9, 0.875]]) > 0.8).all()
    assert (probability(model, [[0.3, 0.375], [0.9, 0.375]]) < 0.2).all()


def test_a_probability_matches_a_noisy_label_above_zero():
    model, U = fitted(20)
    labels = np.where(U[:, 0] <= 0.6, 1.0, -1.0)
    offset = labels.sum() / (20 + 2)
    np.testing.assert_allclose(model.gp.y, labels - offset)
    queries = rng(4).random((10, 2))
    mean, sd = model.gp.predict(queries)
    expected = norm.cdf((mean + offset) / np.sqrt(sd**2 + model.noise))
    np.testing.assert_allclose(probability(model, queries), expected)


@pytest.mark.parametrize("n_failed", [1, 3, 15])
def test_labels_of_one_kind_say_what_is_likely_and_mirror_each_other(n_failed):
    U = points(n_failed, [False, False])
    all_failed = feasibility_of([False, False], U, np.zeros(n_failed, bool))
    none_failed = feasibility_of([False, False], U, np.ones(n_failed, bool))
    for at in (U, rng(1).random((20, 2))):
        failing, working = probability(all_failed, at), probability(none_failed, at)
        np.testing.assert_allclose(failing, 1 - working, atol=1e-9)
        assert (failing < 0.5).all()


def test_a_single_failure_leaves_some_doubt():
    U = points(6, [False, False])
    model = feasibility_of([False, False], U, np.arange(6) > 0)
    assert 1e-4 < probability(model, U[:1])[0] < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_far_from_all_points_it_follows_the_share_of_successes(share):
    # Labels that no coordinate explains, in a corner of a cube of many dimensions.
    U = 0.05 * rng(5).random((100, 6))
    model = feasibility_of([False] * 6, U, rng(6).random(100) < share)
    far = probability(model, np.ones((1, 6)))[0]
    assert far == pytest.approx(share, abs=0.15)


def test_logarithms_do_not_underflow():
    model, _ = fitted(60)
    model.mean -= 100.0
    value = model.log_probability(np.array([[0.9, 0.5]]))
    assert np.isfinite(value).all()
    assert value[0] < -700


@pytest.mark.parametrize("offset", [0.0, -30.0, 30.0], ids=["", "surely fails", "never fails"])
def test_the_gradient_equals_differences(offset):
    U = points(30, MIXED, 0.3)
    model = feasibility_of(MIXED, U, np.nan_to_num(U[:, 0], nan=0.3) < 0.6)
    model.mean += offset
    queries = points(8, MIXED, 0.3, seed=9)
    value, gradient = model.log_probability_with_gradient(queries)
    np.testing.assert_allclose(value, model.log_probability(queries), rtol=1e-12)
    for row in range(8):
        numbers = queries[row, [0, 2, 4]]

        def at(x, row=row):
            u = queries[row].copy()
            u[[0, 2, 4]] = x
            return model.log_probability(u[None])[0]

        expected = np.where(np.isnan(numbers), 0.0, finite_differences(at, numbers))
        np.testing.assert_allclose(gradient[row], expected, rtol=1e-5, atol=1e-6)
