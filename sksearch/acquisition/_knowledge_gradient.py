"""Expected gain at full size from training with a part of the resource, per cost.

==========  ======================================================================
u, t        parameters, and the logarithm of their size from 0 to 1
f(u, 1)     score with the full resource
s(u, t)     standard deviation of the change of the mean of f(u, 1) that a result
            at size t will bring
==========  ======================================================================
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sksearch.acquisition._functions import LogEI
from sksearch.models._sizes import SizeProcess

EI = LogEI()
LEAST_CHANGE = 1e-12  # least change of a mean, in standard deviations of the scores


class GainPerCost:
    """Logarithm of the ratio of the expected improvement at full size to the cost of a result.

    A result at a size moves the mean of the score at full size by a normal variable with a
    standard deviation equal to the covariance of both scores divided by the standard deviation of
    the result. The criterion is the expected improvement of that mean over the best one: the
    knowledge gradient [1]_ of one candidate. A mean above the best one is set equal to it, because
    that gain is known without a result. A result uncorrelated with full size gains nothing.

    Parameters
    ----------
    gp : SizeProcess
        Process of scores.
    best : float
        Greatest mean at full size.
    sizes : ndarray of shape (n_sizes,)
        Allowed log sizes, ascending, the last 1.
    log_cost : callable
        ``log_cost(points)``, the logarithm of the cost at points (m, n_dims + 1), shape (m,).
    feasibility : Probability or None
        Model of the probability that a candidate does not fail.
    factors : sequence of callable
        As for `Criterion`.

    References
    ----------
    .. [1] P. Frazier, W. Powell, S. Dayanik, "The knowledge-gradient policy for correlated normal
       beliefs", INFORMS Journal on Computing 21, 2009. https://doi.org/10.1287/ijoc.1080.0314
    """

    numbers = None  # no gradient: steps maximise it

    def __init__(
        self,
        gp: SizeProcess,
        best: float,
        sizes: np.ndarray,
        log_cost: Any,
        feasibility: Any = None,
        factors: Sequence[Any] = (),
    ):
        self.gp, self.best, self.sizes, self.log_cost = gp, best, sizes, log_cost
        self.feasibility, self.factors = feasibility, factors

    def __call__(self, U: np.ndarray) -> np.ndarray:
        """Return the value of the best size at each point of `U`, shape (m,)."""
        return self.by_size(U).max(axis=1)

    def by_size(self, U: np.ndarray) -> np.ndarray:
        """Return the value of each size at each point of `U`, shape (m, n_sizes)."""
        sizes = np.tile(self.sizes, len(U))[:, np.newaxis]
        points = np.hstack([np.repeat(U, len(self.sizes), axis=0), sizes])
        gain = self.log_gain(U) - self.log_cost(points).reshape(len(U), -1)
        return gain + self.log_factor(U)[:, np.newaxis]

    def log_gain(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the expected improvement at full size, shape (m, n_sizes)."""
        mean, change = self.gp.effect(U, self.sizes)
        mean = np.minimum(mean, self.best)
        return EI(mean[:, np.newaxis], np.maximum(change, LEAST_CHANGE), self.best)

    def log_factor(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of all further factors, shape (m,)."""
        value = np.zeros(len(U))
        if self.feasibility is not None:
            value += self.feasibility.log_probability(U)
        for factor in self.factors:
            value += factor(U, None)[0]
        return value
