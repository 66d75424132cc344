"""Transformations of scores for Gaussian processes."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import boxcox1p, inv_boxcox1p

FENCE = 3.0  # spreads below the median; worse scores are raised to it
MAX_SPREAD = 4.0  # relative to the spread of the better half
EXPONENTS = (-2.0, 4.0)  # range of exponents of the Yeo-Johnson transformation; 1 is the identity


def standardise(y: np.ndarray) -> np.ndarray:
    """Return values with mean 0 and standard deviation 1; zeros if all are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._transforms import standardise
    >>> standardise(np.array([1.0, 2.0, 3.0])).round(3).tolist()
    [-1.225, 0.0, 1.225]
    """
    z = y / max(np.abs(y).max(), np.finfo(float).tiny)  # squares of large values overflow
    sd = z.std()
    return (z - z.mean()) / sd if sd > 1e-12 else np.zeros_like(z)


def robust_power_transform(y: np.ndarray) -> np.ndarray:
    """Winsorise scores from below, transform them towards normality, and standardise.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Scores, greater is better.

    Returns
    -------
    z : ndarray of shape (n,)
        Nondecreasing in `y`, mean 0 and standard deviation 1; zeros if all are equal.

    Notes
    -----
    The score of a diverged fit may be a thousand times worse than a good score, and a Gaussian
    process could then barely tell good candidates apart. Scores more than three spreads below the
    median are therefore set to three spreads below the median. The spread is the root mean square
    distance between the scores above the median and the median, or the distance between the lower
    quartile and the median if this is larger, but at most four times the former, because a quarter
    of the fits may have diverged. Then a Yeo-Johnson transformation, fitted by maximum likelihood,
    is applied as in [1]_.

    References
    ----------
    .. [1] A. I. Cowen-Rivers et al., "HEBO: pushing the limits of sample-efficient
       hyper-parameter optimisation", JAIR 74, 2022. https://doi.org/10.1613/jair.1.13643

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._transforms import robust_power_transform
    >>> scores = np.array([0.8, 0.9, 0.85, 0.7, -1000.0])  # one has diverged
    >>> robust_power_transform(scores).round(1).tolist()
    [0.1, 1.3, 0.7, -0.7, -1.5]
    """
    z = standardise(_winsorise(y / _scale(y)))
    exponent = _exponent(z)
    return z if exponent is None else standardise(yeo_johnson(z, exponent))


def inverse_power_transform(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Invert `robust_power_transform`: return scores for transformed values.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Scores to which the transformation was fitted.
    z : ndarray of shape (m,)
        Values on the scale of the transformed scores.

    Returns
    -------
    scores : ndarray of shape (m,)
        Nondecreasing in `z`, outside the range of `y` by at most its width.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.models._transforms import robust_power_transform
    >>> from sksearch.models._transforms import inverse_power_transform
    >>> scores = np.array([0.7, 0.8, 0.85, 0.9])
    >>> z = robust_power_transform(scores)
    >>> inverse_power_transform(scores, z).round(3)
    array([0.7 , 0.8 , 0.85, 0.9 ])
    """
    scale = _scale(y)
    kept = _winsorise(y / scale)
    first = standardise(kept)
    exponent = _exponent(first)
    if exponent is not None:
        powers = yeo_johnson(first, exponent)
        z = _inverse_yeo_johnson(z * powers.std() + powers.mean(), exponent)
    width = np.ptp(y)
    # The inverse power explodes where a model extrapolates.
    return np.clip(scale * (z * kept.std() + kept.mean()), y.min() - width, y.max() + width)


def _scale(y: np.ndarray) -> float:
    """Return the divisor of scores, since squares of large values overflow."""
    return max(np.abs(y).max(), np.finfo(float).tiny)


def _winsorise(y: np.ndarray) -> np.ndarray:
    """Raise scores far below the others."""
    median = np.median(y)
    # The better half is never an outlier: its spread is the measure.
    better = y[y >= median]
    above = np.sqrt(np.mean((better - median) ** 2))
    below = median - np.quantile(y, 0.25)
    spread = np.clip(below, above, MAX_SPREAD * above) if above > 0 else below
    return np.maximum(y, median - FENCE * spread) if spread > 0 else y


def _exponent(z: np.ndarray) -> float | None:
    """Return the exponent of maximum likelihood; None if no transformation is needed."""
    if len(z) < 3 or not z.any():
        return None
    log_slope = np.sign(z) * np.log1p(np.abs(z))

    def negative_log_likelihood(exponent: float) -> float:
        variance = yeo_johnson(z, exponent).var()
        return 0.5 * len(z) * np.log(variance) - (exponent - 1) * log_slope.sum()

    # scipy.stats.yeojohnson has no bounds, and takes ten times as long.
    return minimize_scalar(negative_log_likelihood, bounds=EXPONENTS, method="bounded").x


def yeo_johnson(z: np.ndarray, exponent: float) -> np.ndarray:
    """Return ((1 + z)^e - 1) / e for z >= 0, and -((1 - z)^(2 - e) - 1) / (2 - e) below.

    The power transformation of Yeo, Johnson, "A new family of power transformations to improve
    normality or symmetry", Biometrika 87, 2000. https://doi.org/10.1093/biomet/87.4.954
    """
    return np.where(
        z >= 0,
        boxcox1p(np.maximum(z, 0.0), exponent),
        -boxcox1p(-np.minimum(z, 0.0), 2 - exponent),
    )


def _inverse_yeo_johnson(x: np.ndarray, exponent: float) -> np.ndarray:
    """Return the z that `yeo_johnson` maps to x; infinite if it does not exist."""
    size = inv_boxcox1p(np.abs(x), np.where(x >= 0, exponent, 2 - exponent))
    return np.copysign(np.where(np.isnan(size), np.inf, size), x)
