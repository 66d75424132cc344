"""The loop: ask, submit, wait, tell."""

import heapq
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from sksearch._utils._clock import now
from sksearch.base import Job
from sksearch.executors._base import Executor, Finished
from sksearch.executors._signals import Interrupts
from sksearch.history import History, Result
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

    Results are told in the order in which their jobs would end if each unit of resource took as
    long, whatever the order in which they end. With a `batch_size` the next is told only when so
    many jobs are under way, or when there is nothing to ask for, however soon it ended: so what a
    proposal knows does not depend on timing.
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
        So is anything else that is not an Exception.
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
            _tell_in_turn(jobs, executor, batch_size)
    except BaseException as error:
        if not isinstance(error, Exception):
            workload.on_interrupt()
            jobs.finish_interrupted()
        raise
    jobs.finish()


def _tell_in_turn(jobs: "_PendingJobs", executor: Executor, batch_size: int | None) -> None:
    """Ask while there is room, and tell each job when it is its turn, until the search is over."""
    while True:
        if batch_size is None:
            jobs.tell_next()
        if jobs.must_stop():
            return
        running = jobs.running_tasks()
        has_room = len(running) < executor.window if batch_size is None else len(jobs) < batch_size
        if has_room and jobs.ask():
            continue
        if not jobs:
            return
        if not jobs.next_is_done():
            jobs.wait(running)
        if batch_size is not None:
            jobs.tell_next(limit=1)


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


class _Turns:
    """When jobs would end if each unit of resource took as long; a function of the history's log.

    A job begins when it is asked for, at the turn of the job that was told before.
    """

    def __init__(self, history: History) -> None:
        self._history, self._n_read, self._time = history, 0, 0
        self._ends: dict[tuple[int, int], int] = {}

    def of(self, job: Job) -> int:
        """When a job that was asked for, and not told, would end."""
        log = self._history.log
        for event, trial_id, resource in log[self._n_read :]:
            key = trial_id, resource
            if event == "ask":
                self._ends[key] = self._time + self._units(*key)
            else:
                self._time = self._ends.pop(key)
        self._n_read = len(log)
        return self._ends[job.trial_id, job.resource]

    def _units(self, trial_id: int, resource: int) -> int:
        """Count of units that a job pays for."""
        continues = self._history.problem.continues
        return resource - (self._history.trials[trial_id].spent(resource) if continues else 0)


@dataclass(order=True)
class _PendingJob:
    """A job and the futures of its tasks, ordered by its turn to be told."""

    turn: int
    number: int
    job: Job = field(compare=False)
    futures: list[Future] = field(compare=False)

    def is_done(self) -> bool:
        """Whether all tasks have an outcome."""
        return all(future.done() for future in self.futures)


class _PendingJobs:
    """The jobs that were asked for and not told: a heap, whose first is told next."""

    def __init__(self, study: Study, executor: Executor, workload: Workload):
        self._study, self._executor, self._workload = study, executor, workload
        self._jobs: list[_PendingJob] = []
        self._turns, self._numbers = _Turns(study.history), count()
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
        pending = _PendingJob(self._turns.of(job), next(self._numbers), job, futures)
        heapq.heappush(self._jobs, pending)
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

    def next_is_done(self) -> bool:
        """Whether all tasks are done of the job whose turn it is."""
        return self._jobs[0].is_done()

    def tell_next(self, limit: float = math.inf) -> None:
        """Tell the jobs whose turn it is as far as they are done, at most `limit` of them."""
        while limit and self._jobs and self._jobs[0].is_done():
            self._tell(heapq.heappop(self._jobs))
            limit -= 1

    def tell_done(self) -> None:
        """Tell all jobs that are done, the oldest of them first."""
        done = {job.number: job for job in self._by_age() if job.is_done()}
        self._keep(lambda job: job.number not in done)
        for job in done.values():
            self._tell(job)

    def _by_age(self) -> list[_PendingJob]:
        """The jobs, oldest first."""
        return sorted(self._jobs, key=lambda job: job.number)

    def _keep(self, is_kept: Callable[[_PendingJob], bool]) -> None:
        """Forget other jobs."""
        self._jobs = list(filter(is_kept, self._jobs))
        heapq.heapify(self._jobs)

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
            self.tell_next()
        # The one after a stopped one is not told: a search that goes on finds its output.
        self.tell_next()
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
        # The signal that ended the search matters more than an error.
        self._keep(lambda job: not any(f.done() and f.exception() for f in job.futures))
        self.tell_done()

    def _cancel(self) -> None:
        """Drop the jobs that have not begun, or not with all of their tasks."""
        for pending in reversed(self._by_age()):
            for future in reversed(pending.futures):
                future.cancel()
        self._keep(lambda job: not any(future.cancelled() for future in job.futures))
