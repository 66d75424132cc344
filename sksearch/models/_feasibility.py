"""Probabilities that a candidate does not fail, and that it satisfies its bounds."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import log_ndtr

from sksearch.models._gp import GaussianProcess
from sksearch.models._kernels import MixedKernel
from sksearch.models._normal import slope_of_log_cdf

# Noise variance of a label: one failure makes another likely, not certain.
LABEL_NOISE = 0.1
# A process of scores expects high values beyond the border of failures, because it is uncertain
# there. With a smooth probability it would propose such points repeatedly.
SHARPNESS = 1e3
# At a border of equal probabilities half of the candidates fail, and the optimum is not found
# sooner.
CAUTION = 0.4


class Feasibility:
    """A Gaussian process of labels, 1 for success and -1 for failure, squashed by Phi.

    Parameters
    ----------
    gp : GaussianProcess
        Conditioned on the result of `centred_labels`, with a known noise of `LABEL_NOISE`.
    ok : ndarray of shape (n,)
        Mask of its successful points, bool.
    sharpness : float, default=1.0
        Factor of the standardised label: a large factor turns the probability into a sharp border,
        1 if success is more likely than failure, and 0 otherwise.
    caution : float, default=0.0
        Subtracted from the standardised label first: with 0.4 the border lies at a success
        probability of 0.66.

    Notes
    -----
    Least-squares classification ([1]_, section 6.5): a regression on the labels, with the
    probability that a noisy label is above 0. Far from all points it is about the share of
    successes so far, but nearer to 1/2: the mean of the labels includes one additional success and
    one additional failure.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian processes for machine learning", 2006.
       https://doi.org/10.7551/mitpress/3206.001.0001
    .. [2] J. R. Gardner, M. J. Kusner, Z. Xu, K. Q. Weinberger, J. P. Cunningham, "Bayesian
       optimization with inequality constraints", ICML 2014.
       https://proceedings.mlr.press/v32/gardner14.html

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import GaussianProcess, MixedKernel
    >>> from sksearch.models._feasibility import Feasibility
    >>> U, ok = np.array([[0.1], [0.3], [0.9]]), np.array([True, True, False])
    >>> labels = np.where(ok, 1, -1) - 1 / 5  # less their mean, see Notes
    >>> gp = GaussianProcess(MixedKernel([False]), np.log([1e-3, 1, 0.3])).fit(U, labels, 0.1)
    >>> probability = np.exp(Feasibility(gp, ok).log_probability(np.array([[0.9], [0.2]])))
    >>> bool(probability[0] < probability[1])
    True
    """

    def __init__(
        self, gp: GaussianProcess, ok: np.ndarray, sharpness: float = 1.0, caution: float = 0.0
    ):
        self.gp, self.mean = gp, _mean_label(ok)
        self.sharpness, self.caution = sharpness, caution
        self.noise = gp.noise + LABEL_NOISE

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of success, shape (m,)."""
        mean, sd = self.gp.predict(U)
        return log_ndtr(self.sharpness * ((mean + self.mean) / self._scale(sd) - self.caution))

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it with its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        mean, sd, d_mean, d_sd = self.gp.predict_with_gradient(U)
        scale = self._scale(sd)
        label = (mean + self.mean) / scale
        d_label = (d_mean - (label * sd / scale)[:, None] * d_sd) / scale[:, None]
        z = self.sharpness * (label - self.caution)
        return log_ndtr(z), self.sharpness * slope_of_log_cdf(z)[:, None] * d_label

    def _scale(self, sd: np.ndarray) -> np.ndarray:
        """Return the standard deviation of a label."""
        return np.sqrt(sd**2 + self.noise)


class Probability(Protocol):
    """A model of the probability that a candidate is acceptable."""

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability, shape (m,)."""

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it with its gradient by the numbers, shapes (m,) and (m, n_numbers)."""


class Margin:
    """Probability that a bound is satisfied, by a Gaussian process of its slack [1]_.

    Parameters
    ----------
    gp : GaussianProcess
        Conditioned on the result of `standardised_slacks`.
    slacks : ndarray of shape (n,)
        Distance to the bound at its points, negative if it is violated.

    References
    ----------
    .. [1] J. R. Gardner, M. J. Kusner, Z. Xu, K. Q. Weinberger, J. P. Cunningham, "Bayesian
       optimization with inequality constraints", ICML 2014.
       https://proceedings.mlr.press/v32/gardner14.html

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import GaussianProcess, MixedKernel
    >>> from sksearch.models._feasibility import Margin
    >>> from sksearch.models._learning import prior
    >>> kernel = MixedKernel(np.array([False]))
    >>> gp = GaussianProcess(kernel, prior(kernel)[0])
    >>> slacks = np.array([-1.0, 1.0])
    >>> margin = Margin(gp.fit(np.array([[0.1], [0.9]]), slacks), slacks)
    >>> bool(margin.log_probability(np.array([[0.8]]))[0] > np.log(0.5))
    True
    """

    def __init__(self, gp: GaussianProcess, slacks: np.ndarray):
        self.gp = gp
        mean, sd = _mean_and_sd(slacks)
        self.zero = -mean / sd

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability, shape (m,)."""
        mean, sd = self.gp.predict(U)
        return log_ndtr((mean - self.zero) / sd)

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it with its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        mean, sd, d_mean, d_sd = self.gp.predict_with_gradient(U)
        z = (mean - self.zero) / sd
        d_z = (d_mean - z[:, None] * d_sd) / sd[:, None]
        return log_ndtr(z), slope_of_log_cdf(z)[:, None] * d_z


class SlackKernel(MixedKernel):
    """Kernel of a slack, often measured without noise, as for a size or a number.

    A process with noise remains uncertain about the side of the border on which a point lies until
    there are many points next to it.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._learning import learn_theta
    >>> from sksearch.models._feasibility import SlackKernel, standardised_slacks
    >>> U = np.linspace(0, 1, 12)[:, None]
    >>> theta = learn_theta(SlackKernel([False]), U, standardised_slacks(0.3 - U[:, 0]))
    >>> bool(np.exp(theta[0]) < 1e-5)
    True
    """

    noise_prior = (-12.0, 3.0)


class AllOf:
    """Probability that several independent conditions hold.

    Parameters
    ----------
    parts : sequence of Probability
        Model of each condition.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._feasibility import AllOf
    >>> AllOf([]).log_probability(np.zeros((2, 3)))
    array([0., 0.])
    """

    def __init__(self, parts: Sequence[Probability]):
        self.parts = parts

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability, shape (m,)."""
        return sum((part.log_probability(U) for part in self.parts), np.zeros(len(U)))

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it with its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        values, slopes = zip(
            *(part.log_probability_with_gradient(U) for part in self.parts), strict=True
        )
        return np.sum(values, axis=0), np.sum(slopes, axis=0)


def standardised_slacks(slacks: np.ndarray) -> np.ndarray:
    """Return slacks suitable for a process, shape (n,): tails compressed, mean 0, sd 1."""
    mean, sd = _mean_and_sd(slacks)
    return (pulled_in(slacks) - mean) / sd


def pulled_in(slacks: np.ndarray) -> np.ndarray:
    """Return slacks in units of their upper quartile, with the logarithm beyond it.

    A search ends near the border, so half of the slacks may be tiny: in units of their median a
    plane would have a step there.
    """
    size = np.quantile(np.abs(slacks), 0.75)
    scaled = slacks / size if size > 0 else slacks
    return np.sign(scaled) * np.log1p(np.abs(scaled))


def _mean_and_sd(slacks: np.ndarray) -> tuple[float, float]:
    values = pulled_in(slacks)
    sd = values.std()
    # Equal slacks differ by rounding errors only: they are not amplified.
    return float(values.mean()), float(sd) if sd > 1e-12 else 1.0


def centred_labels(ok: np.ndarray) -> np.ndarray:
    """Return 1 for each success and -1 for each failure, minus their mean, shape (n,)."""
    return np.where(ok, 1.0, -1.0) - _mean_label(ok)


def _mean_label(ok: np.ndarray) -> float:
    """Return the mean with one more success and failure: few labels give no certainty."""
    return np.where(ok, 1.0, -1.0).sum() / (len(ok) + 2)
