"""Transfer of results of earlier searches to any sampler.

==========  ======================================================================
T           number of earlier tasks
n           number of scores of the search itself
m_t(u)      normal score that task t would give to a candidate at u
w_t, w_0    weights of the tasks, and of the search's own results; their sum is 1
==========  ======================================================================
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import norm, rankdata

from sksearch._utils._numerics import one_blas_thread
from sksearch.acquisition import LogEI
from sksearch.acquisition._maximise import all_points, candidates
from sksearch.base import Reads, Sampler, Start
from sksearch.history import History, Params, Prediction
from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._learning import learn_theta
from sksearch.models._transforms import robust_power_transform
from sksearch.samplers._observations import Observations, ResultIndex, observe
from sksearch.samplers._surrogate import best_points, first_new
from sksearch.space import Space

N_WINNERS = 2  # best candidates of earlier tasks to try first
LEVEL = 1e-3  # weight of a task's mean, added to its gain: decides if no task expects a gain
MIN_GAIN = 0.01  # normal scores: the sampler proposes if the tasks later expect less
N_FIRST = 3  # number of scores from which the tasks are weighted by them
# Points of an earlier task: half of them the best, the others spread over the ranks
MAX_POINTS = 150
N_TOP = 20  # points of each earlier task among which the first candidates are chosen
N_SAMPLES = 200  # draws from each model to estimate the weights
N_CANDIDATES = 1_000  # points at which the gains are computed
FADES_FROM = 4  # number of scores from which the share of the earlier tasks decreases as 1 / n
MAX_GAIN = 10.0  # larger than any difference of normal scores


@dataclass(frozen=True)
class EarlierTask:
    """Results of a search for another task, or on other data.

    Parameters
    ----------
    params : sequence of dict
        Candidates; those outside the space of the new search are ignored.
    scores : sequence of float
        Their scores, greater is better. Only their order matters. NaN is ignored.
    same_task : bool, default=False
        Whether they belong to the same task. A search then treats them as its own results.

    See Also
    --------
    sksearch.search.earlier_results : Reads them from any search.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sksearch.samplers._warm_start import EarlierTask
    >>> from sksearch.space import Space
    >>> earlier = EarlierTask([{"C": 1.0}, {"C": 10.0}, {"C": 1e9}], [0.8, 0.9, 0.7])
    >>> U, scores = earlier.points(Space({"C": loguniform(0.1, 100)}))
    >>> U.ravel().round(2), scores  # the third is outside of the space
    (array([0.33, 0.67]), array([0.8, 0.9]))
    """

    params: Sequence[Params]
    scores: Sequence[float]
    same_task: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", tuple(self.params))
        object.__setattr__(self, "scores", tuple(map(float, self.scores)))
        if len(self.params) != len(self.scores):
            raise ValueError(
                f"An earlier task has {len(self.params)} candidates, but {len(self.scores)} "
                "scores: pass one score for each."
            )

    def __hash__(self) -> int:
        return hash((self.scores, self.same_task))  # dicts have no hash

    def points(self, space: Space) -> tuple[np.ndarray, np.ndarray]:
        """Return points of the candidates in the space, and their scores."""
        known = [
            (space.to_unit(inside), float(score))
            for params, score in zip(self.params, self.scores, strict=True)
            if math.isfinite(score) and (inside := part_of(params, space)) is not None
        ]
        U = np.array([u for u, _ in known]).reshape(len(known), space.n_dims)
        return U, np.array([score for _, score in known])


def part_of(params: Mapping[str, Any], space: Space) -> Params | None:
    """Return the parameters named by the space; None if they are not a candidate of it."""
    inside = {name: value for name, value in params.items() if name in space.names}
    return inside if space.contains(inside) else None


@dataclass(frozen=True)
class WarmStart(Sampler):
    """Transfer learning: use the results of earlier searches, together with any sampler.

    Parameters
    ----------
    sampler : Sampler
        Sampler of the other candidates. Its share grows if the earlier tasks prove uninformative.
    earlier : sequence of EarlierTask
        Results of earlier searches on different data or for a different estimator.

    Notes
    -----
    The scores of each task are converted to normal scores by their ranks [3]_, and modelled by a
    Gaussian process. The first two candidates are the best candidates of two tasks, chosen by
    their expected gain over all tasks. Each later proposal maximises the transfer acquisition
    function [2]_: the weighted mean of the expected gain in each task over the best candidate
    tried, and of the expected improvement in a process of the new results. If no improvement is
    expected in any task, candidates are chosen by their expected scores until there are four
    results, and by `sampler` afterwards, if it learns from results.

    The weights follow the ranking-weighted ensemble of [1]_. Draws from the processes of all tasks
    are compared by how well they rank the new results. The process of the new results takes part
    with leave-one-out draws. The weight of a task is the frequency with which its draw is the
    best. A task has weight 0 if its process usually ranks the results worse than the process of
    the new results does. Before the third result all tasks have equal weights. The weight of the
    new results is the probability of using `sampler` instead. From the fourth result on, the share
    of the tasks also decreases as 1 / n. Misleading tasks are therefore soon ignored, and all
    tasks lose influence as the search learns.

    References
    ----------
    .. [1] M. Feurer, B. Letham, F. Hutter, E. Bakshy, "Practical transfer learning for Bayesian
       optimization", 2018. https://arxiv.org/abs/1802.02219
    .. [2] M. Wistuba, N. Schilling, L. Schmidt-Thieme, "Scalable Gaussian process-based transfer
       surrogates for hyperparameter optimization", Machine Learning 107, 2018.
       https://doi.org/10.1007/s10994-017-5684-y
    .. [3] D. Salinas, H. Shen, V. Perrone, "A quantile-based approach for hyperparameter
       transfer learning", ICML 2020. https://proceedings.mlr.press/v119/salinas20a.html

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV, SearchCV
    >>> from sksearch.samplers import GPSampler, WarmStart
    >>> from sksearch.samplers._warm_start import EarlierTask
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> wine = RandomSearchCV(SVC(), space, n_iter=20, random_state=0)
    >>> found = wine.fit(*load_wine(return_X_y=True)).cv_results_
    >>> earlier = EarlierTask(found["params"], found["mean_test_score"])
    >>> search = SearchCV(
    ...     SVC(), space, sampler=WarmStart(GPSampler(), [earlier]), n_iter=6, random_state=0
    ... ).fit(*load_iris(return_X_y=True))
    >>> bool(search.best_score_ > 0.95)
    True
    """

    sampler: Sampler
    earlier: Sequence[EarlierTask]

    def __post_init__(self) -> None:
        object.__setattr__(self, "earlier", tuple(self.earlier))
        for i, task in enumerate(self.earlier):
            if not isinstance(task, EarlierTask):
                raise TypeError(
                    f"earlier[{i}] is a {type(task).__name__}: pass an EarlierTask, which "
                    "sksearch.search.earlier_results makes from any search."
                )

    @property
    def reads(self) -> Reads:
        """Results, and the prior if the sampler uses it."""
        return Reads(results=True, prior=self.sampler.reads.prior)

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Propose a candidate from the earlier tasks or from the sampler."""
        with one_blas_thread():
            tasks = self._tasks(history)
            if tasks and history.problem.space.n_dims:
                transfer = getattr(self.sampler, "transfer", "rung")
                if (winner := self._winner(history, tasks)) is not None:
                    return winner
                data = observe(history, start, transfer if transfer != "joint" else "rung")
                drawn = rng.random() * max(1.0, len(data.y) / FADES_FROM)
                if drawn < 1:  # upper bound of the tasks' weight: usually no weights are needed
                    weights, own = np.r_[np.full(len(tasks), 1 / len(tasks)), 0.0], None
                    if len(data.y) >= N_FIRST:
                        y = robust_power_transform(data.y)
                        own = _learnt(history.problem.space, data.U, y)
                        weights = _weights(tasks, own, rng)
                    if drawn < 1 - weights[-1]:
                        params = self._expected_gain(history, data, tasks, own, weights, rng)
                        if params is not None:
                            return params
        return self.sampler.ask(history, start, rng)

    def predict(self, history: History, start: Start, params: Params) -> Prediction | None:
        """Return the prediction of the sampler's model, for any candidate."""
        return self.sampler.predict(history, start, params)

    def _tasks(self, history: History) -> "list[_PriorTask]":
        """Return models of the earlier tasks with enough results in this space."""
        key = "earlier tasks", self
        if key not in history.cache:
            space = history.problem.space
            pairs = [task.points(space) for task in self.earlier]
            history.cache[key] = [
                _PriorTask(space, U, scores)
                for U, scores in pairs
                if len(U) > 2 and np.ptp(scores) > 0
            ]
        return history.cache[key]

    def _winner(self, history: History, tasks: "list[_PriorTask]") -> Params | None:
        """Return the best candidate of a task with the greatest gain over all tasks.

        None if two were proposed, or all of them are known.
        """
        if len(history.trials) >= N_WINNERS + len(history.problem.initial_params):
            return None
        points = np.array([task.top[0] for task in tasks])
        params = [history.problem.space.from_unit(u) for u in points]
        new = [i for i, each in enumerate(params) if history.takes(each)]
        if not new:
            return None
        tried = ResultIndex.of(history).points.rows
        gain = sum(task.gain(tried, points[new]) for task in tasks)
        return params[new[int(np.argmax(gain))]]

    def _expected_gain(
        self,
        history: History,
        data: Observations,
        tasks: "list[_PriorTask]",
        own: GaussianProcess | None,
        weights: np.ndarray,
        rng: np.random.Generator,
    ) -> Params | None:
        """Return the candidate with the greatest improvement, a weighted mean over all models.

        None if the sampler has enough scores to learn from, and the earlier tasks expect no
        improvement.
        """
        space = history.problem.space
        tried = ResultIndex.of(history).points.rows
        points = all_points(history)
        if points is None:
            near = np.vstack([best_points(data), *(task.top for task in tasks)])
            points = np.vstack([near, candidates(space, near, rng, N_CANDIDATES)])
        gain = np.zeros(len(points))
        for task, weight in zip(tasks, weights[:-1], strict=True):
            if weight:
                gain += weight * (task.gain(tried, points) + LEVEL * task.mean(points))
        learns = self.sampler.reads.results  # other samplers cannot use the results
        if learns and len(data.y) > FADES_FROM and gain.max() < MIN_GAIN:
            return None
        if own is not None and weights[-1]:
            gain += weights[-1] * _expected_improvement(own, data.pending, points)
        return first_new(history, points[np.argsort(-gain, kind="stable")])


@dataclass
class _PriorTask:
    """A Gaussian process of an earlier task's normal scores."""

    space: Space
    U: np.ndarray
    scores: np.ndarray
    gp: GaussianProcess = field(init=False)
    top: np.ndarray = field(init=False)

    def __post_init__(self):
        order = np.argsort(-self.scores, kind="stable")
        z = norm.ppf((rankdata(self.scores) - 0.5) / len(self.scores))
        if len(order) > MAX_POINTS:
            best, rest = np.split(order, [MAX_POINTS // 2])
            spread = np.linspace(0, len(rest) - 1, MAX_POINTS - len(best)).astype(int)
            order = np.r_[best, rest[spread]]
        self.gp = _learnt(self.space, self.U[order], z[order] - z[order].mean())
        self.top = self.U[order[:N_TOP]]

    def mean(self, U: np.ndarray) -> np.ndarray:
        """Return expected normal scores."""
        return self.gp.predict(U)[0]

    def gain(self, tried: np.ndarray, U: np.ndarray) -> np.ndarray:
        """Return the expected gain of points over the best candidate tried."""
        best = self.mean(tried).max() if len(tried) else -MAX_GAIN
        return np.maximum(0.0, self.mean(U) - best)


def _expected_improvement(
    gp: GaussianProcess, pending: np.ndarray, points: np.ndarray
) -> np.ndarray:
    """Return the expected improvement of the search's own standardised scores."""
    if len(pending):
        gp = gp.condition_on(pending, noise=-0.99 * gp.noise)
    mean, sd = gp.predict(points)
    return np.exp(LogEI()(mean, sd, float(gp.fitted().max())))


def _learnt(space, U, y):
    """Return a process with the most probable hyperparameters."""
    kernel = MixedKernel(space.categorical)
    return GaussianProcess(kernel, learn_theta(kernel, U, y)).fit(U, y)


def _weights(tasks: list[_PriorTask], gp: GaussianProcess, rng: np.random.Generator) -> np.ndarray:
    """Return weights of the tasks and, last, of the search's own process, shape (T + 1,)."""
    y = gp.y
    mean, sd = gp.leave_one_out()
    own = mean[:, np.newaxis] + sd[:, np.newaxis] * rng.standard_normal((len(y), N_SAMPLES))
    draws = [*(task.gp.sample(gp.U, N_SAMPLES, rng) for task in tasks), own]
    losses = np.array([_misordered(y, each) for each in draws])  # (T + 1, N_SAMPLES)
    is_heard = np.median(losses, axis=1) <= np.quantile(losses[-1], 0.95)
    is_heard[-1] = True
    losses = np.where(is_heard[:, np.newaxis], losses, np.inf)
    best = losses == losses.min(axis=0)
    return (best / best.sum(axis=0)).mean(axis=1)


def _misordered(y: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Return the share of pairs of values in a different order in each draw (n, N_SAMPLES)."""
    worse = y[:, np.newaxis] < y
    wrong = draws[:, np.newaxis] >= draws  # (n, n, N_SAMPLES)
    return (worse[..., np.newaxis] & wrong).sum(axis=(0, 1)) / max(1, worse.sum())
