"""What stands for a long history: the best results, and a sample of all others.

==========  ======================================================================
i           position of a result in the history's log
u_i         a number in (0, 1), drawn by the seed of the search and the trial
==========  ======================================================================

A sample without replacement, with probabilities proportional to weights w_i, is that of the
largest log(u_i) / w_i [1]_. The weight is i + 1: later results count more, as in the densities of
all results. Neither it nor u_i changes when results are added, so the sample is a function of the
history and is kept up to date by a glance at what is new.

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
    """How much of a long history a model learns from.

    Parameters
    ----------
    best : int
        Count of the best scores.
    size : int
        Count of scores and failures in the sample.
    above : int
        Count of them up to which all are taken.
    renewed : int, default=1
        The best and the sample are drawn again when there are so many more results; those told
        since then are added, so that a model can grow by them.
    """

    best: int
    size: int
    above: int
    renewed: int = 1


class Largest:
    """The rows of a growing table that have the largest keys.

    Parameters
    ----------
    size : int
        Count of rows that are kept.
    n_columns : int
        Count of the columns of keys, of which the first counts first.

    Attributes
    ----------
    rows : ndarray of shape (n_kept,)
        Their numbers, increasing. Of equal keys, earlier rows are kept.
    keys : ndarray of shape (n_kept, n_columns)
        Their keys.
    """

    def __init__(self, size: int, n_columns: int):
        self._size, self._n_read = size, 0
        self._least: tuple[float, ...] | None = None
        self.rows, self.keys = np.empty(0, int), np.empty((0, n_columns))

    def read(self, n: int, keys: Callable[[slice], np.ndarray]) -> "Largest":
        """Take in what is new among the first n rows; ``keys(slice)`` has their keys."""
        if n < self._n_read:
            vars(self).update(vars(Largest(self._size, self.keys.shape[1])))
        if n > self._n_read:
            new, self._n_read = slice(self._n_read, n), n
            found = keys(new)
            # Of a long history hardly any new row is kept.
            if self._least is None or max(map(tuple, found)) > self._least:
                self._keep(np.arange(new.start, n), found)
        return self

    def _keep(self, rows: np.ndarray, keys: np.ndarray) -> None:
        """Keep the largest of what there is and of new rows."""
        rows, keys = np.concatenate([self.rows, rows]), np.concatenate([self.keys, keys])
        if len(rows) >= self._size:
            order = np.lexsort(-keys.T[::-1])[: self._size]
            self._least = tuple(keys[order[-1]])
            kept = np.sort(order)
            rows, keys = rows[kept], keys[kept]
        self.rows, self.keys = rows, keys


def sampling_keys(seed: int, trial_ids: np.ndarray, log_index: np.ndarray) -> np.ndarray:
    """Return what the largest of make a sample, shape (n, 1).

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
