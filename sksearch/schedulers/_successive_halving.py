"""Successive halving: train all candidates briefly, the best ones longer."""

from dataclasses import dataclass

from sksearch.history import Problem
from sksearch.schedulers._brackets import BracketScheduler, Selecting, ladder, n_for_one
from sksearch.schedulers._halving import Halving


@dataclass(frozen=True)
class SuccessiveHalving(Halving, BracketScheduler, Selecting):
    """One bracket: at each rung the best ``1 / factor`` of the candidates are promoted.

    Parameters
    ----------
    n_candidates : int or None, default=None
        Number of candidates at the lowest rung. None: ``factor ** (n_rungs - 1)``, so that one
        candidate reaches ``max_resources`` and each rung costs about the same.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    References
    ----------
    .. [1] K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and
       hyperparameter optimization", AISTATS 2016.
       https://proceedings.mlr.press/v51/jamieson16.html

    Examples
    --------
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"C": range(99)}), min_resources=1, max_resources=9)
    >>> [(r.resource, r.n_candidates) for r in SuccessiveHalving().plan(problem).brackets[0]]
    [(1, 9), (3, 3), (9, 1)]
    """

    n_candidates: int | None = None
    factor: float = 3

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket with all rungs."""
        resources = ladder(problem.min_resources, problem.max_resources, self.factor)
        n = self.n_candidates
        if n is None:
            n = n_for_one(resources, self.factor)
        return [(n, resources)]
