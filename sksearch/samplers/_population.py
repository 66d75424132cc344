"""Shared parts of samplers with a population: its members, and the genes of points.

==========  ======================================================================
N           size of the population
slot        place of a trial in the population: its id modulo N
genes       coordinates of a point of the cube, none of them missing
==========  ======================================================================
"""

from abc import abstractmethod
from collections.abc import Collection

import numpy as np

from sksearch.history import History, Params
from sksearch.samplers._observations import WITHOUT_JOINT, Observations
from sksearch.samplers._surrogate import LearningSampler
from sksearch.space import Space

MIN_SIZE = 4  # a mutant is made of four members
N_OFFSPRING = 20  # attempts to make one that is new and allowed


class PopulationSampler(LearningSampler):
    """A sampler with an initial population from a scrambled Sobol sequence."""

    population_size: int | None = None
    transfer: str = "rung"

    def __post_init__(self) -> None:
        self._check(transfer=WITHOUT_JOINT)

    def _propose(self, history: History, data: Observations, rng: np.random.Generator) -> Params:
        for _ in range(N_OFFSPRING):
            params = history.problem.space.from_unit(self._offspring(history, data, rng))
            if history.takes(params):
                break
        return params

    @abstractmethod
    def _offspring(
        self, history: History, data: Observations, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the genes of a new candidate, shape (n_dims,)."""

    def _check(self, **allowed: Collection[str]) -> None:
        super()._check(**allowed)
        size = self.population_size
        if size is not None and size < MIN_SIZE:
            raise ValueError(
                f"population_size={size} must be at least {MIN_SIZE}, or None: new candidates "
                "combine several others."
            )


def genes_of(space: Space, U: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a point with the same candidate for each point.

    Rounded numbers and inactive parameters correspond to an interval of coordinates. A random
    point of it is drawn, so that small differences between points add up to a step to the next
    value, and a parameter that was never active gets a uniform value.

    Parameters
    ----------
    space : Space
        Search space.
    U : ndarray of shape (n, n_dims)
        Canonical points, NaN where inactive.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    genes : ndarray of shape (n, n_dims)
        Points in [0, 1]; choices are in the middle of their interval.
    """
    lower, upper = space.cells(U)
    inactive = np.isnan(U)
    lower[inactive], upper[inactive] = 0.0, 1.0
    genes = lower + (upper - lower) * rng.random(U.shape)
    return np.where(space.categorical & ~inactive, U, genes)


def fittest(data: Observations) -> np.ndarray:
    """Return rows of the results, shape (n,), best first; violated bounds come last.

    Ties are won by the later score, so that a plateau can be crossed.
    """
    return np.lexsort((-data.trial_id, -data.y, data.violation))


def best_of_slots(data: Observations, size: int) -> np.ndarray:
    """Return rows of the best result of each non-empty slot, shape (at most size,), best first."""
    order = fittest(data)
    first = np.full(size, len(order))
    # Written in reverse order, so the best result of a slot remains.
    first[data.trial_id[order[::-1]] % size] = np.arange(len(order))[::-1]
    return order[np.sort(first[first < len(order)])]
