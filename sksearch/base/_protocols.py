"""Protocols of samplers, which choose parameters, and schedulers, which choose resources."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np

from sksearch.base._decisions import Job, Plan, Resume, Start
from sksearch.base._declarations import Declares
from sksearch.history import History, Params, Prediction, Problem


class Sampler(Declares, ABC):
    """Chooses the parameters of the next candidate.

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
        """Propose parameters, as a function of the arguments alone.

        Parameters
        ----------
        history : History
            History of the search; read-only except for its cache.
        start : Start
            Resource and bracket of the candidate.
        rng : numpy.random.Generator
            Source of all randomness.

        Returns
        -------
        params : dict
            A candidate of ``history.problem.space``. If it is already known, and candidates may
            not be repeated, `Study` asks again with another generator, and finally draws a new
            candidate at random.
        """

    def predict(self, history: History, start: Start, params: Params) -> Prediction | None:
        """Return the predicted score of a candidate, or None without a model."""
        return None


class Scheduler(Declares, ABC):
    """Decides whether to start a new candidate or to continue an earlier one.

    Examples
    --------
    >>> from sksearch.base import Plan, Rung, Scheduler, Start
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
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
        """Decide the next step of a free worker, as a function of the arguments alone.

        Parameters
        ----------
        history : History
            History of the search; read-only except for its cache.
        rng : numpy.random.Generator
            Source of all randomness.

        Returns
        -------
        decision : Start, Resume or None
            None: wait for a running job. If no job is running, the search ends.
        """

    def fill(self, history: History, n_idle: int) -> Resume | None:
        """Return a job for workers that would otherwise be idle; called before `next`.

        It is called only in searches that use results as they arrive, because the decision depends
        on the number of workers.

        Parameters
        ----------
        history : History
            History of the search; read-only except for its cache.
        n_idle : int
            Number of idle workers.

        Returns
        -------
        decision : Resume or None
            None, the default: `next` decides.
        """
        return None

    def lane(self, history: History, n_each: int) -> Start | Resume | None:
        """Decide like `next`, for a bracket with fewer than `n_each` running jobs.

        It is called instead of `next` if brackets share no results, see `Reads.own_bracket`, and
        the batch size limits the number of running jobs. The number of brackets that run at the
        same time must not depend on the number of workers, otherwise the result does.

        Parameters
        ----------
        history : History
            History of the search; read-only except for its cache.
        n_each : int
            Largest number of running jobs of a bracket.

        Returns
        -------
        decision : Start, Resume or None
            None: wait for a running job.
        """
        raise NotImplementedError(f"{type(self).__name__} declares own_bracket, and needs lane.")

    @abstractmethod
    def plan(self, problem: Problem) -> Plan:
        """Compute all brackets and rungs before any evaluation."""

    def adapt(self, problem: Problem) -> tuple["Scheduler", int]:
        """Choose the smallest resource if the user did not set it.

        Parameters
        ----------
        problem : Problem
            Problem to solve; ``min_resources`` is the minimum of the resource.

        Returns
        -------
        scheduler : Scheduler
            This scheduler, or a replacement if the rungs do not fit.
        min_resources : int
            Lowest rung, at least ``problem.min_resources``.
        """
        return self, problem.min_resources

    def retired(self, history: History, job: Job) -> Iterable[int]:
        """Return the trials with fitted states not needed after `job`; by default none.

        Parameters
        ----------
        history : History
            History of the search; read-only except for its cache.
        job : Job
            Job with the latest result.

        Returns
        -------
        trial_ids : iterable of int
            Each trial is returned once in the whole search.
        """
        return ()

    def audited(self, history: History) -> Mapping[int, int] | None:
        """Return the stopped trials to be trained up to the last rung for an audit.

        Parameters
        ----------
        history : History
            Everything known so far.

        Returns
        -------
        resources : mapping of int to int, or None
            Resource of the last rung by trial id; None (the default) if the scheduler does not
            support audits.
        """
        return None
