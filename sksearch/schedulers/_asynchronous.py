"""Successive halving without waiting: a worker that is free never waits for a rung to end.

==============  ======================================================================
eta             ``factor``
rung            the results of a bracket at one resource, so far
top             the best ``floor(n / eta)`` of the n in a rung, or ``ceil`` for stopping
goal            the resource that a bracket's candidates are promoted to, at present
==============  ======================================================================
"""

import bisect
import itertools
import math
from collections import defaultdict
from fractions import Fraction

from sksearch.base import Plan, Resume, Start
from sksearch.schedulers._brackets import BracketScheduler, check_factor, n_promoted

VARIANTS = ("promotion", "stopping")


class AsynchronousScheduler(BracketScheduler):
    """A scheduler whose brackets are a table, gone through without waiting.

    Subclasses name the table and have the fields `factor` and `variant`. The plan is the least
    that is done: who was promoted early may fall behind later, and then more than one in
    `factor` are promoted.
    """

    asynchronous = True
    variant: str = "promotion"

    def __post_init__(self):
        check_factor(self.factor)
        if self.variant not in VARIANTS:
            raise ValueError(f"variant={self.variant!r} must be one of {', '.join(VARIANTS)}.")

    def next(self, history, rng):
        """Promote, from the highest rung down; else start a candidate; else wait."""
        plan, rungs = self._plan(history), _Rungs.of(history, self)
        resume = self._stopped(rungs) if self.variant == "stopping" else self._promotion(rungs)
        if resume is not None:
            return resume
        bracket = None if history.exhausted else self._emptiest(plan, rungs)
        if bracket is not None:
            return Start(plan.brackets[bracket][0].resource, bracket)
        return None if history.n_running else self._last_promotion(rungs)

    def retired(self, history, job):
        """Free who reached the top, failed, or cannot be promoted whatever the others bring."""
        ladder = [rung.resource for rung in self._plan(history).brackets[job.bracket]]
        if job.resource == ladder[-1] or math.isnan(
            history.trials[job.trial_id].results[job.resource].score
        ):
            return [job.trial_id]
        rungs = _Rungs.of(history, self)
        if self.variant == "stopping":
            return [] if job.trial_id in rungs.going_on else [job.trial_id]
        # The last place from which one is promoted, if all candidates come this far.
        n_most = self._plan(history).brackets[job.bracket][0].n_candidates
        last = n_promoted(n_most, self.factor)
        entries = rungs.entries[job.bracket, job.resource]
        place = bisect.bisect_left(entries, rungs.entry(history, job.trial_id, job.resource))
        out = job.trial_id if place >= last else None
        if out is None and len(entries) > last:
            out = entries[last][1]  # who had that place until now
        gone = out is None or history.trials[out].resource > job.resource
        return [] if gone or history.trials[out].running is not None else [out]

    # ---- decisions

    def _promotion(self, rungs) -> Resume | None:
        """The best one in the top of a rung that was not promoted yet."""
        for lower, upper, bracket in rungs.steps:
            if upper > rungs.goals[bracket]:
                continue
            left = rungs.left[bracket, lower]
            n_top = math.floor(rungs.n_told[bracket, lower] / Fraction(self.factor))
            if left and bisect.bisect_left(rungs.entries[bracket, lower], left[0]) < n_top:
                return Resume(left[0][1], upper)
        return None

    def _last_promotion(self, rungs) -> Resume | None:
        """When all is done: the best of a rung that is too small to have a top."""
        for lower, upper, bracket in rungs.steps:
            if upper > rungs.goals[bracket]:
                continue
            if rungs.entries[bracket, lower] and not rungs.asked[bracket, upper]:
                return Resume(rungs.entries[bracket, lower][0][1], upper)
        return None

    def _first_goal(self, ladder: list[int]) -> int:
        """The resource that candidates are promoted to at first."""
        return ladder[-1]

    def _next_goal(self, history, rungs, bracket, trial_id) -> int:
        """The same after the score of a trial at it, where it is not the largest."""
        return rungs.goals[bracket]

    def _stopped(self, rungs) -> Resume | None:
        """Who goes on, in the order of telling."""
        return next((Resume(i, resource) for i, resource in rungs.going_on.items()), None)

    def _goes_on(self, history, rungs, bracket, trial_id, resource) -> bool:
        """Whether a trial that was just told, and is among the entries, goes on at once."""
        entries = rungs.entries[bracket, resource]
        n_top = math.ceil(rungs.n_told[bracket, resource] / Fraction(self.factor))
        return bisect.bisect_left(entries, rungs.entry(history, trial_id, resource)) < n_top

    def _emptiest(self, plan: Plan, rungs) -> int | None:
        """The bracket that has the smallest share of its candidates, None if all are full."""
        shares = {
            b: Fraction(len(rungs.asked[b, bracket[0].resource]), bracket[0].n_candidates)
            for b, bracket in enumerate(plan.brackets)
        }
        emptiest = min(shares, key=shares.get, default=None)
        return emptiest if emptiest is not None and shares[emptiest] < 1 else None


def _steps(plan):
    """From rung to rung in all brackets, the highest first."""
    steps = [
        (lower.resource, upper.resource, bracket)
        for bracket, rungs in enumerate(plan.brackets)
        for lower, upper in itertools.pairwise(rungs)
    ]
    return sorted(steps, key=lambda step: (-step[1], step[2]))


class _Rungs:
    """What the log says, read once each event; hangs on the history's cache."""

    def __init__(self, scheduler, plan):
        self.steps = _steps(plan)
        self.ladders = [[rung.resource for rung in rungs] for rungs in plan.brackets]
        self.goals = [scheduler._first_goal(ladder) for ladder in self.ladders]
        self.at_goal: dict = {}  # (bracket, goal): what the scheduler noted of those at it
        self.n_read = 0
        self.entries = defaultdict(list)  # (bracket, resource): (-score, trial id), best first
        self.left = defaultdict(list)  # those of them that were not promoted
        self.n_told = defaultdict(int)
        self.asked = defaultdict(set)
        self.going_on: dict[int, int] = {}  # trial id: resource, for the stopping variant
        self._scheduler = scheduler

    @classmethod
    def of(cls, history, scheduler):
        """The up-to-date rungs of a history."""
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

    @staticmethod
    def entry(history, trial_id, resource):
        """Place of a trial among others, ties by trial id."""
        return -history.trials[trial_id].results[resource].score, trial_id

    def _ask(self, history, bracket, trial_id, resource):
        self.asked[bracket, resource].add(trial_id)
        self.going_on.pop(trial_id, None)
        below = max((r for r in history.trials[trial_id].results if r < resource), default=None)
        if below is not None:
            left = self.left[bracket, below]
            left.pop(bisect.bisect_left(left, self.entry(history, trial_id, below)))

    def _tell(self, history, bracket, trial_id, resource):
        self.n_told[bracket, resource] += 1
        entry = self.entry(history, trial_id, resource)
        if math.isnan(entry[0]):
            return
        bisect.insort(self.entries[bracket, resource], entry)
        bisect.insort(self.left[bracket, resource], entry)
        uppers = (upper for lower, upper, b in self.steps if (lower, b) == (resource, bracket))
        upper = next(uppers, None)
        if upper and self._scheduler._goes_on(history, self, bracket, trial_id, resource):
            self.going_on[trial_id] = upper
        if upper and resource == self.goals[bracket]:
            self.goals[bracket] = self._scheduler._next_goal(history, self, bracket, trial_id)
