"""Studies that are played job by job."""

from scipy.stats import uniform

from sksearch.history import Problem, Result
from sksearch.resources._epochs import EpochsResource
from sksearch.samplers import RandomSampler
from sksearch.search import SearchPlan
from sksearch.space import Space
from sksearch.study import Study

SPACE = {"x": uniform(0, 1)}


def studied(scheduler, max_resources=27, resource=None):
    """A study that was not asked yet, and its plan."""
    problem = Problem(Space(SPACE), 1, max_resources, seed=0)
    plan = scheduler.plan(problem)
    plan = SearchPlan.of(plan, resource or EpochsResource(), n_splits=3, refit=True)
    return Study(problem, RandomSampler(), scheduler), plan


def played(study, n_jobs=10**9):
    """Tell up to so many jobs, one by one."""
    for _ in range(n_jobs):
        if (job := study.ask()) is None:
            return
        study.tell(job, Result(job.params["x"] + job.resource / 100, cost=job.resource))
        yield job
