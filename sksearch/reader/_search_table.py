"""Results of a finished search: rows, candidates, rungs, and the winner."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sksearch.history import History, Params, Problem, Result, Trial
from sksearch.reader._row import Candidate, Row
from sksearch.reader._values import key_of_params
from sksearch.space import Space

SPACES = ("param_distributions", "param_grid")  # names of the space in searches


@dataclass(frozen=True, eq=False)
class RungTable:
    """All candidates with a row at one resource.

    Parameters
    ----------
    resource : int
        Number of units.
    ids : ndarray of shape (n,)
        Indices of the candidates.
    rows : ndarray of shape (n,)
        Indices of their rows.
    scores : ndarray of shape (n, n_folds)
        NaN if a fold is missing.
    """

    resource: int
    ids: np.ndarray
    rows: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True, eq=False)
class SearchTable:
    """Result of `read`: everything that a finished search has found.

    Parameters
    ----------
    source : object
        The search itself; None for a table.
    rows : tuple of Row
        Rows in the order of ``cv_results_``, or of the trials of a history.
    winner : Row or None
        The winner, at ``best_index_`` if available; None if no candidate has a score, or a
        callable ``refit`` chose a row without one.
    metric : str
        The name of the deciding metric, as in ``mean_test_<metric>``.
    results : mapping of str to array
        ``cv_results_``, with all other measures; empty if missing.
    told : History or None
        The search's own history.
    """

    source: object
    rows: tuple[Row, ...]
    winner: Row | None
    metric: str = "score"
    results: Mapping[str, Any] = field(default_factory=dict)
    told: History | None = None

    # ---- what is known of the search

    @property
    def estimator(self) -> Any:
        """The tuned estimator; None if unknown."""
        return getattr(self.source, "estimator", None)

    @property
    def trained(self) -> Any:
        """The winner refitted on all rows, otherwise the tuned estimator."""
        source: Any = self.source
        ensemble = getattr(source, "ensemble_", None)
        if ensemble is not None and len(ensemble) > 1:  # the ensemble need not contain the winner
            models = dict(zip(ensemble.weights, source.best_estimator_.models, strict=True))
            return getattr(models.get(source.best_index_), "estimator", self.estimator)
        return getattr(source, "best_estimator_", self.estimator)

    @property
    def unit(self) -> str:
        """Name of the units of resource."""
        plan = getattr(self.source, "plan_", None)
        name = plan.unit if plan is not None else getattr(self.source, "resource", None)
        return "rows" if name == "n_samples" else str(name or "resource")

    @property
    def has_resources(self) -> bool:
        """True if candidates differ, or might have differed, in their resource."""
        if self.results:
            return "n_resources" in self.results
        return self.told is not None and self.told.problem.max_resources > 1

    @property
    def any_rung_wins(self) -> bool:
        """True if scores of different rungs are compared with each other."""
        plan = getattr(self.source, "plan_", None)
        return bool(plan is not None and plan.any_rung_wins)

    @property
    def races(self) -> bool:
        """True if a unit is a fold, so that rungs differ in the number of folds alone."""
        plan = getattr(self.source, "plan_", None)
        return bool(plan is not None and plan.by_folds)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return max((len(row.scores) for row in self.rows), default=0)

    @property
    def score_name(self) -> str:
        """The metric in words."""
        scoring = getattr(self.source, "scoring", None)
        named = self.metric == "score" and isinstance(scoring, str)
        return str(scoring if named else self.metric).replace("_", " ")

    @cached_property
    def space(self) -> Space | None:
        """Space of the candidates; None if it is not understood."""
        if self.told is not None and type(self.told.problem.space) is Space:
            return self.told.problem.space
        given = next((getattr(self.source, n) for n in SPACES if hasattr(self.source, n)), None)
        if given is None:
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were shown when the search began
                return Space(given, accepts=lambda name, value: True)
        except (TypeError, ValueError):
            return None

    # ---- by trial and resource

    @cached_property
    def history(self) -> History:
        """The search's own history, or one made of the rows."""
        if self.told is not None:
            return self.told
        top = max((row.resource for row in self.rows), default=1)
        history = History(Problem(_AnySpace(), max_resources=top, continues=False))
        for candidate in self.candidates:
            trial = history.start(candidate.rows[0].params, 0, candidate.rows[0].resource)
            for row in candidate.rows:
                if row.resource != trial.running:
                    history.resume(trial.id, row.resource)
                history.tell(trial.id, row.resource, _result(row))
        return history

    @cached_property
    def levels(self) -> dict[int, list[Trial]]:
        """Trials with a result, by resource."""
        levels: dict[int, list[Trial]] = {}
        for trial in self.history.trials:
            for resource in trial.results:
                levels.setdefault(resource, []).append(trial)
        return levels

    def level_with(self, n_scores: int) -> int:
        """Return the largest resource with that many scores; otherwise the one with most."""
        counts = {
            level: sum(math.isfinite(trial.results[level].score) for trial in trials)
            for level, trials in self.levels.items()
        }
        return max(counts, key=lambda level: (min(counts[level], n_scores), level), default=0)

    # ---- by candidate

    @cached_property
    def candidates(self) -> list[Candidate]:
        """All candidates with a row, in the order of their first rows."""
        groups: dict[int, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(row.trial_id, []).append(row)
        return [
            self._candidate(sorted(rows, key=lambda row: (row.resource, row.index)))
            for rows in groups.values()
        ]

    def _candidate(self, rows: list[Row]) -> Candidate:
        """Make one candidate of its rows, lowest resource first."""
        scored = [row for row in rows if row.n_folds]
        row = scored[-1] if scored else rows[-1]
        if self.winner in rows:
            row = self.winner
        elif self.any_rung_wins and scored:
            row = min(scored, key=lambda each: each.rank)
        continues = self.told is not None and self.told.problem.continues
        paid = rows[: rows.index(row) + 1] if continues and not self.races else [row]
        return Candidate(row, tuple(rows), float(sum(each.fit_seconds for each in paid)))

    @cached_property
    def best(self) -> int | None:
        """Index of the winning candidate, otherwise None."""
        rows = [candidate.row for candidate in self.candidates]
        return None if self.winner is None else rows.index(self.winner)

    @property
    def failed(self) -> list[Candidate]:
        """Candidates that failed."""
        return [candidate for candidate in self.candidates if candidate.status != "ok"]

    @cached_property
    def scores(self) -> np.ndarray:
        """Scores on the folds, shape (n_candidates, n_folds)."""
        return np.array([candidate.row.scores for candidate in self.candidates])

    @cached_property
    def means(self) -> np.ndarray:
        """Mean score of each candidate, NaN if it has none."""
        return np.array([candidate.row.score for candidate in self.candidates])

    @cached_property
    def violations(self) -> np.ndarray:
        """Violation of the bounds by each candidate; 0 without bounds."""
        return np.array([candidate.row.violation for candidate in self.candidates])

    @cached_property
    def order(self) -> np.ndarray:
        """Indices of the candidates: the winner, then the others, best first."""
        rows = [candidate.row for candidate in self.candidates]
        broken = self.violations > 0
        by_resource = np.array([-row.resource for row in rows]) * ~broken
        by_resource = by_resource * (not self.any_rung_wins)
        missing = ~np.isfinite(self.means)
        others = np.arange(len(rows)) != self.best
        ranks = np.array([row.rank for row in rows])
        return np.lexsort((ranks, by_resource, broken, missing, others))

    @cached_property
    def rungs(self) -> list[RungTable]:
        """Rows by resource; empty if there is only one."""
        of = {row.index: i for i, each in enumerate(self.candidates) for row in each.rows}
        levels: dict[int, list[Row]] = {}
        for row in self.rows:
            levels.setdefault(row.resource, []).append(row)
        if len(levels) < 2:
            return []
        return [
            RungTable(
                resource,
                np.array([of[row.index] for row in rows]),
                np.array([row.index for row in rows]),
                np.array([row.scores for row in rows]),
            )
            for resource, rows in sorted(levels.items())
        ]


class _AnySpace(Space):
    """Stand-in for the space of a search without history: only distinguishes candidates."""

    def __init__(self):
        pass

    def key(self, params: Params) -> tuple:
        return (key_of_params(params),)


def _result(row: Row) -> Result:
    """A row as an entry of a history."""
    cost = len(row.scores) * (row.fit_seconds + row.score_seconds)
    cost = cost if 0 <= cost < math.inf else 0.0
    if not math.isfinite(row.score):
        return Result(math.nan, cost, "nan" if row.status == "ok" else row.status, row.error)
    return Result(
        row.score, cost, fold_scores=tuple(row.scores.tolist()) if row.is_complete else ()
    )
