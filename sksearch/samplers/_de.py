"""Differential evolution.

==========  ======================================================================
N           size of the population
x, v        the member that a new candidate competes with, and its mutant
F, CR       length of differences, probability that a gene comes from the mutant
==========  ======================================================================
"""

from dataclasses import dataclass

import numpy as np

from sksearch.history import History, Problem
from sksearch.samplers._observations import Observations
from sksearch.samplers._population import PopulationSampler, best_of_slots, genes_of

DEFAULT_SIZE = 8  # members: a fit is expensive, so generations must be small
N_BEST = 2  # members that attract mutants
LENGTHS = (0.3, 0.9)  # F is drawn uniformly between them
CROSSOVERS = (0.1, 0.9)  # CR is one of these: few parameters at a time, or nearly all
FRESH = 0.05  # probability of drawing a mutant's choice from all choices


@dataclass(frozen=True)
class DESampler(PopulationSampler):
    """Differential evolution: move the members of a population by differences between others.

    Differences are large while the population is spread out and small once it has converged, so
    steps adapt to the problem, and to each parameter, without a model.

    Parameters
    ----------
    population_size : int or None, default=None
        Number of members, at least 4. None: 8.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results of a search with several resources to learn from, see `TPESampler`.

    Notes
    -----
    Trial i competes with member i modulo N, and replaces it as soon as its score is known if the
    score is at least as good. Generations therefore never wait for running candidates. The mutant
    follows [2]_, ``v = x + F (b - x) + F (r - s)``, with b one of the two best members and r and s
    random members; a parameter outside its range is moved to the midpoint between x and the bound.
    Either a few parameters are taken from v, or nearly all. F and CR are drawn for each candidate
    instead of adapted, because a search has hundreds of evaluations, not thousands. The defaults
    were chosen on functions of 2 to 10 parameters with 30 evaluations each.

    If r and s have different choices, the mutant takes the choice of r with probability F,
    otherwise the choice of b or x. An integer is placed at random within its interval of the unit
    cube, and an inactive parameter at random.

    References
    ----------
    .. [1] R. Storn, K. Price, "Differential evolution: a simple and efficient heuristic for
       global optimization over continuous spaces", J. Global Optimization 11, 1997.
       https://doi.org/10.1023/A:1008202821328
    .. [2] J. Zhang, A. C. Sanderson, "JADE: adaptive differential evolution with optional
       external archive", IEEE Trans. Evolutionary Computation 13, 2009.
       https://doi.org/10.1109/TEVC.2009.2014613

    Examples
    --------
    >>> from sksearch.samplers import DESampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin())
    >>> history = play(DESampler(), FullFidelity(80), problem, random_state=0)
    >>> bool(max(trial.results[81].score for trial in history.trials) > -1)  # at best -0.398
    True
    """

    population_size: int | None = None
    transfer: str = "rung"

    def count_initial(self, problem: Problem) -> int:
        """Return the number of members; at first all of them are quasi-random."""
        return self.population_size or DEFAULT_SIZE

    def _offspring(
        self, history: History, data: Observations, rng: np.random.Generator
    ) -> np.ndarray:
        space, size = history.problem.space, self.count_initial(history.problem)
        rows = best_of_slots(data, size)
        own = np.flatnonzero(data.trial_id[rows] % size == len(history.trials) % size)
        i = int(own[0]) if len(own) else int(rng.integers(len(rows)))
        # Member i, a target, and two for the difference: distinct ones if possible.
        others = [k for k in rng.permutation(len(rows)).tolist() if k != i] or [i]
        four = rows[[i, rng.integers(min(len(rows), N_BEST)), others[0], others[-1]]]
        x, b, r, s = genes_of(space, data.U[four], rng)
        return _crossed(x, b, r, s, space.categorical, rng)


def _crossed(
    x: np.ndarray,
    b: np.ndarray,
    r: np.ndarray,
    s: np.ndarray,
    categorical: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return x with some genes of its mutant."""
    d = len(x)
    F, CR = rng.uniform(*LENGTHS), CROSSOVERS[rng.integers(len(CROSSOVERS))]

    v = x + F * (b - x) + F * (r - s)
    v = np.where(v < 0, x / 2, np.where(v > 1, (1 + x) / 2, v))
    if categorical.any():
        choice = np.where(rng.random(d) < F, b, x)
        choice = np.where((r != s) & (rng.random(d) < F), r, choice)
        choice = np.where(rng.random(d) < FRESH, rng.random(d), choice)
        v = np.where(categorical, choice, v)
    is_mutant = rng.random(d) < CR
    is_mutant[rng.integers(d)] = True
    return np.where(is_mutant, v, x)
