"""Acquisition functions of the mean and standard deviation of a candidate's score.

==============  =================================================================
mu, sigma       predicted mean and standard deviation, greater is better
best            score to improve on
z               (mu - best - margin) / sigma
h(z)            phi(z) + z Phi(z); expected improvement is sigma h(z)
==============  =================================================================
"""

import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.special import erfcx, log_ndtr, logsumexp, ndtr

from sksearch.models._normal import LOG_SQRT_2PI, slope_of_log_cdf

LOG_SQRT_PI_OVER_2 = 0.5 * np.log(np.pi / 2)


def log_h(z: np.ndarray) -> np.ndarray:
    """Return the logarithm of phi(z) + z Phi(z) without underflow or cancellation.

    Parameters
    ----------
    z : ndarray
        Standardised improvement.

    Returns
    -------
    value : ndarray
        Relative error below 1e-9 unless z^2 overflows.

    Notes
    -----
    Similar to [1]_: the definition above -1, and below phi(z) (1 + z m(-z)) with Mills' ratio m,
    computed with ``erfcx`` down to -25 and, further down, with a continued fraction, because the
    difference to 1 matters there.

    References
    ----------
    .. [1] S. Ament, S. Daulton, D. Eriksson, M. Balandat, E. Bakshy, "Unexpected improvements to
       expected improvement for Bayesian optimization", NeurIPS 2023.
       https://arxiv.org/abs/2310.20708
    """
    z = np.asarray(z, dtype=float)
    near = z > -1
    if near.all():  # with few points the cost depends on the number of operations
        return np.log(np.exp(-0.5 * z * z - LOG_SQRT_2PI) + z * ndtr(z))
    value = np.empty_like(z)
    x = z[near]
    value[near] = np.log(np.exp(-0.5 * x * x - LOG_SQRT_2PI) + x * ndtr(x))
    x = -z[~near]
    rest = 1 - x * np.exp(LOG_SQRT_PI_OVER_2) * erfcx(x / np.sqrt(2))
    if (far := x > 25).any():
        rest[far] = _one_minus_x_mills(x[far])
    value[~near] = -0.5 * x * x - LOG_SQRT_2PI + np.log(rest)
    return value


def _one_minus_x_mills(x: np.ndarray) -> np.ndarray:
    """Return 1 - x m(x) for large x, from m(x) = 1 / (x + 1 / (x + 2 / (x + 3 / ...)))."""
    tail = x
    for k in range(12, 1, -1):
        tail = x + k / tail
    return 1 / (x * tail + 1)


def _check_not_negative(name: str, value: float) -> None:
    if not isinstance(value, numbers.Real) or not 0 <= value < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number of at least 0.")


class Acquisition(ABC):
    """Function of predicted mean, standard deviation and the score to improve on.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.acquisition._functions import Acquisition
    >>> class Mean(Acquisition):
    ...     def __call__(self, mean, sd, best):
    ...         return mean - best
    ...     def with_slopes(self, mean, sd, best):
    ...         return self(mean, sd, best), np.ones_like(mean), np.zeros_like(sd)
    >>> Mean()(np.array([0.5, 0.7]), np.array([0.1, 0.2]), best=0.5).round(6).tolist()
    [0.0, 0.2]
    """

    #: Whether the values are logarithms of the quantity averaged over several models.
    logarithmic: bool = False

    @abstractmethod
    def __call__(self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray) -> np.ndarray:
        """Return the values, of the shape of `mean` and `sd`."""

    @abstractmethod
    def with_slopes(
        self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the values, and their derivatives by `mean` and by `sd`."""


@dataclass(frozen=True)
class LogEI(Acquisition):
    """Logarithm of the expected improvement by at least `margin` [1]_.

    Parameters
    ----------
    margin : float, default=0.0
        Minimum improvement, in standard deviations of the known scores, at least 0; often called
        xi. Larger values explore more.

    References
    ----------
    .. [1] D. R. Jones, M. Schonlau, W. J. Welch, "Efficient global optimization of expensive
       black-box functions", J. Global Optimization 13, 1998.
       https://doi.org/10.1023/A:1008306431147

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.acquisition import LogEI
    >>> mean, sd = np.array([0.5, 0.5]), np.array([0.1, 0.2])  # the second is less certain
    >>> np.exp(LogEI()(mean, sd, best=0.6)).round(4).tolist()
    [0.0083, 0.0396]
    """

    margin: float = 0.0

    logarithmic = True

    def __post_init__(self):
        _check_not_negative("margin", self.margin)

    def __call__(self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray) -> np.ndarray:
        """Return log(sigma h(z))."""
        return np.log(sd) + log_h((mean - best - self.margin) / sd)

    def with_slopes(
        self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return log(sigma h(z)), Phi(z) / (sigma h(z)) and phi(z) / (sigma h(z))."""
        z = (mean - best - self.margin) / sd
        value = np.log(sd) + log_h(z)
        by_sd = np.exp(-0.5 * z * z - LOG_SQRT_2PI - value)
        return value, np.exp(log_ndtr(z) - value), by_sd


@dataclass(frozen=True)
class LogPI(Acquisition):
    """Logarithm of the probability of an improvement by at least `margin` [1]_.

    Parameters
    ----------
    margin : float, default=0.01
        Minimum improvement, in standard deviations of the known scores, at least 0.

    References
    ----------
    .. [1] H. J. Kushner, "A new method of locating the maximum point of an arbitrary multipeak
       curve in the presence of noise", J. Basic Engineering 86, 1964.
       https://doi.org/10.1115/1.3653121

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.acquisition import LogPI
    >>> mean, sd = np.array([0.5, 0.5]), np.array([0.1, 0.2])
    >>> np.exp(LogPI(margin=0)(mean, sd, best=0.6)).round(4).tolist()
    [0.1587, 0.3085]
    """

    margin: float = 0.01

    logarithmic = True

    def __post_init__(self):
        _check_not_negative("margin", self.margin)

    def __call__(self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray) -> np.ndarray:
        """Return log Phi(z)."""
        return log_ndtr((mean - best - self.margin) / sd)

    def with_slopes(
        self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return log Phi(z), phi(z) / (sigma Phi(z)) and -z times it."""
        z = (mean - best - self.margin) / sd
        ratio = slope_of_log_cdf(z) / sd
        return log_ndtr(z), ratio, -z * ratio


@dataclass(frozen=True)
class UCB(Acquisition):
    """Upper confidence bound of the score, as the lower bound of a loss in [1]_.

    Parameters
    ----------
    kappa : float, default=2.0
        Number of standard deviations above the mean, at least 0.

    References
    ----------
    .. [1] N. Srinivas, A. Krause, S. Kakade, M. Seeger, "Gaussian process optimization in the
       bandit setting", ICML 2010. https://arxiv.org/abs/0912.3995

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.acquisition import UCB
    >>> UCB(kappa=2)(np.array([0.5, 0.5]), np.array([0.1, 0.2]), best=0.6).tolist()
    [0.7, 0.9]
    """

    kappa: float = 2.0

    def __post_init__(self):
        _check_not_negative("kappa", self.kappa)

    def __call__(self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray) -> np.ndarray:
        """Return mu + kappa sigma."""
        return mean + self.kappa * sd

    def with_slopes(
        self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return mu + kappa sigma, 1 and kappa."""
        return self(mean, sd, best), np.ones_like(mean), np.full_like(sd, self.kappa)


@dataclass(frozen=True)
class MaxValueEntropy(Acquisition):
    """Logarithm of the information that a score gives about the maximum [1]_.

    With sampled maxima y*, and g = (y* - mu) / sigma, it is the mean over the maxima of
    ``g phi(g) / (2 Phi(g)) - log Phi(g)``.

    Parameters
    ----------
    maxima : tuple of float
        Maxima of functions sampled from the model; none is below the score to improve on.

    References
    ----------
    .. [1] Z. Wang, S. Jegelka, "Max-value entropy search for efficient Bayesian optimization",
       ICML 2017. https://arxiv.org/abs/1703.01968
    """

    maxima: tuple[float, ...]

    logarithmic = True

    def __call__(self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray) -> np.ndarray:
        """Return the logarithm of the mean over the maxima."""
        return self.with_slopes(mean, sd, best)[0]

    def with_slopes(
        self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return it, and its derivatives by `mean` and by `sd`."""
        tops = np.array(self.maxima).reshape(-1, *[1] * mean.ndim)
        g = (np.maximum(tops, best) - mean) / sd
        ratio, log_ratio = slope_of_log_cdf(g), -0.5 * g * g - LOG_SQRT_2PI - log_ndtr(g)
        # Where both terms are tiny, -log Phi(g) is Phi(-g).
        far = np.logaddexp(np.log(np.maximum(g, 1) / 2) + log_ratio, log_ndtr(-g))
        low = np.minimum(g, 5)
        each = np.where(g > 5, far, np.log(low * slope_of_log_cdf(low) / 2 - log_ndtr(low)))
        value = logsumexp(each, axis=0) - np.log(len(tops))
        slope = np.exp(log_ratio - value) * (1 + g * (g + ratio)) / (2 * len(tops))
        return value, (slope / sd).sum(axis=0), (slope * g / sd).sum(axis=0)


@dataclass(frozen=True)
class Indifferent(Acquisition):
    """Constant 1: the other factors of a criterion decide."""

    logarithmic = True

    def __call__(self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray) -> np.ndarray:
        """Return log 1."""
        return np.zeros(np.broadcast_shapes(mean.shape, sd.shape))

    def with_slopes(
        self, mean: np.ndarray, sd: np.ndarray, best: float | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return log 1 and slopes of 0."""
        zero = np.zeros_like(mean)
        return zero, zero, zero
