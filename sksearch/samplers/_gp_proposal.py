"""A proposal by Gaussian processes: acquisition function, pending candidates, choice."""

import bisect
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sksearch.acquisition import UCB, LogEI, LogPI
from sksearch.acquisition._criterion import Criterion, InteriorPrior, Penalty, beliefs
from sksearch.acquisition._functions import Acquisition, Indifferent, MaxValueEntropy
from sksearch.acquisition._maximise import all_points, candidates, draw
from sksearch.history import History, Params
from sksearch.samplers._gp_models import Models
from sksearch.samplers._observations import Observations
from sksearch.samplers._surrogate import best_points, first_new, maximiser
from sksearch.samplers._tpe import TPESampler

N_FANTASIES = 8  # draws of the pending scores that are averaged
N_THOMPSON = 500  # points of a sampled function: the cost is cubic in them
N_MAXIMA = 16  # sampled functions whose maxima an entropy refers to
PORTFOLIO_STREAM = 7  # distinguishes its generator from others of the same trial
PATIENCE = 5  # consecutive results without an improvement
SECOND_OPINION = TPESampler()  # proposes every second candidate without progress
MARGIN_OF_TIE = 0.3  # standard deviations, for each further score equal to the best one
INTERIOR_POWER = 2.0  # power of the prior of an inner maximum, divided by the number of scores


class Proposal:
    """Observations and models of one proposal, and the criterion built from them.

    Parameters
    ----------
    sampler : GPSampler
        Sampler with the options.
    history : History
        Everything known so far.
    data : Observations
        Results to learn from.
    rng : numpy.random.Generator
        Source of the draws.
    """

    def __init__(
        self,
        sampler: Any,
        history: History,
        data: Observations,
        rng: np.random.Generator,
    ):
        self.sampler, self.history, self.data, self.rng = sampler, history, data, rng
        self.space = history.problem.space
        self.models = Models(sampler, history, data)

    def params(self) -> Params:
        """Return the next candidate."""
        acquisition, pending = self.sampler.acquisition, PENDING[self.sampler.pending]
        if isinstance(pending, Strategy) and len(self.data.pending):
            return pending.choose(self)
        if isinstance(acquisition, Acquisition):
            return Maximum(acquisition).choose(self)
        return ACQUISITIONS[acquisition].choose(self)

    def criterion(
        self,
        acquisition: Acquisition,
        margin: float = 0.0,
        log_cost: Any = None,
        interior: bool = True,
    ) -> Criterion:
        """Return the acquisition function with all further factors.

        Parameters
        ----------
        acquisition : Acquisition
            Function of mean, standard deviation and best score.
        margin : float, default=0.0
            Minimum improvement, in standard deviations of the scores.
        log_cost : object or None, default=None
            Model of the logarithm of seconds to divide the acquisition function by.
        interior : bool, default=True
            Whether to multiply by a prior of a maximum inside the ranges.

        Returns
        -------
        criterion : Criterion
            Function on the unit cube.
        """
        models, feasible = self.models.scores(), self.data.feasible
        interior = interior and "interior" in self.sampler.guards
        factors: list = [InteriorPrior(INTERIOR_POWER / self.data.n_all)] if interior else []
        factors += beliefs(self.history, self.data.n_all)
        if not feasible.any():  # any candidate that satisfies the bounds is an improvement
            acquisition, feasible = Indifferent(), ~feasible
        best = [np.max(model.fitted()[feasible]) for model in models]
        if len(failed := self.data.failed):
            # Evaluating these points gives no information, which is the purpose of exploring.
            models = [
                model.condition_on(failed, np.minimum(model.predict(failed)[0], top))
                for model, top in zip(models, best, strict=True)
            ]
        if len(self.data.pending):
            models, best, penalties = PENDING[self.sampler.pending].apply(self, models, best)
            factors += penalties
        return Criterion(
            models,
            acquisition,
            [score + margin for score in best],
            numbers=np.flatnonzero(~self.space.categorical),
            feasibility=self.models.feasibility(),
            log_cost=log_cost,
            factors=factors,
        )

    def maximiser(self, criterion: Criterion) -> Params:
        """Return the new candidate that maximises the criterion, as far as the search finds it."""
        # The cost of a candidate grows with n^2, so their number is limited. More candidates
        # improved log-EI by 0.01 at most on average, for twice the time.
        effort = (300, 15, 4) if len(self.data.y) <= 300 else (200, 10, 3)
        return maximiser(criterion, self.history, self.data, self.rng, *effort)


# ---- choice of a candidate


class Strategy(ABC):
    """Choice of the next candidate."""

    @abstractmethod
    def choose(self, proposal: Proposal) -> Params:
        """Return the next candidate."""


@dataclass(frozen=True)
class Maximum(Strategy):
    """Maximum of an acquisition function, with safeguards against a wrong model.

    If scores do not improve, every second proposal comes from another model; if scores tie with
    the best one, a larger improvement is required.

    Parameters
    ----------
    acquisition : Acquisition
        Function of mean, standard deviation and best score.
    per_second : bool, default=False
        Whether to divide by the predicted seconds.
    """

    acquisition: Acquisition
    per_second: bool = False

    def choose(self, proposal: Proposal) -> Params:
        """Return the maximiser, or the other model's proposal."""
        history, data, guards = proposal.history, proposal.data, proposal.sampler.guards
        y = np.where(data.feasible, data.y, -np.inf) if data.feasible.any() else data.y
        cost = proposal.models.log_cost() if self.per_second else None
        if proposal.models.joint:  # scores of several resources cannot be compared
            return proposal.maximiser(proposal.criterion(self.acquisition, log_cost=cost))
        is_stuck = n_without_gain(data, y) >= PATIENCE
        if "second_opinion" in guards and is_stuck and len(history.trials) % 2:
            feasibility = proposal.models.feasibility()
            return SECOND_OPINION._propose(history, data, proposal.rng, feasibility)
        margin = margin_of_ties(y) if "ties" in guards else 0.0
        return proposal.maximiser(proposal.criterion(self.acquisition, margin, cost))


def n_without_gain(data: Observations, y: np.ndarray) -> int:
    """Return the number of scores and failures since the best, without violated bounds."""
    best = int(np.argmax(y))
    n_failed = np.count_nonzero(data.failed_log_index > data.log_index[best])
    return int(np.count_nonzero(np.isfinite(y[best + 1 :])) + n_failed)


def margin_of_ties(y: np.ndarray) -> float:
    """Return the minimum improvement if several scores equal the best one."""
    return MARGIN_OF_TIE * (np.count_nonzero(y == y.max()) - 1)


class EIDistribution(Strategy):
    """Draw with probabilities proportional to the expected improvement."""

    def choose(self, proposal: Proposal) -> Params:
        """Return the draw."""
        rng = proposal.rng
        # The prior of an inner maximum is only needed for maxima, which are often at the bounds.
        criterion = proposal.criterion(LogEI(), interior=False)
        points = all_points(proposal.history)
        points = draw(proposal.space, rng, 1_000) if points is None else points
        values = criterion(points)
        # The largest values plus Gumbel noise are draws from their softmax; sorted, they are draws
        # without replacement.
        order = np.argsort(-(values + rng.gumbel(size=len(points))), kind="stable")
        return first_new(proposal.history, points[order])


class Thompson(Strategy):
    """Maximum of a function sampled from the posterior."""

    def choose(self, proposal: Proposal) -> Params:
        """Return the maximiser among candidates likely to succeed."""
        models, rng, points = proposal.models, proposal.rng, points_to_sample(proposal)
        values = models.scores()[0].sample(points, 1, rng)[:, 0]
        if (feasibility := models.feasibility()) is not None:
            values = np.where(feasibility.log_probability(points) < math.log(0.5), -np.inf, values)
        return first_new(proposal.history, points[np.argsort(-values, kind="stable")])


def points_to_sample(proposal: Proposal) -> np.ndarray:
    """Return points at which functions are sampled, all of a small space."""
    points, rng = all_points(proposal.history), proposal.rng
    if points is None:
        return candidates(proposal.space, best_points(proposal.data), rng, N_THOMPSON)
    if len(points) > N_THOMPSON:
        return points[rng.choice(len(points), N_THOMPSON, replace=False)]
    return points


class Entropy(Strategy):
    """Maximum of the information about the greatest score."""

    def choose(self, proposal: Proposal) -> Params:
        """Return the maximiser, for maxima of functions sampled from the posterior."""
        points, models = points_to_sample(proposal), proposal.models.scores()
        n = -(-N_MAXIMA // len(models))
        tops = [model.sample(points, n, proposal.rng).max(axis=0) for model in models]
        acquisition = MaxValueEntropy(tuple(np.concatenate(tops).tolist()))
        return proposal.maximiser(proposal.criterion(acquisition))


class Portfolio(Strategy):
    """Several acquisition functions in turn, weighted by their gains so far."""

    MEMBERS = (LogEI(), LogPI(), UCB())

    def choose(self, proposal: Proposal) -> Params:
        """Return the maximiser of the function drawn for this trial."""
        history, sampler = proposal.history, proposal.sampler
        gains = Gains(sampler.count_initial(proposal.history.problem), len(self.MEMBERS))
        gains = history.cache.setdefault(("portfolio", sampler), gains).read(history)
        i = gains.draw(history.problem.seed, len(history.trials))
        return proposal.maximiser(proposal.criterion(self.MEMBERS[i]))


class Gains:
    """Gains of each member of a portfolio so far.

    A trial's member is a function of the trial's number, so it is recomputed from the log instead
    of stored. Its gain is the share of earlier trials with lower first scores.

    Parameters
    ----------
    n_initial : int
        Number of trials without a member.
    n_members : int
        Number of acquisition functions.
    """

    def __init__(self, n_initial: int, n_members: int):
        self.n_initial = n_initial
        self.gains, self.counts = np.full(n_members, 0.5), np.ones(n_members)
        self.n_read = 0
        self.members: dict[int, int] = {}
        self.scored: set[int] = set()
        self.ordered: list[float] = []

    def read(self, history: History) -> Self:
        """Process new entries of the log."""
        for event, trial_id, resource in history.log[self.n_read :]:
            if event == "ask":
                if trial_id not in self.members:
                    self.members[trial_id] = self.draw(history.problem.seed, trial_id)
                continue
            score = history.trials[trial_id].results[resource].score
            if trial_id not in self.scored and not math.isnan(score):
                self._add(trial_id, score)
        self.n_read = len(history.log)
        return self

    def draw(self, seed: int, trial_id: int) -> int:
        """Draw the index of a member, with probabilities that increase with its gain."""
        rng = np.random.default_rng((seed, trial_id, PORTFOLIO_STREAM))
        weights = np.exp(4 * self.gains / self.counts)
        return int(rng.choice(len(weights), p=weights / weights.sum()))

    def _add(self, trial_id: int, score: float) -> None:
        if trial_id >= self.n_initial:
            n_worse = bisect.bisect_left(self.ordered, score)
            self.gains[self.members[trial_id]] += n_worse / max(1, len(self.ordered))
            self.counts[self.members[trial_id]] += 1
        self.scored.add(trial_id)
        bisect.insort(self.ordered, score)


# ---- pending candidates


class PendingOption(ABC):
    """Treatment of pending candidates in a criterion."""

    @abstractmethod
    def apply(self, proposal: Proposal, models: list, best: list) -> tuple[list, list, list]:
        """Return the models and best scores including pending candidates, and further factors."""


class Conditioned(PendingOption):
    """Pending candidates are treated as known.

    They are noise-free values of the function: with large noise, another measurement at the same
    point would promise nearly as much. They also update the best score.
    """

    @abstractmethod
    def values(self, proposal: Proposal, model: Any) -> np.ndarray | None:
        """Return the values of the pending candidates; None: their predicted means."""

    def apply(self, proposal: Proposal, models: list, best: list) -> tuple[list, list, list]:
        """Return models conditioned on the pending candidates."""
        U = proposal.data.pending
        models = [
            model.condition_on(U, self.values(proposal, model), noise=-0.99 * model.noise)
            for model in models
        ]
        predicted = [model.predict(U)[0].max(axis=0) for model in models]
        return models, [np.maximum(*pair) for pair in zip(best, predicted, strict=True)], []


class Believer(Conditioned):
    """Pending candidates have their predicted means, the kriging believer."""

    def values(self, proposal: Proposal, model: Any) -> None:
        """Return None, for the means."""


class Fantasies(Conditioned):
    """Pending candidates have sampled values; the acquisition function is averaged over them."""

    def values(self, proposal: Proposal, model: Any) -> np.ndarray:
        """Return draws from the posterior, shape (n_pending, N_FANTASIES)."""
        return model.sample(proposal.data.pending, N_FANTASIES, proposal.rng)


class Penalisation(PendingOption):
    """Balls around pending candidates are excluded."""

    def apply(self, proposal: Proposal, models: list, best: list) -> tuple[list, list, list]:
        """Return a penalty for each pending candidate."""
        model, U = models[0], proposal.data.pending
        points = np.vstack([draw(proposal.space, proposal.rng, 200), proposal.data.U])
        slopes = model.predict_with_gradient(points)[2]
        # With a flat model, the balls would exclude all points.
        lipschitz = max(float(np.sqrt((slopes**2).sum(axis=1)).max()), 1e-3)
        mean, sd = model.predict(U)
        penalties = [
            Penalty(u, float(m), float(s), best[0], lipschitz)
            for u, m, s in zip(U, mean, sd, strict=True)
        ]
        return models, best, penalties


ACQUISITIONS: dict[str, Strategy] = {
    "log_ei": Maximum(LogEI()),
    "log_pi": Maximum(LogPI()),
    "lcb": Maximum(UCB()),
    "ei_per_second": Maximum(LogEI(), per_second=True),
    "thompson": Thompson(),
    "entropy": Entropy(),
    "portfolio": Portfolio(),
    "ei_distribution": EIDistribution(),
}
# With "thompson" each proposal maximises another sampled function while candidates are pending.
PENDING: dict[str, Any] = {
    "believer": Believer(),
    "fantasies": Fantasies(),
    "penalisation": Penalisation(),
    "thompson": Thompson(),
}
