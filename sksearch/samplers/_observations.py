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

# What is best after a tiny part of the training is not what is best after all of it: a model of
# such results misled the search on each recorded task, and was worse than no model. All rungs of
# `IteratedHalving` are in, however they are rounded: 1 of 40 is, 40 / 27 being 1.48.
NEAR = 40
OWN_FAILURES = ("none", "surv", "same")  # which know of earlier brackets what has a score only
WITHOUT_JOINT = ("rung", "all", *OWN_FAILURES)  # one score a trial
TRANSFERS = (*WITHOUT_JOINT, "joint")


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
    when : ndarray of shape (n,)
        Places of the scores in the order of telling, among which are those of failures.
    failed : ndarray of shape (n_failed, n_dims)
        Points whose jobs failed.
    failed_when : ndarray of shape (n_failed,)
        Their places in the order of telling.
    tried : ndarray of shape (n_tried, n_dims)
        Points of all trials with a result, at whatever resource, in the order of first results;
        empty if none failed.
    ok : ndarray of shape (n_tried,)
        Whether the trial never failed, bool.
    pending : ndarray of shape (n_pending, n_dims)
        Points of running jobs whose score is not among `y`.
    waiting : ndarray of shape (n_waiting, n_dims)
        Points of the own rung's trials that have a result, but none that is among `y`.
    """

    U: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    resource: np.ndarray
    when: np.ndarray
    failed: np.ndarray
    failed_when: np.ndarray
    tried: np.ndarray
    ok: np.ndarray
    pending: np.ndarray
    waiting: np.ndarray

    @property
    def unknown(self):
        """Points that a surrogate has to believe something of: pending and waiting ones."""
        return np.vstack([self.pending, self.waiting])


class Rows:
    """An array of numbers that grows by rows of a given length."""

    def __init__(self, length):
        self.n = 0
        self._array = np.empty((64, length))

    def append(self, row):
        """Add one row."""
        if self.n == len(self._array):
            self._array = np.concatenate([self._array, np.empty_like(self._array)])
        self._array[self.n] = row
        self.n += 1

    @property
    def all(self):
        """All rows, shape (n, length)."""
        return self._array[: self.n]


class Ledger:
    """The told jobs of a history, read once each; hangs on the history's cache."""

    def __init__(self, n_dims):
        self.n_read = 0
        self.points = Rows(n_dims)  # of all trials
        self.when: dict[tuple[int, int], int] = {}  # by trial id and resource, without failures
        # Rows of trial id, score, cost, place in the order of telling:
        self.by_resource: dict[int, Rows] = {}
        self.failed: dict[int, int] = {}  # by trial id, place in the order of telling
        self.tried: dict[int, None] = {}  # trial ids in the order of first results

    @classmethod
    def of(cls, history):
        """The up-to-date ledger of a history."""
        space = history.problem.space
        ledger = history.cache.get("ledger")
        if ledger is None:
            ledger = history.cache["ledger"] = cls(space.n_dims)
        for trial in history.trials[ledger.points.n :]:
            ledger.points.append(space.to_unit(trial.params))
        for when in range(ledger.n_read, len(history.log)):
            event, trial_id, resource = history.log[when]
            if event == "tell":
                result = history.trials[trial_id].results[resource]
                ledger._add_result(trial_id, resource, result, when)
        ledger.n_read = len(history.log)
        return ledger

    def _add_result(self, trial_id, resource, result, when):
        self.tried.setdefault(trial_id)
        if math.isnan(result.score):
            self.failed[trial_id] = when
            return
        self.when[trial_id, resource] = when
        rows = self.by_resource.setdefault(resource, Rows(4))
        rows.append((trial_id, result.score, result.cost, when))


def observe(history, start, transfer="rung", n_enough=2) -> Observations:
    """Return what a model of the candidates at ``start.resource`` may learn from.

    Parameters
    ----------
    history : History
        Everything that is known.
    start : Start
        Resource r0 and bracket of the next candidate.
    transfer : {"rung", "none", "all", "surv", "same", "joint"}, default="rung"
        "rung": all results at the largest resource that has `n_enough` of them, as BOHB [2]_,
        among resources of at least a fortieth of the largest; while none has so many, at that
        which has most. "joint": all results at those resources. The other four are those of
        [1]_; besides the own bracket's results at r0 they have, of earlier brackets, "none":
        nothing, "all": every trial that reached r0, "surv": trials that reached the last rung,
        "same": trials that were stopped exactly at r0. Failed and running trials of other
        brackets are seen with "rung", "joint" and "all" only.
    n_enough : int, default=2
        See "rung".

    Returns
    -------
    observations : Observations

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
    .. [2] S. Falkner, A. Klein, F. Hutter, "BOHB: robust and efficient hyperparameter
       optimization at scale", ICML 2018. https://proceedings.mlr.press/v80/falkner18a.html
    """
    ledger = Ledger.of(history)
    near = {r for r in ledger.by_resource if r * NEAR >= history.problem.max_resources}
    if transfer == "rung":
        resource = _richest(ledger, near, n_enough)
        rows = ledger.by_resource.get(resource, Rows(4)).all
        resources = np.full(len(rows), resource)
        unseen = start.resource != resource
    else:
        pairs = (
            [(i, r) for i, r in ledger.when if r in near]
            if transfer == "joint"
            else _transferred(history, ledger, start, transfer)
        )
        results = [history.trials[i].results[r] for i, r in pairs]
        rows = np.array(
            [
                (pair[0], result.score, result.cost, ledger.when[pair])
                for pair, result in zip(pairs, results, strict=True)
            ]
        ).reshape(-1, 4)
        resources = np.array([r for _, r in pairs], dtype=int)
        unseen = transfer == "joint" and start.resource not in near

    def visible(trial_ids):
        if transfer not in OWN_FAILURES:
            return list(trial_ids)
        return [i for i in trial_ids if history.trials[i].bracket == start.bracket]

    ids = rows[:, 0].astype(int)
    running = _running(history)
    scored = set(ids.tolist()) if running or unseen else ()
    pending = visible(i for i in running if i not in scored)
    failed = visible(ledger.failed)
    tried = visible(ledger.tried) if failed else []
    waiting = []
    if unseen:
        others = {*scored, *ledger.failed, *running}
        waiting = [i for i in history.rung(start.bracket, start.resource) if i not in others]
    points = ledger.points.all
    return Observations(
        points[ids],
        rows[:, 1].copy(),
        rows[:, 2].copy(),
        resources,
        rows[:, 3].astype(int),
        points[failed],
        np.array([ledger.failed[i] for i in failed], dtype=int),
        points[tried],
        np.array([i not in ledger.failed for i in tried], dtype=bool),
        points[pending],
        points[waiting],
    )


def _running(history):
    """Ids of running trials, O(n_running): whatever is under way is among the last asked."""
    left, found = history.n_running, []
    for event, trial_id, resource in reversed(history.log):
        if left == 0:
            break
        if event == "ask" and history.trials[trial_id].running == resource:
            found.append(trial_id)
            left -= 1
    return found[::-1]


def _richest(ledger, near, n_enough):
    """The largest resource with enough results, else where there are most; None: no result."""
    counts = {r: ledger.by_resource[r].n for r in sorted(near, reverse=True)}
    enough = (r for r, n in counts.items() if n >= n_enough)
    return next(enough, max(counts, key=counts.get, default=None))


def _transferred(history, ledger, start, transfer):
    trials, r0, own = history.trials, start.resource, start.bracket
    last = history.problem.max_resources
    pairs, seen = [], set()
    for trial_id, _ in ledger.when:
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
