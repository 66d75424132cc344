"""The median stopping rule."""

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from sksearch.base import Plan, Resume, Rung, Scheduler, Start
from sksearch.schedulers._brackets import check_factor, ladder


@dataclass(frozen=True)
class MedianStopping(Scheduler):
    """Stop a candidate whose best score is below what half of the others had on average.

    A candidate goes from rung to rung until it reaches `max_resources`, or until its best score
    so far is less than the median, over all others that were trained as far, of the mean of
    their scores up to there [1]_.

    Parameters
    ----------
    n_candidates : int, default=30
        Count of candidates.
    factor : float, default=2
        Ratio of neighbouring rungs, at which it is decided.
    n_full : int, default=5
        Count of results at a rung from which on candidates are stopped there.

    References
    ----------
    .. [1] D. Golovin, B. Solnik, S. Moitra, G. Kochanski, J. Karro, D. Sculley, "Google Vizier: a
       service for black-box optimization", KDD 2017. https://doi.org/10.1145/3097983.3098043
    """

    n_candidates: int = 30
    factor: float = 2
    n_full: int = 5

    asynchronous = True

    def __post_init__(self):
        check_factor(self.factor)
        if self.n_full < 1:
            raise ValueError(f"n_full={self.n_full} must be at least 1.")

    def plan(self, problem):
        """Lay out what is done if nobody is stopped."""
        n = min(self.n_candidates, problem.space.size)
        rungs = ladder(problem.min_resources, problem.max_resources, self.factor)
        return Plan((tuple(Rung(resource, n) for resource in rungs),) if n else ())

    def next(self, history, rng):
        """Bring the first one further that goes on; else start a candidate."""
        waiting = self._records(history).going_on
        for trial_id, resource in waiting.items():
            return Resume(trial_id, resource)
        plan = self.plan(history.problem)
        if len(history.trials) < plan.n_candidates and not history.exhausted:
            return Start(plan.brackets[0][0].resource)
        return None

    def retired(self, history, job):
        """Free who was stopped or is at the top."""
        return [] if job.trial_id in self._records(history).going_on else [job.trial_id]

    def _records(self, history):
        problem = history.problem
        if "median" not in history.cache:
            rungs = ladder(problem.min_resources, problem.max_resources, self.factor)
            history.cache["median"] = _Records(rungs, self.n_full)
        return history.cache["median"].read(history)


class _Records:
    """What the log says, read once each event; hangs on the history's cache."""

    def __init__(self, rungs, n_full):
        self.going_on: dict[int, int] = {}  # trial id: resource
        self._rungs, self._n_full = rungs, n_full
        self._n_read = 0
        self._scores = defaultdict(list)  # of each trial, from rung to rung
        self._means = defaultdict(list)  # of all trials that reached a rung

    def read(self, history):
        """Enter new events."""
        for event, trial_id, resource in history.log[self._n_read :]:
            if event == "ask":
                self.going_on.pop(trial_id, None)
            else:
                self._tell(trial_id, resource, history.trials[trial_id].results[resource].score)
        self._n_read = len(history.log)
        return self

    def _tell(self, trial_id, resource, score):
        if math.isnan(score):
            return
        scores, others = self._scores[trial_id], self._means[resource]
        scores.append(score)
        stopped = len(others) >= self._n_full and max(scores) < np.median(others)
        others.append(float(np.mean(scores)))
        if resource < self._rungs[-1] and not stopped:
            self.going_on[trial_id] = self._rungs[self._rungs.index(resource) + 1]
