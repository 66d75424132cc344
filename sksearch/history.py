"""The problem of a search, its trials and their results.

The `History` is the only mutable state of a search. Samplers and schedulers read it and decide;
only `Study` writes it. All objects can be pickled. A search with an unpickled history continues
exactly as before; only the cache is computed again.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sksearch._utils._fronts import best_first as order_of
from sksearch.space import Beliefs, Space

__all__ = ["History", "Problem", "Result", "Trial"]

Params = dict[str, Any]
#: Parameter of a list of models: the name of a candidate's model.
WHICH = "model"


@dataclass(frozen=True)
class Problem:
    """Problem that a search solves, fixed before any evaluation.

    Parameters
    ----------
    space : Space
        Search space.
    min_resources, max_resources : int
        Smallest and largest number of resource units of a trial.
    seed : int
        Seed of every random decision of the search.
    initial_params : tuple of dict
        The user's first candidates: the first trials have these parameters, in this order.
    continues : bool
        Whether training continues from one rung to the next, as with epochs, or starts from
        scratch, as with rows.
    n_candidates : int or None
        Number of candidates if all are trained at `max_resources` or raced over folds; None if the
        scheduler stops some earlier or the number is unknown.
    has_baseline : bool
        Whether the first of `initial_params` is the untuned estimator.
    n_own : int
        Number of untuned models at the beginning of `initial_params`. Untuned models may lie
        outside the space.
    races : bool
        Whether the resource is the number of folds, and candidates may be dropped after each fold.
        The mean of a candidate over its first folds is then compared with the means of other
        candidates over the same folds.
    known : tuple of (dict, float)
        Candidates and scores at `max_resources` from an earlier search for the same task, from
        which models learn.
    objectives : tuple of str
        Names of the objectives to maximise; empty if there is only a score.
    bounds : tuple of str
        Names of measured values with a bound.
    allows : callable or None
        ``allows(params) -> bool``, whether a candidate may be evaluated. None: all candidates are
        allowed.
    changing : tuple of str or None
        Names of the parameters that may change while training continues; None: all.
    prior : Beliefs or None
        The user's belief about good values. None: no belief.
    repeats : bool
        Whether the same candidate may be evaluated again.
    started : tuple of (dict or None)
        Candidates of the smaller search that this one extends: the first trials have these
        parameters, in this order. An entry is None if the candidate could not be stored; it is
        then proposed again.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"C": loguniform(1e-3, 1e3)}), max_resources=81, seed=0)
    >>> problem.size
    inf
    """

    space: Space
    min_resources: int = 1
    max_resources: int = 1
    seed: int = 0
    initial_params: tuple[Params, ...] = ()
    continues: bool = True
    n_candidates: int | None = None
    has_baseline: bool = False
    n_own: int = 0
    races: bool = False
    known: tuple[tuple[Params, float], ...] = ()
    objectives: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    allows: Callable[[Params], bool] | None = None
    changing: tuple[str, ...] | None = None
    prior: Beliefs | None = None
    repeats: bool = False
    started: tuple[Params | None, ...] = ()

    def point(self, params: Params) -> np.ndarray:
        """Return the coordinates of a candidate; an untuned model may lie outside the space."""
        return (self.space.place if self.own else self.space.to_unit)(params)

    @property
    def own(self) -> tuple[Params, ...]:
        """Parameters of the untuned models, tuple of dict; they may lie outside the space."""
        return self.initial_params[: max(self.n_own, int(self.has_baseline))]

    @property
    def size(self) -> float:
        """Number of candidates and untuned models; infinite if candidates may be repeated."""
        if self.repeats:
            return math.inf
        return self.space.size + sum(not self.space.contains(params) for params in self.own)

    def __post_init__(self) -> None:
        if not 1 <= self.min_resources <= self.max_resources:
            raise ValueError(
                f"min_resources={self.min_resources} must be at least 1 and not greater than "
                f"max_resources={self.max_resources}: lower min_resources, or pass a larger "
                "max_resources."
            )


@dataclass(frozen=True)
class Span:
    """Time and place of the training and scoring of one fold of a job.

    Parameters
    ----------
    fold : int
        Index of the fold.
    began, ended : float
        Seconds since 1970 by the worker's clock; on a `VirtualClock` since it was opened.
    worker : str
        Name of the worker: its machine and process, and its thread unless that is the main thread.
        "" on a `VirtualClock`, where workers have no names.

    Examples
    --------
    >>> from sksearch.history import Span
    >>> span = Span(fold=0, began=1_700_000_000.0, ended=1_700_000_002.5)
    >>> span.ended - span.began
    2.5
    """

    fold: int
    began: float
    ended: float
    worker: str = ""


@dataclass(frozen=True)
class Result:
    """The result of one job.

    Parameters
    ----------
    score : float
        Score, greater is better. NaN if, and only if, the job failed.
    cost : float
        Duration of the job in seconds, summed over folds.
    status : str
        "ok", "error" (an exception), "memory" (out of memory), "nan" (the score is not a finite
        number), "crash" (the worker process died) or "timeout" (the job took too long).
    error : str
        First line of the error message, "" if the job did not fail.
    fold_scores : tuple of float, default=()
        Scores on all folds evaluated so far, in the order of the folds; `score` is their mean.
        Empty if a fold failed, or without folds.
    spans : tuple of Span, default=()
        Start, end and worker of each fold, if known: unknown if the worker died. Results that
        differ only in their spans are equal.
    objectives : tuple of float, default=()
        Values of the objectives, greater is better. Empty if a fold failed, or if there is only
        the score.
    slacks : tuple of float, default=()
        Distance to each bound, in units of the bound; negative if the bound is violated. Empty if
        a fold failed.

    Examples
    --------
    >>> from sksearch.history import Result
    >>> result = Result(score=0.9, cost=1.5, fold_scores=(0.88, 0.92))
    >>> result.status, result.score
    ('ok', 0.9)
    """

    score: float
    cost: float = 0.0
    status: str = "ok"
    error: str = ""
    fold_scores: tuple[float, ...] = ()
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    objectives: tuple[float, ...] = ()
    slacks: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if math.isinf(self.score):
            raise ValueError(f"score={self.score} must be finite, or NaN for a failed job.")
        if not 0 <= self.cost < math.inf:
            raise ValueError(f"cost={self.cost} must be a number of seconds, at least 0.")

    @property
    def violation(self) -> float:
        """Total violation of bounds; 0 if all are satisfied."""
        return -sum(slack for slack in self.slacks if slack < 0)

    @property
    def feasible_score(self) -> float:
        """Score, or NaN if a bound is violated."""
        return self.score if self.violation == 0 else math.nan


def best_first(results: Sequence[Result]) -> list[int]:
    """Order results.

    Results that satisfy all bounds come first, by score, or with several objectives by
    non-dominated sorting and crowding distance; then the others, by the size of their violation.

    Parameters
    ----------
    results : sequence of Result
        Results at one resource.

    Returns
    -------
    order : list of int
        Positions, best first; ties keep their order, and failed results are left out.

    Examples
    --------
    >>> from sksearch.history import Result, best_first
    >>> best_first([Result(0.7), Result(0.9, slacks=(-0.1,)), Result(0.8)])
    [2, 0, 1]
    """
    ok = [i for i, result in enumerate(results) if not math.isnan(result.score)]
    if not ok:
        return []
    Y = np.array([results[i].objectives or (results[i].score,) for i in ok])
    violation = np.array([results[i].violation for i in ok])
    return [ok[k] for k in order_of(Y, violation)]


@dataclass(frozen=True)
class Prediction:
    """Prediction of a model for a candidate before its evaluation.

    Parameters
    ----------
    score : float
        Median of the predicted scores.
    low, high : float
        Ends of the interval that contains the score with a probability of 95 %.
    resource : int
        Number of units of the predicted score.
    widened : float, default=1.0
        Factor by which the model's interval is widened, because of earlier misses.

    Examples
    --------
    >>> from sksearch.history import Prediction
    >>> expected = Prediction(score=0.9, low=0.86, high=0.93, resource=9)
    >>> expected.low <= 0.88 <= expected.high  # a score of 0.88 was no surprise
    True
    """

    score: float
    low: float
    high: float
    resource: int
    widened: float = 1.0

    def __post_init__(self) -> None:
        if not -math.inf < self.low <= self.score <= self.high < math.inf:
            raise ValueError(
                f"low={self.low}, score={self.score} and high={self.high} must be finite numbers "
                "in this order."
            )


@dataclass(slots=True)
class Trial:
    """A started candidate with its results.

    Parameters
    ----------
    id : int
        Index of the trial in the order of starting.
    params : dict
        Parameters of the candidate, without inactive ones.
    bracket : int
        Bracket in which the trial was started.
    parent : int or None
        Parent trial, whose fitted state this trial continues to train.
    results : dict of int to Result
        Results by resource, in the order of arrival.
    running : int or None
        Resource of the running job, None if no job is running.
    prediction : Prediction or None
        Score predicted by the model of the sampler when it proposed the candidate; None if there
        was no model.
    inherited : int
        Number of units for which the fitted state of the parent was trained.

    Examples
    --------
    >>> from sksearch.history import Result, Trial
    >>> trial = Trial(0, {"C": 1.0}, results={1: Result(0.7), 3: Result(0.8)})
    >>> trial.resource, trial.results[trial.resource].score
    (3, 0.8)
    """

    id: int
    params: Params
    bracket: int = 0
    parent: int | None = None
    results: dict[int, Result] = field(default_factory=dict)
    running: int | None = None
    prediction: Prediction | None = None
    inherited: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    @property
    def resource(self) -> int:
        """Largest resource with a result, 0 before the first result."""
        return max(self.results, default=0)

    def spent(self, resource: int) -> int:
        """Return the number of units trained before the job up to `resource`."""
        # Iterate over a copy: the search's thread may add a result.
        return max((r for r in list(self.results) if r < resource), default=self.inherited)

    def fold_scores(self, resource: int) -> list[float]:
        """Return the scores on the first folds, if the resource is the number of folds.

        If the result does not contain them, they are computed from the means at the rungs. Folds
        evaluated in the same job then have the same score.

        Parameters
        ----------
        resource : int
            Number of folds evaluated.

        Returns
        -------
        scores : list of float
            Score on each fold.
        """
        known = self.results[resource].fold_scores
        if len(known) == resource:
            return list(known)
        scores: list[float] = []
        for r in sorted(r for r in self.results if r <= resource):
            rest = r * self.results[r].score - math.fsum(scores)
            n_new = r - len(scores)
            scores += [rest / n_new] * n_new
        return scores


class History:
    """All trials of a search, in order.

    Parameters
    ----------
    problem : Problem
        The problem of the search.

    Attributes
    ----------
    trials : list of Trial
        Trials in the order in which they were started; ``trials[i].id == i``.
    log : list of tuple (str, int, int)
        Every event: ("ask" or "tell", trial id, resource). Replaying the log rebuilds the history.
    exhausted : bool
        Whether the space contains no further candidate, so that no more trials are started.
    cache : dict
        Cached values, not pickled. The cache may be emptied at any time without changing a
        decision.

    Examples
    --------
    >>> from sksearch.history import History, Problem, Result
    >>> from sksearch.space import Space
    >>> history = History(Problem(Space({"C": [1, 10]})))
    >>> trial = history.start({"C": 10}, bracket=0, resource=1)
    >>> history.n_running
    1
    >>> history.tell(trial.id, 1, Result(0.9))
    >>> history.log
    [('ask', 0, 1), ('tell', 0, 1)]
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.trials: list[Trial] = []
        self.log: list[tuple[str, int, int]] = []
        self.exhausted = False
        self.cache: dict = {}
        self._count()

    def _count(self) -> None:
        """Compute everything that follows from the trials and the log."""
        self._keys: set = {self.problem.space.key(trial.params) for trial in self.trials}
        self._rungs: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
        self._n_told: defaultdict[tuple[int, int], int] = defaultdict(int)
        for event, trial_id, resource in self.log:
            key = self.trials[trial_id].bracket, resource
            if event == "ask":
                self._rungs[key].append(trial_id)
            else:
                self._n_told[key] += 1

    def __getstate__(self) -> dict[str, Any]:
        # Sets, and dicts with tuples as keys, are not supported by some formats (skops).
        names = ("problem", "trials", "log", "exhausted")
        return {name: getattr(self, name) for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, cache={})
        self._count()

    def __repr__(self) -> str:
        return f"<History: {len(self.trials)} trials, {self.n_running} running>"

    @property
    def n_running(self) -> int:
        """Number of running jobs."""
        n_told = sum(self._n_told.values())
        return len(self.log) - 2 * n_told

    @property
    def has_results(self) -> bool:
        """Whether any result has arrived."""
        return bool(self._n_told)

    @property
    def keys(self) -> set:
        """Keys (see `Space.key`) of the parameters of all trials."""
        return self._keys

    def knows(self, params: Params) -> bool:
        """Return whether a trial with these parameters has been started."""
        return self.problem.space.key(params) in self._keys

    def takes(self, params: Params) -> bool:
        """Return whether a trial with these parameters may start: they are allowed and new."""
        allows = self.problem.allows
        is_new = self.problem.repeats or not self.knows(params)
        return is_new and (allows is None or allows(params))

    def rung(self, bracket: int, resource: int) -> list[int]:
        """Return the ids of the trials with a job at this bracket and resource, in order."""
        return self._rungs.get((bracket, resource), [])

    def n_told(self, bracket: int, resource: int) -> int:
        """Return the number of results at this bracket and resource."""
        return self._n_told.get((bracket, resource), 0)

    def start(
        self,
        params: Params,
        bracket: int,
        resource: int,
        parent: int | None = None,
        prediction: Prediction | None = None,
    ) -> Trial:
        """Add a trial with a job up to `resource`."""
        trial = Trial(len(self.trials), params, bracket, parent, prediction=prediction)
        if parent is not None:
            trial.inherited = self.trials[parent].spent(resource)
        self.trials.append(trial)
        self._keys.add(self.problem.space.key(params))
        self.resume(trial.id, resource)
        return trial

    def resume(self, trial_id: int, resource: int) -> Trial:
        """Add a job of an existing trial, up to `resource`."""
        trial = self.trials[trial_id]
        if trial.running is not None or resource <= trial.resource:
            raise ValueError(
                f"Trial {trial_id} cannot run to resource={resource}: it has a result at "
                f"{trial.resource} and is running to {trial.running}."
            )
        trial.running = resource
        self._rungs[trial.bracket, resource].append(trial_id)
        self.log.append(("ask", trial_id, resource))
        return trial

    def tell(self, trial_id: int, resource: int, result: Result) -> None:
        """Record the result of a running job."""
        trial = self.trials[trial_id]
        if trial.running != resource:
            raise ValueError(
                f"Trial {trial_id} is running to {trial.running}, not to {resource}: tell each "
                "job exactly once, with the resource returned by ask."
            )
        trial.running = None
        trial.results[resource] = result
        self._n_told[trial.bracket, resource] += 1
        self.log.append(("tell", trial_id, resource))
