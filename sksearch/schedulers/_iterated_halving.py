"""Iterated successive halving: a wide bracket, then short ones."""

from dataclasses import dataclass, replace
from itertools import count

from sksearch.base import Plan, Scheduler
from sksearch.history import Problem
from sksearch.schedulers._brackets import BracketScheduler, Selecting, ladder, n_for_one, rungs_of
from sksearch.schedulers._halving import Halving

DEPTH = 3  # rungs of the first bracket below the last, if the user set no minimum


@dataclass(frozen=True)
class IteratedHalving(Halving, BracketScheduler, Selecting):
    """A wide bracket of successive halving for a model to learn from, then short ones.

    The first bracket starts at the lowest rung. Its number of candidates is the largest multiple
    of a later bracket's number within the cost of a Hyperband bracket with these rungs:
    `max_resources` for each rung. Later brackets start one rung higher, because a model then has
    results to learn from, and results at larger resources are more informative.

    With ``max_resources=27`` and factor 3 the first bracket has 36, 12, 4 and 1 candidates at 1,
    3, 9 and 27 and costs 3.8 full fits. A later one has 9, 3 and 1 at 3, 9 and 27 and costs 2.3.
    If training does not continue, as with rows, the first has 27 candidates and costs four full
    fits, a later one three.

    Parameters
    ----------
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart.
    n_iterations : int, default=8
        Number of brackets, each with new candidates.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    Notes
    -----
    If training continues (``problem.continues``), rungs are ``max_resources / factor**i`` rounded
    to the nearest integer, and not down as in `Hyperband`: with 52 epochs the lowest rung has 2
    instead of 1. If training does not continue they are rounded down, because otherwise 27
    candidates would cost more than the bracket may.

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

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return the wide bracket and the short ones."""
        resources = self._ladder(problem, problem.min_resources)
        short = resources[1:] or resources
        n = n_for_one(short, self.factor)
        budget = len(resources) * problem.max_resources

        def fits(times: int) -> bool:
            rungs = rungs_of(times * n, resources, self.factor)
            return Plan.bracket_resources(rungs, problem.continues) <= budget

        times = next(times for times in count(1) if not fits(times + 1))
        return [(times * n, resources)] + [(n, short)] * (self.n_iterations - 1)

    def adapt(self, problem: Problem) -> tuple[Scheduler, int]:
        """Start the first bracket three rungs below the last."""
        low = max(problem.min_resources, self._ladder(problem, 1)[-1 - DEPTH :][0])
        return super().adapt(replace(problem, min_resources=low))

    def _ladder(self, problem: Problem, min_resources: int) -> list[int]:
        return ladder(min_resources, problem.max_resources, self.factor, problem.continues)
