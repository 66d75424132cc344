"""Synchronous schedulers as tables: rungs as exact integers, brackets, whole-rung promotion.

Notation (Li et al., JMLR 18, 2018, https://jmlr.org/papers/v18/16-558.html, is [1]_ below):

=================  ===================================================================
R, r               ``max_resources``, ``min_resources``
eta                ``factor``, one candidate in eta is promoted
s_max              index of the most aggressive bracket; it has s_max + 1 rungs
n_i, r_i           candidates and resource of the i-th rung of a bracket, i from 0
=================  ===================================================================
"""

import itertools
import math
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral

import numpy as np

from sksearch.base import Plan, Reads, Resume, Rung, Scheduler, Start
from sksearch.base._decisions import ENDLESS, Job
from sksearch.history import History, Problem, best_first

#: Brackets without common results that run at the same time: enough for five folds and 100
#: workers. More would leave all of them unfinished for long.
MAX_LANES = 20
MIN_FACTOR = 1.1  # with smaller factors there are too many, nearly equal rungs


def check_factor(factor: float | Fraction) -> Fraction:
    """Return `factor` as an exact fraction.

    Raises
    ------
    ValueError
        If `factor` is not a finite number of at least 1.1.
    """
    if not (math.isfinite(factor) and factor >= MIN_FACTOR):
        raise ValueError(
            f"factor={factor} must be a finite number of at least {MIN_FACTOR}: one in `factor` "
            "candidates is promoted to the next rung; 3 is usual."
        )
    return Fraction(factor)


def ladder(
    min_resources: int, max_resources: int, factor: float | Fraction, nearest: bool = False
) -> list[int]:
    """Return the resources of the rungs, lowest first and `max_resources` last.

    The k-th rung from the top is ``floor(max_resources / factor**k)``, as long as this is at least
    `min_resources`. It is computed with fractions: in floating point ``log(243) / log(3)`` is
    4.999..., and a rung would be lost.

    Parameters
    ----------
    min_resources, max_resources : int
        Numbers of resource units.
    factor : float
        Ratio of neighbouring rungs, at least 1.1.
    nearest : bool, default=False
        Whether to round quotients to the nearest integer, halves up, instead of down.

    Returns
    -------
    resources : list of int
        Strictly increasing. The lowest is `min_resources` only if `max_resources` is
        `min_resources` times a power of `factor`; otherwise it is larger.

    Examples
    --------
    >>> ladder(1, 243, 3)
    [1, 3, 9, 27, 81, 243]
    >>> ladder(1, 100, 4)
    [1, 6, 25, 100]
    """
    exact = check_factor(factor)
    half = Fraction(1, 2) if nearest else 0
    resources, power = [max_resources], exact
    while (resource := math.floor(max_resources / power + half)) >= max(1, min_resources):
        if resource < resources[-1]:  # equal neighbours for factors under 2
            resources.append(resource)
        power *= exact
    return resources[::-1]


def n_promoted(n_candidates: int, factor: float | Fraction) -> int:
    """Return the number of candidates promoted from a rung of `n_candidates`, at least one."""
    return max(1, math.floor(n_candidates / Fraction(factor)))


def n_for_one(resources: list[int], factor: float | Fraction) -> int:
    """Return the number of candidates at the lowest rung such that one reaches the last."""
    return math.floor(Fraction(factor) ** (len(resources) - 1))


def one_bracket(
    n_candidates: int | None, problem: Problem, resources: Iterable[int], is_most: bool = False
) -> Plan:
    """Return the plan of one bracket in which all candidates reach the last rung.

    Limited to the size of the space; `ENDLESS` if neither limits the number.
    """
    n = problem.size if n_candidates is None else min(n_candidates, problem.size)
    n = int(n) if math.isfinite(n) else ENDLESS
    rungs = tuple(Rung(resource, n) for resource in resources)
    return Plan((rungs,) if n else (), is_most=is_most)


def rungs_of(
    n_candidates: int, resources: list[int], factor: float | Fraction
) -> tuple[Rung, ...]:
    """Return the rungs of a bracket with this number of candidates at the start."""
    rungs = []
    for resource in resources:
        rungs.append(Rung(resource, n_candidates))
        n_candidates = n_promoted(n_candidates, factor)
    return tuple(rungs)


def is_too_small(history: History) -> bool:
    """Return whether all have failed so far, and a larger resource may help.

    A fit continued from a smaller resource fails in the same way.
    """
    results = (result for trial in history.trials for result in trial.results.values())
    return not history.problem.continues and all(math.isnan(result.score) for result in results)


@dataclass(frozen=True)
class Selecting:
    """Choice of the rungs from which the winner comes: `SearchCV` reads it.

    A dataclass derives from it last.
    """

    select: str = field(default="auto", kw_only=True, repr=False)


class BracketScheduler(Scheduler):
    """Base class of schedulers with brackets; subclasses only compute the table of brackets.

    When all results of a rung are known, the best ``floor(n_i / factor)`` candidates are promoted.
    They are ranked by score, or by non-dominated sorting if there are several objectives;
    candidates that violate bounds come last, and ties are broken by trial id. Failed candidates
    are promoted only if all have failed and each rung is a separate fit, because more rows may
    help. While a rung is incomplete, idle workers get jobs of later brackets.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sksearch.history import Problem
    >>> from sksearch.schedulers import BracketScheduler
    >>> from sksearch.space import Space
    >>> @dataclass(frozen=True)
    ... class Screening(BracketScheduler):
    ...     factor: float = 4
    ...     def bracket_table(self, problem):
    ...         return [(8, [problem.max_resources // 4, problem.max_resources])]
    >>> Screening().plan(Problem(Space({"C": range(99)}), max_resources=8)).brackets[0]
    (Rung(resource=2, n_candidates=8), Rung(resource=8, n_candidates=2))
    """

    factor: float | Fraction = 3

    @property
    def reads(self) -> Reads:
        """Objectives and bounds, of the own bracket unless a subclass decides otherwise."""
        is_own = type(self).next is BracketScheduler.next
        return Reads(objectives=True, bounds=True, own_bracket=is_own)

    @abstractmethod
    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return the number of candidates and the resources of the rungs of each bracket."""

    def plan(self, problem: Problem) -> Plan:
        """Compute all brackets. In a finite space, later brackets may have fewer candidates."""
        left = problem.size
        brackets = []
        known: dict[tuple, tuple[Rung, ...]] = {}  # thousands of brackets may be equal
        for row in self.bracket_table(problem):
            n_candidates, resources = self._checked(row)
            n = int(min(n_candidates, left))
            left -= n
            if n:
                key = (n, *resources)
                if key not in known:
                    known[key] = self._row(problem, n, resources)
                brackets.append(known[key])
        return Plan(tuple(brackets))

    def next(self, history: History, rng: np.random.Generator) -> Start | Resume | None:
        """Promote or start a candidate in the first unfinished bracket."""
        brackets = self._plan(history).brackets
        left = range(self._n_finished(history, brackets), len(brackets))
        decisions = (self._next_of(history, bracket) for bracket in left)
        return next((decision for decision in decisions if decision is not None), None)

    def lane(self, history: History, n_each: int) -> Start | Resume | None:
        """Promote or start a candidate in the first of 20 unfinished brackets with room for it."""
        brackets = self._plan(history).brackets
        left = range(self._n_finished(history, brackets), len(brackets))
        unfinished = (i for i in left if not self._is_finished(history, i, brackets[i][-1]))
        for bracket in itertools.islice(unfinished, MAX_LANES):
            n_running = sum(
                len(history.rung(bracket, rung.resource)) - history.n_told(bracket, rung.resource)
                for rung in brackets[bracket]
            )
            if n_running < n_each and (decision := self._next_of(history, bracket)) is not None:
                return decision
        return None

    def _next_of(self, history: History, bracket: int) -> Start | Resume | None:
        """Promote or start a candidate of a bracket; None if it waits, or has ended."""
        rungs = self._plan(history).brackets[bracket]
        for lower, upper in itertools.pairwise(rungs):
            promoted = self._promoted(history, bracket, lower, upper)
            if promoted is None:
                break
            n_asked = len(history.rung(bracket, upper.resource))
            if n_asked < len(promoted):
                return Resume(promoted[n_asked], upper.resource)
        first = rungs[0]
        n_started = len(history.rung(bracket, first.resource))
        if n_started < first.n_candidates and not history.exhausted:
            return Start(first.resource, bracket)
        return None

    def retired(self, history: History, job: Job) -> list[int]:
        """Return trials at the last rung, and trials not promoted from a complete rung."""
        rungs = self._plan(history).brackets[job.bracket]
        if job.resource == rungs[-1].resource:
            return [job.trial_id]
        i = [rung.resource for rung in rungs].index(job.resource)
        promoted = self._promoted(history, job.bracket, rungs[i], rungs[i + 1])
        if promoted is None:
            return []
        return sorted(set(history.rung(job.bracket, job.resource)) - set(promoted))

    def _row(self, problem: Problem, n_candidates: int, resources: list[int]) -> tuple[Rung, ...]:
        """Return the rungs of a bracket with this number of candidates at the start."""
        return rungs_of(n_candidates, resources, self.factor)

    def _checked(self, row: tuple[int, list[int]]) -> tuple[int, list[int]]:
        """Return a row of the table; raise ValueError if it is invalid."""
        match row:
            case (Integral(), [*resources]) if all(isinstance(r, Integral) for r in resources):
                return row
        raise ValueError(
            f"{type(self).__name__}.bracket_table has the row {row!r}: a row must be the number "
            "of candidates and a list of the resources of the rungs, all integers, such as (9, "
            "[1, 3, 9])."
        )

    def _plan(self, history: History) -> Plan:
        if "plan" not in history.cache:
            history.cache["plan"] = self.plan(history.problem)
        return history.cache["plan"]

    def _n_finished(self, history: History, brackets: tuple[tuple[Rung, ...], ...]) -> int:
        """Return the number of leading brackets without further jobs."""
        n = history.cache.get("n_finished", 0)
        while n < len(brackets) and self._is_finished(history, n, brackets[n][-1]):
            n += 1
        history.cache["n_finished"] = n
        return n

    def _is_finished(self, history: History, bracket: int, last: Rung) -> bool:
        """Return whether this bracket, with this last rung, gets no further jobs."""
        return self._is_full(history, bracket, last, len(history.rung(bracket, last.resource)))

    def _promoted(
        self, history: History, bracket: int, lower: Rung, upper: Rung
    ) -> list[int] | None:
        """Return ids of the trials promoted from rung `lower`, best first; None while it runs."""
        if (key := ("promoted", bracket, lower.resource)) in history.cache:
            return history.cache[key]
        ids = history.rung(bracket, lower.resource)
        if history.n_told(bracket, lower.resource) < len(ids) or not self._is_full(
            history, bracket, lower, len(ids)
        ):
            return None
        history.cache[key] = self._chosen(history, sorted(ids), lower, upper)
        return history.cache[key]

    def _chosen(self, history: History, ids: list[int], lower: Rung, upper: Rung) -> list[int]:
        """Return the promoted trials among all trials of rung `lower`, best first."""
        results = [history.trials[i].results[lower.resource] for i in ids]
        ranked = [ids[k] for k in best_first(results)]
        ranked = ranked or (ids if is_too_small(history) else [])
        n = min(upper.n_candidates, n_promoted(len(ids), self.factor)) if ids else 0
        return ranked[:n]

    def _is_full(self, history: History, bracket: int, rung: Rung, n_asked: int) -> bool:
        """Return whether this rung gets no further trials."""
        rungs = self._plan(history).brackets[bracket]
        i = rungs.index(rung)
        if i == 0:
            return n_asked == rung.n_candidates or history.exhausted
        promoted = self._promoted(history, bracket, rungs[i - 1], rung)
        return promoted is not None and n_asked == len(promoted)
