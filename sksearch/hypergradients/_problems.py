"""Linear models with penalties as bilevel problems."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sksearch.hypergradients._differentiate import BilevelProblem, Rows
from sksearch.hypergradients._losses import Logistic, Loss, Squared, SquaredHinge

LOSSES: dict[str, type[Loss]] = {
    "squared": Squared,
    "logistic": Logistic,
    "squared_hinge": SquaredHinge,
}


class LinearProblem(BilevelProblem):
    """A linear model with the logarithms of its penalties as hyperparameters.

    The training loss is the mean loss of the rows plus ``sum(exp(theta[group]) * w**2) / 2``; the
    validation loss is the mean loss of other rows.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Training rows. For an intercept, add a column of ones; it is penalised like the others.
    y : array-like of shape (n_rows,)
        Targets of the training rows; -1 and 1 for classification losses.
    X_val, y_val : array-like
        Validation rows and targets.
    loss : {"squared", "logistic", "squared_hinge"}, default="squared"
        Loss of a row; "squared" is half of the squared error.
    groups : array-like of shape (n_features,), default=None
        Index of the penalty of each feature, from 0. None: each feature has its own penalty.

    Raises
    ------
    ValueError
        If the loss is unknown, or the targets of a classification loss are not -1 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, truncated
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 4))
    >>> y = np.sign(X[:, 0])
    >>> problem = LinearProblem(X[:30], y[:30], X[30:], y[30:], loss="logistic")
    >>> batches = [rng.choice(30, 10, replace=False) for _ in range(50)]  # stochastic training
    >>> theta = np.zeros(4)
    >>> loss, gradient = truncated(problem, theta, np.zeros(4), batches, 0.3, n_steps=20)
    >>> int(gradient.argmax())  # what matters should be penalised less
    0
    """

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_val: ArrayLike,
        y_val: ArrayLike,
        loss: str = "squared",
        groups: ArrayLike | None = None,
    ):
        if loss not in LOSSES:
            raise ValueError(f"loss={loss!r} must be one of {sorted(LOSSES)}.")
        self.X, self.X_val = np.asarray(X, dtype=float), np.asarray(X_val, dtype=float)
        self.y, self.y_val = np.asarray(y, dtype=float), np.asarray(y_val, dtype=float)
        signs = np.unique(np.concatenate([self.y, self.y_val]))
        if loss != "squared" and not np.isin(signs, (-1, 1)).all():
            raise ValueError(f"loss={loss!r} needs targets of -1 or 1, got {signs[:5]}.")
        self.loss = LOSSES[loss]()
        own = np.arange(self.X.shape[1])
        self.groups = own if groups is None else np.asarray(groups)

    def _rows(self, rows):
        return (self.X, self.y) if rows is None else (self.X[rows], self.y[rows])

    def gradient(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Gradient of the training loss with respect to the weights."""
        X, y = self._rows(rows)
        return X.T @ self.loss.gradient(X @ w, y) / len(y) + np.exp(theta)[self.groups] * w

    def hessian_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """Product of the Hessian of the training loss with v."""
        X, y = self._rows(rows)
        curvature = self.loss.curvature(X @ w, y) / len(y)
        return X.T @ (curvature * (X @ v)) + np.exp(theta)[self.groups] * v

    def mixed(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Derivative of `gradient` with respect to the hyperparameters."""
        return np.exp(theta) * w[:, None] * (self.groups[:, None] == np.arange(len(theta)))

    def mixed_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """Product of the transpose of `mixed` with v."""
        return np.exp(theta) * np.bincount(self.groups, w * v, minlength=len(theta))

    def validation(self, w: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Validation loss and its derivatives with respect to weights and hyperparameters."""
        P, n = self.X_val @ w, len(self.y_val)
        by_w = self.X_val.T @ self.loss.gradient(P, self.y_val) / n
        return float(self.loss.value(P, self.y_val).mean()), by_w, np.zeros_like(theta)

    def solve(self, theta: np.ndarray) -> np.ndarray:
        """Train to convergence.

        Parameters
        ----------
        theta : ndarray of shape (n_hyper,)
            Logarithms of the penalties.

        Returns
        -------
        w : ndarray of shape (n_features,)
            Weights that minimise the training loss.
        """
        penalties = np.exp(theta)[self.groups]

        def loss(w):
            value = self.loss.value(self.X @ w, self.y).mean() + penalties @ w**2 / 2
            return value, self.gradient(w, theta)

        found = minimize(
            loss,
            np.zeros(self.X.shape[1]),
            jac=True,
            hessp=lambda w, v: self.hessian_product(w, theta, v),
            method="trust-ncg",
            options={"gtol": 1e-11},  # the derivative holds only at the minimum
        )
        return found.x
