"""Shared parts of samplers with a surrogate model."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np

from sksearch.acquisition._maximise import all_points, candidates, maximise
from sksearch.base import Reads, Sampler, Start
from sksearch.history import History, Params, Problem
from sksearch.samplers._observations import Observations, observe
from sksearch.samplers._quasi_random import QuasiRandomSampler
from sksearch.samplers._subsample import Extract

N_INCUMBENTS = 5  # best points near which half of the candidates are drawn


class LearningSampler(Sampler):
    """A sampler with a model, after initial points of a scrambled Sobol sequence."""

    n_initial: int | None = None
    transfer: str = "rung"
    extract: ClassVar[Extract | None] = None

    @property
    def reads(self) -> Reads:
        """Results, of the own bracket alone with ``transfer="none"``, bounds and the prior."""
        is_own = self.transfer == "none"
        return Reads(results=True, bounds=True, prior=True, own_bracket=is_own)

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Propose a quasi-random point, or the model's candidate."""
        data = self._observe(history, start)
        if not self._is_enough(history, data):
            return self._without_model(history, data, start, rng)
        return self._propose(history, data, rng)

    def _observe(self, history: History, start: Start) -> Observations:
        """Return the observations for the model."""
        n_enough = history.problem.space.n_dims + 2
        return observe(history, start, self.transfer, n_enough, self.extract)

    def _is_enough(self, history: History, data: Observations) -> bool:
        """Return whether there are enough observations for a model."""
        n_tried = len(data.y) + len(data.failed) + len(data.running)
        enough = n_tried >= self.count_initial(history.problem) and len(data.y) >= 2
        return enough and history.problem.space.n_dims > 0

    def count_initial(self, problem: Problem) -> int:
        """Return the number of candidates before the first model, the user's or 4 to 10.

        At least six with bounds, which also need models. If all candidates get the full resource,
        and their number is known, at most a quarter of it.
        """
        if self.n_initial is not None:
            return self.n_initial
        n_initial = min(10, max(6 if problem.bounds else 4, problem.space.n_dims + 1))
        n = problem.n_candidates
        return n_initial if n is None else min(n_initial, max(2, n // 4))

    @abstractmethod
    def _propose(self, history: History, data: Observations, rng: np.random.Generator) -> Params:
        """Return parameters proposed by a model of the observations."""

    def _without_model(
        self, history: History, data: Observations, start: Start, rng: np.random.Generator
    ) -> Params:
        """Return parameters without a model: every second candidate follows the user's beliefs."""
        prior = history.problem.prior
        if prior is not None and rng.random() < 0.5:
            return prior.sample(rng)
        return QuasiRandomSampler("sobol").ask(history, start, rng)

    def _check(self, **allowed: Collection[str]) -> None:
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} must be one of {', '.join(values)}."
                )
        if self.n_initial is not None and self.n_initial < 1:
            raise ValueError(f"n_initial={self.n_initial} must be at least 1.")


def best_points(data: Observations) -> np.ndarray:
    """Return the points of the best scores, best first, shape (at most 5, n_dims)."""
    return data.U[data.best_first[:N_INCUMBENTS]]


def first_new(history: History, points: np.ndarray) -> Params:
    """Return the first new and allowed candidate of the points, otherwise the first."""
    space = history.problem.space
    for u in points:
        params = space.from_unit(u)
        if history.takes(params):
            return params
    return space.from_unit(points[0])


class Allowed:
    """A criterion with minus infinity at disallowed candidates.

    Parameters
    ----------
    criterion : callable
        ``criterion(U) -> (m,)``; its gradient is not changed.
    problem : Problem
        Problem that allows or rejects candidates.
    """

    def __init__(self, criterion: Any, problem: Problem):
        self._criterion, self._problem = criterion, problem
        self.numbers = getattr(criterion, "numbers", None)
        self.with_gradient = getattr(criterion, "with_gradient", None)

    def __call__(self, U: np.ndarray) -> np.ndarray:
        """Return the criterion's values, minus infinity for disallowed candidates."""
        return np.where(allowed(self._problem, U), self._criterion(U), -np.inf)


def allowed(problem: Problem, U: np.ndarray) -> np.ndarray:
    """Return whether the candidate of each point may be evaluated, shape (m,)."""
    if problem.allows is None:
        return np.ones(len(U), bool)
    return np.array([problem.allows(problem.space.from_unit(u)) for u in U], bool)


def maximiser(
    criterion: Any,
    history: History,
    data: Observations,
    rng: np.random.Generator,
    n_candidates: int,
    n_iterations: int = 20,
    n_refined: int = 5,
) -> Params:
    """Return the new candidate that maximises the criterion, as far as the search finds it."""
    space = history.problem.space
    points = all_points(history)
    if points is not None:
        order = np.argsort(-criterion(points), kind="stable")
        return first_new(history, points[order])
    points = candidates(space, best_points(data), rng, n_candidates)
    if history.problem.allows is not None:
        criterion = Allowed(criterion, history.problem)
    return first_new(history, maximise(criterion, space, points, rng, n_iterations, n_refined))
