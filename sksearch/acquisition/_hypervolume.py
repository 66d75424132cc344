"""Expected improvement of the volume under a Pareto front, for several objectives.

==============  =================================================================
Y               front, shape (k, m), greater is better
reference       lower limit of each objective, shape (m,)
psi(t)          E max(0, y - t) of a predicted objective y, sigma h((mu - t) / sigma)
cell            a part of the region not dominated by the front, above the reference
==============  =================================================================
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import log_ndtr, logsumexp

from sksearch._utils._fronts import fronts
from sksearch.acquisition._functions import log_h
from sksearch.models._feasibility import Probability
from sksearch.models._normal import LOG_SQRT_2PI, slope_of_log_cdf

N_CELLS = 256  # points that represent the open region for three or more objectives
N_TRIES = 50  # rounds of draws, as most may be below the front
BEYOND = 0.5  # margin for improvements above the best values, as a share of the range of the front
Terms = tuple[np.ndarray, np.ndarray, np.ndarray]


class Strips:
    """Two objectives: the open region as strips between neighbours on the front; exact.

    Parameters
    ----------
    Y : ndarray of shape (k, 2)
        Pareto front.
    reference : ndarray of shape (2,)
        Lower limit of each objective.
    """

    def __init__(self, Y: np.ndarray, reference: np.ndarray):
        Y = np.unique(Y[fronts(Y) == 0], axis=0)
        Y = Y[(reference < Y).all(axis=1)]  # in ascending order of the first objective
        self.edges = np.r_[reference[0], Y[:, 0]]
        self.floors = np.r_[Y[:, 1], reference[1]]

    def terms(self, mean: np.ndarray, sd: np.ndarray) -> Terms:
        """Return log volumes by cell, and their derivatives by `mean` and by `sd`.

        Shapes are (n, n_cells) and (n, n_cells, 2) for means of shape (n, 2).
        """
        s = sd[:, :, np.newaxis]
        x = (mean[:, :1] - self.edges) / s[:, 0]
        v = (mean[:, 1:] - self.floors) / s[:, 1]
        log_x, log_v = np.log(s[:, 0]) + log_h(x), np.log(s[:, 1]) + log_h(v)
        # psi at the left edge minus psi at the right one; the last strip has no right edge.
        drop = np.maximum(log_x[:, :-1] - log_x[:, 1:], 1e-12)
        width = log_x.copy()
        width[:, :-1] += np.log(-np.expm1(-drop))
        d_mean, d_sd = np.empty((*x.shape, 2)), np.empty((*x.shape, 2))
        for out, log_slope in ((d_mean, log_ndtr), (d_sd, _log_density)):
            slope = log_slope(x)
            out[..., 0] = np.exp(np.minimum(slope - width, 700))
            out[:, :-1, 0] -= np.exp(np.minimum(slope[:, 1:] - width[:, :-1], 700))
            out[..., 1] = np.exp(log_slope(v) - log_v)
        return width + log_v, d_mean, d_sd


class PosteriorDraws:
    """Any number of objectives: the open region as points drawn from it.

    The expected improvement is the integral over the open region of the probability that a point
    is exceeded in all objectives.

    Parameters
    ----------
    Y : ndarray of shape (k, m)
        Pareto front.
    reference : ndarray of shape (m,)
        Lower limit of each objective.
    rng : numpy.random.Generator
        Source of the points.
    """

    def __init__(self, Y: np.ndarray, reference: np.ndarray, rng: np.random.Generator):
        Y = Y[fronts(Y) == 0]
        top = Y.max(axis=0)
        # A front of one point needs room, too.
        high = top + BEYOND * np.maximum(top - reference, 1e-9)
        found: list[np.ndarray] = []
        n = 0
        for _ in range(N_TRIES):
            Z = reference + rng.random((N_CELLS, len(reference))) * (high - reference)
            Z = Z[~(Z[:, np.newaxis] <= Y).all(axis=2).any(axis=1)]
            found.append(Z)
            if (n := n + len(Z)) >= N_CELLS:
                break
        self.points = np.concatenate(found)[:N_CELLS]

    def terms(self, mean: np.ndarray, sd: np.ndarray) -> Terms:
        """Return log probabilities by point, and their derivatives by `mean` and by `sd`."""
        s = sd[:, np.newaxis]
        z = (mean[:, np.newaxis] - self.points) / s
        slope = slope_of_log_cdf(z) / s
        return log_ndtr(z).sum(axis=2), slope, -z * slope


class HypervolumeCriterion:
    """Logarithm of the expected improvement of the volume under a front.

    Parameters
    ----------
    models : list
        One model for each objective, see `Criterion`.
    cells : Strips, PosteriorDraws or None
        Region not dominated by the front; None: any point that satisfies the bounds is an
        improvement.
    numbers : ndarray of int
        Coordinates for gradients.
    feasibility : Probability or None, default=None
        Model of the probability that a candidate does not fail and satisfies its bounds.
    factors : sequence of callable, default=()
        Further factors, see `Criterion`.

    References
    ----------
    .. [1] M. Emmerich, A. Deutz, J. W. Klinkenberg, "Hypervolume-based expected improvement:
       monotonicity properties and exact computation", CEC 2011.
       https://doi.org/10.1109/CEC.2011.5949880
    .. [2] S. Ament, S. Daulton, D. Eriksson, M. Balandat, E. Bakshy, "Unexpected improvements to
       expected improvement for Bayesian optimization", NeurIPS 2023.
       https://arxiv.org/abs/2310.20708
    """

    def __init__(
        self,
        models: list,
        cells: Any,
        numbers: np.ndarray,
        feasibility: Probability | None = None,
        factors: Sequence[Any] = (),
    ):
        self.factors = factors
        self.models, self.cells, self.numbers = models, cells, numbers
        self.feasibility = feasibility

    def __call__(self, U: np.ndarray) -> np.ndarray:
        """Return the value at each point of `U`, shape (m,)."""
        value = np.zeros(len(U))
        if self.cells is not None:
            predicted = [model.predict(U) for model in self.models]
            mean, sd = (np.column_stack(part) for part in zip(*predicted, strict=True))
            value = logsumexp(self.cells.terms(mean, sd)[0], axis=1)
        if self.feasibility is not None:
            value = value + self.feasibility.log_probability(U)
        for factor in self.factors:
            value = value + factor(U, self.numbers)[0]
        return value

    def with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values, shape (m,), and gradients by the numbers, shape (m, n_numbers)."""
        value, gradient = np.zeros(len(U)), np.zeros((len(U), len(self.numbers)))
        if self.cells is not None:
            predicted = [model.predict_with_gradient(U) for model in self.models]
            mean, sd = (np.column_stack([each[i] for each in predicted]) for i in (0, 1))
            terms, by_mean, by_sd = self.cells.terms(mean, sd)
            value = logsumexp(terms, axis=1)
            weights = np.exp(terms - value[:, np.newaxis])[..., np.newaxis]
            by_mean, by_sd = (weights * by_mean).sum(axis=1), (weights * by_sd).sum(axis=1)
            for j, (_, _, d_mean, d_sd) in enumerate(predicted):
                gradient += by_mean[:, j, None] * d_mean + by_sd[:, j, None] * d_sd
        if self.feasibility is not None:
            more, slope = self.feasibility.log_probability_with_gradient(U)
            value, gradient = value + more, gradient + slope
        for factor in self.factors:
            more, slope = factor(U, self.numbers)
            value, gradient = value + more, gradient + slope
        return value, gradient


def _log_density(z: np.ndarray) -> np.ndarray:
    return -0.5 * z * z - LOG_SQRT_2PI
