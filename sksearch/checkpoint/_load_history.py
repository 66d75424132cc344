"""Reading of a checkpoint directory, without the data, and even while the search runs."""

import os
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sksearch._utils._terminal import counted
from sksearch.checkpoint._checkpoint import JOURNAL, read_journal
from sksearch.checkpoint._events import blaming, header_of, read_events
from sksearch.checkpoint._lines import without_garbage_collection
from sksearch.checkpoint._params import readable
from sksearch.checkpoint._records import Asked, Event, Exhausted, Header, Stopped, ToldEvent, Won
from sksearch.fitting.run._results import (
    COLUMNS,
    Outputs,
    ResultRow,
    cv_results,
    job_result,
    name_error_scores,
    results_of,
)
from sksearch.history import History, Params, Problem
from sksearch.reader._values import metric_that_counts
from sksearch.space._outcome import outcome_named

#: Searches that rank as scikit-learn's do.
NAMESAKES = {f"{a}SearchCV" for a in ("Grid", "Randomized", "HalvingGrid", "HalvingRandom")}


def load_history(path: str | os.PathLike) -> "SavedSearch":
    """Read the results so far of a search from its ``checkpoint_dir``.

    The function needs neither the data nor the estimator, unpickles nothing and writes nothing.
    You can call it at any time, also on another machine, while the search is running or after it
    was killed.

    Parameters
    ----------
    path : str or path-like
        The ``checkpoint_dir`` of a search, or the file ``journal.jsonl`` in it.

    Returns
    -------
    saved : SavedSearch
        Candidates, scores and errors.

    Raises
    ------
    FileNotFoundError
        If no search has used this directory.
    JournalError
        If the file is not the journal of a search, or was written by a newer version.

    See Also
    --------
    sksearch.plotting.HistoryDisplay : Draws the history.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV, load_history
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     search = RandomSearchCV(
    ...         SVC(), {"C": loguniform(1e-3, 1e3)}, random_state=0, checkpoint_dir=folder
    ...     ).fit(X, y)
    ...     saved = load_history(folder)
    >>> saved
    <SavedSearch: RandomSearchCV, 10 candidates, 10 evaluations, best score 0.9867, finished>
    >>> saved.best_params_ == search.best_params_
    True
    """
    if hasattr(path, "fit"):
        raise TypeError(
            f"load_history expects the path of a folder, got a {type(path).__name__}: pass the "
            "checkpoint_dir of a search, or read cv_results_ and history_ of a fitted one."
        )
    path = Path(path).expanduser()
    folder = path.parent if path.is_file() else path
    with without_garbage_collection():  # the created objects are also kept
        header, events, earlier = read_journal(folder)
        if header is None:
            raise FileNotFoundError(f"The search in {str(path)!r} has not started yet.")
        return SavedSearch(header, events, folder / JOURNAL, len(earlier) + 1)


class SavedSearch:
    """Results of a search, as returned by `load_history`.

    ``pandas.DataFrame(saved.cv_results_)`` contains all results.

    Parameters
    ----------
    header : dict
        Header of the journal.
    events : list of dict
        Records after the header; may be modified.
    path : path-like, default="journal.jsonl"
        Path of the journal, for error messages.
    line : int, default=1
        Line number of the header, for error messages.

    Attributes
    ----------
    cv_results_ : dict of str to array
        The ``cv_results_`` of the search; parameter values other than plain values are texts.
    best_index_ : int or None
        Row of the candidate selected by ``refit`` or, while the search is running, of the best
        candidate so far. None if no candidate has a score.
    metric_ : str
        Metric of `best_score_`: the metric named by ``refit``, otherwise the first.
    best_score_ : float or None
        Mean score of the best candidate.
    best_params_ : dict or None
        Parameters of the best candidate.
    statuses_ : list of str
        Status of each row: "ok", or the status of the first fold that failed: "error", "memory",
        "timeout", "crash" or "nan".
    errors_ : list of str
        First line of the error of each row, "" if there was no error.
    history_ : History
        Trials and results. The space contains only names.
    plan_ : SearchPlan
        The plan of the search.
    n_splits_ : int
        Number of folds.
    scoring : str or None
        Name of the scorer, or None if it has no name.
    finished : bool
        Whether the search has ended without an interrupt or an error. If False, the search may be
        running or not.
    header : dict
        Class, versions and seed of the search, and descriptions of estimator, space and data.

    Raises
    ------
    JournalError
        If a record is invalid.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV, load_history
    >>> X, y = load_iris(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     search = RandomSearchCV(SVC(), {"C": [0.1, 1, 10]}, n_iter=3, checkpoint_dir=folder)
    ...     _ = search.fit(X, y)
    ...     saved = load_history(folder)
    >>> saved.finished, len(saved.cv_results_["params"])
    (True, 3)
    """

    def __init__(
        self,
        header: dict,
        events: list[dict],
        path: str | os.PathLike = JOURNAL,
        line: int = 1,
    ):
        self.header, self._path = header, Path(path)
        read = read_events([header, *events], self._path, line)
        self._header = found = header_of(read)
        self.n_splits_ = found.n_splits
        self.scoring, self._own_metric = _scoring(found), found.own_metric
        self.finished = False
        self.plan_ = found.search_plan()
        limits = found.min_resources, found.max_resources
        names: Any = _Names(found.names)
        aims = found.aims()
        named = tuple(bound.metric for bound in aims.bounds)
        self.history_ = History(
            Problem(names, *limits, found.seed, objectives=aims.names, bounds=named)
        )
        self._won: tuple[int, int] | None = None
        rows = self._rows(read)
        self._trial_ids = [row.trial_id for row in rows]
        results = results_of(self.history_, rows)
        self.statuses_ = [result.status for result in results]
        self.errors_ = [result.error for result in results]
        violations = [result.violation for result in results] if aims.bounds else None
        self.cv_results_ = self._cv_results(rows, violations)
        self._keep_best(rows)

    def __repr__(self) -> str:
        counts = [(len(self.history_.trials), "candidate"), (len(self.statuses_), "evaluation")]
        parts = [self._header.search]
        parts += [counted(n, noun) for n, noun in counts]
        best = self.best_score_
        parts.append("no score" if best is None else f"best score {best:.4g}")
        parts.append("finished" if self.finished else "not finished")
        return f"<SavedSearch: {', '.join(parts)}>"

    def _rows(self, events: Iterable[tuple[int, Event | None]]) -> list[ResultRow]:
        """Replay the events into the history; return the rows of the table."""
        outputs = Outputs()
        for line, event in events:
            with blaming(self._path, line):
                self._enter(event, outputs)
        found = self._header.finds
        outcome = (found, outcome_named(found)) if found else None
        by_folds = self.plan_.by_folds
        return outputs.rows(self.history_.trials, self._params_at, lambda _: outcome, by_folds)

    def _enter(self, event: Event | None, outputs: Outputs) -> None:
        """Enter one event of the journal."""
        match event:
            case Asked():
                self._ask(event)
            case ToldEvent():
                self._tell(event, outputs)
            case Exhausted():
                self.history_.exhausted = True
            case Stopped(why="finished"):
                self.finished = True
            case Won(trial_id=i, resource=resource):
                if resource not in self.history_.trials[i].results:
                    raise ValueError(f"candidate {i} has no result at {resource}")
                self._won = i, resource

    def _ask(self, event: Asked) -> None:
        self._won = None  # the search was resumed
        if event.trial_id < len(self.history_.trials):
            self.history_.resume(event.trial_id, event.resource)
        else:
            params = {name: readable(value) for name, value in (event.params or {}).items()}
            key = event.bracket, event.resource, event.parent
            self.history_.start(params, *key, event.prediction)

    def _tell(self, event: ToldEvent, outputs: Outputs) -> None:
        trial, resource = self.history_.trials[event.trial_id], event.resource
        kept = outputs.reached.get((trial.id, trial.resource), [])
        if len(kept) + len(event.outputs) > self.n_splits_:
            kept = []  # folds are not the resource: all were evaluated again
        outputs.add(trial.id, resource, kept, event.outputs, self._header.metric)
        reached = outputs.reached[trial.id, resource]
        result = job_result(reached, event.outputs, self._header.metric, self._header.aims())
        self.history_.tell(trial.id, resource, result)

    def _params_at(self, params: Params, resource: int) -> Params:
        """Return the parameters, including the resource if it is a parameter."""
        name = self._header.adds
        return params if name is None else {**params, name: resource}

    def _cv_results(self, rows: list[ResultRow], violations: list[float] | None) -> dict[str, Any]:
        if not rows:
            return {"params": []}
        name_error_scores([output for row in rows for output in row.new_outputs])
        header, by_folds = self._header, self.plan_.by_folds
        shown = header.n_splits, header.return_train_score, () if header.whole else COLUMNS
        wins = header.any_rung_wins
        # Warnings about non-finite scores, which the search has already shown
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return cv_results(rows, *shown, wins, violations, by_folds, header.search in NAMESAKES)

    def _keep_best(self, rows: list[ResultRow]) -> None:
        results, self.best_index_ = self.cv_results_, None
        self.best_score_ = self.best_params_ = None
        self.metric_ = metric_that_counts(results, self._header.metric)
        if "ok" in self.statuses_:
            self.best_index_ = int(np.argmin(results[f"rank_test_{self.metric_}"]))
            if self._won is not None:
                keys = [(row.trial_id, row.n_resources) for row in rows]
                self.best_index_ = keys.index(self._won)
            self.best_score_ = float(results[f"mean_test_{self.metric_}"][self.best_index_])
            self.best_params_ = results["params"][self.best_index_]


class _Names:
    """Names of parameters, in place of a space with unavailable objects."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def __repr__(self) -> str:
        return f"the space of {', '.join(self.names)}"

    def key(self, params: Params) -> str:
        """Return a text that is equal for equal candidates."""
        return repr(sorted(params.items()))


def _scoring(header: Header) -> str | None:
    """Return the name of the scorer, described as a quoted text; None for a function."""
    text = header.parts.get("scoring", {}).get("", "")
    return text[1:-1] if re.fullmatch(r"'\w+'|\"\w+\"", text) else None
