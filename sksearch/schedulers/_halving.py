"""What halving schedulers do where there is nothing to halve."""

from sksearch.schedulers._brackets import ladder
from sksearch.schedulers._full_fidelity import FullFidelity

N_WHOLE = 10  # candidates at full resource, as many as RandomizedSearchCV has


class Halving:
    """A scheduler that promotes one candidate in `factor`, by rungs that are `factor` apart."""

    factor: float
    n_candidates: int | None = None

    def adapt(self, problem):
        """Bring all candidates to full resource where not even two rungs fit in."""
        rungs = ladder(problem.min_resources, problem.max_resources, self.factor)
        scheduler = self if len(rungs) > 1 else FullFidelity(self.n_candidates or N_WHOLE)
        return scheduler, problem.min_resources
