"""Methods compared over problems by ranks.

=========  =============================================================  =====================
losses     one number for each problem and method, less is better         (n_problems, n_methods)
r          ranks from 1, ties averaged                                    (n_problems, n_methods)
q          quantile of the studentised range with infinite degrees of
           freedom, divided by sqrt 2
CD         q sqrt(n_methods (n_methods + 1) / (6 n_problems))             scalar
=========  =============================================================  =====================
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from sksearch._utils._numerics import own_numerics
from sksearch.stats._checks import check_count, check_fraction, check_losses
from sksearch.stats._ties import holm


def ranks(losses: ArrayLike) -> np.ndarray:
    """Rank methods on each problem.

    Parameters
    ----------
    losses : array-like of shape (..., n_methods)
        Losses, smaller is better. NaN means no result, and ranks last.

    Returns
    -------
    ranks : ndarray of shape (..., n_methods)
        Ranks, with 1 for the best method. Equal losses get the average of their ranks. If there
        are several seeds, average over them, such as ``ranks(losses).mean(axis=1)``.

    Examples
    --------
    >>> from sksearch.stats import ranks
    >>> ranks([[0.1, 0.3, 0.2], [0.5, 0.5, float("nan")]]).tolist()
    [[1.0, 3.0, 2.0], [1.5, 1.5, 3.0]]
    """
    losses = np.asarray(losses, dtype=float)
    return rankdata(np.where(np.isnan(losses), np.inf, losses), axis=-1)


@dataclass(frozen=True)
class Friedman:
    """Result of `friedman`.

    Parameters
    ----------
    statistic, p_value : float
        Statistic and p-value of the hypothesis that all methods are alike.
    mean_ranks : ndarray of shape (n_methods,)
        Mean rank of each method over problems.
    critical_difference : float
        Two methods differ if their mean ranks are further apart (Nemenyi).

    Examples
    --------
    >>> from sksearch.stats import friedman
    >>> friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 4]]).mean_ranks.tolist()
    [1.0, 2.25, 2.75]
    """

    statistic: float
    p_value: float
    mean_ranks: np.ndarray
    critical_difference: float


@own_numerics()
def friedman(losses: ArrayLike, alpha: float = 0.05) -> Friedman:
    """Friedman test of whether methods differ over problems, with the critical difference.

    Parameters
    ----------
    losses : array-like of shape (n_problems, n_methods)
        Losses of three or more methods, smaller is better; or mean ranks over seeds.
    alpha : float, default=0.05
        Level of significance of the critical difference.

    Returns
    -------
    result : Friedman
        Friedman's chi-square test and Nemenyi's critical difference [1]_.

    Raises
    ------
    ValueError
        If there are fewer than three methods.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7,
       2006. https://www.jmlr.org/papers/v7/demsar06a.html

    Examples
    --------
    >>> from sksearch.stats import friedman
    >>> result = friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 4], [2, 3, 4]])
    >>> result.mean_ranks.tolist(), round(result.p_value, 3)
    ([1.0, 2.2, 2.8], 0.015)
    >>> round(result.critical_difference, 2)
    1.48
    """
    losses = check_losses(losses)
    n_problems, n_methods = losses.shape
    if n_methods < 3:
        raise ValueError(
            "Friedman's test needs at least three methods, got 2: compare two methods with "
            "wilcoxon_holm."
        )
    r = ranks(losses)
    if (np.ptp(r, axis=1) == 0).all():  # all tied: the statistic is 0 / 0
        statistic, p_value = 0.0, 1.0
    else:
        statistic, p_value = friedmanchisquare(*r.T)
    cd = critical_difference(n_methods, n_problems, alpha)
    return Friedman(float(statistic), float(p_value), r.mean(axis=0), cd)


@own_numerics()
def critical_difference(n_methods: int, n_problems: int, alpha: float = 0.05) -> float:
    """Return by how much two mean ranks must differ to be significant (Nemenyi).

    Parameters
    ----------
    n_methods : int
        Number of methods ranked, at least 2.
    n_problems : int
        Number of problems that ranks are averaged over.
    alpha : float, default=0.05
        Level, for all pairs together.

    Returns
    -------
    difference : float
        Smallest significant difference of mean ranks.

    Raises
    ------
    ValueError
        If a count is too small, or `alpha` is not between 0 and 1.

    Examples
    --------
    >>> from sksearch.stats._ranks import critical_difference
    >>> round(critical_difference(5, 30), 3)
    1.114
    """
    n_methods = check_count(n_methods, "n_methods", 2)
    n_problems = check_count(n_problems, "n_problems", 1)
    q = studentized_range.ppf(1 - check_fraction(alpha, "alpha"), n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_problems)))


@own_numerics()
def wilcoxon_holm(losses: ArrayLike, control: int | None = None) -> np.ndarray:
    """Compare methods over problems, using Wilcoxon signed-rank tests with Holm's correction.

    Parameters
    ----------
    losses : array-like of shape (n_problems, n_methods)
        Losses, smaller is better; or mean ranks over seeds, if the losses of the problems have
        different scales.
    control : int or None, default=None
        Column of the method to compare with all others. None: all pairs are compared.

    Returns
    -------
    p_values : ndarray of shape (n_methods,) or (n_methods, n_methods)
        Two-sided p-values, adjusted for the number of comparisons. NaN for a method and itself, 1
        for methods with equal losses on all problems.

    Raises
    ------
    ValueError
        If there are fewer than two methods, or `control` is not one of them.

    Examples
    --------
    >>> from sksearch.stats import wilcoxon_holm
    >>> losses = [[i, i + 1 + i / 9, i + (-1) ** i * i / 9] for i in range(1, 9)]
    >>> wilcoxon_holm(losses, control=0).round(3).tolist()
    [nan, 0.016, 0.844]
    """
    losses = check_losses(losses)
    n_methods = losses.shape[1]
    if control is None:
        i, j = np.array(list(combinations(range(n_methods), 2))).T
        p_values: np.ndarray = np.full((n_methods, n_methods), np.nan)
        p_values[i, j] = p_values[j, i] = _adjusted(losses[:, i], losses[:, j])
        return p_values
    if not 0 <= check_count(control, "control", 0) < n_methods:
        raise ValueError(f"control={control} must be a column of losses, less than {n_methods}.")
    others = np.arange(n_methods) != control
    p_values = np.full(n_methods, np.nan)
    p_values[others] = _adjusted(losses[:, others], losses[:, [control]])
    return p_values


def _adjusted(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compare the columns of two arrays one by one; return Holm's p-values."""
    with np.errstate(invalid="ignore"):  # inf - inf: two methods without a result are equal
        gaps = np.where(a == b, 0, a - b)
    return holm([wilcoxon(gap).pvalue if gap.any() else 1.0 for gap in gaps.T])
