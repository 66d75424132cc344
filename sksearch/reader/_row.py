"""A candidate at one resource, and a candidate with all of its rows."""

from dataclasses import dataclass

import numpy as np

from sksearch.history import Params


def folds_text(n: int, of: int) -> str:
    """Describe the folds of a score: "mean of 5 folds", "mean of 2 of 3 folds"."""
    if n == of:
        return f"mean of {n} folds" if n > 1 else "one fold"
    return f"mean of {n} of {of} folds" if n > 1 else f"1 of {of} folds"


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """A candidate at one resource: a row of ``cv_results_``, or a result of a history.

    Parameters
    ----------
    index : int
        Position among the rows, equal to the position in ``cv_results_`` if it exists.
    trial_id : int
        Position of the candidate in the history.
    params : dict
        Parameters as drawn, without the resource's.
    shown : dict
        Parameters as in ``cv_results_``.
    resource : int
        Number of units; 1 if there is one resource only.
    scores : ndarray of shape (n_folds,)
        Scores; NaN if a fold is missing, and NaN everywhere after a failure, whatever
        ``error_score`` is.
    score : float
        Mean over its folds; NaN if it failed.
    rank : int
        Rank among all rows; 1 is the best.
    violation : float
        Violation of the bounds; 0 without bounds.
    status, error : str
        "ok" or the kind of failure, and the first line of the error.
    fit_seconds, score_seconds : float
        Seconds of one fold.
    """

    index: int
    trial_id: int
    params: Params
    shown: Params
    resource: int
    scores: np.ndarray
    score: float
    rank: int
    violation: float = 0.0
    status: str = "ok"
    error: str = ""
    fit_seconds: float = 0.0
    score_seconds: float = 0.0

    @property
    def n_folds(self) -> int:
        """Number of folds with a score."""
        return int(np.isfinite(self.scores).sum())

    @property
    def folds(self) -> str:
        """Description of the folds of its score."""
        return folds_text(self.n_folds, len(self.scores))

    @property
    def is_complete(self) -> bool:
        """True if it has a score on every fold."""
        return self.n_folds == len(self.scores)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate of a search, with all of its rows.

    Parameters
    ----------
    row : Row
        The row that represents the candidate.
    rows : tuple of Row
        All, lowest resource first.
    fit_seconds : float
        Seconds per fold of all training up to the deciding row.
    """

    row: Row
    rows: tuple[Row, ...]
    fit_seconds: float

    @property
    def params(self) -> Params:
        """Parameters without the resource's."""
        return self.row.params

    @property
    def status(self) -> str:
        """Status of its last row."""
        return self.rows[-1].status

    @property
    def error(self) -> str:
        """First line of the error of its last row."""
        return self.rows[-1].error
