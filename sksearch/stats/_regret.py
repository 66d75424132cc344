"""Regret of searches over the budget spent, and confidence intervals."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import DegenerateDataWarning, bootstrap
from sklearn.utils import check_random_state

from sksearch._utils._numerics import own_numerics
from sksearch.stats._checks import check_count, check_finite, check_fraction

BLOCK = 2**22  # resampled values at a time: 32 MB


@own_numerics()
def normalised_regret(losses: ArrayLike, best: ArrayLike, reference: ArrayLike) -> np.ndarray:
    """Return losses scaled to 0 for the best known loss and 1 for a reference.

    Parameters
    ----------
    losses : array-like
        Losses, in an array of any shape.
    best : array-like
        Lowest known loss of each problem, of a shape that broadcasts with `losses`.
    reference : array-like
        Loss scaled to 1, such as the median or the worst loss of random candidates.

    Returns
    -------
    regret : ndarray
        ``(losses - best) / (reference - best)``: greater than 1 if a loss is worse than the
        reference, and NaN if it is NaN.

    Raises
    ------
    ValueError
        If a `reference` is not greater than `best`.

    Examples
    --------
    >>> from sksearch.stats import normalised_regret
    >>> normalised_regret([[0.5, 0.1], [30, 90]], best=[[0.1], [10]], reference=[[0.9], [50]])
    array([[0.5, 0. ],
           [0.5, 2. ]])
    """
    best, reference = np.asarray(best, dtype=float), np.asarray(reference, dtype=float)
    if not (np.isfinite(best) & np.isfinite(reference) & (reference > best)).all():
        raise ValueError(
            "reference must be greater than best, and both finite: leave out problems on which "
            "every candidate is as good as the best."
        )
    return (np.asarray(losses, dtype=float) - best) / (reference - best)


@own_numerics()
def anytime_regret(
    resources: ArrayLike, incumbents: ArrayLike, grid: ArrayLike, before: float = np.nan
) -> np.ndarray:
    """Evaluate the best loss or regret of a run at the points of a grid.

    The results of several runs come at different times. On a common grid, runs can be averaged.

    Parameters
    ----------
    resources : array-like of shape (n_results,)
        Amounts spent up to each result, such as seconds, epochs or candidates; non-decreasing.
    incumbents : array-like of shape (n_results,)
        Regret or loss of the best candidate after each result.
    grid : array-like of shape (n_grid,)
        Amounts spent, at which to evaluate the run.
    before : float, default=nan
        Value before the first result.

    Returns
    -------
    values : ndarray of shape (n_grid,)
        Regret or loss of the best candidate at each point of the grid, including results at
        exactly this point.

    Raises
    ------
    ValueError
        If the lengths differ, there are no results, or `resources` decreases.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats import anytime_regret
    >>> losses = [0.6, 0.8, 0.2]
    >>> best = np.minimum.accumulate(losses)
    >>> anytime_regret([2, 3, 5], best, grid=[1, 2, 4, 5, 9]).tolist()
    [nan, 0.6, 0.6, 0.2, 0.2]
    """
    resources = check_finite(resources, "resources", 1)
    incumbents = np.asarray(incumbents, dtype=float)
    if incumbents.shape != resources.shape or (np.diff(resources) < 0).any():
        raise ValueError(
            "resources must not decrease, and must have the shape of incumbents, got "
            f"{resources.shape} and {incumbents.shape}: sort both by resource."
        )
    known = np.searchsorted(resources, check_finite(grid, "grid", 1), side="right")
    return np.concatenate([[before], incumbents])[known]


@own_numerics()
def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable = np.mean,
    level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.RandomState | None = 0,
) -> tuple[np.ndarray, np.ndarray] | tuple[float, float]:
    """Return the bootstrap confidence interval of a statistic over runs.

    Parameters
    ----------
    values : array-like of shape (n_runs,) or (n_runs, n_columns)
        Values of the runs. Columns are resampled independently.
    statistic : callable, by default `numpy.mean`
        Function ``statistic(values, axis)``.
    level : float, default=0.95
        Coverage of the interval.
    n_resamples : int, default=2000
        Number of resamples.
    random_state : int, RandomState instance or None, default=0
        Seed of the resamples.

    Returns
    -------
    low, high : ndarray of shape (n_columns,), or float
        Bounds of the interval; equal if all runs are equal.

    Raises
    ------
    ValueError
        If a value is not finite, or there are fewer than two runs.

    Notes
    -----
    The interval is bias-corrected and accelerated [1]_. If this is undefined because nearly all
    values are equal, the bounds are percentiles of the resamples.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", JASA 82, 1987.
       https://doi.org/10.1080/01621459.1987.10478410

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.stats import bootstrap_interval
    >>> low, high = bootstrap_interval(np.random.default_rng(0).exponential(size=50))
    >>> low < 1 < high
    True
    """
    array = np.asarray(values, dtype=float)
    array = check_finite(values, "values", 1 if array.ndim == 1 else 2)
    if len(array) < 2:
        raise ValueError("values has one run: an interval needs at least two.")
    check_fraction(level, "level")
    columns = array.reshape(len(array), -1)
    seed = check_random_state(random_state).randint(2**31 - 1)
    options = {
        "n_resamples": check_count(n_resamples, "n_resamples", 1),
        "confidence_level": level,
        "batch": max(1, BLOCK // array.size),
        "axis": 0,
    }
    # The interval of equal values is undefined: it is made below, by percentiles.
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", DegenerateDataWarning)
        ends = _ends(columns, statistic, "BCa", seed, options)
    undefined = np.isnan(ends).any(axis=0)
    if undefined.any():
        ends[:, undefined] = _ends(columns[:, undefined], statistic, "percentile", seed, options)
    return tuple(ends) if array.ndim == 2 else tuple(ends[:, 0].tolist())


def _ends(columns, statistic, method, seed, options):
    """Return both ends of the intervals, shape (2, n_columns)."""
    rng = np.random.default_rng(seed)
    interval = bootstrap((columns,), statistic, method=method, rng=rng, **options)
    return np.array([interval.confidence_interval.low, interval.confidence_interval.high])
