"""What a sampler learns from: the history as arrays.

==========  ======================================================================
r0          resource that the next candidate starts with
value       a trial's score at r0, or where it was not measured there at the
            nearest resource above
==========  ======================================================================
"""

import math
from dataclasses import dataclass

import numpy as np

TRANSFERS = ("rung", "none", "all", "surv", "same", "joint")


@dataclass(frozen=True)
class Observations:
    """Arrays of what is known, in an order that only grows at its end where possible.

    Parameters
    ----------
    U : ndarray of shape (n, n_dims)
        Points with a score.
    y : ndarray of shape (n,)
        Scores, greater is better.
    cost : ndarray of shape (n,)
        Seconds of the jobs.
    resource : ndarray of shape (n,)
        Counts of units at which the scores were measured.
    failed : ndarray of shape (n_failed, n_dims)
        Points whose jobs failed.
    pending : ndarray of shape (n_pending, n_dims)
        Points of running jobs whose score is not among `y`.
    """

    U: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    resource: np.ndarray
    failed: np.ndarray
    pending: np.ndarray


class Ledger:
    """The told jobs of a history as lists, read once each; hangs on the history's cache."""

    def __init__(self):
        self.n_read = 0
        self.points: list[np.ndarray] = []
        self.by_resource: dict[int, list[int]] = {}
        self.entries: list[tuple[int, int]] = []
        self.failed: list[int] = []
        self._stacked = np.empty((0, 0))

    @classmethod
    def of(cls, history):
        """The up-to-date ledger of a history."""
        ledger = history.cache.setdefault("ledger", cls())
        space = history.problem.space
        for trial in history.trials[len(ledger.points) :]:
            ledger.points.append(space.to_unit(trial.params))
        for event, trial_id, resource in history.log[ledger.n_read :]:
            if event == "tell":
                if math.isnan(history.trials[trial_id].results[resource].score):
                    ledger.failed.append(trial_id)
                else:
                    ledger.by_resource.setdefault(resource, []).append(trial_id)
                    ledger.entries.append((trial_id, resource))
        ledger.n_read = len(history.log)
        return ledger

    def stacked(self, n_dims):
        """Points of all trials, shape (n_trials, n_dims)."""
        if len(self._stacked) < len(self.points):
            self._stacked = np.array(self.points).reshape(len(self.points), n_dims)
        return self._stacked


def observe(history, start, transfer="rung", n_enough=2) -> Observations:
    """Return what a model of the candidates at ``start.resource`` may learn from.

    Parameters
    ----------
    history : History
        Everything that is known.
    start : Start
        Resource r0 and bracket of the next candidate.
    transfer : {"rung", "none", "all", "surv", "same", "joint"}, default="rung"
        "rung": all results at the largest resource that has `n_enough` of them, as BOHB [2]_;
        below that many, at the resource that has most. The next four are those of [1]_; besides
        the own bracket's results at r0 they have, of earlier brackets, "none": nothing, "all":
        every trial that reached r0, "surv": trials that reached the last rung, "same": trials
        that were stopped exactly at r0. "joint": all results at all resources.
    n_enough : int, default=2
        See "rung".

    Returns
    -------
    observations : Observations

    References
    ----------
    .. [1] O. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
    .. [2] S. Falkner, A. Klein, F. Hutter, "BOHB: robust and efficient hyperparameter
       optimization at scale", ICML 2018. https://proceedings.mlr.press/v80/falkner18a.html
    """
    ledger = Ledger.of(history)
    trials = history.trials
    if transfer == "joint":
        pairs = ledger.entries
    elif transfer == "rung":
        pairs = _richest(ledger, n_enough)
    else:
        pairs = _transferred(history, ledger, start, transfer)
    results = [trials[i].results[r] for i, r in pairs]
    points = ledger.stacked(history.problem.space.n_dims)
    ids = [i for i, _ in pairs]
    known = set(ids)
    pending = [t.id for t in _running(history) if t.id not in known]
    return Observations(
        points[ids],
        np.array([result.score for result in results]),
        np.array([result.cost for result in results]),
        np.array([resource for _, resource in pairs]),
        points[ledger.failed],
        points[pending],
    )


def _running(history):
    """Running trials, O(n_running): whatever is under way is among the last asked."""
    left, found = history.n_running, []
    for event, trial_id, resource in reversed(history.log):
        if left == 0:
            break
        if event == "ask" and history.trials[trial_id].running == resource:
            found.append(history.trials[trial_id])
            left -= 1
    return found[::-1]


def _richest(ledger, n_enough):
    """Results at the largest resource with enough of them, else where there are most."""
    if not ledger.by_resource:
        return []
    rungs = sorted(ledger.by_resource, reverse=True)
    enough = [r for r in rungs if len(ledger.by_resource[r]) >= n_enough]
    resource = enough[0] if enough else max(rungs, key=lambda r: len(ledger.by_resource[r]))
    return [(i, resource) for i in ledger.by_resource[resource]]


def _transferred(history, ledger, start, transfer):
    trials, r0, own = history.trials, start.resource, start.bracket
    last = history.problem.max_resources
    pairs, seen = [], set()
    for trial_id, _ in ledger.entries:
        trial = trials[trial_id]
        if trial_id in seen or trial.bracket > own:
            continue
        seen.add(trial_id)
        if trial.bracket < own and not _transfers(trial, r0, last, transfer):
            continue
        value = min(
            (r for r, result in trial.results.items() if r >= r0 and result.score == result.score),
            default=None,
        )
        if value is not None and (trial.bracket < own or value == r0):
            pairs.append((trial_id, value))
    return pairs


def _transfers(trial, r0, last, transfer):
    """Whether a trial of an earlier bracket is looked at."""
    if transfer == "all":
        return True
    if transfer == "surv":
        return trial.resource == last
    return transfer == "same" and trial.resource == r0 and trial.running is None
