"""Incremental evaluation: a large population, and a fixed step for promoted candidates.

Notation (Wistuba 2017 is [1]_ below):

=================  ===================================================================
B                  ``budget``, units in total
b_init             ``min_resources``, units of each candidate of the population
b                  ``step``, further units of each promoted candidate, at each rung
r                  ``keep``, the part of a rung that continues
=================  ===================================================================
"""

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

from sksearch.base import Plan, Rung, Scheduler
from sksearch.history import Problem
from sksearch.schedulers._brackets import BracketScheduler, Selecting, n_promoted

BEGINNING = 10  # as in [1]_: candidates start with 2 of at most 20 epochs
N_WHOLE = 10  # candidates at full resource that the default budget would cover
MAX_DENOMINATOR = 10**6  # 0.3 is 3/10, and floor(0.3 * 10) keeps 3; as a binary fraction 2


@dataclass(frozen=True)
class IncrementalEvaluation(BracketScheduler, Selecting):
    """One bracket that spends most of its budget at the lowest rung.

    All candidates of the population are trained for ``min_resources`` units. Then, repeatedly, the
    best share `keep` of them is trained for `step` more units, until one is left. In successive
    halving all rungs cost the same; here each rung costs about `keep` times the previous one.

    Parameters
    ----------
    budget : int or None, default=None
        Maximum number of units for all candidates together. None: the cost of ten candidates at
        ``max_resources``.
    keep : float, default=0.25
        Share of the candidates of a rung that continue, between 0 and 1; at least one continues.
    step : int or None, default=None
        Number of units between two rungs. None: half of ``min_resources``, at least 1.
    candidates : {"algorithm1", "largest"}, default="algorithm1"
        Size of the population: by the formula of Algorithm 1 in [1]_, or the largest that `budget`
        covers. Both numbers differ little up to ``keep=0.5``; above that value, the formula leaves
        a large part of the budget unspent.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    Notes
    -----
    Algorithm 1 starts with ``floor(B / (b_init + b r / (1 - r)))`` candidates, or with
    ``b_init / (1 - r) + b r / (1 - r)**2`` as the denominator if training starts from scratch at
    each rung. The formula assumes an infinite series of rungs and fractions of candidates. In
    practice at least one candidate is kept, which may cost more than `budget`. The population is
    then the largest with an actual cost within the budget. Usually the actual cost is lower, and
    the rest of the budget is not spent.

    The last rung has a single candidate, or several if ``max_resources`` is reached before. In
    [1]_ there are ``ceil(log(n) / log(1 / r))`` rungs, which may be one more than here. The
    additional rung would be empty, with ``floor(r)`` candidates.

    References
    ----------
    .. [1] M. Wistuba, "Bayesian optimization combined with incremental evaluation for neural
       network architecture optimization", AutoML workshop at ECML PKDD 2017.
       https://ceur-ws.org/Vol-1998/paper_01.pdf

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"x": uniform()}), min_resources=2, max_resources=20)
    >>> plan = IncrementalEvaluation(budget=100).plan(problem)
    >>> print(*(f"{rung.n_candidates}@{rung.resource}" for rung in plan.brackets[0]))
    42@2 10@3 2@4 1@5
    >>> plan.total_resources(continues=True)
    97
    >>> for candidates in ("algorithm1", "largest"):
    ...     scheduler = IncrementalEvaluation(100, keep=0.9, candidates=candidates)
    ...     plan = scheduler.plan(problem)
    ...     print(plan.n_candidates, plan.total_resources(continues=True))
    9 54
    15 99
    """

    budget: int | None = None
    keep: float = 0.25
    step: int | None = None
    candidates: str = "algorithm1"

    def __post_init__(self) -> None:
        if not (0 < self.keep < 1 and 0 < _exact(self.keep) < 1):
            raise ValueError(
                f"keep={self.keep} must lie between 0 and 1: the share of a rung to promote, such "
                "as 0.25."
            )
        for name in ("budget", "step"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Integral) and int(value) >= 1):
                raise ValueError(f"{name}={value} must be None or an integer of at least 1.")
        if self.candidates not in ("algorithm1", "largest"):
            raise ValueError(
                f"candidates={self.candidates!r} must be 'algorithm1' (the published formula) or "
                "'largest' (the largest number that the budget allows)."
            )

    @property
    def factor(self) -> Fraction:  # type: ignore[override]  # computed, and read only
        """Inverse of `keep`, as an exact fraction."""
        return 1 / _exact(self.keep)

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket, which ends with one candidate or at ``max_resources``.

        Parameters
        ----------
        problem : Problem
            Problem of the search.

        Returns
        -------
        brackets : list of tuple (int, list of int)
            Number of candidates, and the resources of the rungs.

        Raises
        ------
        ValueError
            If `budget` is not enough for two candidates, one of which is promoted.
        """
        budget = N_WHOLE * problem.max_resources if self.budget is None else self.budget
        n_candidates = self._population(problem, budget)
        if n_candidates < 2:
            raise ValueError(
                f"budget={budget} is too small to choose between candidates: with "
                f"candidates={self.candidates!r}, training two to "
                f"min_resources={problem.min_resources}, and the better one by another "
                f"step={self._step(problem)}, takes budget={self._smallest_budget(problem)}. Pass "
                "a larger budget, or a smaller min_resources, step or keep."
            )
        rungs = self._rungs(problem, int(min(n_candidates, problem.size)))
        return [(rungs[0].n_candidates, [rung.resource for rung in rungs])]

    def adapt(self, problem: Problem) -> tuple[Scheduler, int]:
        """Set the smallest resource to a tenth of the largest."""
        return self, max(problem.min_resources, problem.max_resources // BEGINNING)

    def _population(self, problem: Problem, budget: int) -> int:
        """Return the initial number of candidates, 0 if `budget` does not cover one."""
        n = budget // problem.min_resources
        if self.candidates == "algorithm1":
            n = math.floor(budget / self._cost_per_candidate(problem))  # [1]_ Alg. 1, line 1
        # The actual cost increases with the population, so search for the largest that fits.
        return bisect_right(range(1, n + 1), budget, key=lambda n: self._cost(problem, n))

    def _cost_per_candidate(self, problem: Problem) -> Fraction:
        """Return the cost of a candidate and its share in an infinite series of later rungs."""
        r, low, step = _exact(self.keep), problem.min_resources, self._step(problem)
        if problem.continues:
            return low + step * r / (1 - r)
        return low / (1 - r) + step * r / (1 - r) ** 2

    def _rungs(self, problem: Problem, n_candidates: int) -> list[Rung]:
        """Return the rungs of a bracket with this number of candidates at the start."""
        rungs = [Rung(problem.min_resources, n_candidates)]
        while (last := rungs[-1]).n_candidates > 1 and last.resource < problem.max_resources:
            resource = min(last.resource + self._step(problem), problem.max_resources)
            rungs.append(Rung(resource, n_promoted(last.n_candidates, self.factor)))
        return rungs

    def _cost(self, problem: Problem, n_candidates: int) -> int:
        """Return the cost in units of a bracket with this number of candidates at the start."""
        return Plan.bracket_resources(self._rungs(problem, n_candidates), problem.continues)

    def _step(self, problem: Problem) -> int:
        return max(1, problem.min_resources // 2) if self.step is None else self.step

    def _smallest_budget(self, problem: Problem) -> int:
        """Return the number of units for two candidates."""
        cost = self._cost(problem, 2)
        if self.candidates == "algorithm1":
            cost = max(cost, math.ceil(2 * self._cost_per_candidate(problem)))
        return cost


def _exact(keep: float) -> Fraction:
    """Return a float as the intended fraction: 3/10 for 0.3, 1/3 for ``1 / 3``."""
    return Fraction(keep).limit_denominator(MAX_DENOMINATOR)
