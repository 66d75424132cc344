"""Profiles of loss curves: mean, median, standard deviation and order.

=========  =============================================================  ====================
f_i(x)     loss of curve i at epoch x                                     (n_curves, n_epochs)
i ~ j      relation of two curves at one epoch: below, equal or above
order      share of the n (n - 1) / 2 pairs whose relation is the same    scalar in [0, 1]
           at two epochs
=========  =============================================================  ====================
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import trapezoid
from scipy.stats import kendalltau

from sksearch._utils._numerics import own_numerics
from sksearch.stats._checks import check_finite


@dataclass(frozen=True)
class Profiles:
    """Result of `profiles`.

    Parameters
    ----------
    mean, median, sd : ndarray of shape (n_epochs,)
        Mean, median and standard deviation of the curves at each epoch; sd divides by the
        number of curves.
    dynamic_order : ndarray of shape (n_epochs,)
        Share of pairs of curves in the same order as one epoch before; NaN at the first.
    order_at_ends : float
        Share of pairs of curves in the same order at the first and at the last epoch.

    Examples
    --------
    >>> from sksearch.stats import profiles
    >>> profiles([[3, 2, 1], [4, 3, 3], [5, 1, 2]]).median.tolist()
    [4.0, 2.0, 2.0]
    """

    mean: np.ndarray
    median: np.ndarray
    sd: np.ndarray
    dynamic_order: np.ndarray
    order_at_ends: float


@own_numerics()
def profiles(curves: ArrayLike) -> Profiles:
    """Return mean, median, standard deviation and order of loss curves at each epoch.

    Parameters
    ----------
    curves : array-like of shape (n_curves, n_epochs)
        Losses of at least two curves of the same length.

    Returns
    -------
    profiles : Profiles
        Profiles of the curves. Early stopping relies on the order: 1 means that curves never
        cross, 0.5 that the order at an epoch is independent of the order at the epoch before.

    Raises
    ------
    ValueError
        If `curves` has the wrong shape, a single curve, or non-finite values.

    Notes
    -----
    In [1]_ the order is the share of pairs of curves that keep their strict order. Here two curves
    equal at both epochs also keep their order, so the order is 1 if no curve changes. Both
    definitions agree without ties.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers",
       Imperial College London, 2019, section 5.2.

    Examples
    --------
    >>> from sksearch.stats import profiles
    >>> result = profiles([[3, 2, 1], [4, 3, 3], [5, 1, 2]])
    >>> result.mean.tolist()
    [4.0, 2.0, 2.0]
    >>> result.dynamic_order.round(2).tolist()
    [nan, 0.33, 0.67]
    >>> round(result.order_at_ends, 2)
    0.67
    """
    curves = check_finite(curves, "curves", 2)
    if len(curves) < 2:
        raise ValueError("curves has 1 row: pass at least two curves.")
    epochs = curves.T
    steps = [order_kept(a, b) for a, b in pairwise(epochs)]
    return Profiles(
        curves.mean(axis=0),
        np.median(curves, axis=0),
        curves.std(axis=0),
        np.array([np.nan, *steps]),
        order_kept(epochs[0], epochs[-1]),
    )


@own_numerics()
def order_kept(before: ArrayLike, after: ArrayLike) -> float:
    """Return the share of pairs in the same order in two lists of values.

    Parameters
    ----------
    before, after : array-like of shape (n,)
        Two lists of values of the same n objects.

    Returns
    -------
    share : float
        Share in [0, 1]. A pair equal in both lists is in the same order; a pair equal in one list
        alone is not.

    Raises
    ------
    ValueError
        If the lists are shorter than two, of different lengths, or not finite.

    Notes
    -----
    The cost is O(n log n), by Kendall's tau. Of N pairs let C be in the same strict order, D in
    the opposite order, T_b tied before, T_a tied after and T tied in both lists. Then
    ``C + D = N - T_b - T_a + T`` and ``C - D = tau sqrt((N - T_b) (N - T_a))``.

    Examples
    --------
    >>> from sksearch.stats._profiles import order_kept
    >>> order_kept([1, 2, 3, 3], [1, 2, 4, 3])
    0.8333333333333334
    """
    before, after = check_finite(before, "before", 1), check_finite(after, "after", 1)
    n = len(before)
    if n < 2 or len(after) != n:
        raise ValueError(
            f"before has {n} values, but after has {len(after)}: both must have the same length "
            "of at least two."
        )
    n_pairs = n * (n - 1) // 2
    _, i, n_before = np.unique(before, return_inverse=True, return_counts=True)
    _, j, n_after = np.unique(after, return_inverse=True, return_counts=True)
    tied_before, tied_after = _pairs(n_before), _pairs(n_after)
    tied = _pairs(np.unique(i * n + j, return_counts=True)[1])
    difference = 0
    if max(tied_before, tied_after) < n_pairs:  # otherwise tau is 0 / 0, and no pair has an order
        tau = kendalltau(before, after).statistic
        # Counts are integers, so rounding removes the errors of the square roots.
        difference = round(tau * np.sqrt(float(n_pairs - tied_before) * (n_pairs - tied_after)))
    same = (n_pairs - tied_before - tied_after + tied + difference) // 2
    return (same + tied) / n_pairs


def _pairs(counts: np.ndarray) -> int:
    """Return the number of pairs within groups of these counts."""
    return int((counts * (counts - 1) // 2).sum())


@own_numerics()
def area_under_curve(curves: ArrayLike, resources: ArrayLike | None = None) -> np.ndarray:
    """Return the area under each loss curve, which is small if the loss falls early.

    Parameters
    ----------
    curves : array-like of shape (n_curves, n_epochs)
        Losses.
    resources : array-like of shape (n_epochs,) or None, default=None
        Resources at which the losses were measured, increasing; None: one unit apart.

    Returns
    -------
    areas : ndarray of shape (n_curves,)
        Areas by the trapezoidal rule.

    Raises
    ------
    ValueError
        If the shapes do not match, or a value is not finite.

    Examples
    --------
    >>> from sksearch.stats import area_under_curve
    >>> area_under_curve([[4, 2, 1], [4, 4, 1]]).tolist()
    [4.5, 6.5]
    """
    curves = check_finite(curves, "curves", 2)
    if resources is None:
        return trapezoid(curves, axis=1)
    resources = check_finite(resources, "resources", 1)
    if len(resources) != curves.shape[1] or (np.diff(resources) <= 0).any():
        raise ValueError(
            f"resources must be {curves.shape[1]} increasing values, one for each column of "
            f"curves, got {len(resources)} of them."
        )
    return trapezoid(curves, resources, axis=1)
