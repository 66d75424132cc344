"""The probability that a candidate does not fail."""

import numpy as np
from scipy.special import log_ndtr

from sksearch.models._gp import GaussianProcess
from sksearch.models._learning import learn_theta
from sksearch.models._normal import slope_of_log_cdf

# Variance of a label beside what is learnt: one failure makes another likely, not certain.
LABEL_NOISE = 0.1
MAX_LEARNT = 200  # points that hyperparameters are learnt from


class Feasibility:
    """A Gaussian process of labels, 1 for success and -1 for failure, squashed by Phi.

    Parameters
    ----------
    kernel : MixedKernel
        Covariance; its hyperparameters are learnt from the labels alone.

    Notes
    -----
    Least-squares classification ([1]_, section 6.5): the labels are regressed on, and the
    probability is that of a noisy label above 0. Far from all points it is that of the share
    of successes so far.

    References
    ----------
    .. [1] C. E. Rasmussen, C. K. I. Williams, "Gaussian processes for machine learning", 2006.
       https://doi.org/10.7551/mitpress/3206.001.0001
    .. [2] J. R. Gardner, M. J. Kusner, Z. Xu, K. Q. Weinberger, J. P. Cunningham, "Bayesian
       optimization with inequality constraints", ICML 2014.
       https://proceedings.mlr.press/v32/gardner14.html
    """

    def __init__(self, kernel):
        self.kernel = kernel

    def fit(self, U, ok):
        """Learn from points of shape (n, n_dims) and whether they succeeded, shape (n,), bool."""
        labels = np.where(ok, 1.0, -1.0)
        # One success and one failure more than there are: no certainty from few labels.
        self.mean = labels.sum() / (len(labels) + 2)
        rows = np.linspace(0, len(U) - 1, min(len(U), MAX_LEARNT)).astype(int)
        theta = learn_theta(self.kernel, U[rows], (labels - self.mean)[rows], LABEL_NOISE)
        self.gp = GaussianProcess(self.kernel, theta).fit(U, labels - self.mean, LABEL_NOISE)
        self.noise = self.gp.noise + LABEL_NOISE
        return self

    def log_probability(self, U):
        """Return the logarithm of the probability of success, shape (m,)."""
        mean, sd = self.gp.predict(U)
        return log_ndtr((mean + self.mean) / np.sqrt(sd**2 + self.noise))

    def log_probability_with_gradient(self, U):
        """Return it and its gradient by the numbers, shapes (m,) and (m, n_numbers)."""
        mean, sd, d_mean, d_sd = self.gp.predict_with_gradient(U)
        scale = np.sqrt(sd**2 + self.noise)
        z = (mean + self.mean) / scale
        d_z = d_mean / scale[:, None] - (z * sd / scale**2)[:, None] * d_sd
        return log_ndtr(z), slope_of_log_cdf(z)[:, None] * d_z
