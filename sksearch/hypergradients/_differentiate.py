"""Gradient of a validation loss with respect to hyperparameters, through training.

==========  ==========================================================================
theta       hyperparameters, shape (n_hyper,)
w           weights, shape (n_weights,)
f, E        training loss of w and theta; validation loss
H, B        second derivatives of f by w and w, by w and theta
eta, m      learning rate, number of training steps
==========  ==========================================================================

At a minimum of f, ``dE/dtheta = E_theta - B' H^-1 E_w`` [1]_, [2]_, and H^-1 is the sum of
``eta (I - eta H)^k`` over all k [5]_. If training is m steps of gradient descent,
``w[t + 1] = w[t] - eta f_w(w[t])``, the chain rule goes through the steps: forward with
``Z[t + 1] = (I - eta H) Z[t] - eta B`` for Z = dw/dtheta, or backward with
``a[t] = (I - eta H) a[t + 1]`` for a = dE/dw[t] [3]_, [4]_.

References
----------
.. [1] Y. Bengio, "Gradient-based optimization of hyperparameters", Neural Computation 12, 2000.
   https://doi.org/10.1162/089976600300015187
.. [2] F. Pedregosa, "Hyperparameter optimization with approximate gradient", ICML 2016.
   https://arxiv.org/abs/1602.02355
.. [3] L. Franceschi, M. Donini, P. Frasconi, M. Pontil, "Forward and reverse gradient-based
   hyperparameter optimization", ICML 2017. https://arxiv.org/abs/1703.01785
.. [4] A. Shaban, C. Cheng, N. Hatch, B. Boots, "Truncated back-propagation for bilevel
   optimization", AISTATS 2019. https://arxiv.org/abs/1810.10667
.. [5] J. Lorraine, P. Vicol, D. Duvenaud, "Optimizing millions of hyperparameters by implicit
   differentiation", AISTATS 2020. https://arxiv.org/abs/1911.02590
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

TRANSIENT = 1e6  # growth of terms before they shrink, for maps that are not symmetric

#: Rows of one step; None for all rows.
Rows = np.ndarray | None


class BilevelProblem(ABC):
    """A training loss f and a validation loss E, with the derivatives needed for hypergradients.

    See Also
    --------
    LinearProblem : Linear models with penalties.
    MomentumProblem : Gradient descent with momentum on another problem.
    TorchProblem : Any two PyTorch functions.

    Notes
    -----
    Any other training step ``w = phi(w, theta)`` is a problem with the `gradient` ``w - phi`` and
    the learning rate 1. The derivatives of ``w - phi`` with respect to w and theta then replace H
    and B. If the derivative with respect to w is not symmetric, set `symmetric` to False, and let
    `hessian_product` multiply by its transpose. `reverse` and `truncated` differentiate through
    such steps, and `neumann` at their fixed point.

    Examples
    --------
    The weight of one penalty, with f = (w - 1)^2 / 2 + theta w^2 / 2 and E = w^2 / 2:

    >>> import numpy as np
    >>> from sksearch.hypergradients import BilevelProblem, implicit
    >>> class Toy(BilevelProblem):
    ...     def gradient(self, w, theta, rows=None):
    ...         return w - 1 + theta * w
    ...     def hessian_product(self, w, theta, v, rows=None):
    ...         return (1 + theta) * v
    ...     def mixed(self, w, theta, rows=None):
    ...         return w[:, None]
    ...     def mixed_product(self, w, theta, v, rows=None):
    ...         return w * v
    ...     def validation(self, w, theta):
    ...         return float(w @ w) / 2, w, np.zeros(1)
    >>> loss, gradient = implicit(Toy(), np.array([0.25]), np.array([0.8]))  # w = 1 / (1 + theta)
    >>> gradient.round(3).tolist()
    [-0.512]
    """

    #: Whether H is symmetric, as the second derivatives of a training loss are.
    symmetric = True

    @abstractmethod
    def gradient(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Return the gradient of f with respect to w, of shape (n_weights,)."""

    @abstractmethod
    def hessian_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """Return H v, of shape (n_weights,)."""

    @abstractmethod
    def mixed(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Return B, of shape (n_weights, n_hyper); only `forward` needs all of it."""

    @abstractmethod
    def mixed_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """Return B' v, of shape (n_hyper,)."""

    @abstractmethod
    def validation(self, w: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return E and its partial derivatives with respect to w and theta."""


def implicit(
    problem: BilevelProblem, theta: np.ndarray, w: np.ndarray, tol: float = 1e-10
) -> tuple[float, np.ndarray]:
    """Differentiate at a minimum of the training loss, which may be found by any method.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss.
    theta : ndarray of shape (n_hyper,)
        Hyperparameters.
    w : ndarray of shape (n_weights,)
        Weights at which the derivative of the training loss is zero. The result is wrong far from
        such a point.
    tol : float, default=1e-10
        Relative residual at which conjugate gradients stop.

    Returns
    -------
    loss : float
        Validation loss.
    gradient : ndarray of shape (n_hyper,)
        Derivative with respect to theta.

    Raises
    ------
    ValueError
        If conjugate gradients do not converge because the Hessian is not positive definite, or if
        the problem is not symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, implicit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 3))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(40)
    >>> problem = LinearProblem(X[:20], y[:20], X[20:], y[20:])
    >>> theta = np.zeros(3)
    >>> loss, gradient = implicit(problem, theta, problem.solve(theta))
    >>> bool(gradient[0] > 0)  # the one that matters should be penalised less
    True
    """
    _check_symmetric(problem, "implicit", "neumann")
    loss, by_w, by_theta = problem.validation(w, theta)
    n = len(w)
    H = LinearOperator((n, n), matvec=lambda v: problem.hessian_product(w, theta, v), dtype=float)
    with np.errstate(all="ignore"):  # divisions by zero if H is singular
        v, info = cg(H, by_w, rtol=tol, maxiter=10 * n)
    if info != 0 or not np.isfinite(v).all():
        raise ValueError(
            f"Conjugate gradients did not converge in {10 * n} steps: the Hessian of the training "
            "loss is not positive definite here. Pass weights at a minimum, or add a penalty."
        )
    return loss, by_theta - problem.mixed_product(w, theta, v)


def neumann(
    problem: BilevelProblem,
    theta: np.ndarray,
    w: np.ndarray,
    learning_rate: float,
    n_steps: int,
    start: np.ndarray | None = None,
) -> tuple[float, np.ndarray]:
    """Differentiate at a minimum, using the first terms of a series for the inverse Hessian.

    The result is the same as after this number of steps of a fixed-point iteration, or of
    `truncated` with all rows if training has converged. The problem need not be symmetric. With
    only a few steps, the gradient is damped in flat directions.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss.
    theta : ndarray of shape (n_hyper,)
        Hyperparameters.
    w : ndarray of shape (n_weights,)
        Weights at which the derivative of the training loss is zero.
    learning_rate : float
        Step size, less than 2 divided by the largest eigenvalue of the Hessian; otherwise the
        series diverges.
    n_steps : int
        Number of terms, at least 1.
    start : ndarray of shape (n_weights,) or None, default=None
        Initial value of the fixed-point iteration, overwritten by the final value, so that the
        next call with similar hyperparameters can continue from there. None: zeros.

    Returns
    -------
    loss : float
        Validation loss.
    gradient : ndarray of shape (n_hyper,)
        Derivative with respect to theta, without the omitted terms.

    Raises
    ------
    ValueError
        If the terms grow without limit, or `n_steps` is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, implicit, neumann
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> problem = LinearProblem(X[:20], X[:20, 0], X[20:], X[20:, 0])
    >>> theta = np.zeros(3)
    >>> at_minimum = problem, theta, problem.solve(theta)
    >>> _, gradient = neumann(*at_minimum, learning_rate=0.3, n_steps=100)
    >>> bool(np.allclose(gradient, implicit(*at_minimum)[1]))
    True
    """
    if n_steps < 1:
        raise ValueError(f"n_steps={n_steps} must be at least 1.")
    loss, by_w, by_theta = problem.validation(w, theta)
    total, first = np.zeros_like(by_w), learning_rate * by_w
    if start is not None:
        total = start.copy()
        first = first - learning_rate * problem.hessian_product(w, theta, total)
    term, total = first, total + first
    with np.errstate(all="ignore"):
        for _ in range(n_steps - 1):
            term = term - learning_rate * problem.hessian_product(w, theta, term)
            total = total + term
    growth = 1 + 1e-9 if problem.symmetric else TRANSIENT
    limit = max(growth * np.linalg.norm(first), 1e-12 * learning_rate * np.linalg.norm(by_w))
    if not np.linalg.norm(term) <= limit:
        raise ValueError(
            f"The series diverges with learning_rate={learning_rate:g}: it must be less than 2 "
            "divided by the largest eigenvalue of the Hessian of the training loss."
        )
    if start is not None:
        start[:] = total
    return loss, by_theta - problem.mixed_product(w, theta, total)


def forward(
    problem: BilevelProblem,
    theta: np.ndarray,
    w: np.ndarray,
    batches: Sequence[Rows],
    learning_rate: float,
) -> tuple[float, np.ndarray]:
    """Differentiate through all steps of training in forward mode.

    The cost is proportional to the number of hyperparameters. Memory does not depend on the number
    of steps.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss.
    theta : ndarray of shape (n_hyper,)
        Hyperparameters.
    w : ndarray of shape (n_weights,)
        Initial weights of training.
    batches : sequence of (ndarray or None)
        Indices of the rows of each step, None for all rows.
    learning_rate : float
        Size of a step.

    Returns
    -------
    loss : float
        Validation loss after the last step.
    gradient : ndarray of shape (n_hyper,)
        Derivative with respect to theta.

    Raises
    ------
    ValueError
        If the problem is not symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, forward, reverse
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> problem = LinearProblem(X[:20], X[:20, 0], X[20:], X[20:, 0])
    >>> args = problem, np.zeros(3), np.zeros(3), [None] * 30, 0.1
    >>> bool(np.allclose(forward(*args)[1], reverse(*args)[1]))
    True
    """
    _check_symmetric(problem, "forward", "reverse")
    Z = np.zeros((len(w), len(theta)))
    for rows in batches:
        HZ = [problem.hessian_product(w, theta, z, rows) for z in Z.T]
        Z = Z - learning_rate * (np.transpose(HZ) + problem.mixed(w, theta, rows))
        w = w - learning_rate * problem.gradient(w, theta, rows)
    loss, by_w, by_theta = problem.validation(w, theta)
    return loss, by_theta + Z.T @ by_w


def reverse(
    problem: BilevelProblem,
    theta: np.ndarray,
    w: np.ndarray,
    batches: Sequence[Rows],
    learning_rate: float,
) -> tuple[float, np.ndarray]:
    """Differentiate through all steps of training in reverse mode.

    The cost equals a few fits, for any number of hyperparameters. The weights of all steps are
    kept in memory.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss.
    theta : ndarray of shape (n_hyper,)
        Hyperparameters.
    w : ndarray of shape (n_weights,)
        Initial weights of training.
    batches : sequence of (ndarray or None)
        Indices of the rows of each step, None for all rows.
    learning_rate : float
        Size of a step.

    Returns
    -------
    loss : float
        Validation loss after the last step.
    gradient : ndarray of shape (n_hyper,)
        Derivative with respect to theta.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, reverse
    >>> X = np.random.default_rng(0).standard_normal((40, 200))
    >>> problem = LinearProblem(X[:20], X[:20, 0], X[20:], X[20:, 0])
    >>> loss, gradient = reverse(problem, np.zeros(200), np.zeros(200), [None] * 30, 0.01)
    >>> gradient.shape
    (200,)
    """
    return truncated(problem, theta, w, batches, learning_rate, n_steps=len(batches))


def truncated(
    problem: BilevelProblem,
    theta: np.ndarray,
    w: np.ndarray,
    batches: Sequence[Rows],
    learning_rate: float,
    n_steps: int,
) -> tuple[float, np.ndarray]:
    """Differentiate in reverse mode through only the last steps of training.

    The effect of a step decreases exponentially with the number of later steps, so a few dozen
    steps often suffice.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss.
    theta : ndarray of shape (n_hyper,)
        Hyperparameters.
    w : ndarray of shape (n_weights,)
        Initial weights of training.
    batches : sequence of (ndarray or None)
        Indices of the rows of each step, None for all rows.
    learning_rate : float
        Size of a step.
    n_steps : int
        Number of steps to differentiate through, at most the number of batches.

    Returns
    -------
    loss : float
        Validation loss after the last step.
    gradient : ndarray of shape (n_hyper,)
        Derivative with respect to theta, ignoring earlier steps.

    Raises
    ------
    ValueError
        If there are fewer than `n_steps` steps.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, reverse, truncated
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> problem = LinearProblem(X[:20], X[:20, 0], X[20:], X[20:, 0])
    >>> args = problem, np.zeros(3), np.zeros(3), [None] * 200, 0.1
    >>> gap = truncated(*args, n_steps=40)[1] - reverse(*args)[1]
    >>> bool(np.abs(gap).max() < 1e-3)
    True
    """
    if not 0 <= n_steps <= len(batches):
        raise ValueError(
            f"n_steps={n_steps} must be between 0 and {len(batches)}, the number of steps."
        )
    first, kept = len(batches) - n_steps, []
    for t, rows in enumerate(batches):
        if t >= first:
            kept.append(w)
        w = w - learning_rate * problem.gradient(w, theta, rows)
    loss, a, gradient = problem.validation(w, theta)
    for before, rows in zip(reversed(kept), reversed(batches[first:]), strict=True):
        gradient = gradient - learning_rate * problem.mixed_product(before, theta, a, rows)
        a = a - learning_rate * problem.hessian_product(before, theta, a, rows)
    return loss, gradient


def _check_symmetric(problem: BilevelProblem, function: str, other: str) -> None:
    if not problem.symmetric:
        raise ValueError(
            f"{function} needs a symmetric problem, and {type(problem).__name__} is not: "
            f"use {other}."
        )
