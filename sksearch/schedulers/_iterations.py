"""Successive halving with scikit-learn's table and rule, for the searches with its names."""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sksearch.base import Reads, Rung, Scheduler
from sksearch.history import History, Problem
from sksearch.schedulers._brackets import BracketScheduler


@dataclass(frozen=True)
class HalvingIterations(BracketScheduler):
    """One bracket from the smallest resource, which keeps ``ceil(n / factor)`` each time.

    The arithmetic is scikit-learn's, including logarithms in floating point: 243 candidates at
    factor 3 have 5 iterations instead of the exact 6. Several iterations may have the same
    resource; candidates are then evaluated once, in one rung.

    Parameters
    ----------
    n_candidates : int or None, default=None
        Initial number of candidates. None: the quotient of the largest and the smallest resource.
    factor : float, default=3
        The best of `factor` candidates continues with `factor` times the resource.
    exhausts : bool, default=False
        Whether to raise the smallest resource as far as the number of iterations allows.
    is_aggressive : bool, default=False
        Whether to repeat the smallest resource until few enough candidates are left.
    most : float, default=inf
        Number of candidates available.
    """

    n_candidates: int | None = None
    factor: float = 3
    exhausts: bool = False
    is_aggressive: bool = False
    most: float = math.inf
    reads = Reads()
    select = "top"

    def adapt(self, problem: Problem) -> tuple[Scheduler, int]:
        """Start as high as the last iteration allows, if all resources are to be used."""
        low = problem.min_resources
        if self.exhausts:
            last = self.n_required(problem) - 1
            low = max(low, int(problem.max_resources // self.factor**last))
        return self, low

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket, with each of its resources once."""
        table = self.iterations(problem)
        return [(table[0].n_candidates, sorted({rung.resource for rung in table}))]

    def iterations(self, problem: Problem) -> list[Rung]:
        """Return resource and number of candidates of each iteration."""
        low, n = problem.min_resources, self._n_at_first(problem)
        required, possible = self.n_required(problem), self.n_possible(problem)
        table = []
        for i in range(required if self.is_aggressive else min(possible, required)):
            power = max(0, i - required + possible) if self.is_aggressive else i
            table.append(Rung(min(int(self.factor**power * low), problem.max_resources), n))
            n = math.ceil(n / self.factor)
        return table

    def n_required(self, problem: Problem) -> int:
        """Return the number of iterations until fewer than `factor` candidates are left."""
        return 1 + math.floor(math.log(self._n_at_first(problem), self.factor))

    def n_possible(self, problem: Problem) -> int:
        """Return the number of iterations that the resources allow."""
        times = problem.max_resources // problem.min_resources
        return 1 + math.floor(math.log(times, self.factor))

    def members(self, history: History) -> list[list[int]]:
        """Return the known trials of each iteration in the order of scikit-learn's rows."""
        table = self.iterations(history.problem)
        found = [sorted(history.rung(0, table[0].resource))]
        for here, above in pairwise(table):
            ids = found[-1]
            results = [history.trials[i].results.get(here.resource) for i in ids]
            if None in results or (len(ids) < here.n_candidates and not history.exhausted):
                break
            scores = [result.score for result in results if result is not None]
            found.append(_last_of_ascending(ids, scores, above.n_candidates))
        return found

    def _n_at_first(self, problem):
        n = self.n_candidates or problem.max_resources // problem.min_resources
        return max(1, int(min(n, self.most, problem.size)))

    def _row(self, problem, n_candidates, resources):
        first = {rung.resource: rung for rung in reversed(self.iterations(problem))}
        return tuple(first[resource] for resource in resources)

    def _chosen(self, history, ids, lower, upper):
        resources = [rung.resource for rung in self.iterations(history.problem)]
        chosen = self.members(history)[resources.index(upper.resource)]
        return chosen[::-1]  # a time limit may end the search before the last ones


def _last_of_ascending(ids: list[int], scores: list[float], n: int) -> list[int]:
    """Keep the n best, the best last, and failed candidates before all others.

    Ties keep the order of NumPy's sort, as in scikit-learn.
    """
    order = np.roll(np.argsort(scores), np.count_nonzero(np.isnan(scores)))
    return [ids[i] for i in order[-n:]]
