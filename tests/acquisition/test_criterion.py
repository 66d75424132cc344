"""The criterion: factors, several models, and gradients against differences."""

import numpy as np
import pytest
from scipy.special import log_ndtr

from sksearch.acquisition import UCB, LogEI, LogPI
from sksearch.acquisition._criterion import Criterion, InteriorPrior, Penalty
from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._forest import Forest
from tests.models.cases import MIXED, feasibility_of, finite_differences, points, rng, theta_of

NUMBERS = np.array([0, 2, 4])
ACQUISITIONS = [LogEI(), LogPI(), UCB()]


def process(seed=0, n=15):
    kernel = MixedKernel(MIXED)
    U = points(n, MIXED, 0.3, seed)
    y = np.sin(4 * np.nan_to_num(U[:, 0], nan=0.2)) + rng(seed).normal(size=n) / 3
    return GaussianProcess(kernel, np.r_[np.log(0.05), theta_of(kernel, seed)]).fit(U, y)


def feasibility():
    U = points(20, MIXED, 0.3, seed=5)
    return feasibility_of(MIXED, U, np.nan_to_num(U[:, 4], nan=0.2) < 0.6)


def penalties():
    centers = points(2, MIXED, 0.3, seed=6)
    return [Penalty(centers[0], 0.3, 0.4, 1.2, 3.0), Penalty(centers[1], 1.5, 0.2, 1.2, 3.0)]


PARTS = {
    "alone": {},
    "feasibility": {"feasibility": feasibility()},
    "cost": {"log_cost": process(seed=7)},
    "penalties": {"factors": penalties()},
    "interior": {"factors": [InteriorPrior(0.7)]},
    "all": {
        "feasibility": feasibility(),
        "log_cost": process(seed=7),
        "factors": [*penalties(), InteriorPrior(0.7)],
    },
}
MODELS = {
    "one": [process()],
    "three": [process(seed) for seed in range(3)],
    "with pending": [process().condition_on(points(2, MIXED, 0.3, seed=8))],
}


def criterion_of(models, acquisition, parts):
    models = MODELS[models]
    best = [float(model.y.max()) + 0.1 * i for i, model in enumerate(models)]
    return Criterion(models, acquisition, best, NUMBERS, **PARTS[parts])


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=str)
@pytest.mark.parametrize("models", MODELS)
def test_gradients_equal_differences(models, acquisition, parts):
    criterion = criterion_of(models, acquisition, parts)
    U = points(6, MIXED, 0.3, seed=9)
    value, gradient = criterion.with_gradient(U)
    np.testing.assert_allclose(value, criterion(U), rtol=1e-10)
    for row in range(len(U)):

        def at(x, row=row):
            u = U[row].copy()
            u[NUMBERS] = x
            return criterion(u[None])[0]

        numbers = U[row, NUMBERS]
        expected = np.where(np.isnan(numbers), 0.0, finite_differences(at, numbers))
        np.testing.assert_allclose(gradient[row], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=str)
def test_gradients_of_fantasies_equal_differences(acquisition):
    gp, pending = process(), points(2, MIXED, 0.3, seed=8)
    gp = gp.condition_on(pending, gp.sample(pending, 5, rng()))
    criterion = Criterion([gp], acquisition, [1.0], NUMBERS)
    U = points(6, MIXED, 0.0, seed=9)
    value, gradient = criterion.with_gradient(U)
    np.testing.assert_allclose(value, criterion(U), rtol=1e-10)
    for row in range(len(U)):

        def at(x, row=row):
            u = U[row].copy()
            u[NUMBERS] = x
            return criterion(u[None])[0]

        expected = finite_differences(at, U[row, NUMBERS])
        np.testing.assert_allclose(gradient[row], expected, rtol=1e-4, atol=1e-5)


# ---- values


@pytest.mark.parametrize("acquisition", [LogEI(), LogPI()], ids=str)
def test_logarithms_are_averaged_as_what_they_are_logarithms_of(acquisition):
    models, best = MODELS["three"], [0.5, 0.6, 0.7]
    U = points(10, MIXED, 0.3, seed=9)
    values = [acquisition(*model.predict(U), b) for model, b in zip(models, best, strict=True)]
    expected = np.log(np.mean(np.exp(values), axis=0))
    np.testing.assert_allclose(Criterion(models, acquisition, best)(U), expected)


def test_bounds_are_averaged_themselves():
    models = MODELS["three"]
    U = points(10, MIXED, 0.3, seed=9)
    expected = np.mean([UCB()(*model.predict(U), 0.0) for model in models], axis=0)
    np.testing.assert_allclose(Criterion(models, UCB(), [0.0] * 3)(U), expected)


def test_averages_do_not_underflow_where_no_model_promises_anything():
    values = Criterion(MODELS["three"], LogEI(), [500.0] * 3)(points(10, MIXED, 0.3, seed=9))
    assert np.isfinite(values).all()
    assert (values < -1e4).all()
    value, gradient = Criterion(MODELS["three"], LogEI(), [500.0] * 3, NUMBERS).with_gradient(
        points(10, MIXED, 0.3, seed=9)
    )
    np.testing.assert_allclose(value, values)
    assert np.isfinite(gradient).all()


def test_fantasies_are_averaged_as_models_are():
    gp, pending = process(), points(2, MIXED, 0.3, seed=8)
    fantasies = gp.sample(pending, 4, rng())
    U = points(10, MIXED, 0.3, seed=9)
    together = Criterion([gp.condition_on(pending, fantasies)], LogEI(), [1.0])(U)
    apart = Criterion([gp.condition_on(pending, b) for b in fantasies.T], LogEI(), [1.0] * 4)(U)
    np.testing.assert_allclose(together, apart)


def test_factors_multiply_what_is_expected():
    U = points(10, MIXED, 0.3, seed=9)
    plain = criterion_of("one", LogEI(), "alone")(U)
    cost = PARTS["cost"]["log_cost"].predict(U)[0]
    np.testing.assert_allclose(criterion_of("one", LogEI(), "cost")(U), plain - cost)
    ok = PARTS["feasibility"]["feasibility"].log_probability(U)
    np.testing.assert_allclose(criterion_of("one", LogEI(), "feasibility")(U), plain + ok)
    away = sum(penalty(U, NUMBERS)[0] for penalty in PARTS["penalties"]["factors"])
    np.testing.assert_allclose(criterion_of("one", LogEI(), "penalties")(U), plain + away)
    inside = InteriorPrior(0.7)(U, NUMBERS)[0]
    np.testing.assert_allclose(criterion_of("one", LogEI(), "interior")(U), plain + inside)
    np.testing.assert_allclose(
        criterion_of("one", LogEI(), "all")(U), plain - cost + ok + away + inside
    )


def test_a_forest_needs_no_gradients():
    U = rng().random((20, 2))
    forest = Forest().fit(U, U[:, 0], rng())
    values = Criterion([forest], LogEI(), [1.0])(rng(1).random((7, 2)))
    assert values.shape == (7,)
    assert np.isfinite(values).all()


# ---- penalties


def test_a_penalty_is_the_probability_to_be_outside_of_the_ball():
    penalty = Penalty(np.array([0.2, 0.5, 0.25]), mean=0.4, sd=0.3, best=1.0, lipschitz=2.0)
    U = np.array([[0.2, 0.5, 0.25], [0.5, 0.9, 0.25], [1.0, 0.0, 0.25], [0.2, 0.5, 0.75]])
    distance = np.array([1e-6, 0.5, np.hypot(0.8, 0.5)])
    value, slope = penalty(U, [0, 1])
    np.testing.assert_allclose(value[:3], log_ndtr((2 * distance - 0.6) / 0.3))
    assert value[3] == slope[3].any() == 0, "another choice is another function"


def test_a_penalty_falls_off_and_vanishes_far_away():
    penalty = Penalty(np.array([0.5]), mean=0.9, sd=0.1, best=1.0, lipschitz=5.0)
    value = penalty(np.linspace(0.5, 1, 30)[:, None], [0])[0]
    assert (np.diff(value) >= 0).all()
    assert value[0] < -0.5
    assert value[-1] == pytest.approx(0, abs=1e-9)


def test_penalties_ignore_inactive_parameters_and_have_finite_slopes_at_the_center():
    penalty = Penalty(np.array([0.5, np.nan]), mean=0.9, sd=1e-6, best=1.0, lipschitz=5.0)
    numbers = np.array([[0.5, 0.1], [0.5, 0.9], [0.7, np.nan], [np.nan, np.nan]])
    value, slope = penalty(numbers, [0, 1])
    assert value[0] == value[1] == value[3]
    assert value[2] > value[0]
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    np.testing.assert_array_equal(slope[[0, 1, 3]], 0)
    np.testing.assert_array_equal(slope[:, 1], 0)


# ---- the interior


def test_the_interior_is_likelier_than_the_ends_and_inactive_parameters_do_not_count():
    U = np.array([[0.5, 0.5], [0.0, 0.5], [1.0, 0.5], [0.0, 1.0], [np.nan, 0.5], [np.nan, np.nan]])
    value, slope = InteriorPrior(2.0)(U, [0, 1])
    center, end = 2 * np.log(1.1), 2 * np.log(0.1)
    np.testing.assert_allclose(
        value, [2 * center, end + center, end + center, 2 * end, center, 0], atol=1e-12
    )
    signs = [[0, 0], [1, 0], [-1, 0], [1, -1], [0, 0], [0, 0]]
    np.testing.assert_array_equal(np.sign(slope), signs)
