"""Extracts of a long history: the best results, and a sample of all others.

==========  ======================================================================
i           position of a result in the history's log
u_i         a number in (0, 1), drawn by the seed of the search and the trial
==========  ======================================================================

A sample without replacement, with probabilities proportional to weights w_i, consists of the
largest log(u_i) / w_i [1]_. The weight is i + 1: later results count more, as in the densities of
all results. Neither the weight nor u_i changes when results are added, so the sample is a function
of the history, and only new results are read to update it.

.. [1] P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a reservoir", Information
   Processing Letters 97, 2006. https://doi.org/10.1016/j.ipl.2005.11.003
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

GOLDEN, FIRST, SECOND = (  # of SplitMix64, https://doi.org/10.1145/2660193.2660195
    np.uint64(factor) for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(frozen=True)
class Extract:
    """Size of the part of a long history that a model learns from.

    Parameters
    ----------
    best : int
        Number of best scores.
    size : int
        Number of scores and failures in the sample.
    above : int
        Largest number of scores and failures for which all are used.
    renewed : int, default=1
        Number of new results after which the best and the sample are drawn again; results since
        then are added, so that a model can grow by appended rows.
    """

    best: int
    size: int
    above: int
    renewed: int = 1


class Largest:
    """Rows of a growing table with the largest keys.

    Parameters
    ----------
    size : int
        Number of rows to keep.
    n_columns : int
        Number of columns of keys, compared in this order.

    Attributes
    ----------
    rows : ndarray of shape (n_kept,)
        Row numbers, increasing. Earlier rows win ties of keys.
    keys : ndarray of shape (n_kept, n_columns)
        Keys of these rows.
    """

    def __init__(self, size: int, n_columns: int):
        self._size, self._n_read = size, 0
        self._least: tuple[float, ...] | None = None
        self.rows, self.keys = np.empty(0, int), np.empty((0, n_columns))

    def read(self, n: int, keys: Callable[[slice], np.ndarray]) -> "Largest":
        """Process new rows among the first n; ``keys(slice)`` returns their keys."""
        if n < self._n_read:
            vars(self).update(vars(Largest(self._size, self.keys.shape[1])))
        if n > self._n_read:
            new, self._n_read = slice(self._n_read, n), n
            found = keys(new)
            # Most new rows of a long history are not kept.
            if self._least is None or max(map(tuple, found)) > self._least:
                self._keep(np.arange(new.start, n), found)
        return self

    def _keep(self, rows: np.ndarray, keys: np.ndarray) -> None:
        """Keep the largest of the existing and the new rows."""
        rows, keys = np.concatenate([self.rows, rows]), np.concatenate([self.keys, keys])
        if len(rows) >= self._size:
            order = np.lexsort(-keys.T[::-1])[: self._size]
            self._least = tuple(keys[order[-1]])
            kept = np.sort(order)
            rows, keys = rows[kept], keys[kept]
        self.rows, self.keys = rows, keys


def sampling_keys(seed: int, trial_ids: np.ndarray, log_index: np.ndarray) -> np.ndarray:
    """Return keys with which the largest form a sample, shape (n, 1).

    Parameters
    ----------
    seed : int
        Seed of the search.
    trial_ids : ndarray of shape (n,)
        Trials of the results.
    log_index : ndarray of shape (n,)
        Positions of the results in the history's log.

    Returns
    -------
    keys : ndarray of shape (n, 1)
        Logarithms of uniform numbers over weights.
    """
    z = trial_ids.astype(np.uint64) * GOLDEN + np.uint64(seed % 2**64)
    z = (z ^ (z >> np.uint64(30))) * FIRST
    z = (z ^ (z >> np.uint64(27))) * SECOND
    u = (((z ^ (z >> np.uint64(31))) >> np.uint64(11)) + 0.5) * 2.0**-53
    return (np.log(u) / (log_index + 1.0))[:, np.newaxis]
