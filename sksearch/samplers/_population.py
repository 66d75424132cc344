"""What samplers with a population share: its members, and how whole points are made.

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

MIN_SIZE = 4
N_OFFSPRING = 20  # that are made until one is new and allowed


class PopulationSampler(LearningSampler):
    """A sampler whose first population is a part of a scrambled Sobol sequence."""

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
        """Genes of a new candidate, shape (n_dims,)."""

    def _check(self, **allowed: Collection[str]) -> None:
        super()._check(**allowed)
        size = self.population_size
        if size is not None and size < MIN_SIZE:
            raise ValueError(
                f"population_size={size} must be at least {MIN_SIZE}, or None: new candidates "
                "are made of several others."
            )


def genes_of(space: Space, U: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw for each point one that stands for the same candidate.

    A number that is rounded, and a parameter that is not active, stand for an interval. A point
    of it is drawn, so that small differences between points add up to a step to the next value,
    and a parameter that was never active is as good as new.

    Parameters
    ----------
    space : Space
        Where from.
    U : ndarray of shape (n, n_dims)
        Canonical points, NaN where inactive.
    rng : numpy.random.Generator
        Source of the draws.

    Returns
    -------
    genes : ndarray of shape (n, n_dims)
        In [0, 1]; the middle of its interval for a choice.
    """
    lower, upper = space.cells(U)
    inactive = np.isnan(U)
    lower[inactive], upper[inactive] = 0.0, 1.0
    genes = lower + (upper - lower) * rng.random(U.shape)
    return np.where(space.categorical & ~inactive, U, genes)


def fittest(data: Observations) -> np.ndarray:
    """Rows of the results, shape (n,): those that keep all bounds come first, best first.

    Of equal scores the later one is first, so that a plateau can be crossed.
    """
    return np.lexsort((-data.trial_id, -data.y, data.violation))


def best_of_slots(data: Observations, size: int) -> np.ndarray:
    """Rows of the best result of each slot that has one, shape (at most size,), best first."""
    order = fittest(data)
    first = np.full(size, len(order))
    # Of several results of a slot the last one written stays: the best.
    first[data.trial_id[order[::-1]] % size] = np.arange(len(order))[::-1]
    return order[np.sort(first[first < len(order)])]
