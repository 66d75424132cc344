"""The results of a fitted search as a table: candidates, folds and rungs, from `cv_results_`."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sksearch.history import Params
from sksearch.space import Space
from sksearch.stats._candidates import space_of
from sksearch.stats._rows import ResultRows, count_folds, folds_text, key_of, unit_of
from sksearch.stats._rows import is_number as _is_number


@dataclass(frozen=True)
class Candidate:
    """A candidate of a search.

    Parameters
    ----------
    params : dict
        As the search drew them, without what the resource sets.
    row : int
        Row of ``cv_results_`` that counts for it.
    scores : ndarray of shape (n_folds,)
        Of that row; NaN where a fold is missing, and everywhere if it failed.
    resource : int
        Count of units at that row; 0 where there is only one resource.
    fit_seconds, score_seconds : float
        For one fold, of all that was trained up to that row.
    status, error : str
        Of its last row: "ok" or what went wrong, and the first line of the error.
    rows : tuple of int
        All of its rows, lowest resource first.
    """

    params: Params
    row: int
    scores: np.ndarray
    resource: int
    fit_seconds: float
    score_seconds: float
    status: str = "ok"
    error: str = ""
    rows: tuple[int, ...] = ()

    @property
    def score(self) -> float:
        """Mean over the folds that it has; NaN without any."""
        known = self.scores[np.isfinite(self.scores)]
        return float(known.mean()) if len(known) else math.nan

    @property
    def folds(self) -> str:
        """Which folds its score is of, in words."""
        return folds_text(int(np.isfinite(self.scores).sum()), len(self.scores))

    @property
    def is_complete(self) -> bool:
        """Whether it has a score on every fold."""
        return bool(np.isfinite(self.scores).all())


@dataclass(frozen=True)
class Rung:
    """All candidates that were brought up to one resource.

    Parameters
    ----------
    resource : int
        Count of units.
    ids : ndarray of shape (n,)
        Indices of the candidates.
    scores : ndarray of shape (n, n_folds)
        NaN where a fold is missing.
    """

    resource: int
    ids: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class Table:
    """What a report reads: everything that a fitted search has found.

    Parameters
    ----------
    search : estimator
        A fitted search.
    results : dict
        Its ``cv_results_``.
    metric : str
        The name of the metric that counts, as in ``mean_test_<metric>``.
    candidates : list of Candidate
        In the order of their first rows.
    best : int or None
        Index of the chosen candidate; None if none has a score.
    rungs : list of Rung
        By resource; empty where there is only one.
    trial_ids : ndarray of shape (n_rows,)
        Position in the history of the candidate of each row.
    """

    search: Any
    results: dict[str, Any]
    metric: str
    candidates: list[Candidate]
    best: int | None
    rungs: list[Rung]
    trial_ids: np.ndarray

    @property
    def n_folds(self) -> int:
        """Count of folds."""
        return count_folds(self.results, self.metric)

    @property
    def unit(self) -> str:
        """What a unit of resource is called."""
        return unit_of(self.search)

    @property
    def races(self) -> bool:
        """Whether a unit is a fold, so that rungs differ in the count of folds alone."""
        plan = getattr(self.search, "plan_", None)
        return plan is not None and plan.by_folds

    @cached_property
    def scores(self) -> np.ndarray:
        """Scores on the folds, shape (n_candidates, n_folds)."""
        return np.array([candidate.scores for candidate in self.candidates])

    @cached_property
    def means(self) -> np.ndarray:
        """Mean score of each candidate, NaN where it has none."""
        return np.array([candidate.score for candidate in self.candidates])

    @cached_property
    def order(self) -> np.ndarray:
        """Indices of the candidates: the winner, then the others, best first."""
        rows = [candidate.row for candidate in self.candidates]
        ranks = np.asarray(self.results[f"rank_test_{self.metric}"])[rows]
        broken = self.violations > 0
        by_resource = np.array([-candidate.resource for candidate in self.candidates]) * ~broken
        missing = ~np.isfinite(self.means)
        others = np.arange(len(rows)) != self.best
        by_resource = by_resource * (not self.any_rung_wins)
        return np.lexsort((ranks, by_resource, broken, missing, others))

    @property
    def failed(self) -> list[Candidate]:
        """Candidates that failed."""
        return [candidate for candidate in self.candidates if candidate.status != "ok"]

    @cached_property
    def violations(self) -> np.ndarray:
        """By how much each candidate breaks bounds of ``constraints``; 0 where there are none."""
        rows = [candidate.row for candidate in self.candidates]
        return np.asarray(self.results.get("violation", np.zeros(max(rows) + 1)))[rows]

    @cached_property
    def is_allowed(self) -> np.ndarray:
        """Whether each candidate breaks bounds no more than the winner does."""
        most = 0.0 if self.best is None else self.violations[self.best]
        return self.violations <= most

    @cached_property
    def finalists(self) -> np.ndarray:
        """Whether each candidate may win: it has all folds and the resource of the winner."""
        top = self.candidates[self.best].resource if self.best is not None else 0
        return self.is_allowed & np.array(
            [c.is_complete and (self.any_rung_wins or c.resource == top) for c in self.candidates]
        )

    @property
    def any_rung_wins(self) -> bool:
        """Whether scores of different rungs are compared with each other."""
        plan = getattr(self.search, "plan_", None)
        return bool(plan is not None and plan.any_rung_wins)

    @cached_property
    def aligned(self) -> np.ndarray:
        """Scores as they would be at the top rung, shape (n_candidates, n_folds).

        What a candidate gained, on average, from one rung to the next is added to the scores of
        those that were stopped below: they were not chosen, and this counts.
        """
        scores = self.scores.copy()
        if not self.rungs or self.races:
            return scores
        shift = np.zeros(self.n_folds)
        done: set[int] = set(self.rungs[-1].ids.tolist())
        for low, high in zip(self.rungs[-2::-1], self.rungs[:0:-1], strict=True):
            _, i, j = np.intersect1d(low.ids, high.ids, return_indices=True)
            gains = high.scores[j] - low.scores[i]
            gains = gains[np.isfinite(gains).all(axis=1)]
            shift = shift + (gains.mean(axis=0) if len(gains) else 0.0)
            for k, row in zip(low.ids.tolist(), low.scores, strict=True):
                if k not in done:
                    scores[k] = row + shift
                    done.add(k)
        if self.best is not None:
            scores[self.best] = self.scores[self.best]
        return scores

    @cached_property
    def rivals(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of ``cv_results_`` that might have won with other luck, and their scores.

        The scores have shape (n_rivals, n_folds).
        """
        if not (self.rungs and self.any_rung_wins):
            rows = np.array([candidate.row for candidate in self.candidates])
            return rows[self.is_allowed], self.aligned[self.is_allowed]
        resources = self.results["n_resources"]
        rows = np.concatenate([np.flatnonzero(resources == rung.resource) for rung in self.rungs])
        ids = np.concatenate([rung.ids for rung in self.rungs])
        scores = np.concatenate([rung.scores for rung in self.rungs])
        return rows[self.is_allowed[ids]], scores[self.is_allowed[ids]]

    @cached_property
    def space(self) -> Space | None:
        """Where candidates came from; None where it is not understood."""
        history = getattr(self.search, "history_", None)
        if history is not None:
            return history.problem.space
        return space_of(self.search)

    @property
    def given(self) -> Any:
        """The space as the user gave it; None where the search chose it or names it otherwise."""
        for name in ("param_distributions", "param_grid"):
            if getattr(self.search, name, None) is not None:
                return getattr(self.search, name)
        history = getattr(self.search, "history_", None)
        return None if history is None else history.problem.space.given

    @property
    def space_name(self) -> str:
        """Name of the parameter that the space is passed as."""
        return "param_grid" if hasattr(self.search, "param_grid") else "param_distributions"

    @cached_property
    def default(self) -> int | None:
        """Index of the candidate that is the estimator as it is; None if it was not tried."""
        history = getattr(self.search, "history_", None)
        if history is not None and history.problem.has_baseline:
            return 0 if math.isfinite(self.means[0]) else None
        own = self.search.estimator.get_params()
        for i, candidate in enumerate(self.candidates):
            if math.isfinite(self.means[i]) and all(
                name in own and key_of(value) == key_of(own[name])
                for name, value in candidate.params.items()
            ):
                return i
        return None

    @cached_property
    def audited(self) -> np.ndarray:
        """Indices of candidates that were stopped and brought to the end by an audit."""
        trials = getattr(self.search, "audited_", [])
        own = [self.trial_ids[c.row] for c in self.candidates] if trials else []
        return np.flatnonzero(np.isin(own, trials))

    @property
    def test_ratio(self) -> float | None:
        """Rows of a test fold for each row of its training fold; None for 1 / (n_folds - 1)."""
        cv = getattr(self.search, "cv", None)
        n_repeats = getattr(cv, "n_repeats", None)
        if isinstance(n_repeats, int) and self.n_folds > n_repeats:
            return 1 / (self.n_folds / n_repeats - 1)
        default = getattr(cv, "_default_test_size", None)  # of ShuffleSplit and its kin
        if default is not None:
            share = getattr(cv, "test_size", None)
            share = share if isinstance(share, float) else default
            return share / (1 - share)
        return None


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number, and not True or False."""
    return _is_number(value) and math.isfinite(value)


def read(search: Any) -> Table:
    """Read a fitted search.

    Parameters
    ----------
    search : estimator
        A fitted search of this library or of scikit-learn.

    Returns
    -------
    table : Table
        Its results.

    Raises
    ------
    TypeError
        If `search` is no search.
    ValueError
        If it is not fitted, or nothing was evaluated.
    """
    results = getattr(search, "cv_results_", None)
    if results is None:
        if not hasattr(search, "fit") or not hasattr(search, "estimator"):
            raise TypeError(
                f"search is a {type(search).__name__}: pass a fitted search of this library or of "
                "scikit-learn."
            )
        raise ValueError(f"This {type(search).__name__} is not fitted: call fit first.")
    if not results["params"]:
        raise ValueError("This search has no result yet, so there is nothing to tell.")
    rows = _Rows(search)
    candidates = [rows.candidate(each) for each in rows.by_candidate]
    best = next((i for i, each in enumerate(candidates) if rows.winner in each.rows), None)
    return Table(search, results, rows.metric, candidates, best, rows.rungs(), rows.trial_ids)


class _Rows(ResultRows):
    """Makes candidates and rungs of rows."""

    def __init__(self, search: Any):
        super().__init__(search)
        plan = getattr(search, "plan_", None)
        self._any_rung_wins = plan is not None and plan.any_rung_wins
        history = getattr(search, "history_", None)
        self._continues = history is not None and history.problem.continues
        self._races = plan is not None and plan.by_folds

    def candidate(self, rows: list[int]) -> Candidate:
        """Make one candidate of its rows, lowest resource first."""
        last, scored = rows[-1], [i for i in rows if np.isfinite(self.scores[i]).any()]
        row = scored[-1] if scored else last
        if self.winner in rows:
            row = self.winner
        elif self._any_rung_wins and scored:
            row = min(scored, key=lambda i: self.ranks[i])
        paid = rows[: rows.index(row) + 1] if self._continues and not self._races else [row]
        return Candidate(
            self.own(self.results["params"][row]),
            row,
            self.scores[row],
            0 if self.resources is None else int(self.resources[row]),
            float(sum(self.results["mean_fit_time"][i] for i in paid)),
            float(self.results["mean_score_time"][row]),
            self.statuses[last],
            self.errors[last],
            tuple(rows),
        )

    def rungs(self) -> list[Rung]:
        """Group the rows by resource."""
        if self.resources is None:
            return []
        of = {row: i for i, rows in enumerate(self.by_candidate) for row in rows}
        rungs = []
        for resource in np.unique(self.resources):
            rows = np.flatnonzero(self.resources == resource)
            ids = np.array([of[int(row)] for row in rows])
            rungs.append(Rung(int(resource), ids, self.scores[rows]))
        return rungs if len(rungs) > 1 else []
