"""The loop: ask, submit, wait, tell."""

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from concurrent.futures import Future

from sksearch.base import Job
from sksearch.history import Result

GRACE_SECONDS = 1.0  # for what runs at Ctrl-C
SHORT_SECONDS = 0.5  # tasks for whose sake a worker shall not wait for a proposal


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

    def unfinished_jobs(self) -> list[Job]:
        """Return the jobs that an earlier process had asked for and not told, oldest first."""
        return []

    def recorded_output(self, task):
        """Return the output of a task that an earlier process has run, None if it has not."""
        return None  # noqa: RET501, a value like any other

    def on_interrupt(self) -> None:  # noqa: B027
        """Called when the loop ends by Ctrl-C or the like, before what had ended is told."""


def drive(study, executor, work: Workload, batch_size: int | None = None) -> None:
    """Run a study to its end.

    Results are told in the order in which the jobs were asked for, whatever the order in which
    they end. With a `batch_size` one is told only when so many are under way, or when there is
    nothing to ask for, however soon it ended: so what a proposal knows does not depend on timing.
    If the study's scheduler is asynchronous, results are told as they come in, and a job is asked
    for when a worker has nothing to do; where tasks are short, one before that.

    Parameters
    ----------
    study : Study
        Asked and told.
    executor : Executor
        Runs the tasks.
    work : Workload
        Knows what the tasks are.
    batch_size : int or None, default=None
        Count of jobs that are under way at a time; None: as many as keep all workers busy, for
        studies whose proposals do not depend on results. Asynchronous schedulers do not use it.

    Raises
    ------
    KeyboardInterrupt, SystemExit
        On Ctrl-C and SIGTERM, after telling all jobs that had ended; those that run have a second.
    """
    pending: deque = deque()
    in_order = not study.scheduler.asynchronous
    batch_size = batch_size if in_order else None
    pace = _Pace()
    try:
        for job in work.unfinished_jobs():
            # One of them may be what the earlier process died of.
            pending.append((job, _submit(executor.submit_suspect, work, job)))
        while True:
            if batch_size is None:
                _tell_finished(study, work, pending, in_order=in_order, pace=pace)
            left = work.seconds_left()
            over = left is not None and left <= 0
            if over and study.history.has_results:
                break
            waiting = [f for _, futures in pending for f in futures if not f.done()]
            window = executor.window if in_order else executor.n_workers + pace.ahead(executor)
            room = len(waiting) < window if batch_size is None else len(pending) < batch_size
            # When time is up before the first result, that one is all we wait for.
            may_ask = room and not (over and pending)
            if may_ask and (job := study.ask()) is not None:
                pending.append((job, _submit(executor.submit, work, job)))
            elif not pending:
                return
            else:
                oldest_is_done = all(future.done() for future in pending[0][1])
                if waiting and not (batch_size is not None and oldest_is_done):
                    executor.wait(waiting, None if over else left)
                if batch_size is not None:
                    _tell_finished(study, work, pending, limit=1)
    except (KeyboardInterrupt, SystemExit):
        work.on_interrupt()
        _let_end(executor, pending)
        for entry in [e for e in pending if any(f.done() and f.exception() for f in e[1])]:
            pending.remove(entry)  # the signal that ended the search matters more
        _tell_finished(study, work, pending, in_order=False)
        raise
    _stop(study, executor, work, pending)


def _submit(submit, work, job):
    """The futures of a job's tasks; those whose output is known are done."""
    futures = []
    for task in work.tasks(job):
        if (output := work.recorded_output(task)) is None:
            futures.append(submit(task))
        else:
            futures.append(Future())
            futures[-1].set_result(output)
    return futures


class _Pace:
    """How long a task takes, on average."""

    def __init__(self):
        self._seconds = self._count = 0.0

    def add(self, result, n_tasks):
        """Count the tasks of a job."""
        self._seconds += result.cost
        self._count += n_tasks

    def ahead(self, executor):
        """How many tasks shall wait for a worker: one where they are short and it is far away.

        Where they are long, a proposal that knows one more result is worth more than the
        milliseconds that a worker waits for it.
        """
        return executor.distant and 0 < self._count * SHORT_SECONDS > self._seconds


def _tell_finished(study, work, pending, limit=math.inf, in_order=True, pace=None):
    """Tell the oldest jobs as far as they are finished, at most `limit` of them.

    Without `in_order` all that are finished, whatever is not.
    """
    for entry in list(pending):
        job, futures = entry
        if limit == 0:
            return
        if all(future.done() for future in futures):
            pending.remove(entry)
            result = work.collect(job, [future.result() for future in futures])
            study.tell(job, result)
            work.on_result(job)
            if pace is not None:
                pace.add(result, len(futures))
            limit -= 1
        elif in_order:
            return


def _let_end(executor, pending):
    """Drop what has not begun, and give a moment to what runs."""
    _cancel(pending)
    end = time.monotonic() + GRACE_SECONDS
    while (left := end - time.monotonic()) > 0:
        running = [f for _, futures in pending for f in futures if not f.done()]
        if not running:
            return
        executor.wait(running, left)


def _stop(study, executor, work, pending):
    """Drop what has not begun, wait for what runs."""
    _cancel(pending)
    while pending:
        executor.wait([f for f in pending[0][1] if not f.done()], None)
        _tell_finished(study, work, pending)


def _cancel(pending):
    """Drop the jobs that have not begun, or not with all of their tasks."""
    for _, futures in reversed(pending):
        for future in reversed(futures):
            future.cancel()
    kept = [entry for entry in pending if not any(f.cancelled() for f in entry[1])]
    pending.clear()
    pending.extend(kept)
