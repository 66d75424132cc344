"""What a search will cost, before anything is spent."""

from dataclasses import dataclass
from typing import Self

from sksearch.base import Plan, Resource


@dataclass(frozen=True)
class PlannedRung:
    """One row of a plan.

    Parameters
    ----------
    bracket, iter : int
        As in ``cv_results_``.
    n_resources : int
        What each candidate is brought up to, count of units.
    n_candidates : int
        Count of candidates.
    resources : int
        Units paid for, all candidates together.
    n_fits : int
        Count of (candidate, fold) pairs that are trained.
    """

    bracket: int
    iter: int
    n_resources: int
    n_candidates: int
    resources: int
    n_fits: int


@dataclass(frozen=True)
class SearchPlan:
    """Brackets, rungs and their cost; printed, it is a table.

    Parameters
    ----------
    rungs : tuple of PlannedRung
        Bracket by bracket, lowest resource first.
    unit : str
        Name of the resource.
    n_splits : int
        Count of folds.
    refit : bool
        Whether one more fit on all rows follows.
    """

    rungs: tuple[PlannedRung, ...]
    unit: str
    n_splits: int
    refit: bool

    @classmethod
    def of(cls, plan: Plan, resource: Resource, n_splits: int, refit: bool) -> Self:
        """Cost a scheduler's plan for a resource."""
        rungs = []
        for bracket, row in enumerate(plan.brackets):
            spent = 0
            for i, rung in enumerate(row):
                n_folds = len(resource.folds(n_splits, rung.resource, spent))
                paid = rung.resource - (spent if resource.continues else 0)
                n = rung.n_candidates
                rungs.append(PlannedRung(bracket, i, rung.resource, n, n * paid, n * n_folds))
                spent = rung.resource
        return cls(tuple(rungs), resource.unit, n_splits, refit)

    @property
    def n_candidates(self) -> int:
        """Count of candidates that are started."""
        return sum(rung.n_candidates for rung in self.rungs if rung.iter == 0)

    @property
    def total_resources(self) -> int:
        """Units paid for by all candidates; where folds train apart, in each fold."""
        return sum(rung.resources for rung in self.rungs)

    @property
    def n_fits(self) -> int:
        """Count of (candidate, fold) pairs that are trained, the refit included."""
        return sum(rung.n_fits for rung in self.rungs) + self.refit

    def __str__(self):
        lines = [f"{'bracket':>7} {'iter':>4} {self.unit:>12} {'candidates':>10} {'fits':>7}"]
        lines += [
            f"{r.bracket:>7} {r.iter:>4} {r.n_resources:>12} {r.n_candidates:>10} {r.n_fits:>7}"
            for r in self.rungs
        ]
        each = "" if self.unit == "folds" else f" in each of {self.n_splits} folds"
        lines.append(
            f"{self.n_candidates} candidates, {self.n_fits} fits, "
            f"{self.total_resources} {self.unit}{each}"
        )
        return "\n".join(lines)
