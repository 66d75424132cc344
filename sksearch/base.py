"""Decisions of a search, and the protocols of samplers, schedulers and resources.

A sampler chooses params, a scheduler which trial is brought up to which resource, and a resource
says what one unit of effort is. None of them knows a class of the others.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sksearch._declarations import Declares, Reads, Told
from sksearch.estimators import Labels, State, fit
from sksearch.history import History, Params, Prediction, Problem

#: Count of candidates in the plan of a scheduler that goes on until the search is ended.
ENDLESS = 10**9

__all__ = [
    "ENDLESS",
    "Job",
    "Plan",
    "Reads",
    "Resource",
    "Resume",
    "Rung",
    "Sampler",
    "Scheduler",
    "Start",
    "State",
    "Told",
]


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


class Sampler(Declares, ABC):
    """Decides which params the next candidate has.

    Examples
    --------
    >>> from sksearch.base import Sampler, Start
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.history import History, Problem
    >>> from sksearch.space import Space
    >>> import numpy as np
    >>> class EvenSampler(Sampler):
    ...     def ask(self, history, start, rng):
    ...         return {"n": 2 * int(rng.integers(50))}
    >>> history = History(Problem(Space({"n": range(100)})))
    >>> EvenSampler().ask(history, Start(resource=1), np.random.default_rng(0))
    {'n': 84}
    """

    @abstractmethod
    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Propose params, as a function of the arguments alone.

        Parameters
        ----------
        history : History
            Everything that is known; must not be changed, but for its cache.
        start : Start
            The resource and bracket that the candidate is for.
        rng : numpy.random.Generator
            The source of all randomness.

        Returns
        -------
        params : dict
            A point of ``history.problem.space``. For one that is known, unless candidates repeat,
            `Study` asks again with another generator, and in the end draws a new one at random.
        """

    def predict(self, history: History, start: Start, params: Params) -> Prediction | None:
        """Say what a model, if there is one, expects of a candidate that `ask` would be given."""
        return None


class Scheduler(Declares, ABC):
    """Decides whether to start a new candidate or to bring an old one further.

    Examples
    --------
    >>> from sksearch.base import Plan, Rung, Scheduler, Start
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.simulators import Branin, GammaCurves, play
    >>> class Three(Scheduler):
    ...     def next(self, history, rng):
    ...         done = len(history.trials) == 3
    ...         return None if done else Start(history.problem.max_resources)
    ...     def plan(self, problem):
    ...         return Plan(((Rung(problem.max_resources, 3),),))
    >>> history = play(RandomSampler(), Three(), GammaCurves(Branin()), random_state=0)
    >>> len(history.trials)
    3
    """

    @abstractmethod
    def next(self, history: History, rng: np.random.Generator) -> Start | Resume | None:
        """Decide what a free worker does next, as a function of the arguments alone.

        Parameters
        ----------
        history : History
            Everything that is known; must not be changed, but for its cache.
        rng : numpy.random.Generator
            The source of all randomness.

        Returns
        -------
        decision : Start, Resume or None
            None: wait for a running job. If none is running, the search is over.
        """

    @abstractmethod
    def plan(self, problem: Problem) -> Plan:
        """Compute all brackets and rungs before anything is spent."""

    def adapt(self, problem: Problem) -> tuple["Scheduler", int]:
        """Choose the smallest resource where the user chose none.

        Parameters
        ----------
        problem : Problem
            The problem; ``min_resources`` is the least that the resource needs.

        Returns
        -------
        scheduler : Scheduler
            This one, or another one that takes its place where there is no room for rungs.
        min_resources : int
            The lowest sensible rung, at least that of the problem.
        """
        return self, problem.min_resources

    def retired(self, history: History, job: Job) -> Iterable[int]:
        """Return the trials whose fitted states `job` was the last to need; by default none.

        Parameters
        ----------
        history : History
            Everything that is known; must not be changed, but for its cache.
        job : Job
            The job that was told last.

        Returns
        -------
        trial_ids : iterable of int
            Each is named once over a whole search.
        """
        return ()

    def audited(self, history: History) -> Mapping[int, int] | None:
        """Return stopped trials that it brings to the last rung, with that resource.

        Parameters
        ----------
        history : History
            Everything that is known.

        Returns
        -------
        resources : mapping of int to int, or None
            By trial id; None if it never does, as by default.
        """
        return None


class Resource(ABC):
    """What one unit of effort is on a scikit-learn estimator.

    By default the estimator is fitted from nothing on all rows of all folds. A subclass overrides
    what its unit acts on: folds, rows, params or training.

    Examples
    --------
    >>> from sksearch.base import Resource
    >>> class FirstRows(Resource):
    ...     unit = "tenths"  # of the rows of a training fold, from the first one on
    ...     def limits(self, estimator, n_samples, n_splits, n_classes):
    ...         return 1, 10
    ...     def rows(self, train, strata, amount, n_samples, rng):
    ...         return train[: len(train) * amount // 10]
    >>> FirstRows().limits(None, 100, 5, 2)
    (1, 10)
    """

    #: What one unit is called.
    unit: str = "units"
    #: Whether a promoted candidate pays only the difference to its last rung.
    continues: bool = False
    #: Whether all rungs train and test on the same rows, so that a candidate may win at any.
    comparable: bool = False
    #: What units are parts of: a unit is a whole fit, or one of the folds, of the rows, of the
    #: calls of ``partial_fit``, or of what else a training is made of, such as trees.
    acts_on: Literal["fits", "folds", "rows", "calls", "training"] = "training"
    #: Whether units are measured, so that the same count is not the same training again.
    measured: bool = False

    @abstractmethod
    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return the smallest sensible and the largest resource, where the user names none.

        Parameters
        ----------
        estimator : estimator object
            Unfitted.
        n_samples, n_splits, n_classes : int
            Counts of rows of X, of folds, and of classes (1 when y is no class label).

        Returns
        -------
        min_resources, max_resources : int
            Counts of units.
        """

    def check(self, estimator: Any, names: Collection[str]) -> None:  # noqa: B027
        """Raise ValueError if the estimator or the searched `names` do not fit this resource."""

    @property
    def drawn_in_sequence(self) -> Collection[int]:
        """Amounts whose rows are drawn one after another, so that a larger search has others."""
        return ()

    def check_max(self, max_resources: int, n_samples: int, n_splits: int) -> None:  # noqa: B027
        """Raise ValueError if the data have less than the user's `max_resources`."""

    def folds(self, n_splits: int, amount: int, spent: int) -> range:
        """Return the indices of the folds that a job from `spent` to `amount` evaluates."""
        return range(n_splits)

    def rows(
        self,
        train: np.ndarray,
        strata: np.ndarray | None,
        amount: int,
        n_samples: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Choose the rows to train on at this amount.

        Parameters
        ----------
        train : ndarray of shape (n_train,)
            Row indices of the training fold.
        strata : ndarray of shape (n_samples,) or None
            Class index of each row of X.
        amount : int
            Count of units.
        n_samples : int
            Count of rows of X.
        rng : numpy.random.Generator
            The same for every amount and candidate of a fold.

        Returns
        -------
        train : ndarray
            A subset.
        """
        return train

    def _split(
        self,
        fold: int,
        train: np.ndarray,
        test: np.ndarray,
        strata: np.ndarray | None,
        amount: int,
        n_samples: int,
        rng: np.random.Generator,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Choose the rows to train and to test on, as `rows`; by default all are tested."""
        return self.rows(train, strata, amount, n_samples, rng), test

    def params(self, params: Params, amount: int) -> Params:
        """Return the params of a candidate at `amount`, as `cv_results_` shows them."""
        return params

    def train(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        spent: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Bring a state from `spent` to `amount` units.

        Parameters
        ----------
        state : State
            A clone with the candidate's params if ``spent == 0``, else what `train` returned
            for `spent`. May be changed in place.
        X, y : array-like
            The training rows.
        amount, spent : int
            Count of units from nothing, and count of those that were already paid for.
        classes : ndarray, list of ndarray or None
            Labels of the whole y, for ``partial_fit`` of classifiers.
        fit_params : dict
            Further arguments of ``fit``, sliced to the training rows.

        Returns
        -------
        state : State
            Fitted.
        """
        fit(state.estimator, X, y, fit_params)
        return state

    def refit(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        n_steps: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Train the best candidate on all rows by the path that was scored.

        Parameters
        ----------
        state : State
            A clone with the candidate's params.
        X, y : array-like
            All rows.
        amount : int
            Count of units that the candidate was brought up to.
        n_steps : int
            Median over folds of the training steps that this took.
        classes : ndarray, list of ndarray or None
            Labels, for ``partial_fit`` of classifiers.
        fit_params : dict
            Further arguments of ``fit``.

        Returns
        -------
        state : State
            Fitted.
        """
        return self.train(state, X, y, amount, 0, classes, fit_params)
