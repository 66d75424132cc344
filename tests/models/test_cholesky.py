"""The growing Cholesky factor, against factorisations of the whole matrix."""

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular

from sksearch.models import CholeskyFactor


def positive_definite(n, seed=0, smallest=0.1):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A @ A.T / n + smallest * np.eye(n)


def grown(K, sizes):
    """The factor of `K`, begun with the first of `sizes` rows and grown by the others."""
    n = sizes[0]
    factor = CholeskyFactor(K[:n, :n])
    for k in sizes[1:]:
        factor.append(K[n : n + k, :n], K[n : n + k, n : n + k])
        n += k
    return factor


def assert_is_factor_of(factor, K, atol=1e-10):
    L = cholesky(K, lower=True)
    np.testing.assert_allclose(factor.L, L, atol=atol)
    np.testing.assert_allclose(
        factor.M, solve_triangular(L, np.eye(len(K)), lower=True), atol=atol
    )
    np.testing.assert_allclose(factor.log_det, np.linalg.slogdet(K)[1], atol=atol)


def test_it_factorises_and_inverts():
    K = positive_definite(12)
    factor = CholeskyFactor(K)
    assert factor.jitter == 0
    assert_is_factor_of(factor, K)
    np.testing.assert_allclose(factor.inverse(), np.linalg.inv(K), atol=1e-10)
    b = np.random.default_rng(1).normal(size=(12, 3))
    np.testing.assert_allclose(factor.solve(b), np.linalg.solve(K, b), atol=1e-10)
    np.testing.assert_allclose(factor.solve(b[:, 0]), np.linalg.solve(K, b[:, 0]), atol=1e-10)


@pytest.mark.parametrize(
    "sizes",
    [[1] * 30, [29, 1], [1, 29], [5, 10, 15], [2, 1, 7, 1, 19], [30]],
    ids=str,
)
def test_it_grows_by_rows_and_blocks_as_if_factorised_again(sizes):
    K = positive_definite(30, seed=2)
    assert_is_factor_of(grown(K, sizes), K)


def test_room_for_more_rows_grows_seldom():
    K = positive_definite(200, seed=5)
    factor = CholeskyFactor(K[:1, :1])
    sizes = set()
    for n in range(1, 200):
        factor.append(K[n : n + 1, :n], K[n : n + 1, n : n + 1])
        sizes.add(len(factor._L))
    assert len(sizes) < 20
    assert_is_factor_of(factor, K)


def test_its_input_is_left_alone():
    singular, K = np.ones((4, 4)), positive_definite(4)
    for matrix in (singular, K):
        before = matrix.copy()
        CholeskyFactor(matrix)
        np.testing.assert_array_equal(matrix, before)
    row, corner = singular[3:, :3].copy(), singular[3:, 3:].copy()
    CholeskyFactor(singular[:3, :3]).append(row, corner)
    np.testing.assert_array_equal(row, singular[3:, :3])
    np.testing.assert_array_equal(corner, singular[3:, 3:])


# ---- matrices that rounding made indefinite


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_a_singular_matrix_gets_the_least_jitter(scale):
    factor = CholeskyFactor(scale * np.ones((6, 6)))
    assert factor.jitter == 1e-10
    np.testing.assert_allclose(
        factor.L @ factor.L.T, scale * (np.ones((6, 6)) + 1e-10 * np.eye(6)), rtol=1e-14
    )
    assert np.isfinite(factor.M).all()


@pytest.mark.parametrize("smallest", [-5e-11, -5e-10, -2e-8, -1e-6, -3e-3])
def test_an_indefinite_matrix_gets_as_much_jitter_as_needed(smallest):
    A = np.random.default_rng(0).normal(size=(10, 10))
    Q, _ = np.linalg.qr(A)
    K = Q @ np.diag(np.r_[smallest, np.linspace(0.5, 1, 9)]) @ Q.T
    K = (K + K.T) / 2
    factor = CholeskyFactor(K)
    mean = np.mean(np.diag(K))
    added = factor.L @ factor.L.T - K
    np.testing.assert_allclose(added, added[0, 0] * np.eye(10), atol=1e-13)
    assert -smallest < added[0, 0] < -20 * smallest + 2e-10
    assert factor.jitter <= added[0, 0] / mean * (1 + 1e-4)


def test_the_jitter_is_what_was_added():
    K = np.diag(np.r_[-1e-7, np.ones(9)])
    factor = CholeskyFactor(K)
    added = np.diag(factor.L @ factor.L.T - K)
    np.testing.assert_allclose(added, factor.jitter * np.mean(np.diag(K)), rtol=1e-3)


def test_rows_that_are_appended_get_the_jitter_of_the_first():
    K = positive_definite(8, seed=6)
    K[1] = K[0]
    K[:, 1] = K[:, 0]
    K[np.diag_indices(8)] = 2.0
    K[0, 1] = K[1, 0] = 2.0
    fresh, factor = CholeskyFactor(K), grown(K, [3, 1, 4])
    assert fresh.jitter == factor.jitter > 0
    np.testing.assert_allclose(factor.L, fresh.L, atol=1e-10)
    np.testing.assert_allclose(factor.L @ factor.L.T, K + 2 * fresh.jitter * np.eye(8), atol=1e-13)


def test_duplicate_rows_may_be_appended():
    K = positive_definite(5, seed=7)
    order = [0, 1, 2, 3, 4, 2, 2, 4]
    K = K[np.ix_(order, order)]
    for sizes in ([5, 1, 1, 1], [5, 3]):
        factor = grown(K, sizes)
        assert 0 < factor.jitter <= 1e-9
        np.testing.assert_allclose(factor.L @ factor.L.T, K, atol=1e-8)
        np.testing.assert_allclose(factor.M @ factor.L, np.eye(8), atol=1e-4)


def test_no_jitter_helps_where_the_matrix_is_not_a_covariance():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(np.linalg.LinAlgError, match=r"shape \(2, 2\) is not positive definite"):
        CholeskyFactor(K)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        CholeskyFactor(K[:1, :1]).append(K[1:, :1], K[1:, 1:])


def test_a_row_that_cannot_be_appended_leaves_no_trace():
    factor = CholeskyFactor(np.array([[1.0]]))
    with pytest.raises(np.linalg.LinAlgError):
        factor.append(np.array([[2.0]]), np.array([[1.0]]))
    assert (factor.n, factor.jitter) == (1, 0.0)
    factor.append(np.array([[0.5]]), np.array([[1.0]]))
    assert_is_factor_of(factor, np.array([[1.0, 0.5], [0.5, 1.0]]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_refused(bad):
    K = np.eye(3)
    K[1, 1] = bad
    with pytest.raises(np.linalg.LinAlgError):
        CholeskyFactor(K)
