"""Noise of the fold scores of each candidate."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, polygamma

from sksearch._utils._numerics import own_numerics

FLAT = 1e-12  # relative noise below which scores differ only by rounding
MOST_DF = 1e4  # practically infinite


@own_numerics()
def pooled_variances(
    variances: np.ndarray, df: np.ndarray, like: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Shrink variances to their mean, the further the more alike they are.

    Parameters
    ----------
    variances : ndarray of shape (n,)
        Variances of each candidate.
    df : ndarray of shape (n,)
        Degrees of freedom of each; 0 for an unknown variance.
    like : ndarray of bool of shape (n,) or None, default=None
        Candidates used for the mean variance; None: all.

    Returns
    -------
    shrunk, df : ndarray of shape (n,)
        Posterior variances and their degrees of freedom. The prior is an inverse chi-square
        distribution fitted to all variances.

    Notes
    -----
    The prior is found from the logarithms, as in [1]_: scatter beyond the noise of their own
    degrees of freedom is due to different variances.

    References
    ----------
    .. [1] G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential
       expression in microarray experiments", Statistical Applications in Genetics and Molecular
       Biology 3(1), 2004. https://doi.org/10.2202/1544-6115.1027
    """
    known = (variances > 0) & (df > 0)
    known &= True if like is None else like
    if known.sum() < 2:
        return variances, df
    half = df[known] / 2
    logs = np.log(variances[known]) - digamma(half) + np.log(half)
    beyond = logs.var(ddof=1) - polygamma(1, half).mean()
    prior_df = min(2 * _inverse_trigamma(beyond), MOST_DF) if beyond > 0 else MOST_DF
    typical = np.exp(logs.mean() + digamma(prior_df / 2) - np.log(prior_df / 2))
    shrunk = (prior_df * typical + df * variances) / (prior_df + df)
    return shrunk, np.minimum(prior_df + df, max(df[known].sum(), 1.0))


def _inverse_trigamma(value):
    """Solve trigamma(x) = value by Newton's method."""
    x = 0.5 + 1 / value
    for _ in range(30):
        trigamma = polygamma(1, x)
        x += trigamma * (1 - trigamma / value) / polygamma(2, x)
    return float(x)


def checked_scores(scores: ArrayLike, chosen: int | None) -> tuple[np.ndarray, int]:
    """Return scores as an array, infinities as NaN, and the row of the chosen candidate.

    Parameters
    ----------
    scores : array-like of shape (n_candidates, n_folds)
        Greater is better.
    chosen : int or None
        None: the best mean of those with all folds.

    Raises
    ------
    ValueError
        If `scores` does not have two dimensions, or the chosen candidate has no score.
    """
    y = np.array(scores, dtype=float)
    if y.ndim != 2 or y.size == 0:
        raise ValueError(
            f"scores has shape {y.shape}: pass a row for each candidate and a column for each "
            "fold."
        )
    y[~np.isfinite(y)] = np.nan
    if chosen is None:
        complete = np.isfinite(y).all(axis=1)
        chosen = int(np.argmax(np.where(complete, y.sum(axis=1), -np.inf)))
    if not -len(y) <= chosen < len(y) or not np.isfinite(y[chosen]).any():
        raise ValueError(
            f"chosen={chosen} must be the index of one of {len(y)} rows, with a finite score."
        )
    return y, int(chosen) % len(y)
