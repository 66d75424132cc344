"""A race over folds: candidates are dropped before all folds are evaluated.

Notation:

=================  ===================================================================
k                  ``max_resources``, number of folds
r                  number of folds on which a candidate was evaluated
leader             the candidate with the best mean over all k folds so far
d                  scores of the leader minus a candidate's on the same r folds
s2, nu             variance of single differences, and its degrees of freedom
=================  ===================================================================

Assume equal means of both over all k folds. Then the mean of d over the first r folds has mean 0
and, if single differences are normal, variance ``s2 * (k - r) / (k * r)``: no uncertainty is left
when r = k.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from numbers import Integral, Real
from typing import cast

import numpy as np
from scipy.stats import norm, t as student

from sksearch.base import Plan, Reads, Resume, Scheduler, Start, Told
from sksearch.base._decisions import Job
from sksearch.history import History, Problem, Trial
from sksearch.schedulers._brackets import one_bracket

GROWTH = 1.25  # least ratio of consecutive rungs: 5 folds have 5 rungs, 100 folds have 21
# Maximum degrees of freedom for the spread of other candidates' differences: more would outweigh a
# candidate's own spread.
MAX_WEIGHT = 16
TINY = 1e-12  # variances below it are rounding errors of equal differences


@dataclass(frozen=True)
class FoldRace(Scheduler):
    """Evaluate candidates fold by fold, and drop candidates unlikely to become the best.

    The first candidate is evaluated on all folds. Each later candidate is compared, after each
    fold, with the best complete candidate (the leader) on their common folds, and is dropped when
    it is unlikely to win on the remaining folds. The winner is usually the same as with all folds,
    at about half of the cost. The resource must be "folds". Folds are used in the order of `cv`,
    which should be random.

    Parameters
    ----------
    n_candidates : int or None, default=20
        Number of candidates. None: no limit except time and the size of the space.
    error : float, default=0.2
        Maximum probability of dropping the candidate with the best mean over all folds, assuming
        that differences between candidates are normally distributed over the folds. Between 0 and
        1. This maximum is reached only if the winner is only slightly better than the other
        candidates: on recorded scores of real models, with 0.2, 1 winner in 80 was dropped. A
        larger value saves more folds.

    Notes
    -----
    A candidate is dropped after r of k folds if the mean of the leader's scores minus its own on
    these folds is larger than ``q * sqrt(s2 * (k - r) / (k * r))``, with q the quantile of
    Student's t for ``error / n_rungs``. The error is divided by the number of comparisons of a
    candidate plus one. One is added because the leader was selected by its scores. s2 is the
    variance of the differences on single folds, pooled over this candidate and the complete
    candidates; before there are any, the variance of the leader's scores is used. The winner can
    be dropped only in its own comparisons, so `error` needs no correction for the number of
    candidates.

    The results known at a comparison depend on the number of running jobs. The batch size sets
    this number, with every sampler; at first a job is one fold of one candidate. Until the first
    candidate is complete, the others wait after their first fold. If results are used as they
    arrive, and every candidate has begun, idle workers take the remaining folds of a candidate at
    once, although some of them might prove unnecessary.

    Models also learn from dropped candidates. They use an estimate of the mean over all folds,
    which assumes that the remaining folds are as difficult for the dropped candidate as for
    complete candidates.

    If there are more than five folds, some are evaluated together: of 10 folds, the last two.

    Scores on single folds are taken from `Result.fold_scores`. If this is empty, they are computed
    from the means at the rungs.

    References
    ----------
    .. [1] O. Maron, A. W. Moore, "The racing algorithm: model selection for lazy learners",
       Artificial Intelligence Review 11:193-225, 1997. https://doi.org/10.1023/A:1006556606079
    .. [2] M. Birattari, T. Stuetzle, L. Paquete, K. Varrentrapp, "A racing algorithm for
       configuring metaheuristics", GECCO 2002.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> from sksearch.schedulers import FoldRace
    >>> X, y = load_digits(return_X_y=True)
    >>> space = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-5, 1e-1)}
    >>> race = SearchCV(
    ...     SVC(), space, scheduler=FoldRace(8), resource="folds", cv=5, random_state=0
    ... ).fit(X[:400], y[:400])
    >>> n_fits = sum(trial.resource for trial in race.history_.trials)
    >>> n_fits < 8 * 5
    True
    """

    n_candidates: int | None = 20
    error: float = 0.2

    reads = Reads(results=True)
    told = Told(by_fold=True)

    def __post_init__(self) -> None:
        n = self.n_candidates
        if n is not None and (isinstance(n, bool) or not isinstance(n, Integral) or n < 1):
            raise ValueError(f"n_candidates={n!r} must be None or an integer of at least 1.")
        if not (isinstance(self.error, Real) and 0 < self.error < 1):
            raise ValueError(
                f"error={self.error!r} must be a number between 0 and 1: the maximum probability "
                "of dropping the best candidate, such as 0.2."
            )

    def plan(self, problem: Problem) -> Plan:
        """Compute an upper bound: no candidate is dropped.

        If `n_candidates` is None, and the space is infinite, the plan has `ENDLESS` candidates.
        """
        return one_bracket(self.n_candidates, problem, rungs_of_race(problem), is_most=True)

    def next(self, history: History, rng: np.random.Generator) -> Start | Resume | None:
        """Continue the most promising candidate; otherwise start one; otherwise wait.

        If there are several models, each gets one fold before candidates behind the leader
        continue.
        """
        state, trial_id = RaceState.of(history, self), None
        if not self._has_unseen_model(history) or not state.idle or state.is_ahead():
            trial_id = state.next_trial()
        if trial_id is not None:
            return Resume(trial_id, state.above(history.trials[trial_id].resource))
        return Start(state.rungs[0]) if self._has_more(history) else None

    def fill(self, history: History, n_idle: int) -> Resume | None:
        """Continue a candidate on several folds at once if there are more workers than candidates.

        If no candidate is complete yet, continue the best one at once.
        """
        state = RaceState.of(history, self)
        if self._has_more(history) or not state.idle:
            return None
        trial_id = state.most_promising()
        resource = history.trials[trial_id].resource
        reach = resource + n_idle - (len(state.idle) - 1)
        rungs = [rung for rung in state.rungs if rung <= reach]
        target = max([state.above(resource), *rungs])
        is_turn = state.leader is not None and target == state.above(resource)
        return None if is_turn else Resume(trial_id, target)

    def _has_unseen_model(self, history: History) -> bool:
        """Return whether untuned models among the first candidates have not begun."""
        return len(history.trials) < history.problem.n_own and self._has_more(history)

    def _has_more(self, history: History) -> bool:
        """Return whether there is another candidate to start."""
        n = math.inf if self.n_candidates is None else self.n_candidates
        return len(history.trials) < min(n, history.problem.size) and not history.exhausted

    def retired(self, history: History, job: Job) -> list[int]:
        """Return trials dropped by the last result, and its own trial if it is complete."""
        return list(RaceState.of(history, self).gone)


def rungs_of_race(problem: Problem) -> list[int]:
    """Return the numbers of folds after which candidates are compared, and all folds."""
    rungs = [problem.min_resources]
    while rungs[-1] < problem.max_resources:
        following = max(rungs[-1] + 1, math.floor(rungs[-1] * GROWTH))
        rungs.append(min(following, problem.max_resources))
    return rungs


@dataclass
class RaceState:
    """State of a race, kept in the history's cache; each event of its log is read once.

    Parameters
    ----------
    rungs : list of int
        Numbers of folds.
    error : float
        As in `FoldRace`.
    """

    rungs: list[int]
    error: float
    n_read: int = 0
    #: Scores on all folds, by trial.
    finished: dict[int, np.ndarray] = field(default_factory=dict)
    leader: int | None = None
    #: The leader's scores at each number of folds. They differ from its scores on all folds if
    #: training chooses a number of iterations, which is updated after each fold.
    _path: dict[int, np.ndarray] = field(default_factory=dict)
    #: Scores of waiting trials.
    idle: dict[int, np.ndarray] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    #: Trials that the last result ruled out.
    gone: list[int] = field(default_factory=list)
    _variances: tuple[float, int] = (0.0, 0)

    @classmethod
    def of(cls, history: History, race: FoldRace) -> "RaceState":
        """Return the up-to-date state of a history's race."""
        state = history.cache.get("race")
        if state is None:
            state = history.cache["race"] = cls(rungs_of_race(history.problem), race.error)
        for event, trial_id, resource in history.log[state.n_read :]:
            if event == "ask":
                state.idle.pop(trial_id, None)
            else:
                state._tell(history.trials[trial_id], resource)
        state.n_read = len(history.log)
        return state

    def above(self, resource: int) -> int:
        """Return the rung after a number of folds."""
        return next(rung for rung in self.rungs if rung > resource)

    def next_trial(self) -> int | None:
        """Return the trial to continue: only the first one before there is a leader."""
        if self.leader is None:
            first = next(i for i in range(len(self.failed) + 1) if i not in self.failed)
            return first if first in self.idle else None
        return self.most_promising() if self.idle else None

    def is_ahead(self) -> bool:
        """Return True if a waiting trial should continue before others begin."""
        return self.leader is None or self._behind(self.most_promising()) < 0

    def most_promising(self) -> int:
        """Return the waiting trial that is least behind the leader, or has the best mean."""
        if self.leader is None:
            return min(self.idle, key=lambda i: (-self.idle[i].mean(), i))
        return min(self.idle, key=lambda i: (self._behind(i), i))

    def _tell(self, trial: Trial, resource: int) -> None:
        """Process a result: the trial fails, finishes or waits, and trials may be dropped."""
        self.gone = []
        if math.isnan(trial.results[resource].score):
            self.failed.add(trial.id)
            self.gone.append(trial.id)
            return
        scores = np.array(trial.fold_scores(resource))
        if resource < self.rungs[-1]:
            self.idle[trial.id] = scores
            self._drop([trial.id])
            return
        self.gone.append(trial.id)
        self.finished[trial.id] = scores
        if self.leader is None or scores.mean() > self.finished[self.leader].mean():
            self.leader = trial.id
            self._path = {r: np.array(trial.fold_scores(r)) for r in trial.results}
        self._variances = self._pooled()
        self._drop(list(self.idle))

    def _drop(self, trial_ids: list[int]) -> None:
        """Drop given idle trials if they are unlikely to overtake the leader."""
        dropped = [i for i in trial_ids if self.leader is not None and self._is_hopeless(i)]
        for i in dropped:
            del self.idle[i]
        self.gone += dropped

    def _behind(self, trial_id: int) -> float:
        """Return the mean difference between the leader and a trial."""
        return float(self._differences(trial_id).mean())

    def _differences(self, trial_id: int) -> np.ndarray:
        scores = self.idle[trial_id]
        n = len(scores)
        return self._path.get(n, self._best()[:n]) - scores

    def _best(self) -> np.ndarray:
        """Return the scores of the leader on all folds."""
        return self.finished[cast(int, self.leader)]

    def _is_hopeless(self, trial_id: int) -> bool:
        """Return whether a trial is too far behind the leader."""
        d = self._differences(trial_id)
        k, r, mean = self.rungs[-1], len(d), d.mean()
        squares, nu = self._variances
        if r > 1:
            squares, nu = squares + (r - 1) * d.var(ddof=1), nu + r - 1
        sd = math.sqrt(squares / nu * (k - r) / (k * r))
        return bool(mean > _quantile(self.error / len(self.rungs), nu) * sd)

    def _pooled(self) -> tuple[float, int]:
        """Return sum of squares and degrees of freedom of differences between other candidates."""
        best, k = self._best(), self.rungs[-1]
        if k == 1:
            return 0.0, 1
        others = [scores for i, scores in self.finished.items() if i != self.leader]
        variances = (best - np.array(others)).var(axis=1, ddof=1) if others else np.empty(0)
        # Candidates with a constant difference on all folds carry no information about the others.
        variances = variances[variances > TINY * best.var()]
        if not len(variances):  # the leader's own scores usually vary more than differences
            return float(best.var(ddof=1)), 1
        weight = min(MAX_WEIGHT, len(variances) * (k - 1))
        return weight * float(variances.mean()) / self._left_after_selection(), weight

    def _left_after_selection(self) -> float:
        """Return the part of the variance left among the remaining candidates.

        They have no large differences on their first folds, because candidates with large
        differences were dropped. A standard normal variable truncated at q has the second moment
        ``1 - q pdf(q) / cdf(q)``. If this correction is left out, the spread is underestimated,
        more candidates are dropped, and the error accumulates: with 2 folds, an error of 0.2
        became 0.32.
        """
        alpha = self.error / len(self.rungs)
        q = norm.isf(alpha)
        return float(1 - q * norm.pdf(q) / (1 - alpha))


@lru_cache(maxsize=1024)
def _quantile(probability: float, nu: int) -> float:
    """Return the value that Student's t exceeds with a probability."""
    return float(student.isf(probability, nu))
