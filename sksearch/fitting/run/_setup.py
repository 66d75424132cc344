"""Setup of a run, complete before the first training."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sksearch._utils._numerics import one_blas_thread
from sksearch._utils._time_limit import TimeLimit
from sksearch.base import Sampler, Scheduler
from sksearch.base._decisions import Job
from sksearch.executors._limits import Workers
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._tasks import Context, Output
from sksearch.history import History, Problem
from sksearch.samplers._warm_start import EarlierTask
from sksearch.study import Study


@dataclass(frozen=True)
class Stops:
    """Early ends of a search, None or False if unused."""

    target_score: float | None = None
    patience: int | None = None
    converged: bool = False
    callback: Callable[[History], Any] | None = None  # ends it by returning True

    @property
    def are_any(self) -> bool:
        """True if there is such an end."""
        return self != Stops()

    @property
    def by_progress(self) -> bool:
        """True if the search ends when candidates no longer improve."""
        return self.patience is not None or self.converged


@dataclass
class Setup:
    """Complete setup of a run."""

    context: Context
    problem: Problem
    sampler: Sampler
    scheduler: Scheduler
    plan: SearchPlan
    folds: Folds
    evaluate: Callable[..., Output]  # called with the context, a task and its environment
    earlier: tuple[EarlierTask, ...] = ()
    time: TimeLimit = field(default_factory=TimeLimit)
    stops: Stops = Stops()
    workers: Workers = field(default_factory=Workers)
    params: dict = field(default_factory=dict)  # what the user passed to ``fit``
    refit_metric: str = "score"  # the metric that counts
    ensemble: int = 0  # largest number of models averaged; 0: the best one is used alone
    rule: Callable | None = None  # the user's function that chooses the winner
    # Columns of ``cv_results_`` that identify the rows of a candidate
    columns: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()  # models of a list, too slow for the time
    is_namesake: bool = False  # whether it ends as scikit-learn's does, and never earlier

    def __post_init__(self) -> None:
        self.context.changing = self.problem.changing

    @property
    def aborts(self) -> bool:
        """True if the search aborts when all candidates fail alike; not for plain functions."""
        return not (self.is_namesake or self.context.is_function)

    @property
    def learns(self) -> bool:
        """True if the next proposals depend on results."""
        return learns(self.sampler, self.scheduler)

    def study(self) -> Study:
        """Begin a study of the problem."""
        kind = OneThreadStudy if self.context.is_function and self.learns else Study
        return kind(self.problem, self.sampler, self.scheduler)


def learns(sampler: Sampler, scheduler: Scheduler) -> bool:
    """Return whether the next proposals of a composition depend on results."""
    return sampler.reads.results or scheduler.reads.results or scheduler.told.by_fold


class OneThreadStudy(Study):
    """Proposes with one BLAS thread, as with workers, so that results are bit-identical."""

    def ask(self, n_idle: int = 0, n_each: int | None = None) -> Job | None:
        """Return the next job."""
        with one_blas_thread():
            return super().ask(n_idle, n_each)
