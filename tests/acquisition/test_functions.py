"""Acquisition functions, against many digits of mpmath and against differences."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from sksearch.acquisition import UCB, LogEI, LogPI
from sksearch.acquisition._functions import MaxValueEntropy, log_h

FAR_TO_NEAR = np.r_[-np.logspace(6, -3, 46), 0.0, np.logspace(-3, np.log10(40), 24)]
BRANCHES = np.array([-1000, -25, -1.0])
Z = np.r_[FAR_TO_NEAR, BRANCHES, np.nextafter(BRANCHES, 0), np.nextafter(BRANCHES, -1e9)]
SIGMAS = np.logspace(-30, 30, 13)

ACQUISITIONS = [LogEI(), LogEI(margin=0.3), LogPI(), LogPI(margin=0.3), UCB(), UCB(kappa=0.5)]


def exact_log_h(z):
    """log(phi(z) + z Phi(z)) with 60 digits, far below 0 by the series of Mills' ratio."""
    with mpmath.workdps(60):
        z = mpmath.mpf(float(z))
        if z > -1000:
            # phi and z Phi cancel to 1 / z^2 of themselves: 60 digits leave 50.
            return mpmath.log(mpmath.npdf(z) + z * mpmath.ncdf(z))
        terms = (
            (-1) ** k * mpmath.factorial(2 * k + 1) / (mpmath.factorial(k) * 2**k * z ** (2 * k))
            for k in range(12)
        )
        return (
            -z * z / 2
            - mpmath.log(2 * mpmath.pi) / 2
            - 2 * mpmath.log(-z)
            + mpmath.log(mpmath.fsum(terms))
        )


def exact_log_cdf(z):
    with mpmath.workdps(60):
        z = mpmath.mpf(float(z))
        # erfc of 1e6 is exp(-1e12): mpmath's exponents have no end.
        return mpmath.log(mpmath.erfc(-z / mpmath.sqrt(2)) / 2)


EXACT_LOG_H = np.array([float(exact_log_h(z)) for z in Z])


def test_log_h_has_nine_digits_everywhere():
    np.testing.assert_allclose(log_h(Z), EXACT_LOG_H, rtol=1e-9, atol=1e-14)


def test_log_h_has_no_steps_between_its_branches():
    for edge in BRANCHES:
        z = edge + np.linspace(-1e-9, 1e-9, 11) * abs(edge)
        steps = np.diff(log_h(z))
        np.testing.assert_allclose(steps, steps[5], rtol=0.05)
        assert (steps > 0).all()


def test_log_h_is_increasing_and_keeps_shape():
    z = np.linspace(-2000, 40, 10_001)
    assert (np.diff(log_h(z)) > 0).all()
    assert log_h(z.reshape(73, 137)).shape == (73, 137)
    assert log_h(0.5).shape == ()
    assert log_h([]).shape == (0,)


def test_log_ei_is_right_over_sixty_decades_of_sigma():
    for sigma in SIGMAS:
        found = LogEI()(Z * sigma, np.full(len(Z), sigma), 0.0)
        np.testing.assert_allclose(found, EXACT_LOG_H + np.log(sigma), rtol=1e-9, atol=1e-12)


def test_log_ei_matches_a_normal_law():
    draws = 0.3 + 0.8 * np.random.default_rng(0).standard_normal(400_000)
    expected = np.maximum(draws - 0.9, 0).mean()
    assert np.exp(LogEI()(np.array(0.3), np.array(0.8), 0.9)) == pytest.approx(expected, rel=0.02)
    at_least = LogEI(margin=0.1)(np.array(0.3), np.array(0.8), 0.8)
    assert np.exp(at_least) == pytest.approx(expected, rel=0.02)
    assert np.exp(LogPI(0.1)(np.array(0.3), np.array(0.8), 0.9)) == pytest.approx(
        (draws > 1.0).mean(), rel=0.02
    )


def test_log_pi_is_right_over_sixty_decades_of_sigma():
    expected = np.array([float(exact_log_cdf(z)) for z in Z])
    for sigma in SIGMAS:
        found = LogPI(margin=0.0)(Z * sigma, np.full(len(Z), sigma), 0.0)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-50)
        margin = LogPI(margin=0.01)(Z * sigma + 0.01, np.full(len(Z), sigma), 0.0)
        if sigma > 1e-3:  # below, the margin is more than the digits of Z * sigma
            np.testing.assert_allclose(margin, expected, rtol=1e-6, atol=1e-12)


def test_the_bound_is_above_the_mean_by_kappa_sigmas():
    mean, sd = np.array([1.0, -2.0]), np.array([0.5, 3.0])
    np.testing.assert_allclose(UCB()(mean, sd, 9.0), [2.0, 4.0])
    np.testing.assert_allclose(UCB(kappa=1.0)(mean, sd, -9.0), [1.5, 1.0])


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=str)
@pytest.mark.parametrize("sigma", [1e-20, 1e-3, 1.0, 1e20])
def test_slopes_equal_differences(acquisition, sigma):
    if isinstance(acquisition, LogPI | LogEI):
        acquisition = replace(acquisition, margin=acquisition.margin * sigma)
    if isinstance(acquisition, UCB):
        _, by_mean, by_sd = acquisition.with_slopes(np.zeros(3), np.full(3, sigma), 9.0)
        np.testing.assert_array_equal(by_mean, 1)
        np.testing.assert_array_equal(by_sd, acquisition.kappa)
        return
    z = np.r_[-np.logspace(3.5, -2, 30), np.logspace(-2, np.log10(20), 10)]
    mean, sd, best = z * sigma, np.full(len(z), sigma), 0.0
    _, by_mean, by_sd = acquisition.with_slopes(mean, sd, best)
    # A step that is small where log-EI is a parabola in z of slope |z|.
    step = 1e-5 * sigma / np.maximum(1, np.abs(z))
    expected = (acquisition(mean + step, sd, best) - acquisition(mean - step, sd, best)) / 2 / step
    np.testing.assert_allclose(by_mean, expected, rtol=1e-3, atol=1e-3 / sigma)
    step = 1e-5 * sigma / np.maximum(1, z**2)
    expected = (acquisition(mean, sd + step, best) - acquisition(mean, sd - step, best)) / 2 / step
    np.testing.assert_allclose(by_sd, expected, rtol=1e-2, atol=1e-3 / sigma)


@pytest.mark.parametrize("sigma", [1e-30, 1.0, 1e30])
def test_slopes_of_log_ei_have_the_exact_ratio(sigma):
    """d/dmean is Phi / (sigma h), d/dsd is phi / (sigma h): here with 60 digits."""
    z = np.r_[-np.logspace(4, -2, 20), 0.0, np.logspace(-2, 1.5, 8)]
    _, *found = LogEI().with_slopes(z * sigma, np.full(len(z), sigma), 0.0)
    log_density = [-(mpmath.mpf(x) ** 2) / 2 - mpmath.log(2 * mpmath.pi) / 2 for x in z.tolist()]
    for values, logs in zip(found, (map(exact_log_cdf, z), log_density), strict=True):
        expected = [
            float(mpmath.exp(log - exact_log_h(x))) for log, x in zip(logs, z, strict=True)
        ]
        np.testing.assert_allclose(values * sigma, expected, rtol=1e-6)


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=str)
def test_more_promise_is_worth_more(acquisition):
    mean, sd = np.linspace(-3, 3, 50), np.ones(50)
    assert (np.diff(acquisition(mean, sd, 0.0)) > 0).all()
    # Below the best score uncertainty is worth something.
    assert (np.diff(acquisition(-sd, np.linspace(0.1, 3, 50), 0.0)) > 0).all()


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=str)
def test_values_keep_the_shape_of_several_fantasies(acquisition):
    mean, sd = np.random.default_rng(0).normal(size=(6, 3)), np.full((6, 1), 0.7)
    found = acquisition(mean, sd, 0.2)
    assert found.shape == (6, 3)
    np.testing.assert_allclose(found[:, 1], acquisition(mean[:, 1], sd[:, 0], 0.2))


ENTROPY = MaxValueEntropy((0.0, 0.4))


def exact_gain(g):
    """Entropy of a normal variable minus its entropy given that it is at most g."""
    x = np.linspace(min(-12.0, g - 12), min(g, 12.0), 200_001)
    log_density = -0.5 * x * x - 0.5 * np.log(2 * np.pi)
    log_density -= np.log(np.trapezoid(np.exp(log_density), x))
    left = -np.trapezoid(np.exp(log_density) * log_density, x)
    return 0.5 * np.log(2 * np.pi * np.e) - left


@pytest.mark.parametrize("sd", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("g", [-4.0, -1.0, 0.0, 0.7, 2.0, 3.5])
def test_the_gain_of_a_maximum_is_a_difference_of_entropies(g, sd):
    found = MaxValueEntropy((1.0,))(np.array(1 - g * sd), np.array(sd), -np.inf)
    assert np.exp(found) == pytest.approx(exact_gain(g), rel=1e-5)
    # A maximum is never below the score to improve on.
    raised = MaxValueEntropy((-9.0,))(np.array(1 - g * sd), np.array(sd), 1.0)
    assert raised == pytest.approx(found)


@pytest.mark.parametrize("z", [-60.0, -20.0, -5.1, -4.9, -1.0, 0.0, 2.0, 30.0])
def test_slopes_of_an_entropy_equal_differences(z):
    mean, sd, h = np.array([z]), np.array([1.0]), 1e-6
    value, by_mean, by_sd = ENTROPY.with_slopes(mean, sd, -1.0)
    assert np.isfinite(value)
    expected = (ENTROPY(mean + h, sd, -1.0) - ENTROPY(mean - h, sd, -1.0)) / (2 * h)
    assert by_mean == pytest.approx(expected, rel=1e-4, abs=1e-6)
    expected = (ENTROPY(mean, sd + h, -1.0) - ENTROPY(mean, sd - h, -1.0)) / (2 * h)
    assert by_sd == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_an_entropy_keeps_the_shape_of_several_fantasies():
    mean, sd = np.random.default_rng(0).normal(size=(6, 3)), np.full((6, 1), 0.7)
    found = ENTROPY(mean, sd, np.array([0.1, 0.2, 0.5]))
    assert found.shape == (6, 3)
    np.testing.assert_allclose(found[:, 1], ENTROPY(mean[:, 1], sd[:, 0], 0.2))


def test_which_values_are_logarithms():
    assert [a.logarithmic for a in (LogEI(), LogPI(), UCB())] == [True, True, False]


@pytest.mark.parametrize(("make", "name"), [(UCB, "kappa"), (LogEI, "margin"), (LogPI, "margin")])
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "1", None])
def test_parameters_below_zero_are_refused(make, name, value):
    with pytest.raises(ValueError, match=rf"{name}=.* must be a finite number of at least 0"):
        make(value)
