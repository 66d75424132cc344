"""Ask-and-tell interface: a sampler and a scheduler on a common history."""

from dataclasses import replace
from numbers import Integral
from typing import Any, cast

import numpy as np

from sksearch._utils._numerics import own_numerics
from sksearch._utils._terminal import warn
from sksearch.base import Resume, Sampler, Scheduler, Start
from sksearch.base._decisions import Job
from sksearch.base._declarations import have_lanes
from sksearch.history import History, Params, Prediction, Problem, Result
from sksearch.space import Space

N_TRIES = 10  # proposals already known, before a new candidate is drawn at random


class Study:
    """Ask-and-tell interface: `ask` returns the next job, `tell` records its result.

    Random numbers depend only on the seed and the number of started trials, not on the order of
    the results. A pickled study therefore continues bit-identically, and the number of workers has
    no effect unless the sampler or the scheduler learns from results.

    Parameters
    ----------
    problem : Problem
        Problem to solve.
    sampler : Sampler
        Sampler of candidates.
    scheduler : Scheduler
        Scheduler, which decides whether to start a new candidate or to continue an earlier one.

    Attributes
    ----------
    history : History
        Trials and results so far.

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem, Result
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"x": uniform(0, 1)}), seed=0)
    >>> study = Study(problem, RandomSampler(), FullFidelity(n_candidates=3))
    >>> while (job := study.ask()) is not None:
    ...     study.tell(job, Result(score=-((job.params["x"] - 0.5) ** 2)))
    >>> len(study.history.trials)
    3
    """

    def __init__(self, problem: Problem, sampler: Sampler, scheduler: Scheduler):
        if not isinstance(problem.space, Space):
            raise TypeError(f"problem.space={problem.space!r} must be a Space: Space(the dict).")
        for i, params in enumerate(problem.initial_params):
            if i >= len(problem.own):
                problem.space.check(params, where=f"initial_params[{i}]")
        if scheduler.told.by_fold:
            problem = replace(problem, races=True)
        if sampler.told.repeats:
            problem = replace(problem, repeats=True)
        self.sampler = sampler
        self.scheduler = scheduler
        self.history = History(problem)

    @property
    def has_lanes(self) -> bool:
        """Whether brackets share no results, so that each has its own limit of running jobs."""
        return have_lanes(self.sampler, self.scheduler)

    @own_numerics()
    def ask(self, n_idle: int = 0, n_each: int | None = None) -> Job | None:
        """Return the next job.

        Parameters
        ----------
        n_idle : int, default=0
            Number of idle workers, passed to `Scheduler.fill`, unless it is 0.
        n_each : int or None, default=None
            Largest number of running jobs of a bracket, passed to `Scheduler.lane`; for studies
            that have lanes.

        Returns
        -------
        job : Job or None
            None: a running job must end first. If no job is running, the search has ended.

        Raises
        ------
        TypeError
            If the scheduler returns anything but a `Start`, a `Resume` or None.
        ValueError
            If the resource is not an integer from 1 to ``max_resources``, or the trial is not
            idle.
        """
        history = self.history
        rng = self._rng(len(history.trials))
        decision = self._next(rng, n_idle, n_each)
        if isinstance(decision, Start):
            params = self._params(decision, rng)
            if params is not None:
                expected = self.sampler.predict(history, decision, params)
                own = decision.bracket, decision.resource, decision.parent
                trial = history.start(params, *own, expected)
                at = decision.resource, trial.inherited, trial.bracket
                return Job(trial.id, params, *at, decision.parent, expected)
            self._note_exhausted()
            decision = self._next(rng, n_each=n_each)
        if not isinstance(decision, Resume):
            return None
        trial = history.trials[decision.trial_id]
        spent = trial.resource
        history.resume(trial.id, decision.resource)
        return Job(trial.id, trial.params, decision.resource, spent, trial.bracket)

    @own_numerics()
    def replay(
        self,
        trial_id: int,
        params: Params | None,
        resource: int,
        bracket: int = 0,
        parent: int | None = None,
        prediction: Prediction | None = None,
    ) -> Job:
        """Add a job that `ask` returned in an earlier process.

        Parameters
        ----------
        trial_id : int
            Trial of the job: an existing one or the next new one.
        params : dict or None
            Parameters of a new trial. None: the sampler proposes them again, with the same result.
        resource : int
            Number of units up to which the trial is trained.
        bracket : int, default=0
            Bracket of the trial.
        parent : int or None, default=None
            Parent trial, whose fitted state the new trial continues to train.
        prediction : Prediction or None, default=None
            Score that the sampler predicted for a new trial.

        Returns
        -------
        job : Job
            Job, as returned by `ask`.
        """
        history = self.history
        if trial_id == len(history.trials):
            if params is None:
                rng, start = self._rng(trial_id), Start(resource, bracket, None, parent)
                if parent is not None:  # the scheduler has changed the parent's parameters
                    start = cast(Start, self.scheduler.next(history, rng))
                params = cast(Params, self._params(start, rng))  # it was found before
            new = history.start(params, bracket, resource, parent, prediction)
            return Job(trial_id, params, resource, new.inherited, bracket, parent, prediction)
        trial = history.trials[trial_id]
        spent = trial.resource
        history.resume(trial_id, resource)
        return Job(trial_id, trial.params, resource, spent, trial.bracket)

    @own_numerics()
    def tell(self, job: Job, result: Result) -> None:
        """Record the result of a job that `ask` returned.

        Parameters
        ----------
        job : Job
            Job, as returned by `ask`.
        result : Result
            Score, cost and status.

        Raises
        ------
        ValueError
            If the job is not running.
        TypeError
            If the result is not a `Result`.
        """
        if not isinstance(result, Result):
            raise TypeError(
                f"result={result!r} must be a Result: Result(score), where greater is better."
            )
        self.history.tell(job.trial_id, job.resource, result)

    def _next(
        self, rng: np.random.Generator, n_idle: int = 0, n_each: int | None = None
    ) -> Start | Resume | None:
        """Return the scheduler's decision, if it is valid."""
        history = self.history
        decision: Any = self.scheduler.fill(history, n_idle) if n_idle else None
        if n_each is not None:
            decision = self.scheduler.lane(history, n_each)
        elif decision is None:
            decision = self.scheduler.next(history, rng)
        if decision is None:
            return None
        error: type[Exception] = ValueError
        top = history.problem.max_resources
        if not isinstance(decision, Start | Resume):
            error, wrong = TypeError, "return a Start, a Resume, or None to wait or to end"
        elif not (isinstance(decision.resource, Integral) and 1 <= decision.resource <= top):
            wrong = f"the resource must be a whole number from 1 to {top}"
        elif isinstance(decision, Resume) and decision.trial_id not in range(len(history.trials)):
            wrong = f"trials are numbered from 0, and the history has {len(history.trials)}"
        else:
            return decision
        # Only now: formatting the message takes as long as the rest of `ask`.
        raise error(f"{type(self.scheduler).__name__}.next returned {decision!r}: {wrong}.")

    def _rng(self, *words: int) -> np.random.Generator:
        return np.random.default_rng((self.history.problem.seed, *words))

    def _params(self, start: Start, rng: np.random.Generator) -> Params | None:
        """Choose the parameters of a new trial; None if no new candidate is left."""
        history = self.history
        if start.params is not None:
            return start.params
        trial_id = len(history.trials)
        # Candidates that a smaller search has paid for come first.
        for known in (history.problem.started, history.problem.initial_params):
            if trial_id < len(known) and (params := known[trial_id]) is not None:
                return params
        if trial_id < history.problem.size:
            for attempt in range(N_TRIES):
                rng = rng if attempt == 0 else self._rng(trial_id, attempt)
                params = self.sampler.ask(history, start, rng)
                if history.takes(params):
                    return params
            allows = history.problem.allows
            return history.problem.space.sample_unseen(history.keys, rng, allows)
        return None

    def _note_exhausted(self) -> None:
        self.history.exhausted = True
        warn(
            f"The search space has no new candidate after {len(self.history.trials)}: the search "
            "continues without new ones. Ask for fewer candidates, or widen the space.",
        )
