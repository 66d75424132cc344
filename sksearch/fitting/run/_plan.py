"""Predicted cost of a search."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from sksearch._utils._html import join, paragraphs, table
from sksearch._utils._terminal import printable, unit_of
from sksearch.base import Plan, Resource, Rung
from sksearch.base._decisions import ENDLESS


@dataclass(frozen=True)
class PlannedRung:
    """One row of a plan.

    Parameters
    ----------
    bracket, iter : int
        Numbers as in ``cv_results_``.
    n_resources : int
        Number of units of each candidate at the end of the rung.
    n_candidates : int
        Number of candidates.
    resources : int
        Number of units for all candidates together.
    n_fits : int
        Number of (candidate, fold) pairs trained.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import SuccessiveHalvingSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(), {"alpha": [10.0**-k for k in range(9)]},
    ...     resource="epochs", max_resources=9,
    ... )
    >>> search.plan(X, y).rungs[0]
    PlannedRung(bracket=0, iter=0, n_resources=1, n_candidates=9, resources=9, n_fits=45)
    """

    bracket: int
    iter: int
    n_resources: int
    n_candidates: int
    resources: int
    n_fits: int


def _costs(
    row: tuple[Rung, ...], audits: tuple[int, ...], resource: Resource, n_splits: int
) -> list[tuple]:
    """Cost of each rung of a bracket, as in `PlannedRung`."""

    def cost(n: int, amount: int, spent: int) -> np.ndarray:
        paid = amount - (spent if resource.continues else 0)
        return n * np.array([paid, len(resource.folds(n_splits, amount, spent))])

    costs, spent = [], 0
    for i, rung in enumerate(row):
        n_audited = sum(audits) if i == len(row) - 1 else 0
        total = cost(rung.n_candidates - n_audited, rung.resource, spent)
        if n_audited:
            total += sum(
                cost(n, rung.resource, r.resource) for n, r in zip(audits, row, strict=True)
            )
        costs.append((i, rung.resource, rung.n_candidates, *total.tolist()))
        spent = rung.resource
    return costs


@dataclass(frozen=True, repr=False)
class SearchPlan:
    """Brackets, rungs and their cost, shown as a table by ``print`` and in notebooks.

    Parameters
    ----------
    rungs : tuple of PlannedRung
        Rungs of all brackets, lowest resource first in each.
    unit : str
        Name of the resource.
    n_splits : int
        Number of folds.
    refit : bool
        Whether there is a final fit on all rows.
    notes : tuple of str
        One line for each choice made by the search.
    seconds_per_fit : float or None
        Seconds for one fit with the full resource on one fold; the mean if there are several
        models. None if not measured.
    seconds_by_model : dict of str to float
        Seconds for one fit of each model, if there are several and they were measured.
    any_rung_wins : bool
        Whether a candidate may win at any rung, or only at the largest resource.
    timeout : float or None
        Time limit of the search in seconds.
    n_audited : int
        Number of candidates stopped early and later trained up to the last rung for the audit.
        These candidates are included in the last rungs.
    is_most : bool
        Whether the plan is an upper bound, because candidates may be dropped.
    on_workers : tuple of str
        Line with the number of workers that the search keeps busy; empty for a single worker.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import SuccessiveHalvingSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     SGDClassifier(), {"alpha": [10.0**-k for k in range(9)]},
    ...     resource="epochs", max_resources=9,
    ... )
    >>> print(search.plan(X, y))
    bracket iter       epochs candidates    fits
          0    0            1          9      45
          0    1            3          3      15
          0    2            9          1       5
    9 candidates, 66 fits, 21 epochs in each of 5 folds
    """

    rungs: tuple[PlannedRung, ...]
    unit: str
    n_splits: int
    refit: bool
    notes: tuple[str, ...] = ()
    seconds_per_fit: float | None = None
    seconds_by_model: Mapping[str, float] = field(default_factory=dict)
    any_rung_wins: bool = False
    timeout: float | None = None
    n_audited: int = 0
    is_most: bool = False
    on_workers: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, plan: Plan, resource: Resource, n_splits: int, refit: bool, select: str = "auto"
    ) -> Self:
        """Compute the cost of a scheduler's plan; `select` is the parameter of the search."""
        # Thousands of brackets may be the same tuple, so compute each cost once.
        audits = plan.audits or ((),) * len(plan.brackets)
        rows = {(id(row), own): row for row, own in zip(plan.brackets, audits, strict=True)}
        costs = {key: _costs(row, key[1], resource, n_splits) for key, row in rows.items()}
        rungs = tuple(
            PlannedRung(bracket, *cost)
            for bracket, (row, own) in enumerate(zip(plan.brackets, audits, strict=True))
            for cost in costs[id(row), own]
        )
        wins = {"best": True, "top": False}.get(select, resource.comparable)
        made = cls(rungs, resource.unit, n_splits, refit, any_rung_wins=wins)
        return replace(made, n_audited=sum(map(sum, plan.audits)), is_most=plan.is_most)

    @property
    def n_candidates(self) -> int:
        """Number of candidates started."""
        return sum(rung.n_candidates for rung in self.rungs if rung.iter == 0)

    @property
    def total_resources(self) -> int:
        """Number of units for all candidates; per fold, unless folds are the resource."""
        return sum(rung.resources for rung in self.rungs)

    @property
    def n_fits(self) -> int:
        """Number of fits of candidates on folds, including the refit."""
        return sum(rung.n_fits for rung in self.rungs) + self.refit

    @property
    def is_endless(self) -> bool:
        """Whether the number of candidates is limited only by time or another stopping rule."""
        return self.n_candidates >= ENDLESS

    @property
    def n_first_fits(self) -> float:
        """Number of fits that may run at the same time at the start."""
        if self.is_endless:
            return math.inf
        return sum(rung.n_fits for rung in self.rungs if rung.iter == 0)

    @property
    def by_folds(self) -> bool:
        """Whether the resource is folds, so that the next rung includes the scores of this one."""
        return self.unit == "folds"

    @property
    def top(self) -> int:
        """Number of units at the last rung; 0 without rungs."""
        return max((rung.n_resources for rung in self.rungs), default=0)

    @property
    def n_full_fits(self) -> float:
        """Cost of all rungs, in fits with the full resource on one fold."""
        if self.by_folds:
            return self.n_fits - self.refit
        return self.n_splits * self.total_resources / max(1, self.top)

    def __str__(self) -> str:
        widths = (7, 4, 12, 10, 7)
        table = [
            " ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
            for row in self._table()
        ]
        return printable("\n".join([*self.notes, *table, *self._last_lines()]))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *rows = self._table() or [()]
        rungs = table(head, rows) if head else ""
        return join(paragraphs(self.notes), rungs, paragraphs(self._last_lines()))

    def _last_lines(self) -> list[str]:
        """Lines below the table."""
        return [*self._sums(), *self.on_workers, *self._bill()]

    def _table(self) -> list[tuple]:
        """Table of the rungs; empty if their number is unknown."""
        if self.is_endless:
            return []
        return [
            ("bracket", "iter", self.unit, "candidates", "fits"),
            *((r.bracket, r.iter, r.n_resources, r.n_candidates, r.n_fits) for r in self.rungs),
        ]

    def _sums(self) -> list[str]:
        """Totals of all rungs."""
        if self.is_endless:
            n, unit = (self.top, self.unit) if self.top > 1 else (self.n_splits, "folds")
            return [f"candidates until the time is up, at most {n} {unit_of(n, unit)} each"]
        lines = []
        if self.n_audited:
            lines.append(
                f"in the last rungs, {self.n_audited} are audits of candidates stopped early"
            )
        folds = f"{self.n_splits} {unit_of(self.n_splits, 'folds')}"
        each = "" if self.by_folds else f" in each of {folds}"
        most = "at most " if self.is_most else ""
        sums = (
            (self.n_candidates, "candidates"),
            (self.n_fits, "fits"),
            (self.total_resources, self.unit),
        )
        lines.append(most + ", ".join(f"{n} {unit_of(n, noun)}" for n, noun in sums) + each)
        return lines

    def _bill(self) -> list[str]:
        """Predicted time, if known."""
        if self.seconds_per_fit is None:
            return []
        one = f"{self.seconds_per_fit:.2g} s for one fit of the untuned estimator"
        if self.seconds_by_model:
            each = ", ".join(f"{name} {s:.2g} s" for name, s in self.seconds_by_model.items())
            one = f"{self.seconds_per_fit:.2g} s for one fit of an untuned model: {each}"
        if self.is_endless:
            return [one]
        minutes = self.n_full_fits * self.seconds_per_fit / 60
        about = f"about {float(f'{minutes:.2g}'):g} minutes on one worker"
        cost = f"{self.n_full_fits:.4g} full fits, {about}"
        lines = [f"{cost}, at {one}"]
        if self.timeout is not None and 60 * minutes > self.timeout:
            part = self.timeout / (60 * minutes)
            lines.append(f"timeout={self.timeout:g} ends it after about {part:.2g} of this time")
        return lines
