"""Points with several values, greater is better: dominance, and the volume covered.

==========  ======================================================================
Y           values, shape (n, m)
front       0 for non-dominated points, 1 for points dominated only by these, ...
==========  ======================================================================
"""

from typing import Any

import numpy as np

from sksearch._utils._on_demand import missing


def fronts(Y: np.ndarray, n_enough: int | None = None) -> np.ndarray:
    """Sort points into fronts.

    A point dominates another one if it is nowhere worse and somewhere better.

    Parameters
    ----------
    Y : ndarray of shape (n, m)
        Values, greater is better.
    n_enough : int or None, default=None
        Once the first fronts have that many points, all others count as one front. None: all
        fronts are distinguished.

    Returns
    -------
    front : ndarray of shape (n,)
        Index of each point's front, int.
    """
    n = len(Y)
    is_no_worse = np.ones((n, n), bool)
    for y in Y.T:
        is_no_worse &= y[:, np.newaxis] >= y
    dominates = is_no_worse & ~is_no_worse.T
    n_above = dominates.sum(axis=0)
    front, level = np.full(n, -1), 0
    n_left = 0 if n_enough is None else max(n - n_enough, 0)
    while (front < 0).sum() > n_left:
        now = (front < 0) & (n_above == 0)
        front[now] = level
        n_above = n_above - dominates[now].sum(axis=0)
        level += 1
    front[front < 0] = level
    return front


def crowding(Y: np.ndarray) -> np.ndarray:
    """Return how far apart the neighbours of each point of one front are [1]_.

    Parameters
    ----------
    Y : ndarray of shape (n, m)
        Values.

    Returns
    -------
    distance : ndarray of shape (n,)
        Infinite at the ends.

    References
    ----------
    .. [1] K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic
       algorithm: NSGA-II", IEEE Trans. Evolutionary Computation 6, 2002.
       https://doi.org/10.1109/4235.996017
    """
    n, m = Y.shape
    distance = np.zeros(n)
    for j in range(m):
        order = np.argsort(Y[:, j], kind="stable")  # ties: the oldest first
        y = Y[order, j]
        distance[order[[0, -1]]] = np.inf
        if y[-1] > y[0]:
            distance[order[1:-1]] += (y[2:] - y[:-2]) / (y[-1] - y[0])
    return distance


def best_first(Y: np.ndarray, violation: np.ndarray, n_enough: int | None = None) -> np.ndarray:
    """Order points: feasible ones by front and crowding, then the others by violation.

    Parameters
    ----------
    Y : ndarray of shape (n, m)
        Values, greater is better.
    violation : ndarray of shape (n,)
        Violation of the bounds, 0 if all are kept.
    n_enough : int or None, default=None
        Number of points whose order matters, so that the others need not be sorted. None: all.

    Returns
    -------
    order : ndarray of shape (n,)
        Indices, best first; ties keep their order. With one value it is the order of the values.
    """
    n, m = Y.shape
    first, second = np.zeros(n), -Y[:, 0]
    broken = violation > 0
    if m > 1:
        kept = np.flatnonzero(~broken)
        n_enough = len(kept) if n_enough is None else min(n_enough, len(kept))
        first[kept] = fronts(Y[kept], n_enough)
        level = n_ordered = 0
        while n_ordered < n_enough:
            mine = kept[first[kept] == level]
            second[mine] = -crowding(Y[mine])
            level, n_ordered = level + 1, n_ordered + len(mine)
    first[broken], second[broken] = np.inf, violation[broken]
    return np.lexsort((second, first))


def hypervolume(Y: np.ndarray, reference: np.ndarray) -> float:
    """Return the volume that points cover above a reference point.

    Parameters
    ----------
    Y : ndarray of shape (n, m)
        Values, greater is better.
    reference : ndarray of shape (m,)
        The lowest value that counts, for each objective.

    Returns
    -------
    volume : float
        Exact volume. For three objectives or more it is computed by moocore.

    Raises
    ------
    ImportError
        If there are three objectives or more, and moocore is not installed.
    """
    Y = np.asarray(Y, dtype=float)
    Y = Y[(reference < Y).all(axis=1)]
    if not len(Y):
        return 0.0
    if Y.shape[1] == 2:
        x, y = (Y - reference)[np.lexsort((-Y[:, 1], -Y[:, 0]))].T
        height = np.maximum.accumulate(y)
        return float(np.sum(x * np.diff(height, prepend=0.0)))
    return float(_moocore().hypervolume(-Y, ref=-np.asarray(reference, dtype=float)))


def _moocore() -> Any:
    try:
        import moocore
    except ImportError:
        what = "The hypervolume of three or more objectives needs moocore"
        raise missing(what, "multiobjective") from None
    return moocore
