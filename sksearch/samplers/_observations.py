"""Results that a sampler learns from, as arrays.

==========  ======================================================================
r0          resource that the next candidate starts with
value       a trial's score at r0, or at the nearest resource above if not measured there
==========  ======================================================================
"""

import bisect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sksearch._utils._fronts import best_first
from sksearch.base import Start
from sksearch.history import History, Trial
from sksearch.models._learning import learnt_at
from sksearch.samplers._result_index import ResultIndex
from sksearch.samplers._subsample import Extract

# The best candidates after a tiny part of the training are often not the best after all of it: a
# model of such results misled the search on each recorded task, and was worse than no model. The
# ratio includes all rungs of `IteratedHalving` despite rounding: 1 of 40 is included, as 40 / 27
# is 1.48.
MAX_RESOURCE_RATIO = 40
MAX_EXCLUDED = 100  # trials of a long rung with results that are ignored
# With these a model uses only scores of earlier brackets, not their failures or running jobs.
SCORES_ONLY = ("none", "survivors", "same")
WITHOUT_JOINT = ("rung", "all", *SCORES_ONLY)  # one score for each trial
TRANSFERS = (*WITHOUT_JOINT, "joint")


@dataclass(frozen=True)
class Observations:
    """Arrays of known results, in an order that grows only at its end if possible.

    Parameters
    ----------
    U : ndarray of shape (n, n_dims)
        Points with a score.
    y : ndarray of shape (n,)
        Scores, greater is better.
    cost : ndarray of shape (n,)
        Duration of the jobs in seconds; NaN for results of an earlier search.
    resource : ndarray of shape (n,)
        Numbers of units at which the scores were measured.
    trial_id : ndarray of shape (n,)
        Trial of each score; below 0 for results of an earlier search.
    log_index : ndarray of shape (n,)
        Position of each score in the history's log.
    failed : ndarray of shape (n_failed, n_dims)
        Points of failed jobs.
    failed_log_index : ndarray of shape (n_failed,)
        Position of each failure in the history's log.
    tried : ndarray of shape (n_tried, n_dims)
        Points of all trials with a result, at any resource, in the order of first results; empty
        if none failed.
    ok : ndarray of shape (n_tried,)
        Whether the trial never failed, bool.
    running : ndarray of shape (n_running, n_dims)
        Points of running jobs without a score in `y`.
    excluded : ndarray of shape (n_excluded, n_dims)
        Points of trials of the current rung without a result in `y`.
    objectives : ndarray of shape (n, n_objectives)
        Values of several objectives, greater is better; otherwise the scores.
    slacks : ndarray of shape (n, n_bounds)
        Distance to each bound; negative if it is violated.
    n_all : int
        Number of scores that `y` represents: n, or more in an extract.
    began : Observations or None, default=None
        First rows of the extract, when it was last drawn again.
    learnt : Observations or None, default=None
        Extract that hyperparameters are learned from, rarely drawn again.
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
    n_all: int
    began: "Observations | None" = None
    learnt: "Observations | None" = None

    @property
    def feasible(self) -> np.ndarray:
        """Whether each point with a score satisfies all bounds, bool of shape (n,)."""
        return np.all(self.slacks >= 0, axis=1)

    @property
    def violation(self) -> np.ndarray:
        """Total violation of bounds, shape (n,); 0 if none is violated."""
        if not self.slacks.shape[1]:
            return np.zeros(len(self.y))
        return -np.minimum(self.slacks, 0).sum(axis=1)

    @property
    def best_first(self) -> np.ndarray:
        """Indices of the points with a score, shape (n,): points that satisfy all bounds first."""
        if not self.slacks.shape[1] and self.objectives.shape[1] == 1:
            return np.argsort(-self.y, kind="stable")  # ties: the oldest first
        return best_first(self.objectives, self.violation)

    @property
    def pending(self) -> np.ndarray:
        """Points without a score for the model yet, shape (n_running + n_excluded, n_dims).

        A trial with no result except at a resource too small to learn from is treated as running:
        otherwise a bracket at a low resource would be filled with copies of one candidate.
        """
        return np.vstack([self.running, self.excluded])


def observe(
    history: History,
    start: Start,
    transfer: str = "rung",
    n_enough: int = 2,
    extract: Extract | None = None,
) -> Observations:
    """Return the results from which a model of candidates at ``start.resource`` learns.

    Parameters
    ----------
    history : History
        Everything known so far.
    start : Start
        Resource r0 and bracket of the next candidate.
    transfer : {"rung", "none", "all", "survivors", "same", "joint"}, default="rung"
        "rung": all results at the largest resource with at least `n_enough` of them, as in BOHB
        [2]_, among resources of at least a fortieth of the largest; if no resource has enough, the
        resource with most results. "joint": all results at those resources. The other four are
        from [1]_. Each uses the current bracket's results at r0, and from earlier brackets "none":
        nothing; "all": every trial that reached r0; "survivors" (SURV in [1]_): trials that
        reached the last rung; "same": trials stopped exactly at r0. Failed and running trials of
        other brackets are included with "rung", "joint" and "all" only. Ignored in a race over
        folds: each candidate then has one score, its mean over all folds or an estimate of it.
    n_enough : int, default=2
        Minimum number of results at a resource for "rung".
    extract : Extract or None, default=None
        Representation of a long history, with "rung" for one objective and outside a race. None:
        all results are used.

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
    resource = None
    if transfer == "rung" and not (history.problem.races or index.n_objectives):
        resource = _resource_to_learn_from(index, _large(history, index), n_enough)
    if extract is None or resource is None or index.n_told(resource) <= extract.above:
        data = _all(history, index, start, transfer, n_enough)
    else:
        data = _part(history, index, start, resource, extract)
    return _with_earlier(data, history, index)


def _all(
    history: History, index: ResultIndex, start: Start, transfer: str, n_enough: int
) -> Observations:
    """Return observations of all results."""
    read = _race_scores if history.problem.races else _scores
    rows, resources, sees_own_rung = read(history, index, start, transfer, n_enough)
    running = _running(history)
    scored = set(rows[:, 0].astype(int).tolist()) if running or not sees_own_rung else set()
    excluded = []
    if not sees_own_rung:
        others = {*scored, *index.failed, *running}
        excluded = [i for i in history.rung(start.bracket, start.resource) if i not in others]

    def visible(trial_ids: Iterable[int]) -> list[int]:
        if transfer not in SCORES_ONLY:
            return list(trial_ids)
        return [i for i in trial_ids if history.trials[i].bracket == start.bracket]

    failed = visible(index.failed)
    tried = visible(index.tried) if failed else []
    return _observations(
        index,
        rows,
        resources,
        failed={i: index.failed[i] for i in failed},
        tried=tried,
        running=visible(i for i in running if i not in scored),
        excluded=excluded,
    )


def _part(
    history: History, index: ResultIndex, start: Start, resource: int, extract: Extract
) -> Observations:
    """Return observations of an extract of the results at a resource."""
    table, failures, n = index.by_resource[resource], index.failures, index.n_told(resource)
    running = _running(history)

    def is_scored(trial_id: int) -> bool:
        result = history.trials[trial_id].results.get(resource)
        return result is not None and not math.isnan(result.score)

    excluded: list[int] = []
    if start.resource != resource:
        latest = history.rung(start.bracket, start.resource)[-MAX_EXCLUDED:]
        others = {*running, *index.failed.keys() & set(latest)}
        excluded = [i for i in latest if i not in others and not is_scored(i)]

    def choose(first: tuple[int, int], use: str) -> tuple[np.ndarray, np.ndarray]:
        return index.choose(resource, first, extract, history.problem.seed, use)

    first = index.first(resource, n - n % extract.renewed)
    scored, failed = choose(first, "began")
    data = _of_rows(
        index,
        resource,
        np.concatenate([scored, np.arange(first[0], table.n)]),
        np.concatenate([failed, np.arange(first[1], failures.n)]),
        running=[i for i in running if not is_scored(i)],
        excluded=excluded,
    )
    if extract.renewed == 1:
        return data
    n_learnt = learnt_at(table.n)
    until = bisect.bisect_left(failures.rows[:, 3], table.rows[n_learnt - 1, 3])
    learnt = choose((n_learnt, until), "learnt")
    return replace(
        data,
        began=_of_rows(index, resource, scored, failed),
        learnt=_of_rows(index, resource, *learnt),
    )


def _of_rows(
    index: ResultIndex,
    resource: int,
    scored: np.ndarray,
    failed: np.ndarray,
    running: Sequence[int] = (),
    excluded: Sequence[int] = (),
) -> Observations:
    """Return observations of some rows of scores at a resource and of failures."""
    rows, failures = index.by_resource[resource].rows[scored], index.failures.rows[failed]
    tried: list[int] = []
    if len(failures):
        both = np.vstack([rows[:, [0, 3]], failures[:, [0, 3]]])
        tried = list(dict.fromkeys(both[np.argsort(both[:, 1]), 0].astype(int).tolist()))
    return _observations(
        index,
        rows,
        np.full(len(rows), resource),
        failed=dict(failures[:, [0, 3]].astype(int).tolist()),
        tried=tried,
        running=running,
        excluded=excluded,
        n_all=index.by_resource[resource].n,
    )


def _observations(
    index: ResultIndex,
    rows: np.ndarray,
    resources: np.ndarray,
    *,
    failed: dict[int, int],
    tried: Sequence[int],
    running: Sequence[int],
    excluded: Sequence[int],
    n_all: int | None = None,
) -> Observations:
    """Return observations of rows of the index, and of the trials with these ids."""
    points = index.points.rows

    def points_of(trial_ids: Iterable[int]) -> np.ndarray:
        ids = list(trial_ids)
        return points[ids] if ids else points[:0]

    ids = rows[:, 0].astype(int)
    y, first_slack = rows[:, 1].copy(), 4 + index.n_objectives
    return Observations(
        U=points[ids],
        y=y,
        cost=rows[:, 2].copy(),
        resource=resources,
        trial_id=ids,
        log_index=rows[:, 3].astype(int),
        failed=points_of(failed),
        failed_log_index=np.array(list(failed.values()), dtype=int),
        tried=points_of(tried),
        ok=np.array([i not in index.failed for i in tried], dtype=bool),
        running=points_of(running),
        excluded=points_of(excluded),
        objectives=rows[:, 4:first_slack].copy() if index.n_objectives else y[:, np.newaxis],
        slacks=rows[:, first_slack:].copy(),
        n_all=len(y) if n_all is None else n_all,
    )


def _with_earlier(data: Observations, history: History, index: ResultIndex) -> Observations:
    """Return observations preceded by comparable results of an earlier search.

    Scores of an earlier search belong to the largest resource.
    """
    top = history.problem.max_resources
    U, y = index.known
    n, n_own = len(y), len(data.y)
    if not n or (n_own and data.resource.max() < top):
        return data
    began, learnt = (
        part and _with_earlier(part, history, index) for part in (data.began, data.learnt)
    )
    return replace(
        data,
        U=np.vstack([U, data.U]),
        y=np.r_[y, data.y],
        cost=np.r_[np.full(n, np.nan), data.cost],
        resource=np.r_[np.full(n, top), data.resource],
        trial_id=np.r_[-n:0, data.trial_id],
        log_index=np.r_[-n:0, data.log_index],
        objectives=np.vstack([y[:, np.newaxis], data.objectives]),
        slacks=np.vstack([np.zeros((n, data.slacks.shape[1])), data.slacks]),
        n_all=n + data.n_all,
        began=began,
        learnt=learnt,
    )


def _large(history: History, index: ResultIndex) -> set[int]:
    """Return the resources large enough to learn from."""
    top = history.problem.max_resources
    return {r for r in index.by_resource if r * MAX_RESOURCE_RATIO >= top}


def _scores(
    history: History, index: ResultIndex, start: Start, transfer: str, n_enough: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return rows of the index to learn from, their resources, and whether they cover r0."""
    large = _large(history, index)
    if transfer == "rung":
        resource = _resource_to_learn_from(index, large, n_enough)
        rows = index.array([]) if resource is None else index.by_resource[resource].rows
        return rows, np.full(len(rows), resource or 0), start.resource == resource
    scored = index.scored
    if transfer == "joint":
        pairs = [(i, r) for i, r in scored if r in large]
        sees_own_rung = start.resource in large
    else:
        pairs = _transferred(history, list(scored), start, transfer)
        sees_own_rung = True
    trials = history.trials
    rows = index.array([index.row(i, trials[i].results[r], scored[i, r]) for i, r in pairs])
    return rows, np.array([r for _, r in pairs], dtype=int), sees_own_rung


def _race_scores(
    history: History, index: ResultIndex, *_: object
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the same as `_scores`, with one row for each candidate of a race.

    If a candidate has only the first folds, its mean over them is corrected by the average
    difference between these and all folds for complete candidates. A corrected score has more
    noise than a complete one, but the same mean. The seconds are extrapolated.
    """
    top, trials = history.problem.max_resources, history.trials
    ids = [i for i in index.tried if i not in index.failed]
    reached = [max(r for r in trials[i].results) for i in ids]
    full = [trials[i] for i, r in zip(ids, reached, strict=True) if r == top]
    ease = dict.fromkeys(reached, 0.0)  # by number of folds
    for r in ease if full else ():
        ease[r] = math.fsum(_score_at(trial, r) - trial.results[top].score for trial in full)
        ease[r] /= len(full)
    estimates = [
        replace(
            trials[i].results[r],
            score=trials[i].results[r].score - ease[r],
            cost=sum(result.cost for result in trials[i].results.values()) * top / r,
        )
        for i, r in zip(ids, reached, strict=True)
    ]
    scored = index.scored
    places = [scored[i, r] for i, r in zip(ids, reached, strict=True)]
    rows = index.array([index.row(*row) for row in zip(ids, estimates, places, strict=True)])
    return rows, np.full(len(rows), top), True


def _score_at(trial: Trial, r: int) -> float:
    """Return the score of a complete candidate on its first r folds."""
    if r in trial.results:
        return trial.results[r].score
    return math.fsum(trial.fold_scores(max(trial.results))[:r]) / r


def _running(history: History) -> list[int]:
    """Return the ids of running trials, O(n_running): they are among the last asked."""
    left, found = history.n_running, []
    for event, trial_id, resource in reversed(history.log):
        if left == 0:
            break
        if event == "ask" and history.trials[trial_id].running == resource:
            found.append(trial_id)
            left -= 1
    return found[::-1]


def _resource_to_learn_from(index: ResultIndex, large: set[int], n_enough: int) -> int | None:
    """Return the largest resource with enough results, otherwise the one with most, or None."""
    counts = {r: index.by_resource[r].n for r in sorted(large, reverse=True)}
    enough = (r for r, n in counts.items() if n >= n_enough)
    return next(enough, max(counts, key=lambda r: counts[r], default=None))


def _transferred(
    history: History, scored: list[tuple[int, int]], start: Start, transfer: str
) -> list[tuple[int, int]]:
    """Return trial id and resource of each value: current bracket at r0, then earlier ones."""
    trials, r0, own = history.trials, start.resource, start.bracket
    last = history.problem.max_resources
    pairs, seen = [], set()
    for trial_id, _ in scored:
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
    """Return whether a model learns from a trial of an earlier bracket."""
    if transfer == "all":
        return True
    if transfer == "survivors":
        return trial.resource == last
    return transfer == "same" and trial.resource == r0 and trial.running is None
