"""NSGA-II: parents of good rank, crossover and mutation."""

from dataclasses import dataclass

import numpy as np

from sksearch._utils._fronts import best_first
from sksearch.base import Reads, Sampler, Start
from sksearch.history import History, Params
from sksearch.samplers._observations import observe
from sksearch.samplers._quasi_random import QuasiRandomSampler
from sksearch.samplers._surrogate import first_new
from sksearch.space import Space

N_CHILDREN = 20  # the first new and allowed one is used


@dataclass(frozen=True)
class NSGA2Sampler(Sampler):
    """NSGA-II: children of the best candidates, by non-dominated sorting and crowding distance.

    Parameters
    ----------
    population_size : int, default=20
        Number of candidates that may be parents, and number of initial quasi-random candidates.
    crossover : float, default=0.9
        Probability that a child has two parents.
    eta_crossover, eta_mutation : float, default=15.0
        Distribution indices of crossover and mutation. With larger values, children are more
        similar to their parents.

    Notes
    -----
    This is the algorithm of [1]_ without generations: each candidate is a child of the best
    results so far, ordered by constraint violation, front and crowding distance. Numbers use
    simulated binary crossover and polynomial mutation; choices are inherited from one parent or
    drawn again. The sampler has no model, and needs many candidates.

    References
    ----------
    .. [1] K. Deb, A. Pratap, S. Agarwal, T. Meyarivan, "A fast and elitist multiobjective genetic
       algorithm: NSGA-II", IEEE Trans. Evolutionary Computation 6, 2002.
       https://doi.org/10.1109/4235.996017

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem, Result
    >>> from sksearch.samplers import NSGA2Sampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.space import Space
    >>> from sksearch.study import Study
    >>> problem = Problem(Space({"x": uniform(0, 1)}), objectives=("a", "b"))
    >>> study = Study(problem, NSGA2Sampler(population_size=4), FullFidelity(12))
    >>> while (job := study.ask()) is not None:
    ...     values = job.params["x"], -job.params["x"] ** 2
    ...     study.tell(job, Result(values[0], objectives=values))
    >>> len(study.history.trials)
    12
    """

    population_size: int = 20
    crossover: float = 0.9
    eta_crossover: float = 15.0
    eta_mutation: float = 15.0

    reads = Reads(results=True, objectives=True, bounds=True)

    def __post_init__(self):
        if self.population_size < 2:
            raise ValueError(f"population_size={self.population_size} must be at least 2.")
        if not 0 <= self.crossover <= 1:
            raise ValueError(f"crossover={self.crossover} must be between 0 and 1.")
        for name in ("eta_crossover", "eta_mutation"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name}={getattr(self, name)} must be positive.")

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Propose a quasi-random point, or a child of two of the best candidates."""
        space = history.problem.space
        data = observe(history, start, n_enough=space.n_dims + 2)
        n_tried = len(data.y) + len(data.failed) + len(data.running)
        if space.n_dims == 0 or n_tried < self.population_size or len(data.y) < 2:
            return QuasiRandomSampler("sobol").ask(history, start, rng)
        order = best_first(data.objectives, data.violation, self.population_size)
        population = data.U[order[: self.population_size]]
        # They are sorted, so the smaller index of two is the better parent.
        n = len(population)
        mothers, fathers = rng.integers(n, size=(2, 2, N_CHILDREN)).min(axis=1)
        children = self._cross(space, population[mothers], population[fathers], rng)
        return first_new(history, space.canonical(self._mutate(space, children, rng)))

    def _cross(
        self, space: Space, one: np.ndarray, other: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return points between and around pairs of parents, shape (n, n_dims)."""
        fresh = rng.random(one.shape)
        one = np.where(np.isnan(one), fresh, one)  # inactive parameters
        other = np.where(np.isnan(other), one, other)
        u = rng.random(one.shape)
        power = 1 / (self.eta_crossover + 1)
        beta = np.where(u < 0.5, (2 * u) ** power, (1 / (2 * (1 - u))) ** power)
        # Choose a random parent to stay near: otherwise the child would inherit from one only.
        half = np.where(rng.random(one.shape) < 0.5, 0.5, -0.5) * (one - other)
        middle = (one + other) / 2
        crossed = np.where(space.categorical, other, middle + beta * half)
        take = rng.random(one.shape) < 0.5
        take &= rng.random((len(one), 1)) < self.crossover
        # Values outside the range are moved to its bound
        return np.clip(np.where(take, crossed, one), 0, 1)

    def _mutate(self, space: Space, U: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return points with one coordinate changed on average, shape (n, n_dims)."""
        u, power = rng.random(U.shape), 1 / (self.eta_mutation + 1)
        # Polynomial mutation, bounded by the ends of the range.
        eta = self.eta_mutation + 1
        down = np.abs(2 * u + (1 - 2 * u) * (1 - U) ** eta) ** power - 1
        up = 1 - np.abs(2 * (1 - u) + (2 * u - 1) * U**eta) ** power
        moved = U + np.where(u < 0.5, down, up)
        moved = np.where(space.categorical, rng.random(U.shape), moved)
        change = rng.random(U.shape) < 1 / U.shape[1]
        change[np.arange(len(U)), rng.integers(U.shape[1], size=len(U))] |= (
            rng.random(len(U)) < 0.5
        )
        return np.clip(np.where(change, moved, U), 0, 1)
