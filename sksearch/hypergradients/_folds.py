"""Validation loss of a model on one fold, with its gradient, by factorising its Hessian.

==========  ==========================================================================
X, T        training rows, targets in the form of the loss, (n, d) and (n, n_outputs)
X_, T_      the same of the validation rows
W, A        weights of the features, (d, n_outputs); of the training rows, (n, n_outputs)
s, p        strength of the penalty; factor for each feature, (d,)
H, K        Hessian of the training loss; kernel matrix of the training rows
E           validation loss
==========  ==========================================================================

A linear model minimises ``sum(loss(X W, T)) + s * sum(p * W**2) / 2``. At the minimum,
``dE/dlog(p[j]) = -s p[j] sum_k W[j, k] V[j, k]`` with ``H V = dE/dW``.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from sksearch.hypergradients._losses import Loss

MAX_STEPS = 100  # steps of Newton's method
#: Relative promised decrease at which to stop; the next step would promise its square.
TOLERANCE = 1e-11
#: Relative to a diagonal: class scores that all grow equally give the same probabilities.
JITTER = 1e-12


@dataclass(frozen=True)
class Fold:
    """Training and validation rows, with targets in the form of the loss.

    ``weights`` belong to the training rows, (n, 1); ``validation`` is the loss of other rows.
    """

    X: np.ndarray
    T: np.ndarray
    weights: np.ndarray
    X_val: np.ndarray
    T_val: np.ndarray
    train: Loss
    validation: Loss
    scale: float  # factor of the validation loss
    kept: dict = field(default_factory=dict)  # the curvature of a squared loss is constant

    def validate(self, P: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the mean validation loss of predictions, and its derivative by them."""
        values = self.validation.value(P, self.T_val)
        by_P = self.validation.gradient(P, self.T_val) / values.size
        return self.scale * float(values.mean()), self.scale * by_P


def linear(fold: Fold, log_s: float, log_p: np.ndarray, free: np.ndarray) -> tuple[float, ...]:
    """Return the validation loss of a linear model, with derivatives by ``log_s`` and ``log_p``.

    Parameters
    ----------
    fold : Fold
        Data; an intercept is a column of X.
    log_s : float
        Logarithm of the strength.
    log_p : ndarray of shape (n_columns,)
        Logarithms of the factors.
    free : ndarray of shape (n_columns,), bool
        Unpenalised columns.

    Returns
    -------
    loss : float
        Validation loss.
    by_s : float
        Derivative by `log_s`.
    by_p : ndarray of shape (n_columns,)
        Derivatives by `log_p`.
    """
    penalty = np.where(free, 0.0, np.exp(log_s + log_p))
    W, factors = _train(fold, penalty)
    loss, by_P = fold.validate(fold.X_val @ W)
    V = _solve(factors, fold.X_val.T @ by_P)
    by_p = -penalty * (W * V).sum(axis=1)
    return loss, float(by_p.sum()), by_p


def _train(fold, penalty):
    """Newton's method from zero: weights, and the factors of the Hessian there."""
    X, T, weights = fold.X, fold.T, fold.weights
    W = np.zeros((X.shape[1], T.shape[1]))

    def objective(W):
        return (weights * fold.train.value(X @ W, T).reshape(len(X), -1)).sum() + (
            penalty @ (W**2).sum(axis=1) / 2
        )

    value = objective(W)
    for _ in range(MAX_STEPS):
        P = X @ W
        G = X.T @ (weights * fold.train.gradient(P, T)) + penalty[:, None] * W
        factors = _factors(fold, fold.train.curvature(P, T), penalty)
        step = _solve(factors, G)
        promise = float((G * step).sum())
        if promise <= TOLERANCE * max(abs(value), 1):
            return W - step, factors
        size = 1.0
        while (new := objective(W - size * step)) > value - 1e-4 * size * promise and size > 1e-6:
            size /= 2
        if new >= value:  # rounding errors exceed the remaining decrease
            break
        W, value = W - size * step, new
    return W, factors


def _factors(fold, curvature, penalty):
    """Cholesky factors of the Hessian: one per output, or one for all if they interact."""
    if not np.array_equal(fold.kept.get("curvature"), curvature):
        products = _products(fold.X, fold.weights, curvature)
        fold.kept.update(curvature=curvature, products=products)
    return [
        _cholesky(H + np.diag(np.tile(penalty, len(H) // len(penalty))))
        for H in fold.kept["products"]
    ]


def _products(X, weights, curvature):
    """X' C X for each output, only once if all are equal; one matrix if outputs interact."""
    if curvature.ndim == 2:
        root = np.sqrt(weights * curvature)
        n = 1 if (root == root[:, :1]).all() else root.shape[1]
        scaled = (X * root[:, [k]] for k in range(n))
        return [each.T @ each for each in scaled]
    n_outputs, d = curvature.shape[1], X.shape[1]
    H = np.empty((n_outputs, d, n_outputs, d))
    for k in range(n_outputs):
        for m in range(k + 1):
            H[k, :, m] = H[m, :, k] = (X * (weights * curvature[:, k, [m]])).T @ X
    return [H.reshape(n_outputs * d, -1)]


def _cholesky(H):
    """Factor of H, scaled to a diagonal of ones since penalties differ by powers of ten."""
    scale = np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    H = H / scale / scale[:, None]
    H[np.diag_indices(len(H))] += JITTER
    try:
        return cho_factor(H), scale
    except (LinAlgError, ValueError):
        raise ValueError(
            "The Hessian of the training loss cannot be factorised: columns of X are collinear or "
            "have very different scales, and penalties are small. Add a StandardScaler() before "
            "the model, or pass loguniform(...) with a larger minimum."
        ) from None


def _solve(factors, B):
    """H^-1 B for the Hessian with these factors."""
    d, n_outputs = B.shape
    if len(factors) == 1 and len(factors[0][1]) > d:
        return _solve_one(factors[0], B.T.reshape(-1, 1)).reshape(n_outputs, d).T
    if len(factors) == 1:
        return _solve_one(factors[0], B)
    columns = [_solve_one(each, B[:, [k]]) for k, each in enumerate(factors)]
    return np.concatenate(columns, axis=1)


def _solve_one(factor, B):
    cholesky, scale = factor
    return cho_solve(cholesky, B / scale[:, None]) / scale[:, None]


def kernel_ridge(
    fold: Fold, log_s: float, log_p: np.ndarray, gamma: float | None
) -> tuple[float, ...]:
    """Return the validation loss of kernel ridge regression, and its derivatives.

    Parameters
    ----------
    fold : Fold
        Data.
    log_s : float
        Logarithm of alpha.
    log_p : ndarray of shape (n_features,)
        Logarithms of the factors; features are divided by their roots.
    gamma : float or None
        Coefficient of an RBF kernel; None: the kernel is linear.

    Returns
    -------
    loss : float
        Validation loss.
    by_s : float
        Derivative by `log_s`.
    by_p : ndarray of shape (n_features,)
        Derivatives by `log_p`; minus their sum is the derivative by the logarithm of `gamma`.
    """
    root = np.exp(-0.5 * log_p)
    X, X_val, alpha = fold.X * root, fold.X_val * root, np.exp(log_s)
    K, K_val = _kernel(X, X, gamma), _kernel(X_val, X, gamma)
    factor = _cholesky(K + alpha * np.eye(len(K)))
    A = _solve([factor], fold.T)
    loss, by_P = fold.validate(K_val @ A)
    V = _solve([factor], K_val.T @ by_P)
    by_K, by_K_val = -V @ A.T, by_P @ A.T
    if gamma is None:  # K = X X', and columns shrink by exp(-log_p / 2)
        by_X = by_K @ X + by_K.T @ X + by_K_val.T @ X_val
        by_p = -0.5 * ((X * by_X).sum(axis=0) + (X_val * (by_K_val @ X)).sum(axis=0))
    else:
        by_p = gamma * (
            _distances_weighed(by_K * K, X, X) + _distances_weighed(by_K_val * K_val, X_val, X)
        )
    return loss, float(-alpha * (V * A).sum()), by_p


def _kernel(A, B, gamma):
    """Linear kernel, or RBF kernel with `gamma`."""
    inner = A @ B.T
    if gamma is None:
        return inner
    distances = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * inner
    return np.exp(-gamma * np.maximum(distances, 0))


def _distances_weighed(M, A, B):
    """For each column, sum over all pairs of rows M times their squared distance in it."""
    both = (A * (M @ B)).sum(axis=0)
    return M.sum(axis=1) @ A**2 + M.sum(axis=0) @ B**2 - 2 * both
