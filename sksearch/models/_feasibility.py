"""The probability that a candidate does not fail."""

import numpy as np
from scipy.special import log_ndtr

from sksearch.models._gp import GaussianProcess
from sksearch.models._normal import slope_of_log_cdf

# Variance of a label beside what is learnt: one failure makes another likely, not certain.
LABEL_NOISE = 0.1


class Feasibility:
    """A Gaussian process of labels, 1 for success and -1 for failure, squashed by Phi.

    Parameters
    ----------
    gp : GaussianProcess
        Conditioned on what `centred_labels` returns, with a known noise of `LABEL_NOISE`.
    ok : ndarray of shape (n,)
        Which of its points succeeded, bool.

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

    def __init__(self, gp: GaussianProcess, ok: np.ndarray):
        self.gp, self.mean = gp, _mean_label(ok)
        self.noise = gp.noise + LABEL_NOISE

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability of success, shape (m,)."""
        mean, sd = self.gp.predict(U)
        return log_ndtr((mean + self.mean) / np.sqrt(sd**2 + self.noise))

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it and its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        mean, sd, d_mean, d_sd = self.gp.predict_with_gradient(U)
        scale = np.sqrt(sd**2 + self.noise)
        z = (mean + self.mean) / scale
        d_z = d_mean / scale[:, None] - (z * sd / scale**2)[:, None] * d_sd
        return log_ndtr(z), slope_of_log_cdf(z)[:, None] * d_z


def centred_labels(ok: np.ndarray) -> np.ndarray:
    """Return 1 for each success and -1 for each failure, less their mean, shape (n,)."""
    return np.where(ok, 1.0, -1.0) - _mean_label(ok)


def _mean_label(ok: np.ndarray) -> float:
    """As if there were one success and one failure more: no certainty from few labels."""
    return np.where(ok, 1.0, -1.0).sum() / (len(ok) + 2)
