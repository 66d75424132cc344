"""The loop: ask, submit, wait, tell."""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from sksearch._clock import now
from sksearch.base import Job
from sksearch.executors._base import Executor, Finished
from sksearch.executors._signals import Interrupts
from sksearch.history import Result
from sksearch.study import Study

GRACE_SECONDS = 1.0  # for what runs at Ctrl-C
SHORT_SECONDS = 0.5  # where tasks take less, a worker shall not wait for a proposal


class Workload(ABC):
    """What turns a job into tasks, and their outputs into a result."""

    @abstractmethod
    def tasks(self, job: Job) -> list:
        """The tasks of a job, one a fold."""

    @abstractmethod
    def collect(self, job: Job, outputs: list) -> Result:
        """The result of a job; an output is what its task returned, or a `LostTask`."""

    @abstractmethod
    def on_result(self, job: Job) -> None:
        """Called when the history knows the result."""

    def seconds_left(self) -> float | None:
        """Return the seconds until the search must stop, None for no limit; 0 is now."""
        return None

    def seconds_to_stop(self) -> float | None:
        """Return the seconds until tasks that run are stopped, None to wait for them; 0 is now."""
        return None

    def unfinished_jobs(self) -> Sequence[Job]:
        """Return the jobs that an earlier process had asked for and not told, oldest first."""
        return []

    def recorded_output(self, task: Any) -> Any:
        """Return the output of a task that an earlier process has run, None if it has not."""
        return None

    def on_output(self, task: Any, output: Any) -> None:  # noqa: B027
        """Called for what a task returned whose job waits: for other tasks, or for older jobs."""

    def on_interrupt(self) -> None:  # noqa: B027
        """Called when the loop ends by Ctrl-C or the like, before what had ended is told."""


def drive(
    study: Study, executor: Executor, workload: Workload, batch_size: int | None = None
) -> None:
    """Run a study to its end.

    Results are told in the order in which the jobs were asked for, whatever the order in which
    they end. With a `batch_size` the oldest is told only when so many jobs are under way, or when
    there is nothing to ask for, however soon it ended: so what a proposal knows does not depend
    on timing.
    If the study's scheduler is asynchronous, results are told as they come in, and a job is asked
    for when a worker has nothing to do; where tasks are short, one before that.

    Parameters
    ----------
    study : Study
        Asked and told.
    executor : Executor
        Runs the tasks.
    workload : Workload
        Knows what the tasks are.
    batch_size : int or None, default=None
        Count of jobs that are under way at a time; None: as many as keep all workers busy, for
        studies whose proposals do not depend on results. Asynchronous schedulers do not use it.

    Raises
    ------
    KeyboardInterrupt, SystemExit
        On Ctrl-C and SIGTERM, after telling all jobs that had ended; those that run have a second.
    """
    jobs = _PendingJobs(study, executor, workload)
    try:
        for job in workload.unfinished_jobs():
            # One of them may be what the earlier process died of.
            if jobs.must_stop() or not jobs.submit(job, executor.submit_suspect):
                break
        if study.scheduler.told.at_once:
            _tell_as_they_come(jobs, executor)
        else:
            _tell_in_order(jobs, executor, batch_size)
    except (KeyboardInterrupt, SystemExit):
        workload.on_interrupt()
        jobs.finish_interrupted()
        raise
    jobs.finish()


def _tell_in_order(jobs: "_PendingJobs", executor: Executor, batch_size: int | None) -> None:
    """Ask while there is room, and tell the oldest job first, until the search is over."""
    while True:
        if batch_size is None:
            jobs.tell_oldest()
        if jobs.must_stop():
            return
        running = jobs.running_tasks()
        has_room = len(running) < executor.window if batch_size is None else len(jobs) < batch_size
        if has_room and jobs.ask():
            continue
        if not jobs:
            return
        if not jobs.oldest_is_done():
            jobs.wait(running)
        if batch_size is not None:
            jobs.tell_oldest(limit=1)


def _tell_as_they_come(jobs: "_PendingJobs", executor: Executor) -> None:
    """Ask when a worker has nothing to do, and tell what is done, until the search is over."""
    while True:
        jobs.tell_done()
        if jobs.must_stop():
            return
        running = jobs.running_tasks()
        # Where tasks are long, a proposal that knows one more result is worth more than the
        # milliseconds that a worker waits for it.
        n_ahead = executor.has_latency and jobs.tasks_are_short()
        if len(running) < executor.n_workers + n_ahead and jobs.ask():
            continue
        if not jobs:
            return
        jobs.wait(running)


@dataclass(eq=False)
class _PendingJob:
    """A job and the futures of its tasks."""

    job: Job
    futures: list[Future]

    def is_done(self) -> bool:
        """Whether all tasks have an outcome."""
        return all(future.done() for future in self.futures)


class _PendingJobs:
    """The jobs that were asked for and not told, oldest first."""

    def __init__(self, study: Study, executor: Executor, workload: Workload):
        self._study, self._executor, self._workload = study, executor, workload
        self._jobs: deque[_PendingJob] = deque()
        self._running: dict[Future, Any] = {}  # tasks that were not done when we last looked
        self._seconds_left: float | None = None
        self._told_seconds = 0.0
        self._n_told_tasks = 0

    def __len__(self) -> int:
        return len(self._jobs)

    # ---- ask and wait

    def must_stop(self) -> bool:
        """Whether the time is up; the first result is waited for, unless tasks are stopped."""
        Interrupts.heed()
        self._seconds_left = self._workload.seconds_left()
        has_results = self._study.history.has_results
        return (self._time_is_up() and has_results) or self._seconds_to_stop() <= 0

    def ask(self) -> bool:
        """Submit the next job of the study; False if it has none, or if the time is up."""
        if self._time_is_up() and self._jobs:
            return False
        job = self._study.ask()
        if job is None:
            return False
        return self.submit(job, self._executor.submit)

    def submit(self, job: Job, submit: Callable[[Any], Future]) -> bool:
        """Submit the tasks of a job; those whose output is known are done at once.

        False, and none is submitted, if the time is up and an earlier process has not run them.
        """
        tasks = self._workload.tasks(job)
        outputs = [self._workload.recorded_output(task) for task in tasks]
        if None in outputs and self.must_stop():
            return False
        futures: list[Future] = []
        for task, output in zip(tasks, outputs, strict=True):
            if output is None:
                futures.append(submit(task))
                self._running[futures[-1]] = task
            else:
                futures.append(Finished(output))
        self._jobs.append(_PendingJob(job, futures))
        return True

    def running_tasks(self) -> list[Future]:
        """List the tasks that are not done."""
        # Not of all jobs: behind a straggler there may be thousands that are done.
        for future in [future for future in self._running if future.done()]:
            task = self._running.pop(future)
            if not future.cancelled() and future.exception() is None:
                self._workload.on_output(task, future.result())
        return list(self._running)

    def wait(self, running: list[Future]) -> None:
        """Wait until one of the tasks is done, or the time is up."""
        if running:
            left = None if self._time_is_up() else self._seconds_left
            self._wait(running, math.inf if left is None else left)

    def _wait(self, running: list[Future], seconds: float = math.inf) -> None:
        """Wait until a task is done, or for so many seconds, or until tasks are stopped."""
        seconds = min(seconds, max(0.0, self._seconds_to_stop()))
        self._executor.wait(running, None if seconds == math.inf else seconds)

    def _time_is_up(self) -> bool:
        return self._seconds_left is not None and self._seconds_left <= 0

    def _seconds_to_stop(self) -> float:
        seconds = self._workload.seconds_to_stop()
        return math.inf if seconds is None else seconds

    # ---- tell

    def oldest_is_done(self) -> bool:
        """Whether all tasks of the oldest job are done."""
        return self._jobs[0].is_done()

    def tell_oldest(self, limit: float = math.inf) -> None:
        """Tell the oldest jobs as far as they are done, at most `limit` of them."""
        while limit and self._jobs and self._jobs[0].is_done():
            self._tell(self._jobs.popleft())
            limit -= 1

    def tell_done(self) -> None:
        """Tell all jobs that are done, the oldest of them first."""
        for pending in list(self._jobs):
            if pending.is_done():
                self._jobs.remove(pending)
                self._tell(pending)

    def tasks_are_short(self) -> bool:
        """Whether the tasks of the jobs that were told took little time, on average."""
        return self._n_told_tasks * SHORT_SECONDS > self._told_seconds

    def _tell(self, pending: _PendingJob) -> None:
        for future in pending.futures:
            self._running.pop(future, None)
        result = self._workload.collect(pending.job, [f.result() for f in pending.futures])
        self._study.tell(pending.job, result)
        self._workload.on_result(pending.job)
        self._told_seconds += result.cost
        self._n_told_tasks += len(pending.futures)

    # ---- the end

    def finish(self) -> None:
        """Drop what has not begun, and wait for what runs, or stop it when its time is up."""
        all_tasks = self.running_tasks()
        self._cancel()
        while self._jobs and self._seconds_to_stop() > 0:
            running = [f for f in self._jobs[0].futures if not f.done()]
            self._wait(running)
            self.tell_oldest()
        # Who comes after one that is stopped is not told: a search that goes on finds its output.
        self.tell_oldest()
        if self._seconds_to_stop() < math.inf:
            left = [future for future in all_tasks if not future.done()]
            while left and self._seconds_to_stop() > 0:
                self._wait(left)
                left = [future for future in left if not future.done()]
            self.running_tasks()  # has what is done kept
            if left:
                self._executor.stop()

    def finish_interrupted(self) -> None:
        """Drop what has not begun, give what runs a moment, and tell what is done."""
        self._cancel()
        end = now() + GRACE_SECONDS
        while (running := self.running_tasks()) and (left := end - now()) > 0:
            self._executor.wait(running, left)
        for pending in list(self._jobs):
            # The signal that ended the search matters more than an error.
            if any(f.done() and f.exception() for f in pending.futures):
                self._jobs.remove(pending)
        self.tell_done()

    def _cancel(self) -> None:
        """Drop the jobs that have not begun, or not with all of their tasks."""
        for pending in reversed(self._jobs):
            for future in reversed(pending.futures):
                future.cancel()
        self._jobs = deque(p for p in self._jobs if not any(f.cancelled() for f in p.futures))
