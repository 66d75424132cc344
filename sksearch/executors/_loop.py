"""The loop of a search: ask, submit, wait, tell."""

import heapq
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from sksearch._utils._clock import now
from sksearch.base._decisions import Job
from sksearch.executors._base import Executor, Finished
from sksearch.executors._signals import Interrupts
from sksearch.history import History, Result
from sksearch.study import Study

GRACE_SECONDS = 1.0  # for running tasks at Ctrl-C
SHORT_SECONDS = 0.5  # for tasks shorter than this, workers should not wait for proposals


class Workload(ABC):
    """Turns a job into tasks, and their outputs into a result."""

    @abstractmethod
    def tasks(self, job: Job) -> list:
        """Return the tasks of a job, one per fold."""

    @abstractmethod
    def collect(self, job: Job, outputs: list) -> Result:
        """Return the result of a job from outputs, each a task's return value or a `LostTask`."""

    @abstractmethod
    def on_result(self, job: Job) -> None:
        """Called after the history has recorded the result."""

    def seconds_left(self) -> float | None:
        """Return the seconds until the search must stop; None for no limit, 0 for now."""
        return None

    def seconds_to_stop(self) -> float | None:
        """Return the seconds until running tasks are stopped; None to wait for them, 0 for now."""
        return None

    def unfinished_jobs(self) -> Sequence[Job]:
        """Return the jobs of an earlier process that were asked for but not told, oldest first."""
        return []

    def recorded_output(self, task: Any) -> Any:
        """Return the output of a task that an earlier process has run, otherwise None."""
        return None

    def on_output(self, task: Any, output: Any) -> None:  # noqa: B027
        """Called for each output of a job that waits for other tasks or older jobs."""

    def on_interrupt(self) -> None:  # noqa: B027
        """Called when Ctrl-C or similar ends the loop, before finished jobs are told."""


def drive(
    study: Study,
    executor: Executor,
    workload: Workload,
    batch_size: float | Callable[[int], float] | None = None,
) -> None:
    """Run a study to its end.

    Results are told in order of virtual finish times, assuming every unit of resource takes
    equally long, whatever the actual order. With a `batch_size`, the next result is told only when
    that number of jobs is in progress, or when there is nothing to ask for. So the information
    behind a proposal does not depend on timing.

    If `batch_size` is infinite, or the study's scheduler is asynchronous, results are told as they
    arrive, and a job is asked for when a worker is idle, or one job earlier if tasks are short.

    The time of one step does not depend on the number of running tasks, unless the executor has
    its own `Executor.wait`, which receives all of them.

    Parameters
    ----------
    study : Study
        Study that proposes jobs and receives results.
    executor : Executor
        Runs the tasks.
    workload : Workload
        Creates the tasks and collects their outputs.
    batch_size : int, math.inf, callable or None, default=None
        Number of jobs in progress at a time, in each bracket if brackets share no results, or a
        function that returns it for a number of workers, which may grow. None: enough to keep all
        workers busy, for studies whose proposals do not depend on results. Ignored by asynchronous
        schedulers.

    Raises
    ------
    KeyboardInterrupt, SystemExit
        On Ctrl-C and SIGTERM, after telling all finished jobs; running jobs have a second. The
        same applies to anything that is not an Exception.
    """
    jobs = _PendingJobs(study, executor, workload)
    try:
        for job in workload.unfinished_jobs():
            # One of them may have killed the earlier process.
            if jobs.must_stop() or not jobs.submit(job, executor.submit_suspect):
                break
        if study.scheduler.told.at_once or _tell_in_turn(jobs, executor, batch_size):
            _tell_as_they_come(jobs, executor)
    except BaseException as error:
        if not isinstance(error, Exception):
            workload.on_interrupt()
            jobs.finish_interrupted()
        raise
    jobs.finish()


def _tell_in_turn(
    jobs: "_PendingJobs", executor: Executor, batch_size: float | Callable[[int], float] | None
) -> bool:
    """Ask for jobs up to the limit, and tell results in turn.

    False if the search is over, True if the number of workers is not limited.
    """
    while True:
        limit = batch_size(executor.n_workers) if callable(batch_size) else batch_size
        if limit is None:
            jobs.tell_next()
        if limit == math.inf:
            return True
        if jobs.must_stop():
            return False
        n_running = jobs.count_running()
        has_room = n_running < executor.window if limit is None else len(jobs) < limit
        if jobs.have_lanes and limit is not None:
            if jobs.ask(n_each=int(limit)):
                continue
        elif has_room and jobs.ask():
            continue
        if not jobs:
            return False
        if not jobs.next_is_done():
            jobs.wait()
        if limit is not None:
            jobs.tell_next(limit=1)


def _tell_as_they_come(jobs: "_PendingJobs", executor: Executor) -> None:
    """Ask when a worker is idle, and tell finished jobs, until the search is over."""
    while True:
        jobs.tell_done()
        if jobs.must_stop():
            return
        n_running = jobs.count_running()
        # If tasks are long, one more result improves a proposal enough to justify the worker's
        # wait of milliseconds.
        n_ahead = executor.has_latency and jobs.tasks_are_short()
        n_idle = executor.n_workers - n_running
        if n_idle + n_ahead > 0 and jobs.ask(max(n_idle, 0)):
            continue
        if not jobs:
            return
        jobs.wait()


class _Turns:
    """Virtual finish times, assuming equally long units; computed from the log alone.

    A job begins when it is asked for, at the turn of the last job told.
    """

    def __init__(self, history: History) -> None:
        self._history, self._n_read, self._time = history, 0, 0
        self._ends: dict[tuple[int, int], int] = {}

    def of(self, job: Job) -> int:
        """Return the virtual finish time of a job that was asked for and not told."""
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
        """Number of units that a job pays for."""
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
        """Return True if all tasks have an outcome."""
        return all(future.done() for future in self.futures)


class _PendingJobs:
    """The jobs asked for and not told.

    Tasks report their end by a callback, so no step of the search has to check all running tasks.
    """

    def __init__(self, study: Study, executor: Executor, workload: Workload):
        self._study, self._executor, self._workload = study, executor, workload
        self._jobs: dict[int, _PendingJob] = {}  # by number, oldest first
        # Heap of jobs by the order in which results are passed on; may contain finished jobs
        self._heap: list[_PendingJob] = []
        self._turns, self._numbers = _Turns(study.history), count()
        self._running: dict[Future, Any] = {}  # tasks whose output is not yet used or stored
        self._ended: deque[tuple[int, Future]] = deque()  # filled by any thread
        self._news: Future = Future()  # done once a task has ended
        self._touched: set[int] = set()  # jobs of which a task has ended
        self._unkept: list[Future] = []
        self._seconds_left: float | None = None
        self._told_seconds = 0.0
        self._n_told_tasks = 0

    def __len__(self) -> int:
        return len(self._jobs)

    # ---- ask and wait

    def must_stop(self) -> bool:
        """Return True if the time is up; waits for the first result unless tasks are stopped."""
        Interrupts.heed()
        self._seconds_left = self._workload.seconds_left()
        has_results = self._study.history.has_results
        return (self._time_is_up() and has_results) or self._seconds_to_stop() <= 0

    @property
    def have_lanes(self) -> bool:
        """True if the limit of running jobs is of each bracket."""
        return self._study.has_lanes

    def ask(self, n_idle: int = 0, n_each: int | None = None) -> bool:
        """Submit the next job of the study; False if the study has none, or if the time is up."""
        if self._time_is_up() and self._jobs:
            return False
        job = self._study.ask(n_idle, n_each)
        if job is None:
            return False
        return self.submit(job, self._executor.submit)

    def submit(self, job: Job, submit: Callable[[Any], Future]) -> bool:
        """Submit the tasks of a job; recorded outputs are done immediately.

        False, without any submission, if the time is up and an output is not recorded.
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
        self._jobs[pending.number] = pending
        heapq.heappush(self._heap, pending)
        self._touched.add(pending.number)  # it may be done
        for future in futures:
            future.add_done_callback(partial(self._note_end, pending.number))
        return True

    def _note_end(self, number: int, future: Future) -> None:
        """Note the end of a task, from any thread."""
        self._ended.append((number, future))  # first, since `_take_ended` renews the signal first
        with suppress(InvalidStateError):  # another thread has already done this
            self._news.set_result(None)

    def _take_ended(self) -> None:
        """Read the ends noted since the last call."""
        if self._news.done():
            self._news = Future()
        while self._ended:
            number, future = self._ended.popleft()
            self._touched.add(number)
            self._unkept.append(future)

    def count_running(self) -> int:
        """Return the number of running tasks, and keep the outputs of the others."""
        self._take_ended()
        for future in self._unkept:
            self._keep_output(future)
        self._unkept.clear()
        return len(self._running)

    def _keep_output(self, future: Future) -> None:
        """Keep the output of a task that has ended until its job is told."""
        task = self._running.pop(future, None)
        if task is not None and not future.cancelled() and future.exception() is None:
            self._workload.on_output(task, future.result())

    def _running_tasks(self) -> list[Future]:
        """List the running tasks after a look at all, since an interrupt may have lost an end."""
        for future in [future for future in self._running if future.done()]:
            self._keep_output(future)
        return list(self._running)

    def wait(self) -> None:
        """Wait until one of the running tasks is done, or the time is up."""
        if self._running:
            left = None if self._time_is_up() else self._seconds_left
            own = [self._news] if self._executor.wakes else list(self._running)
            left = math.inf if left is None else left
            self._wait(own, min(left, self._executor.recount_seconds))

    def _wait(self, futures: list[Future], seconds: float = math.inf) -> None:
        """Wait until a future is done, `seconds` have passed, or tasks are stopped."""
        seconds = min(seconds, max(0.0, self._seconds_to_stop()))
        self._executor.wait(futures, None if seconds == math.inf else seconds)

    def _time_is_up(self) -> bool:
        return self._seconds_left is not None and self._seconds_left <= 0

    def _seconds_to_stop(self) -> float:
        seconds = self._workload.seconds_to_stop()
        return math.inf if seconds is None else seconds

    # ---- tell

    def _next(self) -> _PendingJob | None:
        """Return the next job to tell."""
        while self._heap and self._heap[0].number not in self._jobs:
            heapq.heappop(self._heap)
        return self._heap[0] if self._heap else None

    def next_is_done(self) -> bool:
        """Return True if all tasks of the next job to tell are done."""
        job = self._next()
        return job is not None and job.is_done()

    def tell_next(self, limit: float = math.inf) -> None:
        """Tell finished jobs in turn, at most `limit` of them."""
        while limit and (job := self._next()) is not None and job.is_done():
            self._tell(job)
            limit -= 1

    def tell_done(self) -> None:
        """Tell all finished jobs, oldest first."""
        self._take_ended()
        done = [self._jobs[i] for i in sorted(self._touched) if i in self._jobs]
        self._touched.clear()
        for job in [job for job in done if job.is_done()]:
            self._tell(job)

    def _keep(self, is_kept: Callable[[_PendingJob], bool]) -> None:
        """Drop other jobs."""
        self._jobs = {i: job for i, job in self._jobs.items() if is_kept(job)}

    def tasks_are_short(self) -> bool:
        """Return True if the tasks of the jobs told were short on average."""
        return self._n_told_tasks * SHORT_SECONDS > self._told_seconds

    def _tell(self, pending: _PendingJob) -> None:
        del self._jobs[pending.number]
        for future in pending.futures:
            self._running.pop(future, None)
        result = self._workload.collect(pending.job, [f.result() for f in pending.futures])
        self._study.tell(pending.job, result)
        self._workload.on_result(pending.job)
        self._told_seconds += result.cost
        self._n_told_tasks += len(pending.futures)
        pending.futures.clear()  # it may stay in the heap
        self._next()

    # ---- the end

    def finish(self) -> None:
        """Drop unstarted jobs, and wait for running ones, or stop them when their time is up."""
        all_tasks = self._running_tasks()
        self._cancel()
        while (job := self._next()) is not None and self._seconds_to_stop() > 0:
            self._wait([f for f in job.futures if not f.done()])
            self.tell_next()
        # The result of the job after a stopped one stays open: a resumed search finds its output.
        self.tell_next()
        if self._seconds_to_stop() < math.inf:
            left = [future for future in all_tasks if not future.done()]
            while left and self._seconds_to_stop() > 0:
                self._wait(left)
                left = [future for future in left if not future.done()]
            self._running_tasks()  # stores the finished outputs
            if left:
                self._executor.stop()

    def finish_interrupted(self) -> None:
        """Drop unstarted jobs, give running ones a moment, and tell finished ones."""
        self._cancel()
        end = now() + GRACE_SECONDS
        while (running := self._running_tasks()) and (left := end - now()) > 0:
            self._executor.wait(running, left)
        # Do not hide the signal that ended the search by an error.
        self._keep(lambda job: not any(f.done() and f.exception() for f in job.futures))
        self._touched.update(self._jobs)
        self.tell_done()

    def _cancel(self) -> None:
        """Drop the jobs that are not completely started."""
        for pending in reversed(self._jobs.values()):
            for future in reversed(pending.futures):
                future.cancel()
        self._keep(lambda job: not any(future.cancelled() for future in job.futures))
