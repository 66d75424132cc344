"""Hyperband: brackets of successive halving, from the most aggressive to none."""

import math
from dataclasses import dataclass
from fractions import Fraction

from sksearch.schedulers._brackets import BracketScheduler, ladder
from sksearch.schedulers._halving import Halving


@dataclass(frozen=True)
class Hyperband(Halving, BracketScheduler):
    """Hedge over how early candidates can be told apart: one bracket for each lowest rung.

    Parameters
    ----------
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    n_iterations : int, default=1
        How often the set of brackets is gone through, each time with new candidates.
    candidates : {"table", "algorithm1"}, default="table"
        Candidates that the brackets begin with: those of the published table, for
        ``max_resources=81`` and ``factor=3`` 81, 27, 9, 6, 5, or those of the formula in
        Algorithm 1 of [1]_, 81, 34, 15, 8, 5. The two disagree in the paper.

    Notes
    -----
    Bracket s has s + 1 rungs; s falls from s_max to 0. The table is
    ``floor((s_max + 1) / (s + 1)) * factor**s``, so no bracket costs more than
    ``(s_max + 1) * max_resources`` units. Algorithm 1 has ``ceil`` around the product. All of
    it is computed in exact fractions.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar, "Hyperband: a novel
       bandit-based approach to hyperparameter optimization", JMLR 18(185):1-52, 2018.
       https://jmlr.org/papers/v18/16-558.html

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"x": uniform()}), min_resources=1, max_resources=81)
    >>> for rungs in Hyperband().plan(problem).brackets:
    ...     print(*(f"{rung.n_candidates}@{rung.resource}" for rung in rungs))
    81@1 27@3 9@9 3@27 1@81
    27@3 9@9 3@27 1@81
    9@9 3@27 1@81
    6@27 2@81
    5@81
    """

    factor: float = 3
    n_iterations: int = 1
    candidates: str = "table"

    def __post_init__(self):
        if self.candidates not in ("table", "algorithm1"):
            raise ValueError(
                f"candidates={self.candidates!r} must be 'table' (81 27 9 6 5 for "
                "max_resources=81) or 'algorithm1' (81 34 15 8 5)."
            )

    def brackets(self, problem):
        """Name s_max + 1 brackets, `n_iterations` times."""
        resources = ladder(problem.min_resources, problem.max_resources, self.factor)
        s_max = len(resources) - 1
        eta = Fraction(self.factor)
        brackets = []
        for s in range(s_max, -1, -1):
            if self.candidates == "table":
                n = math.floor((s_max + 1) // (s + 1) * eta**s)
            else:
                n = math.ceil(Fraction(s_max + 1, s + 1) * eta**s)  # [1]_ Alg. 1, line 3
            brackets.append((n, resources[s_max - s :]))
        return brackets * self.n_iterations
