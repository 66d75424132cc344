"""Gradient descent with momentum as a bilevel problem."""

import numpy as np

from sksearch.hypergradients._differentiate import BilevelProblem, Rows


class MomentumProblem(BilevelProblem):
    """Gradient descent with momentum on another problem.

    A step replaces the velocity by ``v = momentum * v + f_w(w)`` and the weights by
    ``w = w - learning_rate * v``. The weights of this problem are the concatenation ``[w, v]``,
    and its learning rate is 1.

    Parameters
    ----------
    problem : BilevelProblem
        Training and validation loss of w and theta.
    learning_rate : float
        Size of a step.
    momentum : float, default=0.9
        Share of the velocity kept in each step, at least 0 and less than 1.

    See Also
    --------
    reverse : Differentiates through the steps.
    neumann : Differentiates at their fixed point.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.hypergradients import LinearProblem, MomentumProblem, reverse
    >>> X = np.random.default_rng(0).standard_normal((40, 3))
    >>> problem = MomentumProblem(LinearProblem(X[:20], X[:20, 0], X[20:], X[20:, 0]), 0.05)
    >>> loss, gradient = reverse(problem, np.zeros(3), np.zeros(6), [None] * 30, 1.0)
    >>> gradient.shape
    (3,)
    """

    symmetric = False

    def __init__(self, problem: BilevelProblem, learning_rate: float, momentum: float = 0.9):
        if not learning_rate > 0 or not 0 <= momentum < 1:
            raise ValueError(
                f"learning_rate={learning_rate} must be positive, and momentum={momentum} from 0 "
                "to below 1."
            )
        self.problem, self.learning_rate, self.momentum = problem, learning_rate, momentum

    def gradient(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Difference between weights and velocity before and after a step."""
        w, v = np.split(w, 2)
        new = self.momentum * v + self.problem.gradient(w, theta, rows)
        return np.concatenate([self.learning_rate * new, v - new])

    def hessian_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """Product of the transposed derivative of `gradient` with v."""
        of_new, of_velocity = self._of_new(v), v[len(v) // 2 :]
        product = self.problem.hessian_product(np.split(w, 2)[0], theta, of_new, rows)
        return np.concatenate([product, self.momentum * of_new + of_velocity])

    def mixed(self, w: np.ndarray, theta: np.ndarray, rows: Rows = None) -> np.ndarray:
        """Derivative of `gradient` with respect to the hyperparameters."""
        mixed = self.problem.mixed(np.split(w, 2)[0], theta, rows)
        return np.concatenate([self.learning_rate * mixed, -mixed])

    def mixed_product(
        self, w: np.ndarray, theta: np.ndarray, v: np.ndarray, rows: Rows = None
    ) -> np.ndarray:
        """The transpose of `mixed`, times v."""
        return self.problem.mixed_product(np.split(w, 2)[0], theta, self._of_new(v), rows)

    def validation(self, w: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Validation loss and its derivatives, 0 for the velocity."""
        loss, by_w, by_theta = self.problem.validation(np.split(w, 2)[0], theta)
        return loss, np.concatenate([by_w, np.zeros_like(by_w)]), by_theta

    def _of_new(self, v: np.ndarray) -> np.ndarray:
        """Product of v with the derivative of `gradient` by the new velocity."""
        by_w, by_velocity = np.split(v, 2)
        return self.learning_rate * by_w - by_velocity
