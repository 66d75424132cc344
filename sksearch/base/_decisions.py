"""Decisions of a scheduler (start or resume a candidate), jobs, and the plan."""

from collections.abc import Sequence
from dataclasses import dataclass

from sksearch.history import Params, Prediction

#: Number of candidates in the plan of a scheduler that continues until the search is ended.
ENDLESS = 10**9


@dataclass(frozen=True)
class Start:
    """Start a new candidate and train it up to `resource`.

    Parameters
    ----------
    resource : int
        Number of resource units.
    bracket : int
        Bracket of the trial.
    params : dict or None
        Candidate; None leaves the choice to the sampler.
    parent : int or None
        Parent trial. The new trial continues to train its fitted state.

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
    """Continue training an idle trial, up to a larger `resource`.

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
    """A trial to bring up to a resource: the return value of `Study.ask`.

    Parameters
    ----------
    trial_id : int
        Identifier of the trial.
    params : dict
        Parameters of the candidate.
    resource : int
        Total number of units to bring the trial up to.
    spent : int
        Number of units already paid for, possibly by the parent; 0 for a new trial.
    bracket : int
        Bracket of the trial.
    parent : int or None
        Parent trial, with the fitted state from which a new trial continues.
    prediction : Prediction or None
        Score that the sampler predicts for a new trial.

    Examples
    --------
    >>> from sksearch.base._decisions import Job
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
    """A row of a plan: the number of candidates of a bracket, and their resource.

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
    """Plan of a scheduler with brackets, known before any evaluation.

    Parameters
    ----------
    brackets : tuple of tuple of Rung
        Rungs of each bracket, lowest resource first.
    audits : tuple of tuple of int
        Number of candidates stopped at each rung of each bracket, and later trained up to the last
        rung for the audit. The last rung includes them. Empty without audits.
    is_most : bool, default=False
        Whether the plan is an upper bound, because candidates may be dropped.

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
        """Number of candidates started."""
        return sum(rungs[0].n_candidates for rungs in self.brackets)

    @property
    def n_jobs(self) -> int:
        """Number of (candidate, rung) pairs evaluated."""
        return sum(rung.n_candidates for rungs in self.brackets for rung in rungs)

    def total_resources(self, *, continues: bool) -> int:
        """Return the number of resource units of all jobs.

        Parameters
        ----------
        continues : bool
            Whether a promoted candidate continues training, so that only the difference between
            two rungs is counted, or is trained from scratch at each rung.

        Returns
        -------
        total : int
            Number of units.
        """
        total = sum(self.bracket_resources(rungs, continues) for rungs in self.brackets)
        if continues:  # audited trials have paid less than candidates from the rung below
            for rungs, row in zip(self.brackets, self.audits, strict=False):
                paid = [rung.resource for rung in rungs]
                total += sum(n * (paid[-2] - r) for n, r in zip(row[:-1], paid, strict=False))
        return total

    @staticmethod
    def bracket_resources(rungs: Sequence[Rung], continues: bool) -> int:
        """Return the number of resource units of one bracket, see `total_resources`."""
        paid = [0, *(rung.resource for rung in rungs)] if continues else [0] * len(rungs)
        return sum(r.n_candidates * (r.resource - p) for r, p in zip(rungs, paid, strict=False))
