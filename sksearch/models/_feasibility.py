"""The probability that a candidate does not fail, and that it keeps its bounds."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import log_ndtr

from sksearch.models._gp import GaussianProcess
from sksearch.models._kernels import MixedKernel
from sksearch.models._normal import slope_of_log_cdf

# Variance of a label beside what is learnt: one failure makes another likely, not certain.
LABEL_NOISE = 0.1
# Beyond the border of failures a process of scores promises much, since it knows little there.
# A probability that is smooth lets it go there again and again.
SHARPNESS = 1e3
# Where success is only just likelier than failure, half of the candidates fail, and the optimum is
# not found sooner.
CAUTION = 0.4


class Feasibility:
    """A Gaussian process of labels, 1 for success and -1 for failure, squashed by Phi.

    Parameters
    ----------
    gp : GaussianProcess
        Conditioned on what `centred_labels` returns, with a known noise of `LABEL_NOISE`.
    ok : ndarray of shape (n,)
        Which of its points succeeded, bool.
    sharpness : float, default=1.0
        Factor of the standardised label: a large number makes of the probability a
        border, 1 where success is likelier than failure, and 0 beyond.
    caution : float, default=0.0
        Subtracted from the standardised label before: with 0.4 the border is where success has
        a probability of 0.66.

    Notes
    -----
    Least-squares classification ([1]_, section 6.5): the labels are regressed on, and the
    probability is that of a noisy label above 0. Far from all points it is about the share of
    successes so far, but nearer to 1/2: the mean of the labels is that with one success and one
    failure more.

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
    >>> from sksearch.models import Feasibility, GaussianProcess, MixedKernel
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
        """Return it and its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        mean, sd, d_mean, d_sd = self.gp.predict_with_gradient(U)
        scale = self._scale(sd)
        label = (mean + self.mean) / scale
        d_label = (d_mean - (label * sd / scale)[:, None] * d_sd) / scale[:, None]
        z = self.sharpness * (label - self.caution)
        return log_ndtr(z), self.sharpness * slope_of_log_cdf(z)[:, None] * d_label

    def _scale(self, sd: np.ndarray) -> np.ndarray:
        """Standard deviation of a label."""
        return np.sqrt(sd**2 + self.noise)


class Probability(Protocol):
    """A model of the probability that a candidate may be taken."""

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability, shape (m,)."""

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it and its gradient by the numbers, shapes (m,) and (m, n_numbers)."""


class Margin:
    """The probability that a bound is kept, by a Gaussian process of its slack [1]_.

    Parameters
    ----------
    gp : GaussianProcess
        Conditioned on the slacks as `standardised_slacks` returns them.
    slacks : ndarray of shape (n,)
        How far the bound is kept at its points, negative where it is broken.

    References
    ----------
    .. [1] J. R. Gardner, M. J. Kusner, Z. Xu, K. Q. Weinberger, J. P. Cunningham, "Bayesian
       optimization with inequality constraints", ICML 2014.
       https://proceedings.mlr.press/v32/gardner14.html

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import GaussianProcess, Margin, MixedKernel, prior
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
        """Return it and its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        mean, sd, d_mean, d_sd = self.gp.predict_with_gradient(U)
        z = (mean - self.zero) / sd
        d_z = (d_mean - z[:, None] * d_sd) / sd[:, None]
        return log_ndtr(z), slope_of_log_cdf(z)[:, None] * d_z


class SlackKernel(MixedKernel):
    """The kernel of a slack, which is often measured without noise, as a size or a count is.

    A process that has to believe in noise is not sure which side of the border a point is on
    until there are many points beside it.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import learn_theta
    >>> from sksearch.models._feasibility import SlackKernel, standardised_slacks
    >>> U = np.linspace(0, 1, 12)[:, None]
    >>> theta = learn_theta(SlackKernel([False]), U, standardised_slacks(0.3 - U[:, 0]))
    >>> bool(np.exp(theta[0]) < 1e-5)
    True
    """

    noise_prior = (-12.0, 3.0)


class AllOf:
    """The probability that several things hold, each independent of the others.

    Parameters
    ----------
    parts : sequence of Probability
        A model of each.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models import AllOf
    >>> AllOf([]).log_probability(np.zeros((2, 3)))
    array([0., 0.])
    """

    def __init__(self, parts: Sequence[Probability]):
        self.parts = parts

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability, shape (m,)."""
        return sum((part.log_probability(U) for part in self.parts), np.zeros(len(U)))

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it and its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        values, slopes = zip(
            *(part.log_probability_with_gradient(U) for part in self.parts), strict=True
        )
        return np.sum(values, axis=0), np.sum(slopes, axis=0)


def standardised_slacks(slacks: np.ndarray) -> np.ndarray:
    """Return slacks as a process can model them, shape (n,): tails pulled in, mean 0, sd 1."""
    mean, sd = _mean_and_sd(slacks)
    return (pulled_in(slacks) - mean) / sd


def pulled_in(slacks: np.ndarray) -> np.ndarray:
    """Slacks in units of their upper quartile, beyond which they count by their logarithm only.

    A search ends beside the border, so that half of the slacks may be tiny: in units of their
    median a plane would have a step there.
    """
    size = np.quantile(np.abs(slacks), 0.75)
    scaled = slacks / size if size > 0 else slacks
    return np.sign(scaled) * np.log1p(np.abs(scaled))


def _mean_and_sd(slacks: np.ndarray) -> tuple[float, float]:
    values = pulled_in(slacks)
    sd = values.std()
    return float(values.mean()), float(sd) if sd > 1e-12 else 1.0


def centred_labels(ok: np.ndarray) -> np.ndarray:
    """Return 1 for each success and -1 for each failure, less their mean, shape (n,)."""
    return np.where(ok, 1.0, -1.0) - _mean_label(ok)


def _mean_label(ok: np.ndarray) -> float:
    """As if there were one success and one failure more: no certainty from few labels."""
    return np.where(ok, 1.0, -1.0).sum() / (len(ok) + 2)
