"""Full fidelity: every candidate gets the full resource."""

from dataclasses import dataclass

from sksearch.base._decisions import ENDLESS
from sksearch.history import Problem
from sksearch.schedulers._brackets import BracketScheduler


@dataclass(frozen=True)
class FullFidelity(BracketScheduler):
    """Train every candidate directly up to ``max_resources``.

    Parameters
    ----------
    n_candidates : int or None, default=10
        Number of candidates. None: no limit except the size of the space.

    Examples
    --------
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> FullFidelity(4).plan(Problem(Space({"C": range(9)}))).brackets
    ((Rung(resource=1, n_candidates=4),),)
    """

    n_candidates: int | None = 10

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket with one rung."""
        n = ENDLESS if self.n_candidates is None else self.n_candidates
        return [(n, [problem.max_resources])]
