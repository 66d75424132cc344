"""Choices that are drawn, and the gradient by their probabilities."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax

from sksearch.hypergradients import LinearProblem, implicit, relaxed_choices

RNG = np.random.default_rng(0)
THETA = RNG.standard_normal((3, 4))
A = RNG.standard_normal((12, 12))


def quadratic(z):
    """A loss in which choices depend on each other."""
    v = z.ravel()
    return float(v @ A @ v + np.sin(v).sum()), ((A + A.T) @ v + np.cos(v)).reshape(z.shape)


@pytest.mark.parametrize("temperature", [0.3, 1.0])
def test_the_gradient_agrees_with_finite_differences(temperature):
    def value(theta):
        return relaxed_choices(quadratic, theta, 5, temperature, random_state=3)[0]

    _, gradient = relaxed_choices(quadratic, THETA, 5, temperature, random_state=3)
    steps = 1e-5 * np.eye(THETA.size).reshape(-1, *THETA.shape)
    expected = [(value(THETA + e) - value(THETA - e)) / 2e-5 for e in steps]
    assert gradient.ravel() == pytest.approx(expected, rel=1e-5, abs=1e-8)


def test_cold_draws_have_the_mean_over_all_choices():
    shares = softmax(THETA, axis=1)
    mean = 0.0
    for chosen in product(range(4), repeat=3):
        share = np.prod(shares[np.arange(3), chosen])
        mean += share * quadratic(np.eye(4)[list(chosen)])[0]
    found, _ = relaxed_choices(quadratic, THETA, 20_000, 0.01, random_state=0)
    assert found == pytest.approx(mean, abs=0.1)


def test_an_option_that_a_choice_does_not_have_is_never_drawn():
    theta = THETA.copy()
    theta[1, 2:] = -np.inf
    seen = []

    def noted(z):
        seen.append(z)
        return quadratic(z)

    _, gradient = relaxed_choices(noted, theta, random_state=0)
    assert np.all(np.array(seen)[:, 1, 2:] == 0)
    assert np.all(gradient[1, 2:] == 0)
    assert np.isfinite(gradient).all()


def test_draws_differ_without_a_seed_and_from_draw_to_draw():
    rng = np.random.RandomState(0)
    values = {relaxed_choices(quadratic, THETA, 1, random_state=rng)[0] for _ in range(3)}
    assert len(values) == 3


@pytest.mark.parametrize(
    "wrong",
    [{"theta": np.zeros(3)}, {"n_draws": 0}, {"temperature": 0.0}, {"temperature": np.nan}],
)
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="must be"):
        relaxed_choices(**{"function": quadratic, "theta": THETA} | wrong)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(3))
def test_features_are_switched_on_and_off_as_well_as_by_trying_all(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 8))
    y = X[:, :3] @ [2.0, -1.5, 1.0] + rng.standard_normal(90)
    problem = LinearProblem(X[:30], y[:30], X[30:], y[30:])
    penalties = np.array([-4.0, 6.0])  # of a feature that is on, and of one that is off
    n_trained = 0

    def loss(z):
        nonlocal n_trained
        n_trained += 1
        theta = z @ penalties
        value, slope = implicit(problem, theta, problem.solve(theta))
        return value, slope[:, np.newaxis] * penalties

    def mean(logit):
        theta = np.column_stack([logit, np.zeros(8)])
        value, slope = relaxed_choices(loss, theta, 4, random_state=0)
        return value, slope[:, 0]

    logit = minimize(mean, np.zeros(8), jac=True, bounds=[(-4, 4)] * 8, options={"maxiter": 15}).x
    n_by_gradient = n_trained
    found = loss(np.column_stack([expit(50 * logit), expit(-50 * logit)]))[0]
    all_of_them = [
        loss(np.column_stack([on, 1 - np.array(on)]))[0] for on in product([0, 1], repeat=8)
    ]
    assert n_by_gradient < 200 < len(all_of_them) == 256
    assert found <= np.quantile(all_of_them, 0.05)
