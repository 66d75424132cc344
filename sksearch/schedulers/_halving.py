"""Base of schedulers that promote one candidate in `factor`."""

from sksearch.base import Scheduler
from sksearch.history import Problem
from sksearch.schedulers._brackets import BracketScheduler, ladder
from sksearch.schedulers._full_fidelity import FullFidelity


class Halving(BracketScheduler):
    """A scheduler that promotes one candidate in `factor`, with rungs `factor` times apart."""

    factor: float
    n_candidates: int | None = None

    def adapt(self, problem: Problem) -> tuple[Scheduler, int]:
        """Train all candidates at full resource if not even two rungs fit."""
        rungs = ladder(problem.min_resources, problem.max_resources, self.factor)
        n = self.n_candidates or FullFidelity.n_candidates
        return self if len(rungs) > 1 else FullFidelity(n), problem.min_resources
