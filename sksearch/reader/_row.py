"""A candidate at one resource, and a candidate with all that it has."""

from dataclasses import dataclass

import numpy as np

from sksearch.history import Params


def amount(resource: int, unit: str) -> str:
    """Say a number of units: "81 epochs"; "resource 81" where they have no name."""
    return f"resource {resource:,}" if unit == "resource" else f"{resource:,} {unit}"


def folds_text(n: int, of: int) -> str:
    """Say which folds a score is of: "mean of 5 folds", "mean of 2 of 3 folds"."""
    if n == of:
        return f"mean of {n} folds" if n > 1 else "one fold"
    return f"mean of {n} of {of} folds" if n > 1 else f"1 of {of} folds"


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """A candidate at one resource: a row of ``cv_results_``, or a result of a history.

    Parameters
    ----------
    index : int
        Position among the rows, which is that in ``cv_results_`` where there is one.
    trial_id : int
        Position of the candidate in the history.
    params : dict
        As the search drew them, without what the resource sets.
    shown : dict
        As ``cv_results_`` shows them.
    resource : int
        Number of units; 1 if there is one resource only.
    scores : ndarray of shape (n_folds,)
        NaN if a fold is missing, and everywhere if it failed, whatever ``error_score`` is.
    score : float
        Mean over the folds that it has; NaN if it failed.
    rank : int
        Among all rows; 1 is the best.
    violation : float
        By how much it breaks the bounds of ``constraints``; 0 if there are none.
    status, error : str
        "ok" or what went wrong, and the first line of the error.
    fit_seconds, score_seconds : float
        Of one fold.
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
        """Number of the folds that it has a score on."""
        return int(np.isfinite(self.scores).sum())

    @property
    def folds(self) -> str:
        """Which folds its score is of, in words."""
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
        The one that counts for it.
    rows : tuple of Row
        All, lowest resource first.
    fit_seconds : float
        For one fold, of all trained up to the row that counts.
    """

    row: Row
    rows: tuple[Row, ...]
    fit_seconds: float

    @property
    def params(self) -> Params:
        """Params without what the resource sets."""
        return self.row.params

    @property
    def status(self) -> str:
        """What became of its last row."""
        return self.rows[-1].status

    @property
    def error(self) -> str:
        """First line of the error of its last row."""
        return self.rows[-1].error
