"""What a sampler learns from: the history as arrays.

==========  ======================================================================
r0          resource that the next candidate starts with
value       a trial's score at r0, or where it was not measured there at the
            nearest resource above
==========  ======================================================================
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sksearch._fronts import best_first
from sksearch.base import Start
from sksearch.history import History, Result, Trial

# What is best after a tiny part of the training is not what is best after all of it: a model of
# such results misled the search on each recorded task, and was worse than no model. All rungs of
# `IteratedHalving` are in, however they are rounded: 1 of 40 is, 40 / 27 being 1.48.
MAX_RESOURCE_RATIO = 40
# With these a model sees only scores of earlier brackets, none of their failures or running jobs.
SCORES_ONLY = ("none", "survivors", "same")
WITHOUT_JOINT = ("rung", "all", *SCORES_ONLY)  # one score for each trial
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
        Seconds that the jobs took; NaN for results of an earlier search.
    resource : ndarray of shape (n,)
        Counts of units at which the scores were measured.
    trial_id : ndarray of shape (n,)
        The trial of each score; below 0 for results of an earlier search.
    log_index : ndarray of shape (n,)
        Position of each score in the history's log.
    failed : ndarray of shape (n_failed, n_dims)
        Points whose jobs failed.
    failed_log_index : ndarray of shape (n_failed,)
        Position of each failure in the history's log.
    tried : ndarray of shape (n_tried, n_dims)
        Points of all trials with a result, at whatever resource, in the order of first results;
        empty if none failed.
    ok : ndarray of shape (n_tried,)
        Whether the trial never failed, bool.
    running : ndarray of shape (n_running, n_dims)
        Points of running jobs whose score is not among `y`.
    excluded : ndarray of shape (n_excluded, n_dims)
        Points of the own rung's trials whose results are not among `y`.
    objectives : ndarray of shape (n, n_objectives)
        Values of several objectives, greater is better; the scores where there are no several.
    slacks : ndarray of shape (n, n_bounds)
        How far each bound is kept; negative where it is broken.
    """

    U: np.ndarray
    y: np.ndarray
    cost: np.ndarray
    resource: np.ndarray
    trial_id: np.ndarray
    log_index: np.ndarray
    failed: np.ndarray
    failed_log_index: np.ndarray
    tried: np.ndarray
    ok: np.ndarray
    running: np.ndarray
    excluded: np.ndarray
    objectives: np.ndarray
    slacks: np.ndarray

    @property
    def feasible(self) -> np.ndarray:
        """Whether each point with a score keeps all bounds, bool of shape (n,)."""
        return np.all(self.slacks >= 0, axis=1)

    @property
    def violation(self) -> np.ndarray:
        """By how much bounds are broken, all together, shape (n,); 0 where none is."""
        return -np.minimum(self.slacks, 0).sum(axis=1)

    @property
    def best_first(self) -> np.ndarray:
        """Indices of the points with a score, shape (n,): those that keep all bounds first."""
        if not self.slacks.shape[1] and self.objectives.shape[1] == 1:
            return np.argsort(-self.y, kind="stable")
        return best_first(self.objectives, self.violation)

    @property
    def pending(self) -> np.ndarray:
        """Points that a model has no score of yet, shape (n_running + n_excluded, n_dims).

        A trial whose only result is at a resource too small to learn from is treated as a running
        one: otherwise a bracket at a low resource would be filled with one candidate.
        """
        return np.vstack([self.running, self.excluded])


class GrowingArray:
    """An array of numbers that grows by rows of a given length."""

    def __init__(self, length: int):
        self.n = 0
        self._array = np.empty((64, length))

    def append(self, row: Sequence[float] | np.ndarray) -> None:
        """Add one row."""
        if self.n == len(self._array):
            self._array = np.concatenate([self._array, np.empty_like(self._array)])
        self._array[self.n] = row
        self.n += 1

    @property
    def rows(self) -> np.ndarray:
        """All rows, shape (n, length)."""
        return self._array[: self.n]


class ResultIndex:
    """The results of a history, read once each; kept in the history's cache."""

    def __init__(self, n_dims: int):
        self.n_read = 0
        self.points = GrowingArray(n_dims)  # of all trials
        # Positions in the log: of scores by trial id and resource, of failures by trial id.
        self.scored: dict[tuple[int, int], int] = {}
        self.failed: dict[int, int] = {}
        # Rows of trial id, score, cost, position in the log:
        self.by_resource: dict[int, GrowingArray] = {}
        self.tried: dict[int, None] = {}  # trial ids in the order of first results
        self.known: tuple[np.ndarray, np.ndarray] = np.empty((0, n_dims)), np.empty(0)

    @classmethod
    def of(cls, history: History) -> "ResultIndex":
        """Return the up-to-date index of a history."""
        space = history.problem.space
        index = history.cache.get("results")
        if index is None:
            index = history.cache["results"] = cls(space.n_dims)
            if known := history.problem.known:
                points = np.array([space.to_unit(params) for params, _ in known])
                index.known = points, np.array([score for _, score in known])
        for trial in history.trials[index.points.n :]:
            index.points.append(history.problem.point(trial.params))
        for position in range(index.n_read, len(history.log)):
            event, trial_id, resource = history.log[position]
            if event == "tell":
                result = history.trials[trial_id].results[resource]
                index._add(trial_id, resource, result, position)
        index.n_read = len(history.log)
        return index

    def _add(self, trial_id: int, resource: int, result: Result, position: int) -> None:
        self.tried.setdefault(trial_id)
        if math.isnan(result.score):
            self.failed[trial_id] = position
            return
        self.scored[trial_id, resource] = position
        rows = self.by_resource.setdefault(resource, GrowingArray(4))
        rows.append((trial_id, result.score, result.cost, position))


def observe(
    history: History, start: Start, transfer: str = "rung", n_enough: int = 2
) -> Observations:
    """Return what a model of the candidates at ``start.resource`` may learn from.

    Parameters
    ----------
    history : History
        Everything that is known.
    start : Start
        Resource r0 and bracket of the next candidate.
    transfer : {"rung", "none", "all", "survivors", "same", "joint"}, default="rung"
        "rung": all results at the largest resource that has `n_enough` of them, as BOHB [2]_,
        among resources of at least a fortieth of the largest; while none has so many, at that
        which has most. "joint": all results at those resources. The other four are those of
        [1]_. Each takes the own bracket's results at r0, and of earlier brackets "none":
        nothing; "all": every trial that reached r0; "survivors" (SURV in [1]_): trials that
        reached the last rung; "same": trials that were stopped exactly at r0. Failed and running
        trials of other brackets are seen with "rung", "joint" and "all" only. In a race over
        folds it has no effect: of each candidate there is one score, that on all folds or an
        estimate of it.
    n_enough : int, default=2
        Count of results from which on "rung" learns from a resource.

    Returns
    -------
    observations : Observations
        Arrays for the model.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019.
    .. [2] S. Falkner, A. Klein, F. Hutter, "BOHB: robust and efficient hyperparameter
       optimization at scale", ICML 2018. https://proceedings.mlr.press/v80/falkner18a.html
    """
    index = ResultIndex.of(history)
    read = _race_scores if history.problem.races else _scores
    rows, resources, sees_own_rung = read(history, index, start, transfer, n_enough)
    ids = rows[:, 0].astype(int)
    running = _running(history)
    scored = set(ids.tolist()) if running or not sees_own_rung else set()
    excluded = []
    if not sees_own_rung:
        others = {*scored, *index.failed, *running}
        excluded = [i for i in history.rung(start.bracket, start.resource) if i not in others]

    def visible(trial_ids: Iterable[int]) -> list[int]:
        if transfer not in SCORES_ONLY:
            return list(trial_ids)
        return [i for i in trial_ids if history.trials[i].bracket == start.bracket]

    earlier_U, earlier_y = index.known
    if len(resources) and resources.max() < history.problem.max_resources:
        earlier_U, earlier_y = earlier_U[:0], earlier_y[:0]  # of another resource
    n_known = len(earlier_y)
    failed = visible(index.failed)
    tried = visible(index.tried) if failed else []
    points = index.points.rows
    y = np.r_[earlier_y, rows[:, 1]]
    objectives, slacks = _vectors(history, ids, resources, y)
    return Observations(
        U=np.vstack([earlier_U, points[ids]]),
        y=y,
        cost=np.r_[np.full(n_known, np.nan), rows[:, 2]],
        resource=np.r_[np.full(n_known, history.problem.max_resources), resources].astype(int),
        trial_id=np.r_[np.arange(-n_known, 0), ids],
        log_index=np.r_[np.arange(-n_known, 0), rows[:, 3]].astype(int),
        failed=points[failed],
        failed_log_index=np.array([index.failed[i] for i in failed], dtype=int),
        tried=points[tried],
        ok=np.array([i not in index.failed for i in tried], dtype=bool),
        running=points[visible(i for i in running if i not in scored)],
        excluded=points[excluded],
        objectives=objectives,
        slacks=slacks,
    )


def _vectors(
    history: History, ids: np.ndarray, resources: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Values of the objectives and slacks of results with a score."""
    problem = history.problem
    if not problem.objectives and not problem.bounds:
        return scores[:, np.newaxis], np.empty((len(scores), 0))
    pairs = zip(ids.tolist(), resources.tolist(), strict=True)
    results = [history.trials[i].results[r] for i, r in pairs]
    objectives = [r.objectives or (r.score,) for r in results]
    slacks = np.array([r.slacks for r in results]).reshape(len(ids), len(problem.bounds))
    return np.array(objectives).reshape(len(ids), len(problem.objectives) or 1), slacks


def _scores(
    history: History, index: ResultIndex, start: Start, transfer: str, n_enough: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Rows of the index to learn from, their resources, and whether all of r0 are among them."""
    large = {
        r for r in index.by_resource if r * MAX_RESOURCE_RATIO >= history.problem.max_resources
    }
    if transfer == "rung":
        resource = _resource_to_learn_from(index, large, n_enough)
        rows = index.by_resource.get(resource or 0, GrowingArray(4)).rows
        return rows, np.full(len(rows), resource), start.resource == resource
    if transfer == "joint":
        pairs = [(i, r) for i, r in index.scored if r in large]
        sees_own_rung = start.resource in large
    else:
        pairs = _transferred(history, index, start, transfer)
        sees_own_rung = True
    results = [history.trials[i].results[r] for i, r in pairs]
    rows = np.array(
        [
            (pair[0], result.score, result.cost, index.scored[pair])
            for pair, result in zip(pairs, results, strict=True)
        ]
    ).reshape(-1, 4)
    return rows, np.array([r for _, r in pairs], dtype=int), sees_own_rung


def _race_scores(
    history: History, index: ResultIndex, *_: object
) -> tuple[np.ndarray, np.ndarray, bool]:
    """As `_scores`: one row for each candidate of a race, with its mean over all folds.

    Where a candidate has the first folds alone, the mean over them is corrected by how much these
    are easier than all, on average over the candidates that have all. A corrected score has more
    noise than a full one, but the same mean. The seconds are extrapolated.
    """
    top, trials = history.problem.max_resources, history.trials
    ids = [i for i in index.tried if i not in index.failed]
    reached = [max(r for r in trials[i].results) for i in ids]
    full = [trials[i] for i, r in zip(ids, reached, strict=True) if r == top]
    ease = dict.fromkeys(reached, 0.0)  # by count of folds
    for r in ease if full else ():
        ease[r] = math.fsum(_score_at(trial, r) - trial.results[top].score for trial in full)
        ease[r] /= len(full)
    rows = np.array(
        [
            (
                i,
                trials[i].results[r].score - ease[r],
                sum(result.cost for result in trials[i].results.values()) * top / r,
                index.scored[i, r],
            )
            for i, r in zip(ids, reached, strict=True)
        ]
    ).reshape(-1, 4)
    return rows, np.full(len(rows), top), True


def _score_at(trial: Trial, r: int) -> float:
    """Score that a candidate with all folds had at its first r ones."""
    if r in trial.results:
        return trial.results[r].score
    return math.fsum(trial.fold_scores(max(trial.results))[:r]) / r


def _running(history: History) -> list[int]:
    """Ids of running trials, O(n_running): whatever is under way is among the last asked."""
    left, found = history.n_running, []
    for event, trial_id, resource in reversed(history.log):
        if left == 0:
            break
        if event == "ask" and history.trials[trial_id].running == resource:
            found.append(trial_id)
            left -= 1
    return found[::-1]


def _resource_to_learn_from(index: ResultIndex, large: set[int], n_enough: int) -> int | None:
    """The largest resource with enough results, else where there are most; None: no result."""
    counts = {r: index.by_resource[r].n for r in sorted(large, reverse=True)}
    enough = (r for r, n in counts.items() if n >= n_enough)
    return next(enough, max(counts, key=lambda r: counts[r], default=None))


def _transferred(
    history: History, index: ResultIndex, start: Start, transfer: str
) -> list[tuple[int, int]]:
    """Trial id and resource of each value: the own bracket's at r0, and those of earlier ones."""
    trials, r0, own = history.trials, start.resource, start.bracket
    last = history.problem.max_resources
    pairs, seen = [], set()
    for trial_id, _ in index.scored:
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


def _transfers(trial: Trial, r0: int, last: int, transfer: str) -> bool:
    """Whether a model learns from a trial of an earlier bracket."""
    if transfer == "all":
        return True
    if transfer == "survivors":
        return trial.resource == last
    return transfer == "same" and trial.resource == r0 and trial.running is None
