"""Successive halving again and again: once wide, then short."""

from dataclasses import dataclass

from sksearch.schedulers._brackets import BracketScheduler, ladder, n_for_one

WIDTH = 4  # a first bracket of 36, 12, 4, 1 before those of 9, 3, 1
DEPTH = 3  # rungs of a first bracket below the last, where nobody chose


@dataclass(frozen=True)
class IteratedHalving(BracketScheduler):
    """A wide bracket of successive halving to learn from, then short ones that know more.

    The first bracket begins at the lowest rung, with four times as many candidates as a later
    one has. Later brackets begin one rung higher: there is something to learn from by then, and
    results that are nearer to the end say more. With ``max_resources=27`` and factor 3 that is
    36, 12, 4 and 1 candidates at 1, 3, 9 and 27, then 9, 3 and 1 at 3, 9 and 27. Where training
    continues the first bracket costs 3.8 full trainings, less than the four of Hyperband's last
    bracket, and a later one 2.3; where it does not, as with rows, five (one more than any of
    Hyperband's with these rungs) and three.

    Parameters
    ----------
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart.
    n_iterations : int, default=8
        Count of brackets, each with new candidates.

    Notes
    -----
    Rungs are ``max_resources / factor**i`` rounded to the nearest whole number, and not down as
    in `Hyperband`, which promises a budget: of 52 epochs the lowest rung has 2, and not 1.

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
        resources = ladder(problem.min_resources, problem.max_resources, self.factor, nearest=True)
        short = resources[1:] or resources
        n = n_for_one(short, self.factor)
        return [(WIDTH * n, resources)] + [(n, short)] * (self.n_iterations - 1)

    def lowest(self, max_resources):
        """Return where the first bracket begins if nobody chose: three rungs below the last."""
        return ladder(1, max_resources, self.factor, nearest=True)[-1 - DEPTH :][0]
