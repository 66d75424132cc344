"""Asynchronous successive halving: no worker waits for a rung to be complete.

==============  ======================================================================
eta             ``factor``
rung            the results of a bracket at one resource, so far
top             the best ``floor(n / eta)`` of the n in a rung, or ``ceil`` for stopping
goal            the resource that a bracket's candidates are promoted to at present
==============  ======================================================================
"""

import bisect
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np

from sksearch.base import Plan, Resume, Start, Told
from sksearch.base._decisions import Job
from sksearch.history import History, best_first
from sksearch.schedulers._brackets import BracketScheduler, check_factor, is_too_small, n_promoted

VARIANTS = ("promotion", "stopping")
Key = tuple[float, float]  # sorts results: first violated bounds, then the rank


class AsynchronousScheduler(BracketScheduler):
    """A scheduler with a table of brackets, processed without waiting.

    Subclasses compute the table and have the fields `factor` and `variant`. The plan is a lower
    bound: a candidate promoted early may fall behind later, and then more than one in `factor` are
    promoted.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers._asynchronous import AsynchronousScheduler
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> @dataclass(frozen=True)
    ... class TwoRungs(AsynchronousScheduler):
    ...     factor: float = 3
    ...     variant: str = "promotion"
    ...     def bracket_table(self, problem):
    ...         return [(9, [problem.max_resources // 3, problem.max_resources])]
    >>> problem = GammaCurves(Branin(), n_epochs=27)
    >>> history = play(RandomSampler(), TwoRungs(), problem, random_state=0, n_workers=2)
    >>> len(history.trials)
    9
    """

    told = Told(at_once=True)
    variant: str = "promotion"

    def __post_init__(self) -> None:
        check_factor(self.factor)
        if self.variant not in VARIANTS:
            raise ValueError(f"variant={self.variant!r} must be one of {', '.join(VARIANTS)}.")

    def next(self, history: History, rng: np.random.Generator) -> Start | Resume | None:
        """Promote, from the highest rung down; otherwise start a candidate; otherwise wait."""
        plan, rungs = self._plan(history), RungResults.of(history, self)
        resume = (
            self._continuation(rungs) if self.variant == "stopping" else self._promotion(rungs)
        )
        if resume is not None:
            return resume
        bracket = None if history.exhausted else self._emptiest(plan, rungs)
        if bracket is not None:
            return Start(plan.brackets[bracket][0].resource, bracket)
        return None if history.n_running else self._last_promotion(history, rungs)

    def retired(self, history: History, job: Job) -> list[int]:
        """Return the trial if it reached the top, failed, or can no longer be promoted."""
        ladder = [rung.resource for rung in self._plan(history).brackets[job.bracket]]
        if job.resource == ladder[-1] or math.isnan(
            history.trials[job.trial_id].results[job.resource].score
        ):
            return [job.trial_id]
        rungs = RungResults.of(history, self)
        if self.variant == "stopping":
            return [] if job.trial_id in rungs.going_on else [job.trial_id]
        if history.problem.objectives:
            return []  # a lower trial may still be promoted
        # A trial behind the last place in the top cannot be promoted, whatever the others score.
        n_most = self._plan(history).brackets[job.bracket][0].n_candidates
        last = n_promoted(n_most, self.factor)
        entries = rungs.entries[job.bracket, job.resource]
        place = bisect.bisect_left(entries, rungs.entry(history, job.trial_id, job.resource))
        if place >= last:
            out = job.trial_id
        elif len(entries) > last:
            out = entries[last][1]  # displaced by the new trial
        else:
            return []
        gone = history.trials[out].resource > job.resource
        return [] if gone or history.trials[out].running is not None else [out]

    # ---- decisions

    def _promotion(self, rungs: "RungResults") -> Resume | None:
        """Promote the best trial in the top of a rung not promoted yet."""
        for lower, upper, bracket in rungs.steps:
            if upper > rungs.goals[bracket]:
                continue
            left = rungs.left[bracket, lower]
            n_top = math.floor(rungs.n_told[bracket, lower] / Fraction(self.factor))
            if left and bisect.bisect_left(rungs.entries[bracket, lower], left[0]) < n_top:
                return Resume(left[0][1], upper)
        return None

    def _last_promotion(self, history: History, rungs: "RungResults") -> Resume | None:
        """At the end, promote the best trial of a rung too small for a promotion.

        If all trials of a rung have failed, promote any of them if a larger resource may help.
        """
        too_small = is_too_small(history)
        for lower, upper, bracket in rungs.steps:
            if rungs.asked[bracket, upper]:
                continue
            if too_small and rungs.asked[bracket, lower]:
                return Resume(min(rungs.asked[bracket, lower]), upper)
            if rungs.entries[bracket, lower] and upper <= rungs.goals[bracket]:
                return Resume(rungs.entries[bracket, lower][0][1], upper)
        return None

    def _first_goal(self, ladder: list[int]) -> int:
        """Return the first resource to which candidates are promoted."""
        return ladder[-1]

    def _next_goal(
        self, history: History, rungs: "RungResults", bracket: int, trial_id: int
    ) -> int:
        """Return the resource to which candidates are promoted after a result at the goal."""
        return rungs.goals[bracket]

    def _continuation(self, rungs: "RungResults") -> Resume | None:
        """Stopping variant: resume the first trial, in the order of arrival, that continues."""
        return next((Resume(i, resource) for i, resource in rungs.going_on.items()), None)

    def _goes_on(
        self, history: History, rungs: "RungResults", bracket: int, trial_id: int, resource: int
    ) -> bool:
        """Stopping variant: return whether a trial continues after its result at `resource`."""
        entries = rungs.entries[bracket, resource]
        n_top = math.ceil(rungs.n_told[bracket, resource] / Fraction(self.factor))
        return bisect.bisect_left(entries, rungs.entry(history, trial_id, resource)) < n_top

    def _emptiest(self, plan: Plan, rungs: "RungResults") -> int | None:
        """Return the bracket with the smallest share of starts, None if all are full."""
        shares = {
            b: Fraction(len(rungs.asked[b, bracket[0].resource]), bracket[0].n_candidates)
            for b, bracket in enumerate(plan.brackets)
        }
        emptiest = min(shares, key=lambda b: shares[b], default=None)
        return emptiest if emptiest is not None and shares[emptiest] < 1 else None


def _steps(plan: Plan) -> list[tuple[int, int, int]]:
    """Return pairs of neighbouring rungs and their bracket, the highest first."""
    steps = [
        (lower.resource, upper.resource, bracket)
        for bracket, rungs in enumerate(plan.brackets)
        for lower, upper in itertools.pairwise(rungs)
    ]
    return sorted(steps, key=lambda step: (-step[1], step[2]))


class RungResults:
    """Results of all rungs, kept in the history's cache; each event of its log is read once."""

    def __init__(self, scheduler: AsynchronousScheduler, plan: Plan) -> None:
        self.steps = _steps(plan)
        self.ladders = [[rung.resource for rung in rungs] for rungs in plan.brackets]
        self.goals = [scheduler._first_goal(ladder) for ladder in self.ladders]
        self.at_goal: dict[tuple[int, int], Any] = {}  # state of the scheduler by (bracket, goal)
        self.n_read = 0
        # All of the following by (bracket, resource); entries are (key, trial id), best first.
        self.entries: defaultdict[tuple[int, int], list[tuple[Key, int]]] = defaultdict(list)
        self.left: defaultdict[tuple[int, int], list[tuple[Key, int]]] = defaultdict(list)
        # by (trial id, resource), for several objectives
        self.places: dict[tuple[int, int], int] = {}
        self.n_told: defaultdict[tuple[int, int], int] = defaultdict(int)
        self.asked: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        self.going_on: dict[int, int] = {}  # trial id: resource, for the stopping variant
        self._scheduler = scheduler

    @classmethod
    def of(cls, history: History, scheduler: AsynchronousScheduler) -> "RungResults":
        """Return the results of a history's rungs, brought up to date."""
        rungs = history.cache.get("rungs")
        if rungs is None:
            rungs = history.cache["rungs"] = cls(scheduler, scheduler._plan(history))
        for event, trial_id, resource in history.log[rungs.n_read :]:
            bracket = history.trials[trial_id].bracket
            if event == "ask":
                rungs._ask(history, bracket, trial_id, resource)
            else:
                rungs._tell(history, bracket, trial_id, resource)
        rungs.n_read = len(history.log)
        return rungs

    def entry(self, history: History, trial_id: int, resource: int) -> tuple[Key, int]:
        """Return the sort key of a trial at a rung; ties are broken by trial id."""
        if history.problem.objectives:
            return (0.0, float(self.places[trial_id, resource])), trial_id
        result = history.trials[trial_id].results[resource]
        violation = result.violation
        return ((1.0, violation) if violation else (0.0, -result.score)), trial_id

    def _ask(self, history: History, bracket: int, trial_id: int, resource: int) -> None:
        """Process the start or the promotion of a trial."""
        self.asked[bracket, resource].add(trial_id)
        self.going_on.pop(trial_id, None)
        below = max((r for r in history.trials[trial_id].results if r < resource), default=None)
        if below is not None and self.entries[bracket, below]:  # otherwise all have failed
            left = self.left[bracket, below]
            left.pop(bisect.bisect_left(left, self.entry(history, trial_id, below)))

    def _tell(self, history: History, bracket: int, trial_id: int, resource: int) -> None:
        """Process a result: add it to its rung, and decide whether the trial continues."""
        self.n_told[bracket, resource] += 1
        if math.isnan(history.trials[trial_id].results[resource].score):
            return
        if history.problem.objectives:
            self._sort_again(history, bracket, trial_id, resource)
        entry = self.entry(history, trial_id, resource)
        bisect.insort(self.entries[bracket, resource], entry)
        bisect.insort(self.left[bracket, resource], entry)
        uppers = (upper for lower, upper, b in self.steps if (lower, b) == (resource, bracket))
        upper = next(uppers, None)
        if upper and self._scheduler._goes_on(history, self, bracket, trial_id, resource):
            self.going_on[trial_id] = upper
        if upper and resource == self.goals[bracket]:
            self.goals[bracket] = self._scheduler._next_goal(history, self, bracket, trial_id)

    def _sort_again(self, history: History, bracket: int, new: int, resource: int) -> None:
        """Sort a rung again: with several objectives a new trial changes the ranks of others."""
        key = bracket, resource
        ids = sorted([new, *(i for _, i in self.entries[key])])
        results = [history.trials[i].results[resource] for i in ids]
        for place, k in enumerate(best_first(results)):
            self.places[ids[k], resource] = place
        for entries in (self.entries[key], self.left[key]):
            entries[:] = sorted(self.entry(history, i, resource) for _, i in entries)
