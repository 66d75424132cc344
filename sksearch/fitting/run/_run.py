"""One run of a search: tasks of jobs, results of outputs, and stopping."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from pickle import PicklingError
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sksearch._utils._terminal import warn
from sksearch._utils._typing import Seed
from sksearch.base._decisions import Job
from sksearch.base._state import State
from sksearch.executors._base import Executor
from sksearch.executors._factory import make_executor
from sksearch.executors._in_process import SerialExecutor
from sksearch.executors._limits import LostTask
from sksearch.executors._loop import Workload, drive
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._ancestry import stages_to
from sksearch.fitting.run._callbacks import CallbackContext, RungContexts
from sksearch.fitting.run._curve_tasks import CurveTasks
from sksearch.fitting.run._evaluation import output_of_lost
from sksearch.fitting.run._findings import Findings
from sksearch.fitting.run._incumbent import knows_baseline
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._states import Kept, StateStore, dump_state, first_line
from sksearch.fitting.run._tasks import Output, Task
from sksearch.history import Result
from sksearch.progress._progress import Watch
from sksearch.study import Study


@dataclass(frozen=True)
class Ending:
    """End of a search; `why` is a reason of `Recorder.stop`, "" while the search runs."""

    why: str = ""
    up: float = 0.0  # the timeout that was reached, in seconds
    won: tuple[int, int] | None = None  # trial and resource of the winner


class Recorder:
    """Records a run; this base class records nothing, for searches without ``checkpoint_dir``.

    Attributes
    ----------
    folder : Path or None
        Folder for permanent states of workers.
    spool : object or None
        Store for copies of outputs by workers, with ``write(name, output)``.
    goes_on : bool
        True if an earlier process has begun the search.
    unit : str or None
        Unit of budget of the earlier process.
    left_out : sequence of str
        Models of a list that were too slow for the time limit.
    unfinished_jobs : list of Job
        Jobs that an earlier process had asked for when it died, oldest first.
    ending : Ending
        End of the search, if it has ended.
    """

    folder: Path | None = None
    spool: Any = None
    goes_on: bool = False
    unit: str | None = None
    left_out: Sequence[str] = ()
    unfinished_jobs: Sequence[Job] = ()
    ending: Ending = Ending()

    def rng(self, random_state: Seed) -> np.random.RandomState:
        """Return the generator for the search's setup."""
        return check_random_state(random_state)

    def open(self, kind: type, params: dict[str, Any], setup: Setup) -> None:
        """Check that the record belongs to this search, or begin a new record."""

    def replay(self, run: "Run") -> None:
        """Replay the record into a run."""

    def recorded_output(self, task: Task) -> Output | None:
        """Return the output of a task that was run by an earlier process, otherwise None."""
        return None

    def adopt(self, task: Task, output: Output) -> None:
        """Store a state from another machine permanently."""

    def keep(self, task: Task, output: Output) -> None:
        """Store an output of an unfinished job if its worker could not."""

    def record_job(self, job: Job, exhausted: bool) -> None:
        """Record a job that begins."""

    def record_outputs(self, job: Job, tasks: list[Task], outputs: list[Output]) -> None:
        """Record the outputs of a finished job."""

    def stop(self, why: str, timeout: float | None = None) -> None:
        """Record the end of the search, and `timeout` if it was reached.

        It is "finished", was "stopped" by the user's limits or by a "callback", or "interrupted".
        """

    def record_winner(self, trial_id: int, resource: int) -> None:
        """Record the winner and its resource."""


class Run(Workload):
    """The `Workload` of one ``fit``: jobs become tasks, outputs become results.

    Parameters
    ----------
    study : Study
        Study that is asked for jobs and told results.
    setup : Setup
        Setup of the search.
    callbacks : CallbackContext
        Callbacks of the search.
    recorder : Recorder
        Records the run.
    watch : Watch
        Shows the progress.

    Attributes
    ----------
    findings : Findings
        All results.
    states : StateStore
        Fitted states to continue from.
    done, heard_stop, is_up : bool
        Flags for an end before the plan, by a callback or by the time limit.
    """

    def __init__(
        self,
        study: Study,
        setup: Setup,
        callbacks: CallbackContext,
        recorder: Recorder,
        watch: Watch,
    ) -> None:
        self.study, self.setup, self.context = study, setup, setup.context
        self.recorder, self._watch = recorder, watch
        self.states = StateStore()
        self.findings = Findings(setup, study.history, watch)
        self._curves = CurveTasks(setup, self.findings.outputs, self.findings.incumbent)
        self.done = self.heard_stop = self.is_up = False
        self._tasks: dict[int, list[Task]] = {}  # tasks of running trials
        self._retired: set[int] = set()  # trials that the scheduler will never continue
        # Whether to write to the journal: not during a replay or after an interrupt
        self._is_news = True
        endless = study.scheduler.told.at_once or study.scheduler.told.by_fold
        self._rungs = RungContexts(callbacks, setup.plan, setup.context.search, endless)
        self._warned, self._listens = False, callbacks.listens

    def cut(self) -> list[int]:
        """Return the trials that a search cut that ended before its plan.

        The scheduler had not yet decided about them. Asynchronous schedulers decide at once.
        """
        history, waits = self.study.history, not self.study.scheduler.told.at_once
        return [
            trial.id
            for trial in history.trials
            if max(trial.results, default=0) < history.problem.max_resources
            and (trial.running is not None or (waits and trial.id not in self._retired))
        ]

    def go_on(self) -> None:
        """Resume the run at the end of an earlier process."""
        self.recorder.replay(self)
        if self.recorder.ending.why == "callback":
            self.done |= self._listens
            self._ask_callback()

    def drive(self) -> None:
        """Run to the end, and record the reason of the end."""
        workers, folder = self.setup.workers, self.recorder.folder
        args = workers.n_jobs, workers.pre_dispatch, workers.limits, folder, workers.devices
        executor = make_executor(self.setup.evaluate, self.context, *args)
        n_tasks = len(self.context.folds(self.study.history.problem.min_resources, 0))
        n = partial(workers.n_under_way, n_tasks=n_tasks) if self.setup.learns else None
        why = "interrupted"
        try:
            with self._watch, Interrupts(), self._entered(executor):
                self.findings.check_hope()
                drive(self.study, executor, self, n)
                self.findings.check_end(self.is_up and not self.done)
            why = "stopped" if self.done or self.is_up else "finished"
            why = "callback" if self.heard_stop else why
        finally:
            self._rungs.close()
            self.recorder.stop(why, self.setup.time.timeout if self.is_up else None)

    # ---- called by the loop

    def unfinished_jobs(self) -> Sequence[Job]:
        """Return the jobs that an earlier process had asked for when it died."""
        return self.recorder.unfinished_jobs

    def recorded_output(self, task: Task) -> Output | None:
        """Return the output of a task that an earlier process has run."""
        return self.recorder.recorded_output(task)

    def tasks(self, job: Job) -> list[Task]:
        """Make one task for each fold that the job evaluates.

        It continues if the budget spent includes steps of training.
        """
        history, known = self.study.history, self.findings.outputs.reached
        if self._is_news:
            self.recorder.record_job(job, history.exhausted)
        before = stages_to(history.trials, job.trial_id, job.spent)
        reached = known.get((before[-1].trial_id, job.spent), []) if before else []
        folds = self.context.folds(job.resource, job.spent)
        curve = self._curves.task(job.trial_id, job.params, reached[: folds[0]], len(folds))
        tasks = self._tasks[job.trial_id] = []
        for fold in folds:
            steps = [output for output in reached[fold : fold + 1] if output.n_steps > 0]
            measured = (steps[0].measures or {}) if steps else {}
            leaf = self._rungs.leaf(job)
            task = Task(job.trial_id, fold, job.params, job.resource, job.spent, leaf)
            task.state, task.before = self._state_for(job, fold), before
            task.continues, task.keep = bool(steps), job.resource < history.problem.max_resources
            task.curve, task.predicts = curve, self.findings.may_be_averaged(job)
            task.seconds_before = measured.get("fit_time", 0.0)
            tasks.append(task)
        return tasks

    def collect(self, job: Job, outputs: list[Output]) -> Result:
        """Keep outputs and states, and make the result."""
        tasks = self._tasks.pop(job.trial_id)
        outputs = [
            output_of_lost(self.context, task, out) if isinstance(out, LostTask) else out
            for task, out in zip(tasks, outputs, strict=True)
        ]
        for task, output in zip(tasks, outputs, strict=True):
            self.recorder.adopt(task, output)
        result = self.findings.enter(job, tasks[0].fold, outputs)
        # Outputs without a result must not be recorded, since a replay could never add it.
        if self._is_news:
            self.recorder.record_outputs(job, tasks, outputs)
        for task, output in zip(tasks, outputs, strict=True):
            self.states.replace(task.trial_id, task.fold, output.state)
            if self._is_news:  # otherwise the process that has lost it has warned
                self._warn_lost_state(output.lost_state)
            output.state, output.lost_state = None, ""
            self.heard_stop |= output.stop
        self.done |= self.heard_stop
        return result

    def on_output(self, task: Task, output: Output) -> None:
        """Keep the output until its job is told; a lost task is run again."""
        if not isinstance(output, LostTask):
            self.recorder.keep(task, output)

    def on_interrupt(self) -> None:
        """Keep results that arrive now, but do not record them: their order cannot be replayed.

        A resumed search reads them from the folder of the workers.
        """
        self._is_news, self.states.keeps_files = False, True

    def on_result(self, job: Job) -> None:
        """Free states, report progress, and stop if a stopping rule applies."""
        self._watch.update()
        retired = list(self.study.scheduler.retired(self.study.history, job))
        self._retired.update(retired)
        for trial_id in retired:  # their states are no longer needed
            self.states.drop_trial(trial_id, len(self.context.splits))
        ends = self.findings.see(job, retired, self._is_news)
        self.done |= ends
        if self._is_news and not ends:
            self._ask_callback()
        if self._rungs.tell(job):
            stop = self._rungs.end(job)
            if self._is_news:
                self.heard_stop |= stop
                self.done |= stop
                self.findings.check_rung(job)

    def seconds_left(self) -> float | None:
        """Seconds until the deadline; 0 once reached, or after another reason to stop."""
        if self.done or self.is_up:
            return 0.0
        left = self.setup.time.left() if knows_baseline(self.study.history) else None
        self.is_up = left is not None and left <= 0
        return left

    def seconds_to_stop(self) -> float | None:
        """Seconds until running tasks are stopped, to leave time for the last training."""
        return self.setup.time.left_to_stop()

    # ---- called by the recorder

    def replay(self, job: Job, outputs: list[Output]) -> None:
        """Enter the outputs that a job had in an earlier process."""
        self._is_news, self.states.keeps_files = False, True
        self.tasks(job)
        for output in outputs:
            output.stop = False
        self.study.tell(job, self.collect(job, outputs))
        self.on_result(job)
        self._is_news, self.states.keeps_files = True, False

    # ---- inside

    @contextmanager
    def _entered(self, executor: Executor) -> Iterator[None]:
        """A context with the executor; TypeError for objects that cannot be sent to workers.

        A function called in this thread keeps its BLAS threads.
        """
        if self.context.is_function and isinstance(executor, SerialExecutor):
            yield
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(executor)
            except (TypeError, AttributeError, PicklingError) as error:  # errors raised by pickle
                what = "func" if self.context.is_function else "the search"
                raise TypeError(
                    f"{what} cannot be sent to worker processes ({first_line(error)}): create "
                    "unpicklable objects inside the function that uses them, or leave n_jobs and "
                    "workers out."
                ) from error
            yield

    def _ask_callback(self) -> None:
        """Call the user's callback, which may end the search."""
        if self.setup.stops.callback is not None:
            answer = self.setup.stops.callback(self.study.history)
            # Other truthy values do not stop the search
            if isinstance(answer, bool | np.bool_) and answer:
                self.done = self.heard_stop = True

    def _state_for(self, job: Job, fold: int) -> Kept | None:
        """The state to continue from; a copy if it belongs to a parent, which also continues."""
        if job.parent is None:
            return self.states.get(job.trial_id, fold)
        state = self.states.get(job.parent, fold)
        if not isinstance(state, State):  # a file or bytes, never changed
            return state
        with suppress(Exception):  # without pickle, it is trained again
            return dump_state(state)
        return None

    def _warn_lost_state(self, error: str) -> None:
        """Warn once of states that could not be kept."""
        if error and not self._warned:
            self._warned = True
            warn(
                "A fitted estimator cannot be stored between rungs, so it is trained again from "
                f"scratch: {error}. If it cannot be pickled at all, n_jobs=1 without "
                "checkpoint_dir keeps it in memory.",
            )
