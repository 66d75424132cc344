"""Scores as a Gaussian process can model them."""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata


def standardise(y):
    """Return values with mean 0 and standard deviation 1; zeros if all are equal."""
    sd = y.std()
    if not sd > 1e-12 * max(1.0, np.abs(y).max()):
        return np.zeros_like(y)
    return (y - y.mean()) / sd


def normal_scores(y):
    """Return for each value the normal quantile of its rank; equal values share one.

    The copula transform of Salinas, Shen, Perrone, "A quantile-based approach for hyperparameter
    transfer learning", ICML 2020. https://proceedings.mlr.press/v119/salinas20a.html
    """
    return ndtri((rankdata(y) - 0.5) / len(y))


def tame(y):
    """Bend a heavy lower tail of scores, and standardise.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Scores, greater is better.

    Returns
    -------
    z : ndarray of shape (n,)
        Increasing in `y`, mean 0 and standard deviation 1; zeros if all are equal.

    Notes
    -----
    A diverged training may be a thousand times worse than a good one, and then good ones are
    all alike to a Gaussian process. As in [1]_ scores below the median are placed as far below
    it as a half-normal law with the spread of the upper half has them by their ranks; the upper
    half, in which the maximum is looked for, keeps its distances.

    References
    ----------
    .. [1] X. Song et al., "The Vizier Gaussian process bandit algorithm", 2024.
       https://arxiv.org/abs/2408.11527
    """
    median = np.median(y)
    upper = y[y >= median]
    spread = np.sqrt(np.mean((upper - median) ** 2))
    if not spread > 1e-12 * max(1.0, np.abs(y).max()):
        return standardise(normal_scores(y))
    z = y.copy()
    below = y < median
    ranks = (rankdata(y)[below] - 0.5) / len(y)
    z[below] = median + spread * ndtri(ranks)
    return standardise(z)
