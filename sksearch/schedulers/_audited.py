"""Audit of early stopping: some stopped candidates are trained to the end."""

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sksearch.base import Plan, Reads, Resume, Rung, Scheduler, Start
from sksearch.base._decisions import Job
from sksearch.history import History, Problem
from sksearch.schedulers._brackets import BracketScheduler

STREAM = 11  # distinguishes its generator from others with the same seed


@dataclass(frozen=True)
class Audited(Scheduler):
    """Another scheduler, followed by further training of a share of its stopped candidates.

    The audited candidates are drawn, at the end of each rung, among those neither promoted nor
    failed. After everything else they are trained up to the last rung of their bracket. Proposals
    and promotions are therefore the same as without an audit.

    Parameters
    ----------
    scheduler : BracketScheduler
        A scheduler with rungs known in advance, such as `Hyperband`.
    share : float, default=0.05
        Share of the stopped candidates, above 0 and at most 1. The numbers for all rungs are
        rounded so that their sum is correct, and at least one candidate is audited.

    Notes
    -----
    A fitted state is kept until its audit, so that only the units above the rung are paid for.
    Results are the same if a search is interrupted and resumed. A time limit cuts off the audit
    first, because it comes last.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem
    >>> from sksearch.schedulers import SuccessiveHalving
    >>> from sksearch.schedulers._audited import Audited
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"x": uniform()}), min_resources=1, max_resources=81)
    >>> plan = Audited(SuccessiveHalving(), share=0.05).plan(problem)
    >>> print(*(f"{rung.n_candidates}@{rung.resource}" for rung in plan.brackets[0]))
    81@1 27@3 9@9 3@27 5@81
    >>> plan.audits
    ((3, 1, 0, 0, 0),)
    """

    scheduler: Any
    share: float = 0.05

    def __post_init__(self) -> None:
        if not isinstance(self.scheduler, BracketScheduler) or self.scheduler.told.at_once:
            raise ValueError(
                f"scheduler={self.scheduler} does not plan how many candidates it stops at each "
                "rung, which an audit needs: leave audit out, or pass a synchronous scheduler, "
                "such as Hyperband()."
            )
        if not 0 < self.share <= 1:
            raise ValueError(f"share={self.share} must be above 0 and at most 1, such as 0.05.")

    @property
    def reads(self) -> Reads:
        """Inputs of the other scheduler."""
        return self.scheduler.reads

    def adapt(self, problem: Problem) -> tuple[Scheduler, int]:
        """Adapt the other scheduler; return it without an audit if it never stops candidates."""
        scheduler, low = self.scheduler.adapt(problem)
        return replace(self, scheduler=scheduler), low

    def plan(self, problem: Problem) -> Plan:
        """Compute brackets with the audited candidates included in the last rungs."""
        brackets = self.scheduler.plan(problem).brackets
        stopped = [
            [low.n_candidates - up.n_candidates for low, up in itertools.pairwise(rungs)]
            for rungs in brackets
        ]
        counts = _rounded([n for row in stopped for n in row], self.share)
        audits, planned = [], []
        for rungs, row in zip(brackets, stopped, strict=True):
            own, counts = counts[: len(row)], counts[len(row) :]
            audits.append((*own, 0))
            last = replace(rungs[-1], n_candidates=rungs[-1].n_candidates + sum(own))
            planned.append((*rungs[:-1], last))
        return Plan(tuple(planned), tuple(audits))

    def next(self, history: History, rng: np.random.Generator) -> Start | Resume | None:
        """Decide like the other scheduler; after its end, audit."""
        decision = self.scheduler.next(history, rng)
        return self._audit(history) if decision is None else decision

    def lane(self, history: History, n_each: int) -> Start | Resume | None:
        """Decide like the other scheduler; after its end, audit."""
        decision = self.scheduler.lane(history, n_each)
        return self._audit(history) if decision is None else decision

    def _audit(self, history: History) -> Resume | None:
        """Train an audited candidate to the end, if no other result is awaited."""
        chosen = self.audited(history)
        under_way = (trial for trial in history.trials if trial.running is not None)
        if any(trial.running != chosen.get(trial.id) for trial in under_way):
            return None  # their results may lead to promotions
        for trial_id, resource in chosen.items():
            trial = history.trials[trial_id]
            if trial.running is None and resource not in trial.results:
                return Resume(trial_id, resource)
        return None

    def retired(self, history: History, job: Job) -> Iterable[int]:
        """Return trials that the other scheduler no longer needs, except audited ones."""
        waiting = self._of_bracket(history, job.bracket)
        return sorted(
            i
            for i in self.scheduler.retired(history, job)
            if history.trials[i].resource >= waiting.get(i, 0)
        )

    def audited(self, history: History) -> dict[int, int]:
        """Return the resource that each audited trial is trained to, for complete rungs.

        Parameters
        ----------
        history : History
            Everything known so far.

        Returns
        -------
        resources : dict of int to int
            Resources by trial id, bracket by bracket.
        """
        n_brackets = len(self._plan(history).brackets)
        found: dict[int, int] = {}
        for bracket in range(n_brackets):
            found |= self._of_bracket(history, bracket)
        return found

    def _of_bracket(self, history: History, bracket: int) -> dict[int, int]:
        """Return the audited trials of one bracket, with its last resource."""
        rungs = self.scheduler._plan(history).brackets[bracket]
        found: dict[int, int] = {}
        for i, (lower, upper) in enumerate(itertools.pairwise(rungs)):
            drawn = self._drawn(history, bracket, i, lower, upper)
            if drawn is None:
                break
            found |= dict.fromkeys(drawn, rungs[-1].resource)
        return found

    def _drawn(
        self, history: History, bracket: int, i: int, lower: Rung, upper: Rung
    ) -> list[int] | None:
        """Return audited trials among those stopped at the i-th rung; None while it is running."""
        if (key := ("audited", bracket, i)) in history.cache:
            return history.cache[key]
        promoted = self.scheduler._promoted(history, bracket, lower, upper)
        if promoted is None:
            return None
        ids = sorted({*history.rung(bracket, lower.resource)} - {*promoted})
        ok = [j for j in ids if math.isfinite(history.trials[j].results[lower.resource].score)]
        rng = np.random.default_rng((history.problem.seed, STREAM, bracket, i))
        n = min(len(ok), self._plan(history).audits[bracket][i])
        history.cache[key] = sorted(rng.choice(ok, n, replace=False).tolist()) if n else []
        return history.cache[key]

    def _plan(self, history: History) -> Plan:
        if "audited plan" not in history.cache:
            history.cache["audited plan"] = self.plan(history.problem)
        return history.cache["audited plan"]


def _rounded(counts: list[int], share: float) -> list[int]:
    """Return integer shares with the rounded share of the sum as their sum, at least one."""
    ends = [math.floor(share * n + 0.5) for n in itertools.accumulate(counts, initial=0)]
    shares = [end - start for start, end in itertools.pairwise(ends)]
    if counts and not any(shares):
        most = counts.index(max(counts))
        shares[most] = min(1, counts[most])
    return shares
