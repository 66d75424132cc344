"""A genetic algorithm over mixed and conditional spaces.

==========  ======================================================================
N           size of the population
d           number of genes
==========  ======================================================================
"""

from dataclasses import dataclass

import numpy as np

from sksearch.acquisition._maximise import SCALES, reflected
from sksearch.history import History, Problem
from sksearch.samplers._observations import Observations
from sksearch.samplers._population import PopulationSampler, fittest, genes_of
from sksearch.space import Space

BEYOND = 0.5  # distance of a child beyond its parents, as a share of their distance


@dataclass(frozen=True)
class GeneticSampler(PopulationSampler):
    """Genetic algorithm: crossover and mutation of the best candidates.

    Parameters
    ----------
    population_size : int or None, default=None
        Number of the best candidates that may be parents, at least 4. None: twice the number of
        parameters, from 8 to 20.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results of a search with several resources to learn from, see `TPESampler`.

    Notes
    -----
    Instead of generations, the population consists of the N best results so far, so it never waits
    for running candidates. Each parent is the better of two random members of the population. A
    number is drawn uniformly between the numbers of both parents, extended on both sides by half
    of their distance (BLX-0.5 [1]_); a choice is inherited from one parent. Then each of the d
    parameters is mutated with probability 1 / d: a number by a normal step with a random scale of
    0.3 to 30 % of its range, a choice by a new draw.

    A parameter active in only one parent is inherited from this parent, and a parameter active in
    neither parent is drawn at random. An integer is placed at random within its interval of the
    unit cube, so that small steps can change it.

    References
    ----------
    .. [1] L. J. Eshelman, J. D. Schaffer, "Real-coded genetic algorithms and
       interval-schemata", Foundations of Genetic Algorithms 2, 1993.
       https://doi.org/10.1016/B978-0-08-094832-4.50018-0

    Examples
    --------
    >>> from sksearch.samplers import GeneticSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin())
    >>> history = play(GeneticSampler(), FullFidelity(80), problem, random_state=0)
    >>> bool(max(trial.results[81].score for trial in history.trials) > -1)  # at best -0.398
    True
    """

    population_size: int | None = None
    transfer: str = "rung"

    def count_initial(self, problem: Problem) -> int:
        """Return the number of members; at first all of them are quasi-random."""
        return self.population_size or min(20, max(8, 2 * problem.space.n_dims))

    def _offspring(
        self, history: History, data: Observations, rng: np.random.Generator
    ) -> np.ndarray:
        best = fittest(data)[: self.count_initial(history.problem)]
        return _child(history.problem.space, data.U[best], rng)


def _child(space: Space, members: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the genes of a child of two of the members, sorted best first."""
    n, d = members.shape
    i, j = rng.integers(n, size=4).reshape(2, 2).min(axis=1)  # two tournaments
    while j == i:
        j = rng.integers(n)
    one, other = members[i], members[j]
    parents = np.array(
        [np.where(np.isnan(one), other, one), np.where(np.isnan(other), one, other)]
    )
    low, high = np.sort(genes_of(space, parents, rng), axis=0)
    # Sorted gene by gene, so either choice comes from a random parent.
    mixed = low + (high - low) * rng.uniform(-BEYOND, 1 + BEYOND, d)
    chosen = np.where(rng.random(d) < 0.5, low, high)

    step = SCALES[rng.integers(len(SCALES), size=d)] * rng.standard_normal(d)
    is_mutant = rng.random(d) < 1 / d
    numbers = reflected(np.where(is_mutant, mixed + step, mixed))
    choices = np.where(is_mutant, rng.random(d), chosen)
    return np.where(space.categorical, choices, numbers)
