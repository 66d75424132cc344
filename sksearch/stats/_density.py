"""Density of final errors, estimated with the Epanechnikov kernel.

=========  ===========================================================  ==========
v          values, the best losses of n runs                            (n_values,)
h          bandwidth: half the width of the kernel's support            scalar
u          (x - v) / h                                                  (n_points, n_values)
K(u)       3/4 (1 - u^2) for abs(u) <= 1, else 0
=========  ===========================================================  ==========
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from sksearch._utils._numerics import own_numerics
from sksearch.stats._checks import check_finite

# Silverman's 0.9 for the normal kernel, times the ratio of the two kernels' canonical
# bandwidths (15^(1/5) for Epanechnikov's, (4 pi)^(-1/10) for the normal one).
CONSTANT = 0.9 * 15**0.2 * (4 * np.pi) ** 0.1
IQR_OF_NORMAL = 1.349  # in standard deviations
BLOCK = 2**20  # kernel values at a time: 8 MB, so that memory does not grow with the grid


class Density:
    """Estimated probability density of the best losses of many runs (EPDF-OFE in [1]_).

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Best loss of each run.
    bandwidth : float or None, default=None
        Half the width of the Epanechnikov kernel, in units of `values`. None: Silverman's rule.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        Best loss of each run.
    bandwidth : float
        Half the width of the kernel.
    mean : float
        Mean of the values and of the density.
    support : tuple of float
        Interval outside which the density is 0.

    Raises
    ------
    ValueError
        If a value is not finite, the bandwidth is not positive, or all values are equal and no
        bandwidth is given.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers",
       Imperial College London, 2019, section 5.3.
    .. [2] V. A. Epanechnikov, "Non-parametric estimation of a multivariate probability density",
       Theory of Probability and its Applications 14, 1969. https://doi.org/10.1137/1114019

    Examples
    --------
    >>> from sksearch.stats import Density
    >>> density = Density([0.1, 0.2, 0.4], bandwidth=0.1)
    >>> density.support
    (0.0, 0.5)
    >>> density.pdf([0.2]).round(6).tolist(), density.cdf([0.2, 0.5]).round(6).tolist()
    ([2.5], [0.5, 1.0])
    """

    def __init__(self, values: ArrayLike, bandwidth: float | None = None):
        self.values = check_finite(values, "values", 1)
        self.bandwidth = float(silverman_bandwidth(values) if bandwidth is None else bandwidth)
        if not 0 < self.bandwidth < np.inf:
            cause = "all values are equal" if bandwidth is None else "it must be positive"
            raise ValueError(
                f"bandwidth={self.bandwidth}: {cause}; pass a negligible difference in loss."
            )

    @property
    def mean(self) -> float:
        """Mean of the values and of the density."""
        return float(self.values.mean())

    @property
    def support(self) -> tuple[float, float]:
        """Interval outside which the density is 0."""
        low, high = self.values.min(), self.values.max()
        return float(low - self.bandwidth), float(high + self.bandwidth)

    def pdf(self, x: ArrayLike) -> np.ndarray:
        """Return the density at `x`.

        Parameters
        ----------
        x : array-like of shape (n_points,)
            Losses.

        Returns
        -------
        density : ndarray of shape (n_points,)
            Density at each point.
        """
        return self._average(_kernel, x) / self.bandwidth

    def cdf(self, x: ArrayLike) -> np.ndarray:
        """Return the probability of a loss of at most `x`.

        Parameters
        ----------
        x : array-like of shape (n_points,)
            Losses.

        Returns
        -------
        probability : ndarray of shape (n_points,)
            Probability at each point.
        """
        return self._average(_integral, x)

    def _average(self, function: Callable[[np.ndarray], np.ndarray], x: ArrayLike) -> np.ndarray:
        """Return the mean over the values of a function of u, a block of points at a time."""
        x = check_finite(x, "x", 1)
        n_blocks = -(-len(x) * len(self.values) // BLOCK)
        means = [
            function((block[:, np.newaxis] - self.values) / self.bandwidth).mean(axis=1)
            for block in np.array_split(x, n_blocks)
        ]
        return np.concatenate(means)


def _kernel(u: np.ndarray) -> np.ndarray:
    return 0.75 * np.maximum(1 - u * u, 0)


def _integral(u: np.ndarray) -> np.ndarray:
    u = np.clip(u, -1, 1)  # the kernel ends there
    return 0.5 + u * (3 - u * u) / 4


@own_numerics()
def silverman_bandwidth(values: ArrayLike) -> float:
    """Return a bandwidth for Epanechnikov's kernel by Silverman's rule of thumb.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Sample for the estimate.

    Returns
    -------
    bandwidth : float
        ``1.99 min(sd, IQR / 1.349) n^(-1/5)``, or ``1.99 sd n^(-1/5)`` if the quartiles are
        equal; 0 if all values are equal.

    Raises
    ------
    ValueError
        If a value is not finite.

    Notes
    -----
    The rule [1]_ has the factor 0.9 for the normal kernel. Two kernels smooth equally if their
    bandwidths have the ratio of their canonical bandwidths, 2.214 for these two.

    References
    ----------
    .. [1] B. W. Silverman, "Density estimation for statistics and data analysis", 1986, section
       3.4. https://doi.org/10.1201/9781315140919

    Examples
    --------
    >>> from sksearch.stats._density import silverman_bandwidth
    >>> round(silverman_bandwidth([1, 2, 3, 4, 5]), 2)
    2.04
    """
    values = check_finite(values, "values", 1)
    # Rounding can leave a deviation of 1e-17 to values that are all the same.
    sd = values.std() if np.ptp(values) > 0 else 0.0
    low, high = np.quantile(values, [0.25, 0.75])
    spread = min(sd, (high - low) / IQR_OF_NORMAL) or sd
    return float(CONSTANT * spread * len(values) ** -0.2)
