"""Candidates statistically tied with the winner, tested on common rows or folds.

=========  ===================================================================================
y[i, j]    score of candidate i on fold j
d[i]       mean score of the chosen candidate, less the mean score of candidate i
z[i, g]    by how much block g of rows moves the mean score of candidate i
e[i]       standard error of d[i], given the models: other rows would give another difference
p[i]       probability of a difference of at least d[i], in size, between equal candidates
K, r       number of folds; rows of a test fold for each row of its training fold
=========  ===================================================================================
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t as t_distribution

from sksearch._utils._numerics import own_numerics
from sksearch.stats._noise import FLAT, pooled_variances

#: Probability, in all tests together, that a candidate as good as the chosen one is not tied, if
#: the chosen one was named before scores were seen. The best of several equally good candidates is
#: ahead of the worst by more luck: of five the probability is 0.08, of ten 0.15, of twenty 0.23.
LEVEL = 0.05
POWER = 0.8  # probability of detecting a difference of `Ties.visible`


@dataclass(frozen=True)
class Ties:
    """Candidates tied with the chosen one, and how sharp the test was.

    Parameters
    ----------
    tied : ndarray of bool of shape (n_candidates,)
        True for the chosen one as well.
    by_rows : ndarray of bool of shape (n_candidates,)
        True for candidates compared row by row, False for those compared by folds.
    visible : float
        Difference that would have been seen with a probability of 80 %, the median over the tied
        candidates; NaN if no candidate with other scores was compared.
    """

    tied: np.ndarray
    by_rows: np.ndarray
    visible: float


@own_numerics()
def find_ties(
    y: np.ndarray,
    chosen: int,
    z: np.ndarray | None = None,
    *,
    n_samples: int | None = None,
    test_ratio: float | None = None,
) -> Ties:
    """Compare all candidates with the chosen one.

    Parameters
    ----------
    y : ndarray of shape (n_candidates, n_folds)
        Scores, NaN if missing. Candidates that lack a fold are not tied: they failed, or were
        dropped.
    chosen : int
        Row of the chosen candidate.
    z : ndarray of shape (n_candidates, n_blocks) or None, default=None
        Contributions of blocks of rows to the mean scores: of accuracy 1 / n_rows for a right
        prediction and 0 for a wrong one. NaN for candidates with unknown rows. None: the scores on
        the folds are compared, which show less.
    n_samples : int or None, default=None
        Number of rows in all blocks; None for blocks of one row.
    test_ratio : float or None, default=None
        Rows of a test fold for each row of its training fold. None: 1 / (n_folds - 1).

    Returns
    -------
    ties : Ties
        The tied candidates.

    Notes
    -----
    The test is paired: McNemar's for two classifiers and accuracy, a test of the mean difference
    over rows for other metrics. Levels are corrected for the number of candidates [1]_. Few folds
    give a poor estimate, so the variance of each pair is shrunk towards the variances of all [2]_.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
       Journal of Statistics 6(2):65-70, 1979.
    .. [2] G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential
       expression in microarray experiments", Statistical Applications in Genetics and Molecular
       Biology 3(1), 2004. https://doi.org/10.2202/1544-6115.1027

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats._ties import find_ties
    >>> y = np.array([[0.90, 0.80, 0.85], [0.91, 0.79, 0.84], [0.60, 0.50, 0.56]])
    >>> find_ties(y, 0).tied.tolist()
    [True, True, False]
    """
    complete = np.isfinite(y).all(axis=1)
    same = complete & _equals(y, chosen, z)  # they tell nothing of the precision
    others = np.flatnonzero(complete & ~same)
    tied, by_rows = same.copy(), np.zeros(len(y), dtype=bool)
    tied[chosen] = True
    if not complete[chosen] or not len(others):
        return Ties(tied, by_rows, math.nan)
    gaps = y[chosen] - y[others]
    d = gaps.mean(axis=1)
    d[d <= FLAT * np.abs(y[chosen]).max()] = 0.0  # equal up to rounding, or better
    tied[others] = d == 0
    error, df = _error_of_folds(gaps, test_ratio)
    if z is not None and np.isfinite(z[chosen]).all():
        known = by_rows[others] = np.isfinite(z[others]).all(axis=1)
        own = _error_of_rows(z[chosen] - z[others], d, n_samples)
        error, df = np.where(known, own, error), np.where(known, np.inf, df)
    measured = np.isfinite(error)  # a single fold has no error
    p = _p_values(d[measured], error[measured], df[measured])
    tied[others[measured]] = holm(p) >= LEVEL
    return Ties(tied, by_rows, _visible(error, df, tied[others]))


def _equals(y, chosen, z):
    """True for candidates with the scores of the chosen one, by rows if these are known."""
    same = (y == y[chosen]).all(axis=1)
    if z is not None and np.isfinite(z[chosen]).all():
        same &= (z == z[chosen]).all(axis=1) | np.isnan(z).any(axis=1)
    return same


def _error_of_rows(differences, d, n_samples):
    """Standard errors of the differences, given that candidates are equal, as McNemar's are."""
    centred = differences - differences.mean(axis=1, keepdims=True)
    return np.sqrt(np.sum(centred**2, axis=1) + d**2 / (n_samples or differences.shape[1]))


def _error_of_folds(gaps, test_ratio):
    """Standard errors of the mean gaps over folds, and their degrees of freedom."""
    n_folds = gaps.shape[1]
    r = 1 / max(1, n_folds - 1) if test_ratio is None else test_ratio
    if n_folds < 2:
        return np.full(len(gaps), np.nan), np.full(len(gaps), np.nan)
    # Repeated folds test the same rows again, without information about other rows.
    share = max(1 / n_folds, r / (1 + r))
    own_df = np.full(len(gaps), max(1.0, 1 / share - 1))
    variances, df = pooled_variances(gaps.var(axis=1, ddof=1), own_df)
    return np.sqrt(variances * share), df


def _p_values(d, error, df):
    """Two-sided p-values, because the winner is partly lucky; 1 if it is not better."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(d > 0, d / error, 0.0)  # an error of 0: the same gap on all folds
    is_normal = np.isinf(df)
    tail = np.where(
        is_normal, norm.sf(ratio), t_distribution.sf(ratio, np.where(is_normal, 1, df))
    )
    return np.where(d > 0, 2 * tail, 1.0)


def _visible(error, df, tied):
    """Smallest difference that the tests would have detected for tied candidates."""
    kept = np.isfinite(error) & (tied if tied.any() else True)
    if not kept.any():
        return math.nan
    tail, df = LEVEL / 2 / max(1, tied.sum()), np.median(df[kept])
    reach = norm.isf(tail) if np.isinf(df) else t_distribution.isf(tail, df)
    return float(np.median(error[kept]) * (reach + norm.ppf(POWER)))


def holm(p_values: ArrayLike) -> np.ndarray:
    """Adjust p-values for their number by Holm's step-down method.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        The p-value of each test.

    Returns
    -------
    adjusted : ndarray of shape (n_tests,)
        Adjusted p-values, in the same order. If those below alpha are rejected, the probability
        of any false rejection is below alpha.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
       Journal of Statistics 6, 1979. https://www.jstor.org/stable/4615733

    Examples
    --------
    >>> from sksearch.stats._ties import holm
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p)
    steps = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    # A test is never more significant than one with a smaller p-value.
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
