"""One run of a search on a plain function: jobs into calls, outputs into results, the end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pickle import PicklingError
from typing import Any

import numpy as np

from sksearch._utils._numerics import one_blas_thread
from sksearch.base import Job
from sksearch.executors import Executor
from sksearch.executors._factory import make_executor
from sksearch.executors._in_process import SerialExecutor
from sksearch.executors._limits import LostTask
from sksearch.executors._loop import Workload, drive
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._ancestry import stages_to
from sksearch.fitting.run._evaluation import output_of_lost
from sksearch.fitting.run._function import call
from sksearch.fitting.run._results import job_result
from sksearch.fitting.run._run import Recorder
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._states import StateStore, first_line
from sksearch.fitting.run._tasks import Output, Task
from sksearch.history import History, Result
from sksearch.study import Study

TIME_IS_UP = "Time is up."
CALLBACK = "The callback stopped the search."


class OneThreadStudy(Study):
    """Asks models with one BLAS thread, as where there are workers: so the bits are the same."""

    def ask(self) -> Job | None:
        """Return the next job."""
        with one_blas_thread():
            return super().ask()


class FunctionRun(Workload):
    """Each job is one call of the function; knows why the search ended."""

    def __init__(
        self,
        setup: Setup,
        recorder: Recorder,
        target: float | None,
        callback: Callable[[History], Any] | None,
    ) -> None:
        self._recorder, self._target, self._callback = recorder, target, callback
        self.context: Any = setup.context
        self._setup = setup
        study = OneThreadStudy if setup.learns else Study
        self.study = study(setup.problem, setup.sampler, setup.scheduler)
        self.states = StateStore()  # a function leaves none
        self._tasks: dict[int, Task] = {}  # of the trials that run
        self._is_news = True  # for the record: not while replaying, nor after an interrupt
        self.message: str | None = None
        self.traceback: str | None = None  # of the last error

    def drive(self) -> None:
        """Run to the end, from where an earlier process was killed."""
        recorder, workers = self._recorder, self._setup.workers
        recorder.replay(self)
        if recorder.ending.why == "callback":
            self._ask_callback()
        self.context.spool = recorder.spool
        args = workers.n_jobs, workers.pre_dispatch, workers.limits, recorder.folder
        executor = make_executor(call, self.context, *args)
        n = workers.n_under_way(1) if self._setup.learns else None
        try:
            with Interrupts(), _entered(executor):
                drive(self.study, executor, self, n)
        except BaseException:
            recorder.stop("interrupted")
            raise
        why = {None: "finished", CALLBACK: "callback"}.get(self.message, "stopped")
        recorder.stop(why, self._setup.time.timeout if self.message == TIME_IS_UP else None)

    # ---- what the loop calls

    def unfinished_jobs(self) -> Sequence[Job]:
        """Return the jobs that an earlier process had asked for when it died."""
        return self._recorder.unfinished_jobs

    def recorded_output(self, task: Task) -> Output | None:
        """Return the output of a call that an earlier process has made."""
        return self._recorder.recorded_output(task)

    def tasks(self, job: Job) -> list[Task]:
        """Make the only task."""
        history = self.study.history
        if self._is_news:
            self._recorder.record_job(job, history.exhausted)
        before = stages_to(history.trials, job.trial_id, job.spent) if job.spent else ()
        task = self._tasks[job.trial_id] = Task(
            job.trial_id, 0, job.params, job.resource, job.spent, None, before,
            continues=False, keep=False, callbacks=None,
        )  # fmt: skip
        return [task]

    def collect(self, job: Job, outputs: list[Output]) -> Result:
        """Record the output, and make the result."""
        task, (output,) = self._tasks.pop(job.trial_id), outputs
        if isinstance(output, LostTask):
            output = output_of_lost(self.context, task, output)
        self.traceback = output.fit_error or self.traceback
        result = job_result([output], [output], None, self.context.aims)
        if self._is_news:
            self._recorder.record_outputs(job, [task], [output])
        return result

    def on_output(self, task: Task, output: Output) -> None:
        """Have the output kept until its job is told; a call that was lost is made again."""
        if not isinstance(output, LostTask):
            self._recorder.keep(task, output)

    def on_interrupt(self) -> None:
        """Keep results that come now, but do not record them: a replay has no such order."""
        self._is_news = False

    def on_result(self, job: Job) -> None:
        """Note whether the search ends here, and why."""
        history = self.study.history
        if self._target is not None and job.resource == history.problem.max_resources:
            result = history.trials[job.trial_id].results[job.resource]
            if -result.feasible_score <= self._target:
                self.message = "The target was reached."
                return
        if self._is_news:
            self._ask_callback()

    def seconds_left(self) -> float | None:
        """Until the deadline; 0 when the search has ended."""
        # One that was finished in an earlier process was so in time.
        was_finished = self._recorder.ending.why == "finished"
        left = None if was_finished else self._setup.time.left()
        if self.message is None and left is not None:
            if left > 0:
                return left
            self.message = TIME_IS_UP
        return None if self.message is None else 0.0

    def _ask_callback(self) -> None:
        """Ask the user's callback whether the search ends here."""
        if self._callback is not None:
            answer = self._callback(self.study.history)
            if isinstance(answer, bool | np.bool_) and answer:  # and nothing else that is true
                self.message = CALLBACK

    # ---- what a recorder calls

    def replay(self, job: Job, outputs: list[Output]) -> None:
        """Enter the output that a job had in an earlier process."""
        self._is_news = False
        self.tasks(job)
        self.study.tell(job, self.collect(job, outputs))
        self.on_result(job)
        self._is_news = True


@contextmanager
def _entered(executor: Executor) -> Iterator[None]:
    """A context with an executor; without that of this thread, which would take BLAS threads away.

    TypeError for a function that cannot be sent to workers.
    """
    with ExitStack() as stack:
        if not isinstance(executor, SerialExecutor):
            try:
                stack.enter_context(executor)
            except (TypeError, AttributeError, PicklingError) as error:  # as pickle has it
                raise TypeError(
                    f"func cannot be sent to worker processes ({first_line(error)}): make what "
                    "cannot be pickled inside of it, or leave n_jobs and candidate_timeout out."
                ) from error
        yield
