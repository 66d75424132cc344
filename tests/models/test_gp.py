"""The Gaussian process, against scikit-learn's, brute force and finite differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._gp import log_likelihood_gradient
from tests.models.cases import (
    FAMILIES,
    MIXED,
    SKLEARN,
    covariance,
    finite_differences,
    points,
    rng,
    theta_of,
)

NUMBERS = [False] * 3


def smooth(U):
    U = np.nan_to_num(U, nan=0.3)
    return np.sin(5 * U[:, 0]) + U[:, -1] ** 2 + U[:, 0] * U[:, 1]


def data(n, categorical=NUMBERS, inactive=0.0, seed=0):
    U = points(n, categorical, inactive, seed)
    y = smooth(U) + 0.1 * rng(seed + 2).normal(size=n)
    return U, (y - y.mean()) / y.std()


def mixed(family="matern52", warp=False, noise=0.02, n=20, seed=0):
    """A process over numbers and choices, some inactive, and its data."""
    kernel = MixedKernel(MIXED, family, warp)
    U, y = data(n, MIXED, 0.3, seed)
    return GaussianProcess(kernel, np.r_[np.log(noise), theta_of(kernel)]).fit(U, y)


def assert_same_process(one, two, atol=1e-10, n_queries=30):
    queries = np.vstack([points(n_queries, one.kernel.categorical, 0.3, 77), one.U])
    for a, b in zip(one.predict(queries), two.predict(queries), strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


# ---- against scikit-learn


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("as_kernel", [False, True], ids=["alpha", "WhiteKernel"])
def test_likelihood_and_predictions_match_scikit_learn(family, as_kernel):
    U, y = data(25)
    s2, lengths, noise = 1.7, np.array([0.3, 0.8, 2.0]), 0.05
    theta = np.log(np.r_[noise, s2, lengths])
    kernel = kernels.ConstantKernel(s2) * SKLEARN[family](lengths)
    if as_kernel:
        kernel += kernels.WhiteKernel(noise)
    theirs = GaussianProcessRegressor(kernel, alpha=0 if as_kernel else noise, optimizer=None).fit(
        U, y
    )
    ours = GaussianProcess(MixedKernel(NUMBERS, family), theta).fit(U, y)
    queries = points(40, NUMBERS, seed=8)
    mean, sd = ours.predict(queries)
    expected_mean, expected_sd = theirs.predict(queries, return_std=True)
    np.testing.assert_allclose(mean, expected_mean, atol=1e-8)
    # With a WhiteKernel theirs is the sd of a noisy value.
    np.testing.assert_allclose(np.sqrt(sd**2 + noise) if as_kernel else sd, expected_sd, atol=1e-8)
    value, gradient = log_likelihood_gradient(ours.kernel, theta, U, y)
    expected, expected_gradient = theirs.log_marginal_likelihood(
        theirs.kernel_.theta, eval_gradient=True
    )
    assert value == pytest.approx(expected, abs=1e-8)
    assert ours.log_likelihood() == pytest.approx(expected, abs=1e-8)
    if as_kernel:
        expected_gradient = np.roll(expected_gradient, 1)  # theirs has the noise last
        np.testing.assert_allclose(gradient, expected_gradient, atol=1e-8)
    else:
        np.testing.assert_allclose(gradient[1:], expected_gradient, atol=1e-8)


def test_known_noise_of_each_value_is_added_to_the_learnt_one():
    U, y = data(15)
    own = rng(4).random(15)
    theta = np.log([0.1, 1.0, 0.4, 0.4, 0.4])
    theirs = GaussianProcessRegressor(
        kernels.Matern([0.4] * 3, nu=2.5), alpha=0.1 + own, optimizer=None
    ).fit(U, y)
    ours = GaussianProcess(MixedKernel(NUMBERS), theta).fit(U, y, own)
    queries = points(10, NUMBERS, seed=8)
    for a, b in zip(ours.predict(queries), theirs.predict(queries, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)
    value, _ = log_likelihood_gradient(ours.kernel, theta, U, y, own)
    assert value == pytest.approx(theirs.log_marginal_likelihood_value_, abs=1e-8)


@pytest.mark.parametrize("warp", [False, True])
def test_the_likelihood_matches_a_normal_law(warp):
    gp = mixed(warp=warp)
    K = covariance(gp.kernel, gp.theta[1:], gp.U) + gp.noise * np.eye(20)
    assert gp.log_likelihood() == pytest.approx(multivariate_normal(cov=K).logpdf(gp.y), abs=1e-8)


# ---- gradients


@pytest.mark.parametrize("own", [False, True], ids=["", "known noise"])
@pytest.mark.parametrize("warp", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_gradient_of_the_likelihood_equals_differences(family, warp, own):
    gp = mixed(family, warp)
    noise = rng(5).random(20) if own else 0.0

    def value(theta):
        return log_likelihood_gradient(gp.kernel, theta, gp.U, gp.y, noise)[0]

    found = log_likelihood_gradient(gp.kernel, gp.theta, gp.U, gp.y, noise)[1]
    expected = finite_differences(value, gp.theta, 1e-5)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_gradient_of_the_likelihood_stays_right_with_duplicates(family):
    kernel = MixedKernel(NUMBERS, family)
    U, y = data(12)
    U[6:9] = U[:3]
    theta = np.log([0.05, 1.0, 0.3, 0.5, 0.7])
    found = log_likelihood_gradient(kernel, theta, U, y)[1]
    expected = finite_differences(
        lambda t: log_likelihood_gradient(kernel, t, U, y)[0], theta, 1e-5
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("warp", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_of_predictions_equal_differences(family, warp):
    gp = mixed(family, warp)
    U = points(8, MIXED, 0.3, seed=9)
    mean, sd, d_mean, d_sd = gp.predict_with_gradient(U)
    for a, b in zip((mean, sd), gp.predict(U), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    assert d_mean.shape == d_sd.shape == (8, 3)

    def value(row, numbers):
        u = U[row].copy()
        u[[0, 2, 4]] = numbers
        return np.ravel(gp.predict(u[None]))

    for row in range(8):
        numbers = U[row, [0, 2, 4]]
        expected = finite_differences(lambda x, row=row: value(row, x), numbers)
        expected = np.where(np.isnan(numbers)[:, None], 0.0, expected)
        np.testing.assert_allclose(d_mean[row], expected[:, 0], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(d_sd[row], expected[:, 1], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_at_the_data_are_those_next_to_it(family):
    kernel = MixedKernel(NUMBERS, family)
    U, y = data(10)
    gp = GaussianProcess(kernel, np.log([1e-3, 1.0, 0.4, 0.4, 0.4])).fit(U, y)
    at = gp.predict_with_gradient(U)[2]
    assert np.isfinite(at).all()
    # Of a kink the middle of both sides.
    sides = [gp.predict_with_gradient(U + h)[2] for h in (-1e-7, 1e-7)]
    np.testing.assert_allclose(at, np.mean(sides, axis=0), rtol=1e-3, atol=1e-3)


# ---- more rows


@pytest.mark.parametrize("sizes", [[1] * 24, [23, 1], [1, 23], [6, 8, 10]], ids=str)
@pytest.mark.parametrize("warp", [False, True])
def test_appended_rows_are_conditioned_on_as_if_fitted_again(sizes, warp):
    kernel = MixedKernel(MIXED, warp=warp)
    theta = np.r_[np.log(1e-3), theta_of(kernel)]
    U, y = data(sum(sizes), MIXED, 0.3)
    noise = 0.1 * rng(6).random(len(y))
    fresh = GaussianProcess(kernel, theta).fit(U, y, noise)
    n = sizes[0]
    # Scores are standardised again, so old values change when rows are added.
    gp = GaussianProcess(kernel, theta).fit(U[:n], 3 * y[:n] + 1, noise[:n])
    for k in sizes[1:]:
        gp.append(U[n : n + k], y[: n + k], noise[n : n + k])
        n += k
    assert_same_process(gp, fresh)
    np.testing.assert_allclose(gp.fitted(), gp.predict(gp.U)[0], atol=1e-9)
    assert gp.log_likelihood() == pytest.approx(fresh.log_likelihood(), abs=1e-9)


def test_no_row_may_be_appended():
    gp = mixed()
    again = GaussianProcess(gp.kernel, gp.theta).fit(gp.U, 2 * gp.y)
    assert_same_process(gp.append(np.empty((0, 5)), 2 * gp.y), again)


@pytest.mark.parametrize("noise", [1e-300, 0.1])
def test_the_mean_at_own_points_is_the_predicted_one_with_jitter_and_fantasies(noise):
    kernel = MixedKernel(NUMBERS)
    U, y = data(8)
    U, y = np.vstack([U, U]), np.column_stack([np.r_[y, y], np.r_[y, -y]])
    gp = GaussianProcess(kernel, np.log([noise, 1.0, 0.5, 0.5, 0.5])).fit(U, y)
    assert (gp.factor.jitter > 0) == (noise < 0.1)
    np.testing.assert_allclose(gp.fitted(), gp.predict(U)[0], atol=1e-4 if noise < 0.1 else 1e-12)


def test_duplicates_without_noise_are_conditioned_on():
    kernel = MixedKernel(NUMBERS)
    theta = np.log([1e-300, 1.0, 0.5, 0.5, 0.5])
    U, y = data(8)
    once = GaussianProcess(kernel, theta).fit(U, y)
    U, y = np.vstack([U, U[:3]]), np.r_[y, y[:3]]
    fresh = GaussianProcess(kernel, theta).fit(U, y)
    gp = GaussianProcess(kernel, theta).fit(U[:8], y[:8])
    for n in range(9, 12):
        gp.append(U[n - 1 : n], y[:n])
    assert fresh.factor.jitter > 0
    assert gp.factor.jitter > 0
    for process in (fresh, gp):
        assert_same_process(process, once, atol=1e-4)


def test_rows_appended_to_duplicates_without_noise_agree_with_a_fresh_fit():
    kernel = MixedKernel(NUMBERS)
    theta = np.log([1e-300, 1.0, 0.5, 0.5, 0.5])
    U, y = data(9)
    U, y = np.vstack([U[:1], U]), np.r_[y[:1], y]
    fresh = GaussianProcess(kernel, theta).fit(U, y)
    gp = GaussianProcess(kernel, theta).fit(U[:4], y[:4])
    gp.append(U[4:5], y[:5]).append(U[5:], y)
    assert gp.factor.jitter == fresh.factor.jitter > 0
    np.testing.assert_allclose(gp.factor.L, fresh.factor.L, atol=1e-10)


def test_contradicting_duplicates_without_noise_agree_with_a_fresh_fit():
    kernel = MixedKernel([False])
    theta = np.log([1e-300, 1.0, 0.5])
    U, y = np.array([[0.2], [0.7], [0.2]]), np.array([1.0, 0.0, -1.0])
    fresh = GaussianProcess(kernel, theta).fit(U, y)
    gp = GaussianProcess(kernel, theta).fit(U[:2], y[:2]).append(U[2:], y)
    np.testing.assert_allclose(gp.predict(U)[0], fresh.predict(U)[0], atol=1e-4)


def test_other_values_at_the_same_points():
    gp = mixed()
    fresh = GaussianProcess(gp.kernel, gp.theta).fit(gp.U, gp.y**2)
    assert_same_process(gp.set_values(gp.y**2), fresh)


# ---- what is pending


@pytest.mark.parametrize("warp", [False, True])
def test_conditioning_on_the_mean_changes_the_certainty_alone(warp):
    gp = mixed(warp=warp)
    before = (gp.U.copy(), gp.y.copy(), gp.alpha.copy(), gp.factor.L.copy(), gp.factor.M.copy())
    pending, queries = points(4, MIXED, 0.3, seed=11), points(30, MIXED, 0.3, seed=12)
    mean, sd = gp.predict(queries)
    new_mean, new_sd = gp.condition_on(pending).predict(queries)
    np.testing.assert_allclose(new_mean, mean, atol=1e-10)
    assert (new_sd <= sd + 1e-12).all()
    assert gp.condition_on(pending).predict(pending)[1].max() < np.sqrt(gp.noise)
    after = (gp.U, gp.y, gp.alpha, gp.factor.L, gp.factor.M)
    for a, b in zip(after, before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_conditioning_on_one_after_another_is_conditioning_on_both():
    gp = mixed()
    pending = points(4, MIXED, 0.3, seed=11)
    assert_same_process(
        gp.condition_on(pending[:1]).condition_on(pending[1:]), gp.condition_on(pending)
    )
    assert gp.condition_on(np.empty((0, 5))) is gp


def test_what_was_pending_may_be_appended_to_the_original():
    gp = mixed(n=15)
    U, y = data(18, MIXED, 0.3)
    U[:15] = gp.U
    gp.condition_on(points(5, MIXED, 0.3, seed=11))
    fresh = GaussianProcess(gp.kernel, gp.theta).fit(U, y)
    assert_same_process(gp.append(U[15:], y), fresh)


def test_each_fantasy_is_its_own_process():
    gp = mixed()
    pending, queries = points(3, MIXED, 0.3, seed=11), points(10, MIXED, 0.3, seed=12)
    fantasies = rng(13).normal(size=(3, 4))
    means, sd = gp.condition_on(pending, fantasies).predict(queries)
    assert means.shape == (10, 4)
    for column in range(4):
        alone = gp.condition_on(pending, fantasies[:, column])
        mean, sd_alone = alone.predict(queries)
        np.testing.assert_allclose(means[:, column], mean, atol=1e-12)
        np.testing.assert_allclose(sd, sd_alone, atol=1e-12)
        both = np.vstack([gp.U, pending])
        again = GaussianProcess(gp.kernel, gp.theta).fit(both, np.r_[gp.y, fantasies[:, column]])
        assert_same_process(alone, again)


# ---- functions, and values left out


def test_samples_have_the_mean_and_covariance_of_the_posterior():
    gp = mixed()
    U = points(5, MIXED, 0.3, seed=14)
    draws = gp.sample(U, 40_000, rng(15))
    assert draws.shape == (5, 40_000)
    mean, sd = gp.predict(U)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.03)
    K = covariance(gp.kernel, gp.theta[1:], U, gp.U)
    prior = covariance(gp.kernel, gp.theta[1:], U)
    expected = prior - K @ gp.factor.inverse() @ K.T
    np.testing.assert_allclose(np.cov(draws), expected, atol=0.03)
    np.testing.assert_allclose(np.sqrt(np.diag(expected)), sd, atol=1e-10)
    np.testing.assert_array_equal(gp.sample(U, 3, rng(1)), gp.sample(U, 3, rng(1)))


def test_functions_are_drawn_at_very_many_points_that_nearly_coincide():
    gp = mixed(noise=1e-7)
    U = np.repeat(points(30, MIXED, 0.3, seed=16), 10, axis=0)
    U[:, [0, 2, 4]] += 1e-9 * rng(17).random((300, 3))
    draws = gp.sample(np.vstack([U, gp.U]), 2, rng(18))
    assert np.isfinite(draws).all()
    blocks = draws[:300].reshape(30, 10, 2)
    assert np.ptp(blocks, axis=1).max() < 1e-3


@pytest.mark.parametrize("own", [False, True], ids=["", "known noise"])
def test_leaving_one_out_equals_refits_without_it(own):
    gp = mixed()
    noise = rng(19).random(20) if own else np.zeros(20)
    gp.fit(gp.U, gp.y, noise)
    mean, sd = gp.leave_one_out()
    for i in range(20):
        rest = np.arange(20) != i
        alone = GaussianProcess(gp.kernel, gp.theta).fit(gp.U[rest], gp.y[rest], noise[rest])
        expected, function_sd = np.ravel(alone.predict(gp.U[i : i + 1]))
        assert mean[i] == pytest.approx(expected, abs=1e-9)
        assert sd[i] ** 2 == pytest.approx(function_sd**2 + gp.noise + noise[i], abs=1e-9)


def test_one_point_and_no_coordinates():
    gp = GaussianProcess(MixedKernel([False]), np.log([0.5, 1.0, 0.3]))
    mean, sd = gp.fit(np.array([[0.5]]), np.array([3.0])).predict(np.array([[0.5]]))
    assert (mean[0], sd[0] ** 2) == (pytest.approx(3 / 1.5), pytest.approx(1 - 1 / 1.5))
    gp = GaussianProcess(MixedKernel([]), np.log([0.5, 1.0]))
    mean, sd = gp.fit(np.empty((2, 0)), np.ones(2)).predict(np.empty((1, 0)))
    assert (mean[0], sd[0] ** 2) == (pytest.approx(2 / 2.5), pytest.approx(1 - 2 / 2.5))


def test_the_sd_is_never_zero():
    gp = GaussianProcess(MixedKernel([False]), np.log([1e-300, 4.0, 0.3]))
    gp.fit(np.array([[0.5], [0.1]]), np.array([3.0, 1.0]))
    sd, d_sd = (gp.predict_with_gradient(np.array([[0.5], [0.1]]))[i] for i in (1, 3))
    assert (sd >= 2e-7 * (1 - 1e-9)).all()
    assert (sd < 1e-4).all()
    assert np.isfinite(d_sd).all()
