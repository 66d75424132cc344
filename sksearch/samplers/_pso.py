"""Particle swarm optimisation.

==========  ======================================================================
N           number of particles; trial i is a place of particle i modulo N
x           the last place of a particle
p, g        the best places of the particle and of all
==========  ======================================================================
"""

from dataclasses import dataclass

import numpy as np

from sksearch.acquisition._maximise import reflected
from sksearch.history import History, Problem
from sksearch.samplers._observations import Observations, ResultIndex
from sksearch.samplers._population import PopulationSampler, fittest, genes_of
from sksearch.space import Space

INERTIA = 0.6  # with PULL, swarms do not diverge, and converge within tens of evaluations
PULL = 1.5
MAX_STEP = 0.2  # maximum step, as a share of the range
FRESH = 0.1  # weight of a draw from all choices; the particle's own choice has the weight INERTIA


@dataclass(frozen=True)
class PSOSampler(PopulationSampler):
    """Particle swarm optimisation: particles move towards the best points found.

    Parameters
    ----------
    population_size : int or None, default=None
        Number of particles, at least 4. None: 10.
    asynchronous : bool, default=True
        If True, a particle uses all results so far. If False, it uses only results of earlier
        rounds; in each round every particle moves once.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results of a search with several resources to learn from, see `TPESampler`.

    Notes
    -----
    The velocity is ``0.6 (x - x') + 1.5 (a (p - x) + b (g - x))``, with x the position of the
    particle, x' its previous position, p its best position, g the best position of all particles,
    and a and b uniform in [0, 1] for each parameter. In [2]_ the weights are 0.7298 and 1.49618,
    for swarms with thousands of evaluations. Steps are limited to a fifth of the range, and
    reflected at its bounds. A particle with zero velocity moves to a random position.

    A particle moves even if its last result is not yet known, and no particle waits for the end of
    a round; a late result is used as soon as it arrives.

    A choice is drawn, with the same weights, among the choices at x, p and g and a random one. An
    integer is placed at random within its interval of the unit cube, and an inactive parameter at
    random.

    References
    ----------
    .. [1] J. Kennedy, R. Eberhart, "Particle swarm optimization", ICNN 1995.
       https://doi.org/10.1109/ICNN.1995.488968
    .. [2] M. Clerc, J. Kennedy, "The particle swarm: explosion, stability, and convergence in a
       multidimensional complex space", IEEE Trans. Evolutionary Computation 6, 2002.
       https://doi.org/10.1109/4235.985692

    Examples
    --------
    >>> from sksearch.samplers import PSOSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin())
    >>> history = play(PSOSampler(), FullFidelity(80), problem, random_state=0)
    >>> bool(max(trial.results[81].score for trial in history.trials) > -1)  # at best -0.398
    True
    """

    population_size: int | None = None
    asynchronous: bool = True
    transfer: str = "rung"

    def count_initial(self, problem: Problem) -> int:
        """Return the number of particles; their first positions are quasi-random."""
        return self.population_size or 10

    def _offspring(
        self, history: History, data: Observations, rng: np.random.Generator
    ) -> np.ndarray:
        """Return the next position of the current particle."""
        space, trial_id = history.problem.space, len(history.trials)
        size = self.count_initial(history.problem)
        n_seen = trial_id if self.asynchronous else trial_id - trial_id % size
        best = fittest(data)
        seen = best[data.trial_id[best] < n_seen]
        best = seen if len(seen) else best
        own = best[data.trial_id[best] % size == trial_id % size]
        g = data.U[best[0]]
        p = data.U[own[0]] if len(own) else g

        places = ResultIndex.of(history).points.rows[trial_id % size : trial_id : size]
        x = places[-1] if len(places) else p
        before = places[-2] if len(places) > 1 else x
        return _moved(space, np.array([x, before, p, g]), rng)


def _moved(space: Space, places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the next position of a particle from its last two, its best and the overall best."""
    if np.array_equal(places, places[[0, 0, 0, 0]], equal_nan=True):
        return rng.random(space.n_dims)  # zero velocity: it would stay there
    x, before, p, g = genes_of(space, places, rng)
    a, b = PULL * rng.random((2, len(x)))
    velocity = INERTIA * (x - before) + a * (p - x) + b * (g - x)
    # Unlimited particles would oscillate between the borders.
    numbers = reflected(x + np.clip(velocity, -MAX_STEP, MAX_STEP))
    if not space.categorical.any():
        return numbers
    weights = np.array([np.full(len(x), INERTIA), a, b, np.full(len(x), FRESH)]).cumsum(axis=0)
    which = (rng.random(len(x)) * weights[-1] >= weights).sum(axis=0)
    choices = np.choose(which, [x, p, g, rng.random(len(x))])
    return np.where(space.categorical, choices, numbers)
