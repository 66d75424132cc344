"""Contributions of the rows of a test fold to its score, in blocks, for intervals of reports.

Rows are grouped in blocks, the same for all candidates, so that little is stored per candidate: a
number for each block.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch._utils._compat import to_numpy
from sksearch._utils._typing import Scorer, Targets
from sksearch.fitting.run._folds import trains_on_the_past
from sksearch.fitting.run._metric_calls import Heard
from sksearch.fitting.run._results import ResultRow
from sksearch.fitting.run._tasks import NUMBER, Context
from sksearch.resources._data import row_numbers

N_BLOCKS = (240, 120, 60, 30)  # with more blocks, an interval is hardly better
# Limit per candidate over all folds, because repeated folds would have many more
MOST_NUMBERS = 1_000


def blocks_of_rows(splits: list, n_rows: int, groups: Targets = None) -> np.ndarray | None:
    """Divide the rows into blocks.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Training and test rows of the folds.
    n_rows : int
        Number of all rows.
    groups : array-like of shape (n_rows,) or None, default=None
        Rows of a group are in one block.

    Returns
    -------
    blocks : ndarray of int of shape (n_rows,) or None
        The block of each row. None for ordered rows, as in a time series, since these are not
        independent.
    """
    if len(splits) > 1 and trains_on_the_past(splits):
        return None
    tests = [row_numbers(test) for _, test in splits]
    units = np.arange(n_rows)
    if groups is not None:
        units = np.unique(to_numpy(groups), return_inverse=True)[1].ravel()
    fold = np.full(units.max() + 1, len(splits))  # first fold that tests each unit
    for i, test in reversed([*enumerate(tests)]):
        fold[units[test]] = i
    # At random, but fold by fold, so that each fold has few blocks.
    order = np.lexsort((np.random.default_rng(0).permutation(len(fold)), fold))
    block = np.empty(len(fold), dtype=np.int16)
    for n_blocks in N_BLOCKS:
        block[order] = np.arange(len(fold)) * min(n_blocks, len(fold)) // len(fold)
        if sum(len(_present(block[units[test]])) for test in tests) <= MOST_NUMBERS:
            break
    return block[units]


def _present(blocks: np.ndarray) -> np.ndarray:
    """The non-empty blocks, in their order."""
    return np.flatnonzero(np.bincount(blocks))


class RowListener:
    """Records the arguments of the deciding metric on the test rows of a fold.

    Parameters
    ----------
    context : Context
        Context of the search.
    test : tuple
        Indices, X and y of the test rows.
    """

    def __init__(self, context: Context, test: tuple[Any, Any, Any]) -> None:
        self._context, (self._rows, _, y) = context, test
        self._heard = Heard(y)

    def scorer(self) -> Scorer:
        """Return the scorer of the search, with recording."""
        if self._context.blocks is None:
            return self._context.scorer
        return self._heard.scorer(self._context)

    def contributions(self, score: float) -> bytes | None:
        """Return the contribution of each block to the last recorded score.

        Parameters
        ----------
        score : float
            Score as returned by the scorer.

        Returns
        -------
        contributions : bytes or None
            8-byte numbers summing to 0, for the blocks with rows in the fold, in their order. None
            if unknown.
        """
        blocks = self._context.blocks
        call = self._heard.call(score)
        if call is None or blocks is None:
            return None
        sign, c, blocks = call.sign, call.contributions, blocks[to_numpy(self._rows)]
        sums = np.bincount(blocks, sign * (c - c.mean())) / len(c)
        return sums[_present(blocks)].astype(NUMBER).tobytes()


@dataclass(frozen=True)
class RowScores:
    """Contributions of rows to the scores in ``cv_results_``.

    Parameters
    ----------
    contributions : ndarray of shape (n_rows, n_blocks)
        Contributions of blocks of rows of X to the mean over folds of each row of ``cv_results_``:
        0 for folds not evaluated, NaN if an output has none.
    n_samples : int
        Number of the rows of X that folds test.
    """

    contributions: np.ndarray
    n_samples: int

    @classmethod
    def of(cls, rows: list[ResultRow], context: Context) -> "RowScores | None":
        """Read the outputs of rows; None if rows of X are not divided into blocks.

        Parameters
        ----------
        rows : list of ResultRow
            Rows of ``cv_results_``.
        context : Context
            Context of the search.
        """
        if context.blocks is None:
            return None
        tests = [to_numpy(test) for _, test in context.splits]
        places = [_present(context.blocks[test]) for test in tests]
        found = np.zeros((len(rows), int(context.blocks.max()) + 1), dtype=NUMBER)
        for sums, row in zip(found, rows, strict=True):
            for output, place in zip(row.outputs, places, strict=False):
                parts = np.frombuffer(output.rows or b"", dtype=NUMBER)
                sums[place] += parts / len(tests) if len(parts) == len(place) else np.nan
        tested = np.zeros(len(context.blocks), dtype=bool)
        for test in tests:
            tested[test] = True
        return cls(found, int(tested.sum()))
