"""Full fidelity: every candidate gets the full resource."""

from dataclasses import dataclass

from sksearch.history import Problem
from sksearch.schedulers._brackets import BracketScheduler


@dataclass(frozen=True)
class FullFidelity(BracketScheduler):
    """Bring every candidate straight up to ``max_resources``.

    Parameters
    ----------
    n_candidates : int, default=10
        Count of candidates.

    Examples
    --------
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> FullFidelity(4).plan(Problem(Space({"C": range(9)}))).brackets
    ((Rung(resource=1, n_candidates=4),),)
    """

    n_candidates: int = 10

    def brackets(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket with one rung."""
        return [(self.n_candidates, [problem.max_resources])]
