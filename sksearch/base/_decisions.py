"""Decisions of a scheduler: to start a candidate or to resume one; jobs, and the plan."""

from collections.abc import Sequence
from dataclasses import dataclass

from sksearch.history import Params, Prediction

#: Number of candidates in the plan of a scheduler that goes on until the search is ended.
ENDLESS = 10**9


@dataclass(frozen=True)
class Start:
    """Begin a new candidate and bring it up to `resource`.

    Parameters
    ----------
    resource : int
        Count of resource units.
    bracket : int
        The bracket that the trial belongs to.
    params : dict or None
        The candidate; None leaves the choice to the sampler.
    parent : int or None
        Trial whose fitted state the new one continues from.

    Examples
    --------
    >>> from sksearch.base import Start
    >>> Start(resource=3, params={"C": 1.0})  # this candidate, up to three units
    Start(resource=3, bracket=0, params={'C': 1.0}, parent=None)
    """

    resource: int
    bracket: int = 0
    params: Params | None = None
    parent: int | None = None


@dataclass(frozen=True)
class Resume:
    """Bring an idle trial up to a larger `resource`.

    Examples
    --------
    >>> from sksearch.base import Resume
    >>> Resume(trial_id=4, resource=9)  # the trial 4 goes on to nine units
    Resume(trial_id=4, resource=9)
    """

    trial_id: int
    resource: int


@dataclass(frozen=True)
class Job:
    """One trial to be brought up to one resource: what `Study.ask` returns.

    Parameters
    ----------
    trial_id : int
        The trial.
    params : dict
        The params of the candidate.
    resource : int
        Count of units, from nothing, that the trial is brought up to.
    spent : int
        Count of units that were already paid for, if need be by the parent; 0 for a new trial.
    bracket : int
        The trial's bracket.
    parent : int or None
        Trial whose fitted state a new trial continues from.
    prediction : Prediction or None
        The score that the sampler expects of a new trial.

    Examples
    --------
    >>> from sksearch.base import Job
    >>> job = Job(trial_id=4, params={"C": 1.0}, resource=9, spent=3)
    >>> job.resource - job.spent  # units to be paid for, where training goes on
    6
    """

    trial_id: int
    params: Params
    resource: int
    spent: int = 0
    bracket: int = 0
    parent: int | None = None
    prediction: Prediction | None = None


@dataclass(frozen=True)
class Rung:
    """A row of a plan: how many candidates of a bracket are brought up to which resource.

    Examples
    --------
    >>> from sksearch.base import Rung
    >>> Rung(resource=3, n_candidates=9)
    Rung(resource=3, n_candidates=9)
    """

    resource: int
    n_candidates: int


@dataclass(frozen=True)
class Plan:
    """What a scheduler made of brackets will do, known before anything is spent.

    Parameters
    ----------
    brackets : tuple of tuple of Rung
        For each bracket its rungs, lowest resource first.
    audits : tuple of tuple of int
        For each bracket and rung, how many of those that are stopped there are brought to the last
        rung nevertheless, which counts them; empty if none are.
    is_most : bool, default=False
        Whether it is the most that can be done, since candidates are dropped on the way.

    Examples
    --------
    >>> from sksearch.base import Plan, Rung
    >>> plan = Plan(((Rung(1, 9), Rung(3, 3), Rung(9, 1)),))  # one bracket
    >>> plan.n_candidates, plan.n_jobs
    (9, 13)
    >>> plan.total_resources(continues=True), plan.total_resources(continues=False)
    (21, 27)
    """

    brackets: tuple[tuple[Rung, ...], ...]
    audits: tuple[tuple[int, ...], ...] = ()
    is_most: bool = False

    @property
    def n_candidates(self) -> int:
        """Count of candidates that are started."""
        return sum(rungs[0].n_candidates for rungs in self.brackets)

    @property
    def n_jobs(self) -> int:
        """Count of (candidate, rung) pairs that are evaluated."""
        return sum(rung.n_candidates for rungs in self.brackets for rung in rungs)

    def total_resources(self, *, continues: bool) -> int:
        """Sum up resource units over all jobs.

        Parameters
        ----------
        continues : bool
            Whether a promoted candidate goes on from where it was, so that only the difference
            between two rungs is paid, or starts from nothing at each rung.

        Returns
        -------
        total : int
            Count of units.
        """
        total = sum(self.bracket_resources(rungs, continues) for rungs in self.brackets)
        if continues:  # audited trials have paid less than those from the rung below
            for rungs, row in zip(self.brackets, self.audits, strict=False):
                paid = [rung.resource for rung in rungs]
                total += sum(n * (paid[-2] - r) for n, r in zip(row[:-1], paid, strict=False))
        return total

    @staticmethod
    def bracket_resources(rungs: Sequence[Rung], continues: bool) -> int:
        """Sum up resource units over the jobs of one bracket, see `total_resources`."""
        paid = [0, *(rung.resource for rung in rungs)] if continues else [0] * len(rungs)
        return sum(r.n_candidates * (r.resource - p) for r, p in zip(rungs, paid, strict=False))
