"""The kernel over params and size, and what a result at a small size says of the full one."""

import numpy as np
import pytest

from sksearch.models import learn_theta
from sksearch.models._learning import log_posterior, prior
from sksearch.models._sizes import SizeKernel, SizeProcess
from sksearch.models._transforms import standardise


def points(n, categorical, rng):
    U = rng.random((n, len(categorical) + 1))
    choices = np.flatnonzero(categorical)
    U[:, choices] = (np.floor(U[:, choices] * 3) + 0.5) / 3
    U[:, -1] = rng.choice([0.0, 0.25, 0.5, 1.0], size=n)
    return U


@pytest.mark.parametrize("basis", ["score", "cost"])
@pytest.mark.parametrize("categorical", [[False], [False, True, False], [True]])
def test_the_gradient_matches_the_posterior(categorical, basis):
    rng = np.random.default_rng(0)
    kernel = SizeKernel(categorical, basis)
    U, y = points(14, categorical, rng), standardise(rng.standard_normal(14))
    mode, spread = prior(kernel)
    theta = mode + 0.3 * spread * rng.standard_normal(len(mode))
    _, gradient = log_posterior(kernel, theta, U, y)
    for j in range(len(theta)):
        step = np.zeros(len(theta))
        step[j] = 1e-6
        ends = [log_posterior(kernel, theta + sign * step, U, y)[0] for sign in (1, -1)]
        assert gradient[j] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("basis", ["score", "cost"])
def test_the_covariance_is_positive_definite_with_its_own_diagonal(basis):
    rng = np.random.default_rng(1)
    kernel = SizeKernel([False, True], basis)
    theta = prior(kernel)[0][1:] + 0.5 * rng.standard_normal(kernel.n_theta)
    features = kernel.features(theta, points(40, [False, True], rng))
    K = kernel.covariance(theta, features, features)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    assert np.allclose(np.diag(K), kernel.diagonal(theta, features))


def test_what_a_result_changes_is_what_conditioning_on_it_changes():
    rng = np.random.default_rng(2)
    kernel = SizeKernel([False, False])
    theta, _ = prior(kernel)
    gp = SizeProcess(kernel, theta).fit(points(9, [False, False], rng), rng.standard_normal(9))
    u, sizes = np.array([[0.3, 0.8]]), np.array([0.0, 0.4, 1.0])
    mean, change = gp.effect(u, sizes)
    assert mean == pytest.approx(gp.at_full_size(u))
    for k, t in enumerate(sizes):
        at = np.append(u[0], t)[np.newaxis]
        expected, sd = gp.predict(at)
        moved = expected + np.sqrt(sd**2 + gp.noise)  # a result one standard deviation above
        after = gp.condition_on(at, moved).at_full_size(u)
        assert abs(after - mean) == pytest.approx(change[0, k], rel=1e-6)


def test_a_size_that_says_nothing_of_the_full_one_changes_nothing():
    kernel = SizeKernel([False])
    theta, _ = prior(kernel)
    theta[-4:] = 0.0, np.log(1e3), np.log(1e-3), 0.0  # small sizes are functions of their own
    gp = SizeProcess(kernel, theta).fit(np.array([[0.5, 1.0]]), np.array([0.0]))
    _, change = gp.effect(np.array([[0.1]]), np.array([0.0, 1.0]))
    assert change[0, 0] < 0.01 * change[0, 1]


def test_curves_that_level_off_and_such_that_do_not_are_distinguished():
    rng = np.random.default_rng(3)
    U = points(60, [False], rng)
    powers = []
    for power in (0.7, 4.0):
        y = np.sin(4 * U[:, 0]) - 3 * (1 - U[:, 1]) ** power
        powers.append(learn_theta(SizeKernel([False]), U, standardise(y))[-1])
    assert powers[0] < np.log(1.2)
    assert powers[1] > np.log(2.5)
