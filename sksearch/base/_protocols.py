"""The protocols of samplers, which choose params, and of schedulers, which choose resources."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

import numpy as np

from sksearch.base._decisions import Job, Plan, Resume, Start
from sksearch.base._declarations import Declares
from sksearch.history import History, Params, Prediction, Problem


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
