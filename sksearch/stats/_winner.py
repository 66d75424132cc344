"""Who won a search: what reports, pictures, tables and pages ask."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch.history import History, Params, best_first
from sksearch.stats._history import history_of
from sksearch.stats._rows import ResultRows, folds_text, unit_of


@dataclass(frozen=True)
class Winner:
    """The candidate that won a search, and the result that it won with.

    Parameters
    ----------
    trial_id : int
        Its position in ``history_of(search)``.
    params : dict
        Without what the resource sets.
    score : float
        Mean over the folds that it has.
    resource : int
        Count of units.
    unit : str
        Name of the units.
    n_folds, n_splits : int
        Count of the folds that it has a score on, and of all; 0 where there are none.
    """

    trial_id: int
    params: Params
    score: float
    resource: int
    unit: str
    n_folds: int = 0
    n_splits: int = 0

    @property
    def folds(self) -> str:
        """Which folds its score is of, in words."""
        return folds_text(self.n_folds, self.n_splits)

    @property
    def is_partial(self) -> bool:
        """Whether its score is of some folds only."""
        return self.n_folds < self.n_splits


def winner_of(search: Any) -> Winner | None:
    """Read who won: ``best_index_`` of a search that has it.

    Where nobody was chosen, as with several metrics and ``refit=False``, it is the first in rank,
    and of a history the best at the largest resource.

    Parameters
    ----------
    search : object
        A fitted search of this library or of scikit-learn, the result of `load_history` or of
        `minimize`, or a `History`.

    Returns
    -------
    winner : Winner or None
        None where nobody has a score, or a function as ``refit`` chose a row without one.
    """
    results = getattr(search, "cv_results_", None)
    if results is None:
        return _leader(history_of(search))
    if not results["params"]:
        return None
    rows = ResultRows(search)
    row = rows.winner
    if row is None:
        return None
    trial_id = int(rows.trial_ids[row])
    if rows.resources is not None:
        resource = int(rows.resources[row])
    else:
        resource = max(history_of(search).trials[trial_id].results)
    return Winner(
        trial_id,
        rows.own(results["params"][row]),
        float(rows.means[row]),
        resource,
        unit_of(search),
        int(rows.n_folds[row]),
        rows.scores.shape[1],
    )


def _leader(history: History) -> Winner | None:
    """The best at the largest resource at which anybody has a score."""
    scored: dict[int, list] = {}
    for trial in history.trials:
        for resource, result in trial.results.items():
            if np.isfinite(result.score):
                scored.setdefault(resource, []).append((trial, result))
    if not scored:
        return None
    top = max(scored)
    trial, result = scored[top][best_first([result for _, result in scored[top]])[0]]
    return Winner(trial.id, trial.params, result.score, top, "resource")
