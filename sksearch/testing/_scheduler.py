"""The contract of a scheduler."""

import pickle
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import uniform

from sksearch.base import Resume, Scheduler, Start
from sksearch.base._decisions import Job
from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import BracketScheduler
from sksearch.space import Space
from sksearch.study import Study
from sksearch.testing._require import require


def check_scheduler(scheduler: Scheduler, *, max_resources: int = 27) -> None:
    """Check that a scheduler meets the requirements of a search.

    A decision must not change the history, and must be the same if requested again, even from a
    pickled study. A failed candidate must never be promoted, and a search must end if all
    candidates fail. In a finite space, a search must end when all candidates have been tried and
    the best one has been trained with the full resource. A retired state must not be needed again.
    A scheduler with brackets must follow its plan, with the same result for any number of workers.

    Parameters
    ----------
    scheduler : Scheduler
        Scheduler to check.
    max_resources : int, default=27
        Largest resource of the searches run by the check.

    Raises
    ------
    AssertionError
        If a requirement is violated.

    Examples
    --------
    >>> from sksearch.schedulers import Hyperband
    >>> from sksearch.testing import check_scheduler
    >>> check_scheduler(Hyperband(factor=4))
    """

    def study(space: Any = None) -> Study:
        problem = Problem(Space(space or {"x": uniform(0, 1)}), 1, max_resources, 0)
        return Study(problem, RandomSampler(), scheduler)

    _check_decisions(scheduler, study())
    _check_that_it_goes_on(scheduler, study)
    _check_failures(scheduler, study)
    _check_retired(scheduler, study())
    if isinstance(scheduler, BracketScheduler) and not scheduler.told.at_once:
        _check_plan(scheduler, study)
    few = study({"x": [0.0, 0.25, 0.5, 0.75]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jobs = driven(few)
    tops = [rungs[-1].resource for rungs in scheduler.plan(few.history.problem).brackets]
    require(
        max(job.resource for job in jobs) in tops,
        f"{scheduler!r} brought no candidate to the last rung of an exhausted space.",
    )


def _check_decisions(scheduler: Scheduler, study: Study) -> None:
    """They repeat, change nothing, and agree with the study."""
    for _ in range(30):
        before = pickle.dumps(study.history)
        one, other = (scheduler.next(study.history, np.random.default_rng(0)) for _ in range(2))
        require(one == other, f"{scheduler!r} decided {one}, then {other}, for the same history.")
        require(pickle.dumps(study.history) == before, f"{scheduler!r} changed the history.")
        if (job := study.ask()) is None:
            break
        is_new = job.spent == 0 or job.parent is not None
        require(
            isinstance(one, Start if is_new else Resume),
            f"{scheduler!r} decided {one}, but the study started {job}.",
        )
        study.tell(job, Result(score_of(job)))


def _check_that_it_goes_on(scheduler: Scheduler, new: Callable[[], Study]) -> None:
    """A pickled study continues like the study itself."""
    whole = driven(new())
    for n in (1, 5, 17):
        study, jobs = new(), []
        for job in iter(study.ask, None):
            jobs.append(job)
            study.tell(job, Result(score_of(job)))
            if len(jobs) == n:
                break
        jobs += driven(pickle.loads(pickle.dumps(study)))
        require(jobs == whole, f"{scheduler!r} decided differently after pickling at job {n}.")


def _check_failures(scheduler: Scheduler, new: Callable[[], Study]) -> None:
    """None is promoted, and a search of failures ends."""

    def half(job: Job) -> float:
        return np.nan if job.params["x"] > 0.5 else score_of(job)

    jobs = driven(new(), score=half)
    failed = {job.trial_id for job in jobs if job.params["x"] > 0.5}
    promoted = {job.trial_id for job in jobs if job.spent and job.parent is None}
    promoted |= {job.parent for job in jobs if job.parent is not None}
    require(not failed & promoted, f"{scheduler!r} promoted failures: {failed & promoted}.")
    jobs = driven(new(), score=lambda job: np.nan)
    require(not any(job.spent for job in jobs), f"{scheduler!r} promoted a failure.")


def _check_retired(scheduler: Scheduler, study: Study) -> None:
    """No state is needed after it was retired."""
    retired: list[int] = []
    for job in iter(study.ask, None):
        needed = {job.trial_id, job.parent} & set(retired)
        require(not needed, f"{scheduler!r} released the states of {needed}, but needs them.")
        study.tell(job, Result(score_of(job)))
        retired += scheduler.retired(study.history, job)
    require(len(set(retired)) == len(retired), f"{scheduler!r} released a state twice.")


def _check_plan(scheduler: BracketScheduler, new: Callable[[], Study]) -> None:
    """Workers that end in a random order follow the plan, as one worker does."""
    brackets = scheduler.plan(new().history.problem).brackets
    planned = {(b, rung.resource): rung.n_candidates for b, r in enumerate(brackets) for rung in r}
    first: list = []
    for n_workers in (1, 2, 7):
        jobs = driven(new(), n_workers, order=n_workers)
        done = Counter((job.bracket, job.resource) for job in jobs)
        require(done == planned, f"{scheduler!r} planned {planned}, but did {dict(done)}.")
        jobs.sort(key=lambda job: (job.trial_id, job.resource))
        first = first or jobs
        require(jobs == first, f"{scheduler!r} decides differently with {n_workers} workers.")


def score_of(job: Job) -> float:
    """Return a score that grows with the parameter and with the resource."""
    return job.params["x"] - 0.5 / job.resource


def driven(
    study: Study,
    n_workers: int = 1,
    score: Callable[[Job], float] = score_of,
    order: int | None = None,
) -> list[Job]:
    """Drive a study with several workers that end in a random order; return the jobs as begun."""
    rng = np.random.default_rng(order)
    running: list[Job] = []
    jobs: list[Job] = []
    while True:
        while len(running) < n_workers and (job := study.ask()) is not None:
            running.append(job)
            jobs.append(job)
        if not running:
            return jobs
        job = running.pop(rng.integers(len(running)) if n_workers > 1 else 0)
        study.tell(job, Result(score(job)))
