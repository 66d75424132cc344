"""Cholesky factor and its inverse, both extended by rows.

==========  ======================================================================
K           symmetric positive definite matrix, shape (n, n)
L, M        lower triangular, K = L L^T and M = L^-1
k           number of rows appended
B, C        the new rows of L: lower left (k, n) and lower right (k, k)
==========  ======================================================================
"""

import numpy as np
from scipy.linalg.lapack import dlauum, dpotrf, dtrtri

BLOCK = 128  # rows at a time
MIN_JITTER, MAX_JITTER = 1e-10, 1e-2  # relative to the mean of the diagonal


class CholeskyFactor:
    """L and L^-1 of a matrix, which can be extended by rows and columns.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix, which may be slightly indefinite due to rounding errors.

    Attributes
    ----------
    n : int
        Number of rows.
    jitter : float
        Value added to the diagonal, relative to the mean of the diagonal; 0 if not needed.
    added_jitter : float
        Value added to the diagonal.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a jitter of 1e-2 is not enough.

    Notes
    -----
    `append` costs O(k n^2 + k^2 n + k^3) instead of O((n + k)^3) for a new factorisation [1]_. C
    is the factor of the Schur complement of K in the extended matrix.

    References
    ----------
    .. [1] G. H. Golub, C. F. Van Loan, "Matrix computations", 4th ed., section 4.2, 2013.
       https://doi.org/10.56021/9781421407944

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._cholesky import CholeskyFactor
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> factor = CholeskyFactor(K)
    >>> factor.solve(np.array([3.0, 3.0])).round(6).tolist()
    [1.0, 1.0]
    """

    def __init__(self, K: np.ndarray):
        self.n = len(K)
        self.jitter = 0.0
        self._L, self._M = self._factorise(K)

    @property
    def L(self) -> np.ndarray:  # noqa: N802
        """Lower triangular, shape (n, n)."""
        return self._L[: self.n, : self.n]

    @property
    def M(self) -> np.ndarray:  # noqa: N802
        """Inverse of L, lower triangular, shape (n, n)."""
        return self._M[: self.n, : self.n]

    @property
    def log_det(self) -> float:
        """Logarithm of the determinant of K."""
        return 2 * np.log(np.diag(self.L)).sum()

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Return K^-1 b for b of shape (n,) or (n, m)."""
        return self.M.T @ (self.M @ b)

    def inverse(self) -> np.ndarray:
        """Return K^-1, shape (n, n)."""
        lower = dlauum(self.M, lower=1)[0]  # M^T M
        return np.tril(lower) + np.tril(lower, -1).T

    def whiten(self, K: np.ndarray) -> np.ndarray:
        """Return K L^-T for K of shape (m, n); its rows are coordinates of independent values."""
        V = np.empty_like(K)
        for at, end in self._blocks():  # M is triangular: half of the work of one product
            V[:, at:end] = K[:, :end] @ self.M[at:end, :end].T
        return V

    def unwhiten(self, V: np.ndarray) -> np.ndarray:
        """Return V L^-1 for V of shape (m, n)."""
        K = np.empty_like(V)
        for at, end in self._blocks():
            K[:, at:end] = V[:, at:] @ self.M[at:, at:end]
        return K

    def _blocks(self) -> list[tuple[int, int]]:
        return [(at, min(at + BLOCK, self.n)) for at in range(0, self.n, BLOCK)]

    def append(self, K_new_old: np.ndarray, K_new_new: np.ndarray) -> None:
        """Extend K by k rows and columns.

        Parameters
        ----------
        K_new_old : ndarray of shape (k, n)
            Lower left block.
        K_new_new : ndarray of shape (k, k)
            Lower right block.
        """
        n, k = self.n, len(K_new_old)
        B = self.whiten(K_new_old)
        schur = K_new_new - B @ B.T
        schur[np.diag_indices(k)] += self.added_jitter
        found = _cholesky(schur, np.mean(np.diag(K_new_new)))
        if found is None:  # all rows need the same jitter, otherwise some would appear less noisy
            K_old = self.L @ self.L.T
            K_old[np.diag_indices(n)] -= self.added_jitter
            other = CholeskyFactor(np.block([[K_old, K_new_old.T], [K_new_old, K_new_new]]))
            vars(self).update(vars(other))
            return
        C, C_inv = found
        self._reserve(n + k)
        self._L[n : n + k, :n], self._L[n : n + k, n : n + k] = B, C
        self._M[n : n + k, :n], self._M[n : n + k, n : n + k] = -C_inv @ self.unwhiten(B), C_inv
        self.n = n + k

    def _reserve(self, n: int) -> None:
        if n <= len(self._L):
            return
        size = max(n, len(self._L) * 3 // 2)
        L, M = np.zeros((2, size, size))
        L[: self.n, : self.n], M[: self.n, : self.n] = self.L, self.M
        self._L, self._M = L, M

    def _factorise(self, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return L and its inverse, with the least jitter that suffices."""
        if not np.isfinite(K).all():
            raise np.linalg.LinAlgError(f"matrix of shape {K.shape} has non-finite entries.")
        scale = np.mean(np.diag(K))  # rounding errors grow with the entries
        while True:
            self.added_jitter = self.jitter * scale
            found = _cholesky(K + self.added_jitter * np.eye(len(K)), scale)
            if found is not None:
                return found
            if self.jitter >= MAX_JITTER:
                raise np.linalg.LinAlgError(
                    f"matrix of shape {K.shape} is not positive definite, even with a larger "
                    "diagonal."
                )
            self.jitter = 10 * self.jitter if self.jitter else MIN_JITTER


def _cholesky(K: np.ndarray, scale: float | np.floating) -> tuple[np.ndarray, np.ndarray] | None:
    """Return L and its inverse; None if K is not positive definite up to rounding errors."""
    L, info = dpotrf(K, lower=1, clean=1)
    # With a pivot of rounding size the inverse would consist of rounding errors.
    if info != 0 or not np.diag(L).min() ** 2 > 1e-14 * scale:
        return None
    return L, dtrtri(L, lower=1)[0]
