"""Acquisition function on the unit cube, with pending candidates, failures and cost."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import log_ndtr, logsumexp

from sksearch.acquisition._functions import Acquisition
from sksearch.history import History
from sksearch.models import GaussianProcess
from sksearch.models._feasibility import Probability
from sksearch.models._normal import slope_of_log_cdf
from sksearch.space import Beliefs

# Numerator of the power of beliefs, divided by the number of scores: beta of piBO. With 10 a wrong
# belief costs more than doubling the number of candidates.
BELIEF_POWER = 3.0


@dataclass(frozen=True)
class Penalty:
    """Local penalisation of points near a pending one [1]_.

    Parameters
    ----------
    center : ndarray of shape (n_dims,)
        Pending point, NaN where inactive.
    mean, sd : float
        Predicted score at the pending point.
    best : float
        Greatest known score.
    lipschitz : float
        Estimate of the Lipschitz constant of the scores on the unit cube.

    References
    ----------
    .. [1] J. Gonzalez, Z. Dai, P. Hennig, N. Lawrence, "Batch Bayesian optimization via local
       penalization", AISTATS 2016. https://proceedings.mlr.press/v51/gonzalez16a.html
    """

    center: np.ndarray
    mean: float
    sd: float
    best: float
    lipschitz: float

    def __call__(
        self, U: np.ndarray, numbers: np.ndarray | list[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the log penalty, shape (m,), and its gradient, shape (m, n_numbers)."""
        difference = np.nan_to_num(U - self.center)
        choices = np.setdiff1d(np.arange(U.shape[1]), numbers)
        elsewhere = (np.abs(difference[:, choices]) > 1e-9).any(axis=1)  # another choice
        difference = difference[:, numbers]
        distance = np.sqrt((difference**2).sum(axis=1) + 1e-12)
        # [1]_ eq. 6: the probability that the point is outside the ball without a possible
        # maximum.
        z = (self.lipschitz * distance - max(self.best - self.mean, 0.0)) / self.sd
        value = log_ndtr(z)
        slope = slope_of_log_cdf(z) * self.lipschitz / self.sd
        slope[elsewhere] = 0.0
        return np.where(elsewhere, 0.0, value), (slope / distance)[:, np.newaxis] * difference


@dataclass(frozen=True)
class InteriorPrior:
    """Prior belief that the maximum is inside the ranges rather than at their ends.

    A process is most uncertain at the many faces and corners of the cube, so an acquisition
    function alone proposes them more often than the maximum lies there. As in piBO [1]_, it is
    multiplied by a density, here ``4 u (1 - u) + 0.1`` for each number u, raised to a power that
    decreases with the number of observations.

    Parameters
    ----------
    power : float
        Exponent of the density.

    References
    ----------
    .. [1] C. Hvarfner et al., "piBO: Augmenting acquisition functions with user beliefs for
       Bayesian optimization", ICLR 2022. https://arxiv.org/abs/2204.11051
    """

    power: float

    def __call__(
        self, U: np.ndarray, numbers: np.ndarray | list[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the log factor, shape (m,), and its gradient, shape (m, n_numbers)."""
        u = U[:, numbers]
        density = 4 * u * (1 - u) + 0.1
        value = np.nan_to_num(np.log(density)).sum(axis=1)
        return self.power * value, self.power * np.nan_to_num((4 - 8 * u) / density)


@dataclass(frozen=True)
class UserPrior:
    """A user's belief, as a factor that fades with the number of observations.

    As in piBO [1]_ an acquisition function is multiplied by the density of the beliefs, raised to
    a power that decreases with the number of observations.

    Parameters
    ----------
    prior : Beliefs
        Density of the belief.
    power : float
        Exponent of the density.

    References
    ----------
    .. [1] C. Hvarfner et al., "piBO: Augmenting acquisition functions with user beliefs for
       Bayesian optimization", ICLR 2022. https://arxiv.org/abs/2204.11051
    """

    prior: Beliefs
    power: float

    def __call__(
        self, U: np.ndarray, numbers: np.ndarray | list[int] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the log factor, shape (m,), and its gradient, shape (m, n_numbers)."""
        value, gradient = self.prior.with_gradient(U)
        columns = [] if numbers is None else numbers
        return self.power * value, self.power * gradient[:, columns]


def beliefs(history: History, n_scores: int) -> list[UserPrior]:
    """Return the factor for the user's beliefs at this number of scores, if there are any."""
    prior = history.problem.prior
    return [] if prior is None else [UserPrior(prior, BELIEF_POWER / max(1, n_scores))]


@dataclass(frozen=True)
class Criterion:
    """Criterion maximised to find the next candidate.

    Parameters
    ----------
    models : list
        Models with ``predict(U) -> mean, sd``, and ``predict_with_gradient`` if `numbers` are
        given; the acquisition function is averaged over them.
    acquisition : Acquisition
        Function of mean, standard deviation and best score.
    best : list of float or of ndarray of shape (n_fantasies,)
        Score to improve on for each model, or one for each column of its mean.
    numbers : ndarray of int or None, default=None
        Coordinates for gradients; None: no gradients.
    feasibility : Feasibility, Margin, AllOf or None, default=None
        Model of the probability that a candidate does not fail and satisfies its bounds.
    log_cost : GaussianProcess or None, default=None
        Model of the logarithm of seconds to divide the acquisition function by.
    factors : list of callable
        Each is ``factor(U, numbers)``, the logarithm of a factor, shape (m,), and its gradient: an
        `InteriorPrior`, a `UserPrior`, or a `Penalty` for each pending candidate.
    """

    models: list
    acquisition: Acquisition
    best: list[float | np.ndarray]
    numbers: np.ndarray | None = None
    feasibility: Probability | None = None
    log_cost: GaussianProcess | None = None
    factors: list[Any] = field(default_factory=list)

    def __call__(self, U: np.ndarray) -> np.ndarray:
        """Return the value at each point of `U`, shape (m,)."""
        values = []
        for model, best in zip(self.models, self.best, strict=True):
            mean, sd = model.predict(U)
            if mean.ndim == 2:
                sd = sd[:, np.newaxis]
            values.append(self.acquisition(mean, sd, best).reshape(len(U), -1))
        value, _ = self._as_factor(self._average(np.hstack(values)))
        if self.feasibility is not None:
            value = value + self.feasibility.log_probability(U)
        if self.log_cost is not None:
            value = value - self.log_cost.predict(U)[0]
        for factor in self.factors:
            value = value + factor(U, self.numbers)[0]
        return value

    def with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values, shape (m,), and gradients by the numbers, shape (m, n_numbers)."""
        values: Any = []
        gradients = []
        for model, best in zip(self.models, self.best, strict=True):
            mean, sd, d_mean, d_sd = model.predict_with_gradient(U)
            if mean.ndim == 1:
                mean, d_mean = mean[:, None], d_mean[:, None]
            sd = np.repeat(sd[:, None], mean.shape[1], axis=1)
            value, by_mean, by_sd = self.acquisition.with_slopes(mean, sd, best)
            values.append(value)
            gradients.append(by_mean[..., None] * d_mean + by_sd[..., None] * d_sd[:, None])
        values = np.hstack(values)
        weights = np.ones_like(values)
        if self.acquisition.logarithmic:
            weights = np.exp(values - values.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        gradient = (weights[..., None] * np.concatenate(gradients, axis=1)).sum(axis=1)
        value, slope = self._as_factor(self._average(values))
        return self._with_factors(U, value, slope[:, None] * gradient)

    def _with_factors(
        self, U: np.ndarray, value: np.ndarray, gradient: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Multiply value and gradient by feasibility, cost and further factors."""
        if self.feasibility is not None:
            more, slope = self.feasibility.log_probability_with_gradient(U)
            value, gradient = value + more, gradient + slope
        if self.log_cost is not None:
            mean, _, slope, _ = self.log_cost.predict_with_gradient(U)
            value, gradient = value - mean, gradient - slope
        for factor in self.factors:
            more, slope = factor(U, self.numbers)
            value, gradient = value + more, gradient + slope
        return value, gradient

    def _as_factor(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the value as a logarithm if there are factors, and its slope.

        A confidence bound may have any sign, so as in [1]_ of `Penalty` log(1 + exp(value)) is
        multiplied instead.
        """
        alone = self.feasibility is None and self.log_cost is None and not self.factors
        if self.acquisition.logarithmic or alone:
            return value, np.ones_like(value)
        positive = np.logaddexp(0.0, value)
        return np.log(positive), np.exp(value - positive) / positive

    def _average(self, values: np.ndarray) -> np.ndarray:
        if values.shape[1] == 1:
            return values[:, 0]
        if self.acquisition.logarithmic:
            return logsumexp(values, axis=1) - np.log(values.shape[1])
        return values.mean(axis=1)
