"""Successive halving again and again: once wide, then short."""

from dataclasses import dataclass, replace
from itertools import count

from sksearch.base import Plan
from sksearch.schedulers._brackets import BracketScheduler, ladder, n_for_one, rungs_of
from sksearch.schedulers._halving import Halving

DEPTH = 3  # rungs of a first bracket below the last, where nobody chose


@dataclass(frozen=True)
class IteratedHalving(Halving, BracketScheduler):
    """A wide bracket of successive halving to learn from, then short ones that know more.

    The first bracket begins at the lowest rung, with as many times the candidates of a later one
    as each bracket of Hyperband with these rungs may cost: `max_resources` a rung. Later
    brackets begin one rung higher: there is something to learn from by then, and results that
    are nearer to the end say more. With ``max_resources=27`` and factor 3 that is 36, 12, 4 and
    1 candidates at 1, 3, 9 and 27, then 9, 3 and 1 at 3, 9 and 27: 3.8 full trainings, and 2.3
    for a later bracket. Where training does not continue, as with rows, the first has 27
    candidates for four full trainings, a later one costs three.

    Parameters
    ----------
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart.
    n_iterations : int, default=8
        Count of brackets, each with new candidates.

    Notes
    -----
    Where training continues (``problem.continues``), rungs are ``max_resources / factor**i``
    rounded to the nearest whole number, and not down as in `Hyperband`: with 52 epochs the
    lowest rung has 2, and not 1.
    Where it does not, 27 candidates have no room for that.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"x": uniform()}), min_resources=2, max_resources=52)
    >>> for rungs in IteratedHalving(n_iterations=3).plan(problem).brackets:
    ...     print(*(f"{rung.n_candidates}@{rung.resource}" for rung in rungs))
    36@2 12@6 4@17 1@52
    9@6 3@17 1@52
    9@6 3@17 1@52
    """

    factor: float = 3
    n_iterations: int = 8

    def brackets(self, problem):
        """Name the wide bracket and the short ones."""
        resources = self._ladder(problem, problem.min_resources)
        short = resources[1:] or resources
        n = n_for_one(short, self.factor)
        budget = len(resources) * problem.max_resources

        def fits(times):
            rungs = rungs_of(times * n, resources, self.factor)
            return Plan.bracket_resources(rungs, problem.continues) <= budget

        times = next(times for times in count(1) if not fits(times + 1))
        return [(times * n, resources)] + [(n, short)] * (self.n_iterations - 1)

    def adapt(self, problem):
        """Begin the first bracket three rungs below the last."""
        low = max(problem.min_resources, self._ladder(problem, 1)[-1 - DEPTH :][0])
        return super().adapt(replace(problem, min_resources=low))

    def _ladder(self, problem, min_resources):
        return ladder(min_resources, problem.max_resources, self.factor, problem.continues)
