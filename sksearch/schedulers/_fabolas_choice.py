"""Models and the decision of `Fabolas`.

==========  ======================================================================
u, t        parameters as a point of the cube; log size, 0 at the smallest, 1 at all
r           size: number of resource units
spent       cost of a result's trial from nothing up to its size
==========  ======================================================================
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sksearch.acquisition import LogEI
from sksearch.acquisition._criterion import Criterion, InteriorPrior, beliefs
from sksearch.acquisition._knowledge_gradient import GainPerCost
from sksearch.acquisition._maximise import all_points, candidates, maximise
from sksearch.base import Resume, Start
from sksearch.history import History, Params, Problem, Trial
from sksearch.models import GaussianProcess, MixedKernel
from sksearch.models._feasibility import LABEL_NOISE, SHARPNESS, Feasibility, centred_labels
from sksearch.models._growing import Growing, TrainingSet
from sksearch.models._sizes import SizeKernel, SizeProcess
from sksearch.models._transforms import robust_power_transform, standardise
from sksearch.schedulers._brackets import ladder

N_CANDIDATES = 400  # number of points searched for the maximum before it is refined
N_INCUMBENTS = 5  # best points near which half of the candidates are drawn
PATIENCE = 3  # consecutive full results without an improvement
INTERIOR_POWER = 2.0  # same value as for the Gaussian process at full size
LEAST_COST = 1e-6  # seconds: a positive cost has a logarithm
LEAST_STEP = 4.0  # minimum charge for a step in seconds: about twenty proposals


def sizes_of(problem: Problem) -> list[int]:
    """Return the allowed sizes, ascending: the full resource, a half, a quarter, ..."""
    return ladder(problem.min_resources, problem.max_resources, 2)


def may_go_on(trial: Trial) -> bool:
    """Return whether a trial is idle and has not failed."""
    scores = _scores(trial)
    return trial.running is None and bool(scores) and not any(map(math.isnan, scores))


@dataclass(frozen=True)
class Known:
    """Data of the models, as arrays in the order of arrival.

    Parameters
    ----------
    points : ndarray of shape (n, n_dims + 1)
        Parameters and log size of each score.
    y : ndarray of shape (n,)
        Scores.
    log_cost : ndarray of shape (n,)
        Logarithm of the cost from nothing up to the size; NaN for results of earlier searches.
    running : ndarray of shape (n_running, n_dims + 1)
        Parameters and log size of the running jobs.
    tried : ndarray of shape (n_tried, n_dims)
        Parameters of all trials with a result.
    ok : ndarray of shape (n_tried,)
        Whether the trial never failed, bool.
    since_top : float
        Cost of all jobs since the last request for full size.
    """

    points: np.ndarray
    y: np.ndarray
    log_cost: np.ndarray
    running: np.ndarray
    tried: np.ndarray
    ok: np.ndarray
    since_top: float

    @classmethod
    def of(cls, history: History, cost: str) -> "Known":
        """Read a history."""
        problem = history.problem
        at = LogSizes(problem)
        rows, scores, costs, since_top = [], [], [], 0.0
        for params, score in problem.known:
            rows.append([*problem.space.to_unit(params), 1.0])
            scores.append(score)
            costs.append(math.nan)
        for event, i, r in history.log:
            if event == "ask":
                since_top = 0.0 if r == problem.max_resources else since_top
                continue
            trial = history.trials[i]
            since_top += cost_of_job(problem, trial, r, cost)
            if not math.isnan(trial.results[r].score):
                rows.append([*point_of(history, trial), at(r)])
                scores.append(trial.results[r].score)
                costs.append(math.log(spent_on(problem, trial, r, cost)))
        tried = [trial for trial in history.trials if trial.results]
        running = [trial for trial in history.trials if trial.running is not None]
        under_way = [[*point_of(history, t), at(t.running or 1)] for t in running]
        n_dims = problem.space.n_dims
        return cls(
            points=np.array(rows, float).reshape(len(rows), n_dims + 1),
            y=np.array(scores, float),
            log_cost=np.array(costs, float),
            running=np.array(under_way, dtype=float).reshape(len(running), n_dims + 1),
            tried=np.array([point_of(history, t) for t in tried]).reshape(len(tried), n_dims),
            ok=np.array([not any(map(math.isnan, _scores(trial))) for trial in tried], bool),
            since_top=since_top,
        )


class LogSizes:
    """Logarithms of sizes, 0 at the smallest and 1 at the full resource."""

    def __init__(self, problem: Problem):
        self.low, self.high = sizes_of(problem)[0], problem.max_resources

    def __call__(self, resource: int) -> float:
        """Return t."""
        return 1.0 if self.low == self.high else math.log(resource / self.low) / self.span

    @property
    def span(self) -> float:
        """Logarithm of the ratio of the largest size to the smallest."""
        return math.log(self.high / self.low)


class Choice:
    """Models of one decision, and the decision.

    Parameters
    ----------
    history : History
        Everything known so far.
    known : Known
        The same as arrays.
    sizes : list of int
        Allowed numbers of units.
    cost : str
        As in `Fabolas`.
    """

    def __init__(self, history: History, known: Known, sizes: list[int], cost: str):
        self.history, self.known, self.sizes, self.cost = history, known, sizes, cost
        self.at = LogSizes(history.problem)
        cache = history.cache.setdefault(("fabolas", cost), {})
        self.growing = Growing(cache, history.problem.seed)
        categorical = history.problem.space.categorical
        gp = self._process("score", SizeKernel(categorical), known.points, known.y)
        ids = [trial.id for trial in history.trials if may_go_on(trial)]
        self.idle = [history.trials[i] for i in ids]
        U = [point_of(history, trial) for trial in self.idle]
        self.U = np.array(U).reshape(len(U), history.problem.space.n_dims)
        seen = known.points[:, :-1]
        self.best = float(gp.at_full_size(seen).max())
        self.means = gp.at_full_size(self.U) if ids else np.empty(0)
        self.gp = gp.condition_on(known.running, None, -0.99 * gp.noise)
        self.log_cost = self._log_cost()

    @property
    def incumbent(self) -> Trial | None:
        """The idle trial with the best predicted score at full size."""
        return self.idle[int(np.argmax(self.means))] if self.idle else None

    def overdue(self, rng: np.random.Generator) -> Start | Resume | None:
        """Return a step at full size, once smaller sizes have cost more.

        It is the incumbent. If full results do not improve, every second candidate comes from a
        process of full results only, which distinguishes them better.
        """
        top, trial = self.history.problem.max_resources, self.incumbent
        if trial is None:
            return None
        is_there = trial.resource == top
        point = np.append(point_of(self.history, trial), 1.0)[np.newaxis]
        log_cost = self.log_cost(point)
        if self.known.since_top < math.exp(
            (log_cost if is_there else self._left(trial, log_cost))[0]
        ):
            return None
        is_full = self.known.points[:, -1] == 1
        full = self.known.y[is_full]
        is_stuck = len(full) > PATIENCE and len(full) - 1 - int(np.argmax(full)) >= PATIENCE
        if is_stuck and (is_there or len(full) % 2):
            return self._at_full_size(self.known.points[is_full, :-1], full, rng)
        return None if is_there else Resume(trial.id, top)

    def _at_full_size(
        self, U: np.ndarray, y: np.ndarray, rng: np.random.Generator
    ) -> Start | None:
        """Return the new candidate with the greatest expected improvement by full results only."""
        space = self.history.problem.space
        full = TrainingSet("full", MixedKernel(space.categorical), U, y, robust_power_transform)
        gp = self.growing.process(full, GaussianProcess)
        criterion = Criterion(
            [gp],
            LogEI(),
            [float(gp.fitted().max())],
            numbers=np.flatnonzero(~space.categorical),
            feasibility=self._feasibility(),
            factors=[InteriorPrior(INTERIOR_POWER / len(y)), *beliefs(self.history, len(y))],
        )
        near = U[np.argsort(-y, kind="stable")[:N_INCUMBENTS]]
        params, _ = self._maximiser(criterion, near, rng)
        return None if params is None else Start(self.sizes[-1], params=params)

    def best_step(self, rng: np.random.Generator) -> Start | Resume:
        """Return the step with the greatest gain per cost: a new candidate, or a larger size."""
        log_sizes = np.array([self.at(r) for r in self.sizes])
        factors: list = list(beliefs(self.history, len(self.known.y)))
        if self.history.problem.allows is not None:
            factors.append(Refused(self.history))
        criterion = GainPerCost(
            self.gp, self.best, log_sizes, self._charged, self._feasibility(), factors
        )
        value, resume = self._old(criterion)
        near = self.U[np.argsort(-self.means, kind="stable")[:N_INCUMBENTS]]
        params, u = self._maximiser(criterion, near, rng)
        if params is None or u is None:
            return resume or Start(self.sizes[0])
        gains = criterion.by_size(u[np.newaxis])[0]
        k = int(np.argmax(gains))
        if resume is not None and value >= gains[k]:
            return resume
        return Start(self.sizes[k], params=params)

    def _old(self, criterion: GainPerCost) -> tuple[float, Resume | None]:
        """Return the best idle trial and size, and its gain per cost."""
        best: tuple[float, Resume | None] = (-math.inf, None)
        going = [k for k, trial in enumerate(self.idle) if trial.resource < self.sizes[-1]]
        if not going:
            return best
        U, t = self.U[going], criterion.sizes
        gains = criterion.log_gain(U) + criterion.log_factor(U)[:, np.newaxis]
        for k, row in zip(going, gains, strict=True):
            trial = self.idle[k]
            points = np.column_stack([np.repeat(self.U[k][np.newaxis], len(t), axis=0), t])
            values = row - self._at_least(self._left(trial, self.log_cost(points)))
            values[np.array(self.sizes) <= trial.resource] = -np.inf
            j = int(np.argmax(values))
            if values[j] > best[0]:
                best = float(values[j]), Resume(trial.id, self.sizes[j])
        return best

    def _maximiser(
        self, criterion: Criterion | GainPerCost, near: np.ndarray, rng: np.random.Generator
    ) -> tuple[Params | None, np.ndarray | None]:
        """Return the best new allowed candidate and its point, otherwise None."""
        space, points = self.history.problem.space, all_points(self.history)
        if points is None:
            points = candidates(space, near, rng, N_CANDIDATES)
            points = maximise(criterion, space, points, rng)
        else:
            points = points[np.argsort(-criterion(points), kind="stable")]
        for u in points:
            params = space.from_unit(u)
            if self.history.takes(params):
                return params, u
        return None, None

    # ---- models

    def _log_cost(self) -> Callable[[np.ndarray], np.ndarray]:
        """Return the logarithm of the cost of training from scratch up to a size."""
        known, at = self.known, self.at
        if self.cost == "resource":
            low = math.log(at.low)
            return lambda points: low + points[:, -1] * (at.span if at.high > at.low else 0.0)
        measured = ~np.isnan(known.log_cost)
        logs = known.log_cost[measured]
        kernel = SizeKernel(self.history.problem.space.categorical, "cost")
        gp = self._process("cost", kernel, known.points[measured], logs)
        return lambda points: logs.mean() + logs.std() * gp.predict(points)[0]

    def _charged(self, points: np.ndarray) -> np.ndarray:
        """Return the logarithm of the charge for a new candidate."""
        return self._at_least(self.log_cost(points))

    def _at_least(self, log_cost: np.ndarray) -> np.ndarray:
        """Add the cost of twenty proposals to a log cost, so that proposals stay a small part."""
        least = math.log(LEAST_STEP) if self.cost == "seconds" else -math.inf
        return np.logaddexp(log_cost, least)

    def _left(self, trial: Trial, log_cost: np.ndarray) -> np.ndarray:
        """Return the log of the remaining cost, at least 10 % of the total."""
        if not self.history.problem.continues:
            return log_cost
        paid = spent_on(self.history.problem, trial, trial.resource, self.cost)
        cost = np.exp(log_cost)
        return np.log(np.maximum(cost - paid, 0.1 * cost))

    def _process(self, name: str, kernel: SizeKernel, U: np.ndarray, y: np.ndarray) -> SizeProcess:
        """Return a process of scores or of log costs, standardised."""
        transform = robust_power_transform if name == "score" else standardise
        return self.growing.process(TrainingSet(name, kernel, U, y, transform), SizeProcess)

    def _feasibility(self) -> Feasibility | None:
        """Return a model of the probability of success; None without failures."""
        known = self.known
        if known.ok.all():
            return None
        kernel = MixedKernel(self.history.problem.space.categorical)
        labels = TrainingSet("failure", kernel, known.tried, known.ok, centred_labels, LABEL_NOISE)
        gp = self.growing.process(labels, GaussianProcess)
        return Feasibility(gp, known.ok, SHARPNESS)


class Refused:
    """A factor of 0 for disallowed candidates."""

    def __init__(self, history: History):
        self.problem = history.problem

    def __call__(self, U: np.ndarray, numbers: object) -> tuple[np.ndarray, None]:
        """Return the logarithm of the factor, shape (m,)."""
        allows, space = self.problem.allows, self.problem.space
        ok = [allows is None or allows(space.from_unit(u)) for u in U]
        return np.where(ok, 0.0, -np.inf), None


def point_of(history: History, trial: Trial) -> np.ndarray:
    """Return coordinates of a trial's parameters, even of a baseline outside the space."""
    points = history.cache.setdefault("fabolas points", {})
    if trial.id not in points:
        points[trial.id] = history.problem.point(trial.params)
    return points[trial.id]


def cost_of_job(problem: Problem, trial: Trial, resource: int, cost: str) -> float:
    """Return seconds, or units, of the job of a trial up to a size."""
    if cost == "seconds":
        return max(trial.results[resource].cost, LEAST_COST)
    below = [r for r in trial.results if r < resource] if problem.continues else []
    return float(resource - max(below, default=0))


def spent_on(problem: Problem, trial: Trial, resource: int, cost: str) -> float:
    """Return seconds, or units, from nothing up to a size."""
    paid = [r for r in trial.results if r <= resource] if problem.continues else [resource]
    return math.fsum(cost_of_job(problem, trial, r, cost) for r in paid)


def _scores(trial: Trial) -> list[float]:
    return [result.score for result in trial.results.values()]
