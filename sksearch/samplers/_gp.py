"""Bayesian optimisation with a Gaussian process.

==========  ======================================================================
n           count of observations
d           count of coordinates of the unit cube
theta       hyperparameters, learnt when n has grown by a seventh
world       a model in the average, one for each theta
version     one of the means that a world has, one for each fantasy of what is pending
==========  ======================================================================
"""

import bisect
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sksearch._threads import one_blas_thread
from sksearch.acquisition import UCB, Criterion, Interior, LogEI, LogPI, Penalty, candidates, draw
from sksearch.models import (
    Feasibility,
    GaussianProcess,
    MixedKernel,
    learn_theta,
    prior,
    sample_theta,
    tame,
)
from sksearch.models._feasibility import LABEL_NOISE, centred_labels
from sksearch.models._kernels import FAMILIES
from sksearch.samplers._observations import TRANSFERS
from sksearch.samplers._surrogate import (
    LearningSampler,
    all_points,
    best_of,
    best_points,
    first_unknown,
)
from sksearch.samplers._tpe import TPESampler

ACQUISITIONS = {"log_ei": LogEI(), "log_pi": LogPI(), "lcb": UCB()}
CHOICES = (*ACQUISITIONS, "ei_per_second", "thompson", "portfolio", "ei_distribution")
PENDING = ("believer", "fantasies", "penalisation", "thompson")
GROWTH = 1.15  # hyperparameters are learnt anew when there are so many times as many points
MAX_LEARNT = 500  # points that hyperparameters are learnt from: more hardly change them
N_FANTASIES = 8
PORTFOLIO_STREAM = 7  # tells its generator from others of the same trial
N_THOMPSON = 500  # points that a function is drawn at: its cost is cubic in them
PATIENCE = 5  # results in a row that are no better than the best one
SECOND_OPINION = TPESampler()
LEAST_GAIN = 0.3  # standard deviations, for each score that equals the best one
INTERIOR = 2.0  # power of the belief that the maximum is inside, over the count of observations


@dataclass(frozen=True)
class GPSampler(LearningSampler):
    """Model scores by a Gaussian process, and propose where an improvement is expected.

    Parameters
    ----------
    acquisition : str, default="log_ei"
        "log_ei", the logarithm of the expected improvement; "log_pi", of its probability; "lcb",
        the confidence bound; "ei_per_second", expected improvement by a model of the cost;
        "thompson", the maximum of a drawn function; "portfolio", the first three by turns, the
        more often the better the scores that they led to, in the spirit of [5]_;
        "ei_distribution", a draw from the expected improvement taken as a density [3]_.
    pending : {"believer", "fantasies", "penalisation", "thompson"}, default="believer"
        What running candidates are taken for: their predicted means; several draws, over which
        the acquisition function is averaged; centres of balls that are left out; or nothing,
        but each proposal is the maximum of another drawn function. What is believed counts for
        the best score, too, so that nothing is expected twice.
    n_initial : int or None, default=None
        Count of quasi-random candidates before the first model. None: between 4 and 10.
    kernel : {"matern52", "matern32", "matern12", "squared_exponential"}, default="matern52"
        How smooth the score is over the numbers.
    warp : bool, default=False
        Whether the kernel learns a warping of each number.
    marginalise : bool, default=False
        Whether the acquisition function is averaged over ten samples of the hyperparameters,
        which costs more than their most probable values.
    transfer : {"rung", "none", "all", "surv", "same", "joint"}, default="rung"
        Which results of a search with several resources it learns from: those at the largest
        resource that has enough of them, if it is a fortieth of the largest at least; with "none",
        "all", "surv" or "same" those of the own bracket, and of earlier ones none, all, the
        survivors, or those that were stopped at the same resource; "joint": all at resources of
        at least that fortieth at once, with the resource as one more coordinate.

    Notes
    -----
    Failed candidates are not given a score: a second process models the probability that a
    candidate does not fail, and the acquisition function is multiplied by it.

    The acquisition function is multiplied by a belief that the maximum is not at the ends of
    the ranges, which falls off as results come [4]_: by itself it looks there too often, since
    a process knows least there.

    A process that is wrong about the function may be so for ever, since it looks where it
    expects most. So after five results that are no better than the best, every second proposal
    is that of `TPESampler`, until a better one is found; and each score that exactly equals the
    best, as accuracies often do, raises what counts as an improvement by 0.3 standard
    deviations. Neither is done where the acquisition function knows of costs, takes turns or is
    drawn from, nor with scores of several resources.

    References
    ----------
    .. [1] J. Snoek, H. Larochelle, R. P. Adams, "Practical Bayesian optimization of machine
       learning algorithms", NeurIPS 2012. https://arxiv.org/abs/1206.2944
    .. [2] D. Ginsbourger, R. Le Riche, L. Carraro, "Kriging is well-suited to parallelize
       optimization", 2010. https://doi.org/10.1007/978-3-642-10701-6_6
    .. [3] H. Bertrand, R. Ardon, M. Perrot, I. Bloch, "Hyperparameter optimization of deep
       neural networks: combining Hyperband with Bayesian model selection", CAp 2017.
    .. [4] C. Hvarfner et al., "piBO: Augmenting acquisition functions with user beliefs for
       Bayesian optimization", ICLR 2022. https://arxiv.org/abs/2204.11051
    .. [5] M. Hoffman, E. Brochu, N. de Freitas, "Portfolio allocation for Bayesian
       optimization", UAI 2011. https://arxiv.org/abs/1009.5419
    """

    acquisition: str = "log_ei"
    pending: str = "believer"
    n_initial: int | None = None
    kernel: str = "matern52"
    warp: bool = False
    marginalise: bool = False
    transfer: str = "rung"

    def __post_init__(self):
        self._check(
            acquisition=CHOICES, pending=PENDING, kernel=tuple(FAMILIES), transfer=TRANSFERS
        )

    def _propose(self, history, data, rng):
        with one_blas_thread():
            return _Task(self, history, data, rng).propose()

    def _without_model(self, history, data, start, rng):
        if len(data.failed) and not data.ok.any():
            with one_blas_thread():
                return self._avoid_failures(history, data, rng)
        return super()._without_model(history, data, start, rng)

    def _avoid_failures(self, history, data, rng):
        """Before any success: likely not to fail, and far from what did."""
        kernel = MixedKernel(history.problem.space.categorical)
        gp = GaussianProcess(kernel, prior(kernel)[0])
        gp.fit(data.failed, -np.ones(len(data.failed)))
        points = all_points(history)
        points = draw(history.problem.space, rng, 200) if points is None else points
        mean, sd = gp.predict(points)
        return first_unknown(history, points[np.argsort(-(mean + sd), kind="stable")])


@dataclass
class _Target:
    """What a process learns.

    Parameters
    ----------
    name : str
        Of the process, in the cache.
    kernel : MixedKernel
        Its covariance.
    U : ndarray of shape (n, n_dims)
        Points.
    told : ndarray of shape (n,)
        What was told of them.
    seen_as : callable
        ``seen_as(told) -> (n,)``, the values that the process sees.
    noise : float, default=0.0
        Known variance of these.
    """

    name: str
    kernel: MixedKernel
    U: np.ndarray
    told: np.ndarray
    seen_as: Callable
    noise: float = 0.0
    _values: dict = field(default_factory=dict)

    def values(self, n):
        """The first n, as the process sees them."""
        if n not in self._values:
            self._values[n] = self.seen_as(self.told[:n])
        return self._values[n]

    def digest(self, n):
        """Of the first n points and what was told of them."""
        return hashlib.blake2b(self.U[:n].tobytes() + self.told[:n].tobytes()).digest()


class _Task:
    """One proposal: the models of a sampler for one state of a history."""

    def __init__(self, sampler, history, data, rng):
        self.sampler, self.history, self.data, self.rng = sampler, history, data, rng
        space = history.problem.space
        categorical = space.categorical
        if sampler.transfer == "joint":
            categorical = np.r_[categorical, False]
        kernel = MixedKernel(categorical, sampler.kernel, sampler.warp)
        self.space = space
        self.U = self._with_resource(data.U, data.resource)
        # What has a result that does not count is as unknown as what is running: without it, a
        # bracket at a low resource would be filled with one candidate again and again.
        self.pending = data.unknown
        self.score = _Target("score", kernel, self.U, data.y, tame)
        self.cache = history.cache.setdefault(("gp", sampler), {})

    @property
    def y(self):
        """Scores as the process sees them; another model's proposal does not need them."""
        return self.score.values(len(self.U))

    def propose(self):
        """The next params."""
        name = self.sampler.acquisition
        thompson = name == "thompson" or (self.sampler.pending == "thompson" and len(self.pending))
        if thompson:
            return self._thompson()
        if name == "ei_distribution":
            return self._draw_from(self._criterion(name))
        # One that knows of costs goes on where it is cheap, and one that takes turns looks around.
        alone = name in ACQUISITIONS and self.sampler.transfer != "joint"
        if alone and self._is_stuck() and len(self.history.trials) % 2:
            return SECOND_OPINION._propose(self.history, self.data, self.rng)
        criterion = self._criterion(name, self._least_gain() if alone else 0.0)
        n = len(self.U)
        # The cost of a candidate grows with n^2; that of everything else is to stay in sight.
        # More than this found no greater log-EI, to 0.01 on average, for twice the time.
        effort = (300, 15, 4) if n <= 300 else (200, 10, 3)
        return best_of(criterion, self.history, self.data, self.rng, *effort)

    def _is_stuck(self):
        """Whether the last results were no better than the best one."""
        return len(self.data.y) - 1 - np.argmax(self.data.y) >= PATIENCE

    def _least_gain(self):
        """What an improvement has to be where scores are equal."""
        return LEAST_GAIN * (np.count_nonzero(self.data.y == self.data.y.max()) - 1)

    # ---- models

    def _worlds(self):
        """Processes that the acquisition function is averaged over."""
        if not self.sampler.marginalise:
            return [self._process(self.score)]
        kernel = self.score.kernel
        return [GaussianProcess(kernel, theta).fit(self.U, self.y) for theta in self._thetas()]

    def _process(self, target):
        """A process on all points, made from the last one by appending rows.

        Rows are appended one by one to those that theta was learnt at, so that a process made
        anew, after the cache was dropped, has the same bits.
        """
        theta, U = self._theta(target), target.U
        gp = self.cache.get((target.name, "gp"))
        if not (
            gp is not None
            and len(gp.U) <= len(U)
            and np.array_equal(gp.theta, theta)
            and np.array_equal(gp.U, U[: len(gp.U)], equal_nan=True)
        ):
            n = _learnt_at(len(U))
            gp = GaussianProcess(target.kernel, theta).fit(U[:n], target.values(n), target.noise)
        for i in range(len(gp.U), len(U)):
            gp.append(U[i : i + 1], noise=target.noise)
        self.cache[target.name, "gp"] = gp.set_values(target.values(len(U)))
        return gp

    def _theta(self, target):
        """Hyperparameters as they were learnt at the last point of the schedule."""
        n = _learnt_at(len(target.U))
        rows = np.linspace(0, n - 1, min(n, MAX_LEARNT)).astype(int)

        def learn():
            y = target.values(n)[rows]
            return learn_theta(target.kernel, target.U[rows], y, target.noise)

        return self._once((target.name, "theta"), target.digest(n), learn)

    def _thetas(self):
        n = _learnt_at(len(self.U))
        theta = self._theta(self.score)

        def draw_thetas():
            rng = np.random.default_rng((self.history.problem.seed, n))
            return sample_theta(self.score.kernel, theta, self.U[:n], self.score.values(n), rng)

        return self._once("thetas", self.score.digest(n), draw_thetas)

    def _once(self, name, digest, compute):
        """What is computed once for each digest of what it depends on."""
        if self.cache.get(name, (None,))[0] != digest:
            self.cache[name] = (digest, compute())
        return self.cache[name][1]

    def _criterion(self, name, least_gain=0.0):
        worlds = self._worlds()
        # Only a maximum is drawn to the ends of the ranges: a draw is not.
        factors = [] if name == "ei_distribution" else [Interior(INTERIOR / len(self.y))]
        if name == "portfolio":
            name = self._arm()
        acquisition = ACQUISITIONS.get(name, ACQUISITIONS["log_ei"])
        best = [np.max(self._means(world)) for world in worlds]
        if len(failed := self._at_top(self.data.failed)):
            # Not a score, but nothing to look for either: or else the greatest improvement is
            # expected there again and again, where scores grow towards the failures.
            poor = np.full(len(failed), np.quantile(self.y, 0.25))
            worlds = [world.believing(failed, poor) for world in worlds]
        if len(pending := self._at_top(self.pending)):
            if self.sampler.pending == "penalisation":
                factors += self._penalties(worlds[0], best[0])
            else:
                worlds = [self._believing(world, pending) for world in worlds]
                believed = [world.predict(pending)[0].max(axis=0) for world in worlds]
                best = [np.maximum(*pair) for pair in zip(best, believed, strict=True)]
        if self.sampler.transfer == "joint":
            worlds = [_AtTop(world, self._at_top) for world in worlds]
        return Criterion(
            worlds,
            acquisition,
            [score + least_gain for score in best],
            numbers=np.flatnonzero(~self.space.categorical),
            feasibility=self._feasibility(),
            log_cost=self._log_cost() if name == "ei_per_second" else None,
            factors=factors,
        )

    def _believing(self, world, pending):
        """The world with pending points taken for known.

        It is the function that is believed there, with hardly any noise: where noise is large, a
        measurement more would promise nearly as much at the same point.
        """
        values = None
        if self.sampler.pending == "fantasies":
            values = world.sample(pending, N_FANTASIES, self.rng)
        return world.believing(pending, values, noise=-0.99 * world.noise)

    def _means(self, world):
        """Predicted scores, at the largest resource, of what is known."""
        if self.sampler.transfer != "joint":
            return world.fitted()
        return world.predict(self._at_top(self.data.U))[0]

    def _feasibility(self):
        """Model of the probability that a candidate does not fail; None if none did."""
        if not len(self.data.failed):
            return None
        U, ok = self.data.tried, self.data.ok
        kernel = MixedKernel(self.space.categorical)
        target = _Target("feasibility", kernel, U, ok, centred_labels, LABEL_NOISE)
        return Feasibility(self._process(target), ok)

    def _log_cost(self):
        """Model of log seconds, centred."""
        kernel = MixedKernel(self.space.categorical)
        return self._process(_Target("cost", kernel, self.data.U, self.data.cost, _log_costs))

    def _penalties(self, world, best):
        """Local penalisers of the pending points."""
        if self.sampler.transfer == "joint":
            world = _AtTop(world, self._at_top)
        points = np.vstack([draw(self.space, self.rng, 200), self.data.U])
        slopes = world.predict_with_gradient(points)[2]
        lipschitz = max(float(np.sqrt((slopes**2).sum(axis=1)).max()), 1e-3)
        mean, sd = world.predict(self.pending)
        return [
            Penalty(u, float(m), float(s), best, lipschitz)
            for u, m, s in zip(self.pending, mean, sd, strict=True)
        ]

    # ---- choices that are no maximum of a criterion

    def _thompson(self):
        points = all_points(self.history)
        if points is None:
            points = candidates(self.space, best_points(self.data), self.rng, N_THOMPSON)
        elif len(points) > N_THOMPSON:
            points = points[self.rng.choice(len(points), N_THOMPSON, replace=False)]
        values = self._worlds()[0].sample(self._at_top(points), 1, self.rng)[:, 0]
        if (feasibility := self._feasibility()) is not None:
            values = np.where(feasibility.log_probability(points) < math.log(0.5), -np.inf, values)
        return first_unknown(self.history, points[np.argsort(-values, kind="stable")])

    def _draw_from(self, criterion):
        """A draw with probabilities proportional to the expected improvement."""
        points = all_points(self.history)
        points = draw(self.space, self.rng, 1_000) if points is None else points
        values = criterion(points)
        # The largest of values plus Gumbel noise is a draw from their softmax; sorted, one
        # draw after another without replacement.
        order = np.argsort(-(values + self.rng.gumbel(size=len(points))), kind="stable")
        return first_unknown(self.history, points[order])

    def _arm(self):
        """An acquisition function, the likelier the better the scores that it led to."""
        n_initial = self.sampler.count_initial(self.history.problem)
        portfolio = self.cache.setdefault("portfolio", _Portfolio(n_initial)).read(self.history)
        return list(ACQUISITIONS)[
            portfolio.draw(self.history.problem.seed, len(self.history.trials))
        ]

    # ---- the resource as a coordinate

    def _with_resource(self, U, resource):
        if self.sampler.transfer != "joint":
            return U
        top = self.history.problem.max_resources
        t = np.log(resource) / math.log(top) if top > 1 else np.ones(len(U))
        return np.column_stack([U, t])

    def _at_top(self, U):
        return self._with_resource(U, np.full(len(U), self.history.problem.max_resources))


class _AtTop:
    """A process over params and resource, seen at the largest resource."""

    def __init__(self, gp, at_top):
        self._gp, self._at_top = gp, at_top

    def predict(self, U):
        return self._gp.predict(self._at_top(U))

    def predict_with_gradient(self, U):
        mean, sd, d_mean, d_sd = self._gp.predict_with_gradient(self._at_top(U))
        return mean, sd, d_mean[..., :-1], d_sd[:, :-1]


class _Portfolio:
    """Acquisition functions by turns, of which each has gained something so far.

    A trial's arm is drawn when it is asked for, by its number, and again when the log of the
    history is read: nothing of it is stored. Its gain is the share of earlier trials that were
    worse, by first scores.
    """

    def __init__(self, n_initial):
        self.n_initial = n_initial  # trials that no arm proposed
        self.gains, self.counts = np.full(len(ACQUISITIONS), 0.5), np.ones(len(ACQUISITIONS))
        self.n_read = 0
        self.arms: dict[int, int] = {}
        self.scored: set[int] = set()
        self.ordered: list[float] = []

    def read(self, history):
        """Take in what is new in the log."""
        for event, trial_id, resource in history.log[self.n_read :]:
            if event == "ask":
                if trial_id not in self.arms:
                    self.arms[trial_id] = self.draw(history.problem.seed, trial_id)
                continue
            score = history.trials[trial_id].results[resource].score
            if trial_id not in self.scored and not math.isnan(score):
                self._gain(trial_id, score)
        self.n_read = len(history.log)
        return self

    def draw(self, seed, trial_id):
        """Index of an arm, the likelier the more it gained."""
        rng = np.random.default_rng((seed, trial_id, PORTFOLIO_STREAM))
        weights = np.exp(4 * self.gains / self.counts)
        return int(rng.choice(len(weights), p=weights / weights.sum()))

    def _gain(self, trial_id, score):
        if trial_id >= self.n_initial:
            n_worse = bisect.bisect_left(self.ordered, score)
            self.gains[self.arms[trial_id]] += n_worse / max(1, len(self.ordered))
            self.counts[self.arms[trial_id]] += 1
        self.scored.add(trial_id)
        bisect.insort(self.ordered, score)


def _log_costs(seconds):
    """Their logarithms, centred."""
    logs = np.log(np.maximum(seconds, 1e-6))
    return logs - logs.mean()


def _learnt_at(n):
    """The last count, up to n, at which hyperparameters are learnt."""
    point = min(2, n)
    while (following := max(point + 1, math.floor(point * GROWTH))) <= n:
        point = following
    return point
