"""Differential evolution.

==========  ======================================================================
N           size of the population
x, v        the member that a new candidate competes with, and its mutant
F, CR       length of differences, probability that a gene is the mutant's
==========  ======================================================================
"""

from dataclasses import dataclass

import numpy as np

from sksearch.history import History, Problem
from sksearch.samplers._observations import Observations
from sksearch.samplers._population import PopulationSampler, best_of_slots, genes_of

DEFAULT_SIZE = 8
N_BEST = 2  # members that mutants are drawn to
LENGTHS = (0.3, 0.9)  # F is uniform between
CROSSOVERS = (0.1, 0.9)  # CR is one of these: few parameters at a time, or nearly all
FRESH = 0.05  # probability that a mutant's choice is drawn from all


@dataclass(frozen=True)
class DESampler(PopulationSampler):
    """Move members of a population by differences of others: differential evolution.

    Differences are large while the population is spread out and small when it has gathered, so
    steps adapt to the problem, and to each parameter, without a model.

    Parameters
    ----------
    population_size : int or None, default=None
        Count of members, at least 4. None: 8.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Which results of a search with several resources it learns from, see `TPESampler`.

    Notes
    -----
    Trial i competes with member i modulo N and takes its place if its score is at least as good,
    whenever that is known; so candidates under way do no harm. The mutant is that of [2]_,
    ``v = x + F (b - x) + F (r - s)``, with b one of the two best members and r and s random
    ones; a gene that would leave its range is put halfway to the end. A few parameters are taken
    from v, or nearly all. F and CR are drawn for each candidate instead of adapted: hundreds of
    evaluations, not thousands, are what a search has. The defaults were chosen on functions of
    2 to 10 parameters with 30 evaluations for each.

    Where r and s have different choices, the mutant has that of r with probability F, else that of
    b, or that of x. Rounded numbers and inactive parameters stand for all of their interval.

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
    >>> from sksearch.simulators import Branin, GammaCurves, play
    >>> problem = GammaCurves(Branin())
    >>> history = play(DESampler(), FullFidelity(80), problem, random_state=0)
    >>> bool(max(trial.results[81].score for trial in history.trials) > -1)  # at best -0.398
    True
    """

    population_size: int | None = None
    transfer: str = "rung"

    def count_initial(self, problem: Problem) -> int:
        """Count of members, which are quasi-random at first."""
        return self.population_size or DEFAULT_SIZE

    def _offspring(
        self, history: History, data: Observations, rng: np.random.Generator
    ) -> np.ndarray:
        space, size = history.problem.space, self.count_initial(history.problem)
        rows = best_of_slots(data, size)
        own = np.flatnonzero(data.trial_id[rows] % size == len(history.trials) % size)
        i = int(own[0]) if len(own) else int(rng.integers(len(rows)))
        # Member i, one to go to, and two whose difference is added: others if there are any.
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
    """Some genes of x, the others of its mutant."""
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
