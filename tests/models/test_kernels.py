"""The mixed kernel, against scikit-learn's and against finite differences."""

import numpy as np
import pytest

from sksearch.models import MixedKernel
from sksearch.models._kernels import OFFSET
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

# ---- values


@pytest.mark.parametrize("family", FAMILIES)
def test_over_numbers_it_matches_scikit_learn(family):
    kernel = MixedKernel([False] * 3, family)
    U, V = points(20, [False] * 3), points(15, [False] * 3, seed=5)
    theta = np.log([2.5, 0.2, 0.7, 3.0])
    expected = 2.5 * SKLEARN[family]([0.2, 0.7, 3.0])(U, V)
    np.testing.assert_allclose(covariance(kernel, theta, U, V), expected, atol=1e-14)
    assert kernel.diagonal(theta) == pytest.approx(2.5)


def test_choices_that_differ_cost_their_weight_whatever_they_are():
    kernel = MixedKernel([True, True])
    theta = np.log([1.5, 0.3, 0.9])  # signal, weights
    U = np.array([[0.125, 0.25], [0.875, 0.25], [0.375, 0.75], [0.125, 0.25]])
    K = covariance(kernel, theta, U)
    np.testing.assert_allclose(K[0], 1.5 * np.exp([0, -0.3, -1.2, 0]))


@pytest.mark.parametrize("n", [3, 4, 7, 1000])
def test_choices_that_differ_by_rounding_are_the_same(n):
    kernel = MixedKernel([True])
    i = np.arange(n)
    U, V = (i + 0.5) / n, (i / n + (i + 1) / n) / 2
    # In 4 parts both are equal.
    moved = V if (U != V).any() else np.nextafter(V, 1)
    K = covariance(kernel, np.log([1.0, 2.0]), U[:, None], moved[:, None])
    np.testing.assert_allclose(K, np.where(np.eye(n), 1.0, np.exp(-2)))


@pytest.mark.parametrize("family", FAMILIES)
def test_numbers_and_choices_multiply(family):
    kernel = MixedKernel(MIXED, family)
    theta = theta_of(kernel)
    U = points(20)
    s2, lengths, weights = np.split(np.exp(theta), [1, 4])
    numbers = SKLEARN[family](lengths)(U[:, [0, 2, 4]])
    choices = np.exp(-((U[:, None, [1, 3]] != U[None, :, [1, 3]]) * weights).sum(axis=2))
    np.testing.assert_allclose(covariance(kernel, theta, U), s2 * numbers * choices, atol=1e-14)


def test_an_inactive_number_is_alike_where_it_is_inactive_too_and_apart_where_not():
    kernel = MixedKernel([False], "squared_exponential")
    theta = np.log([1.0, 0.4])
    K = covariance(kernel, theta, np.array([[np.nan], [np.nan], [0.5], [0.1], [0.9]]))
    assert K[0, 1] == 1
    # In the middle of the range, and OFFSET away in a direction of its own.
    squares = OFFSET**2 + np.array([0, 0.4, 0.4]) ** 2
    np.testing.assert_allclose(K[0, 2:], np.exp(-0.5 * squares / 0.4**2))


def test_an_inactive_choice_is_one_more_choice():
    kernel = MixedKernel([True])
    K = covariance(kernel, np.log([1.0, 2.0]), np.array([[np.nan], [np.nan], [0.25], [0.75]]))
    np.testing.assert_allclose(K[0], [1, 1, np.exp(-2), np.exp(-2)])


@pytest.mark.parametrize("warp", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_positive_semi_definite_over_whatever_points(family, warp):
    kernel = MixedKernel(MIXED, family, warp)
    for seed in range(5):
        U = points(60, inactive=0.3, seed=10 * seed)
        U[:10, 2] = np.nan  # a branch in which a number is never active
        K = covariance(kernel, theta_of(kernel, seed), np.vstack([U, U[:5]]))
        np.testing.assert_array_equal(K, K.T)
        assert np.linalg.eigvalsh(K).min() > -1e-12 * len(K)


def test_hyperparameters_are_counted_and_split():
    for warp, n_theta in ((False, 1 + 3 + 2), (True, 1 + 3 + 2 + 6)):
        kernel = MixedKernel(MIXED, warp=warp)
        assert (kernel.n_numbers, kernel.n_choices, kernel.n_theta) == (3, 2, n_theta)
        s2, length, weights, a, b = kernel.split(np.log(np.arange(1.0, n_theta + 1)))
        assert s2 == pytest.approx(1)
        np.testing.assert_allclose(length, [2, 3, 4])
        np.testing.assert_allclose(weights, [5, 6])
        np.testing.assert_allclose(a, [7, 8, 9] if warp else [1, 1, 1])
        np.testing.assert_allclose(b, [10, 11, 12] if warp else [1, 1, 1])


def test_an_unknown_family_is_refused():
    with pytest.raises(KeyError, match="periodic"):
        MixedKernel([False], "periodic")


def test_a_space_without_coordinates_has_a_signal():
    kernel = MixedKernel([])
    np.testing.assert_allclose(covariance(kernel, np.log([3.0]), np.empty((2, 0))), 3.0)


# ---- warping


def warped(kernel, theta, u):
    return kernel.features(theta, np.asarray(u).reshape(-1, 1)).Z[:, 0]


def test_a_warping_of_shape_one_changes_nothing():
    U = points(20, inactive=0.2)
    plain, warp = MixedKernel(MIXED), MixedKernel(MIXED, warp=True)
    theta = theta_of(plain)
    np.testing.assert_allclose(
        covariance(warp, np.r_[theta, np.zeros(6)], U), covariance(plain, theta, U), atol=1e-8
    )


@pytest.mark.parametrize(("a", "b"), [(0.5, 2.0), (3.0, 0.4), (1e-3, 1e3), (1e3, 1e-3), (9, 9)])
def test_the_warping_is_the_distribution_function_of_kumaraswamy(a, b):
    kernel = MixedKernel([False], warp=True)
    theta = np.log([1.0, 1.0, a, b])
    u = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(warped(kernel, theta, u), 1 - (1 - u**a) ** b, atol=1e-12)
    ends = warped(kernel, theta, [0.0, *u, 1.0])
    assert np.isfinite(ends).all()
    assert (np.diff(ends) >= 0).all()
    assert 0 <= ends[0] <= ends[-1] <= 1


@pytest.mark.parametrize("u", [0.0, 1e-12, 1.0])
@pytest.mark.parametrize("log_shape", [-6.9, 0.0, 6.9])
def test_the_ends_of_the_range_have_finite_slopes(u, log_shape):
    kernel = MixedKernel([False], warp=True)
    theta = np.array([0.0, 0.0, log_shape, -log_shape])
    U = np.array([[u], [0.5]])
    features = kernel.features(theta, U)
    assert np.isfinite(features.slopes).all()
    K, slope = kernel.covariance(theta, features, features, slope=True)
    assert np.isfinite(kernel.gradient(theta, U, features, K, slope, np.ones((2, 2)))).all()


# ---- gradients


@pytest.mark.parametrize("inactive", [0.0, 0.3])
@pytest.mark.parametrize("warp", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_by_hyperparameters_equal_differences(family, warp, inactive):
    kernel = MixedKernel(MIXED, family, warp)
    U, theta = points(15, inactive=inactive), theta_of(kernel)
    W = rng(3).normal(size=(15, 15))
    W += W.T
    features = kernel.features(theta, U)
    K, slope = kernel.covariance(theta, features, features, slope=True)
    np.fill_diagonal(slope, 0.0)
    found = kernel.gradient(theta, U, features, K, slope, W)
    expected = finite_differences(lambda t: (W * covariance(kernel, t, U)).sum(), theta)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("warp", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_by_points_equal_differences(family, warp):
    kernel = MixedKernel(MIXED, family, warp)
    theta = theta_of(kernel)
    data, U = points(12, inactive=0.3), points(6, inactive=0.3, seed=9)
    weights = rng(4).normal(size=(6, 12))
    features = kernel.features(theta, U)
    known = kernel.features(theta, data)
    _, slope = kernel.covariance(theta, features, known, slope=True)
    found = kernel.point_gradient(theta, features, known, slope, weights)

    def value(row, numbers):
        u = U[row].copy()
        u[[0, 2, 4]] = numbers
        return weights[row] @ covariance(kernel, theta, u[None], data)[0]

    for row in range(6):
        numbers = U[row, [0, 2, 4]]
        expected = finite_differences(lambda x, row=row: value(row, x), numbers)
        # What is inactive cannot be moved.
        expected = np.where(np.isnan(numbers), 0.0, expected)
        np.testing.assert_allclose(found[row], expected, rtol=1e-6, atol=1e-8)


def test_slopes_are_derivatives_by_the_squared_distance():
    r2 = np.array([0.01, 0.3, 1.0, 9.0])
    for family in FAMILIES.values():
        value = (family(r2 + 1e-7)[0] - family(r2 - 1e-7)[0]) / 2e-7
        np.testing.assert_allclose(family(r2)[1], value, rtol=1e-6)
