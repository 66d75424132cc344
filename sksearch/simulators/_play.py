"""A search on a simulated problem, with a study alone: no estimator, no folds, no waiting."""

import math
from contextlib import nullcontext
from numbers import Integral
from typing import Any

import numpy as np

from sksearch._utils._clock import open_clock, spend
from sksearch._utils._seeds import draw_seed
from sksearch.base import Sampler, Scheduler
from sksearch.base._decisions import Job
from sksearch.executors import VirtualClock
from sksearch.executors._factory import make_executor
from sksearch.executors._loop import Workload, drive
from sksearch.history import History, Problem, Result
from sksearch.simulators._problem import CurveProblem
from sksearch.space import Space
from sksearch.study import Study


def play(
    sampler: Sampler,
    scheduler: Scheduler,
    problem: CurveProblem,
    *,
    min_resources: int = 1,
    max_resources: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    n_workers: int = 1,
    batch_size: int = 1,
) -> History:
    """Run a search on a simulated problem, in milliseconds.

    Parameters
    ----------
    sampler : Sampler
        Source of candidates.
    scheduler : Scheduler
        Scheduler of the epochs of candidates.
    problem : CurveProblem
        Problem with the loss curves. The resource is the number of epochs.
    min_resources : int, default=1
        Smallest number of epochs.
    max_resources : int or None, default=None
        Largest number of epochs; None: all epochs of the problem.
    random_state : int, RandomState instance or None, default=None
        Seed of the search. An integer is also the seed of the curves.
    n_workers : int, default=1
        Number of simulated workers. Inside ``with VirtualClock(...)``, the workers of the clock
        are used.
    batch_size : int, default=1
        Number of jobs that run at the same time. Used only if the sampler learns from results, or
        in a race over folds.

    Returns
    -------
    history : History
        Trials of the search. The score of a job is minus the loss after its last epoch, and its
        cost is the simulated seconds of its epochs.

    Raises
    ------
    ValueError
        If `max_resources` is greater than the problem's, or an argument is invalid.

    See Also
    --------
    SimulatedEstimator : Estimator with the same curves, for any search class.
    sksearch.executors.VirtualClock : Measures the duration of the search.

    Notes
    -----
    A search class with a `SimulatedEstimator` and the same integer as ``random_state`` has the
    same history.

    Examples
    --------
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import Hyperband
    >>> from sksearch.simulators import FAMILIES, GammaCurves
    >>> from sksearch.simulators._functions import Rastrigin
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    >>> history = play(RandomSampler(), Hyperband(), problem, random_state=0)
    >>> len(history.trials), sum(81 in trial.results for trial in history.trials)
    (128, 10)
    """
    if max_resources is None:
        max_resources = problem.max_resources
    if not isinstance(max_resources, Integral):
        raise ValueError(f"max_resources={max_resources!r} must be an integer.")
    if max_resources > problem.max_resources:
        raise ValueError(
            f"max_resources={max_resources} is greater than {problem.max_resources}, the maximum "
            "of the problem: lower it, or use a problem with longer curves."
        )
    if not isinstance(batch_size, Integral) or batch_size < 1:
        raise ValueError(f"batch_size={batch_size!r} must be an integer of at least 1.")
    if n_workers != 1 and open_clock() is not None:
        raise ValueError(
            f"n_workers={n_workers!r} cannot be set while a VirtualClock is open, since its "
            "workers are used: leave n_workers out."
        )
    seed = draw_seed(random_state)  # as the search classes do
    study = Study(
        Problem(Space(problem.space), min_resources, max_resources, seed), sampler, scheduler
    )
    work = _Curves(problem, random_state if isinstance(random_state, Integral) else seed)
    learns = sampler.reads.results or scheduler.reads.results
    clock = nullcontext() if n_workers == 1 else VirtualClock(n_workers)
    with clock, make_executor(_run, work, 1, None) as executor:
        drive(study, executor, work, batch_size if learns else None)
    return study.history


def _run(curves: "_Curves", job: Job, environment: Any) -> Result:
    return curves.result(job)


class _Curves(Workload):
    """Workload of `drive`: a job is one task, whose result is read from the trial's curve."""

    def __init__(self, problem: CurveProblem, seed: int):
        self.problem, self.seed = problem, seed
        self.curves: dict[int, tuple] = {}

    def result(self, job: Job) -> Result:
        """Return the score at the job's resource, after the job's time has passed."""
        if job.trial_id not in self.curves:
            self.curves[job.trial_id] = self._curve(job)
        losses, seconds = self.curves[job.trial_id]
        cost = float(seconds[job.resource - 1] - (seconds[job.spent - 1] if job.spent else 0.0))
        spend(cost)
        loss = float(losses[job.resource - 1])
        # A diverged fit has failed, as in a search class.
        return Result(-loss if math.isfinite(loss) else math.nan, cost)

    def _curve(self, job: Job) -> tuple[np.ndarray, np.ndarray]:
        trials = {"trials": [job.trial_id]} if self.problem.needs_trials else {}
        losses = self.problem.losses([job.params], self.seed, **trials)
        return losses[0], self.problem.seconds([job.params])[0]

    def tasks(self, job: Job) -> list[Job]:
        """Return the job as its only task."""
        return [job]

    def collect(self, job: Job, outputs: list) -> Result:
        """Return the only output."""
        return outputs[0]

    def on_result(self, job: Job) -> None:
        """Do nothing."""

    def seconds_left(self) -> None:
        """Return None, for no limit."""
        return
