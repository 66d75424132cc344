"""The loop: ask, submit, wait, tell."""

import math
from collections import deque
from typing import Protocol

from sksearch.base import Job
from sksearch.history import Result


class Work(Protocol):
    """What turns a job into tasks, and their outputs into a result."""

    def tasks(self, job: Job) -> list:
        """The tasks of a job, one a fold."""

    def collect(self, job: Job, outputs: list) -> Result:
        """The result of a job."""

    def told(self, job: Job) -> None:
        """Called when the history knows the result."""

    def seconds_left(self) -> float | None:
        """Seconds until the search must stop, None for no limit; at most 0 to stop now."""


def drive(study, executor, work: Work, batch_size: int | None = None) -> None:
    """Run a study to its end.

    Results are told in the order in which the jobs were asked for, whatever the order in which
    they end. With a `batch_size` one is told only when so many are under way, or when there is
    nothing to ask for, however soon it ended: so what a proposal knows does not depend on timing.
    If the study's scheduler is asynchronous, results are told as they come in, and a job is asked
    for when a worker has nothing to do.

    Parameters
    ----------
    study : Study
        Asked and told.
    executor : Executor
        Runs the tasks.
    work : Work
        Knows what the tasks are.
    batch_size : int or None, default=None
        Count of jobs that are under way at a time; None: as many as keep all workers busy, for
        studies whose proposals do not depend on results. Asynchronous schedulers do not use it.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, after telling all jobs that had ended.
    """
    pending: deque = deque()
    in_order = not study.scheduler.asynchronous
    window = executor.window if in_order else executor.n_workers
    batch_size = batch_size if in_order else None
    try:
        while True:
            if batch_size is None:
                _tell_finished(study, work, pending, in_order=in_order)
            left = work.seconds_left()
            over = left is not None and left <= 0
            if over and study.history.has_results:
                break
            waiting = [f for _, futures in pending for f in futures if not f.done()]
            room = len(waiting) < window if batch_size is None else len(pending) < batch_size
            # When time is up before the first result, that one is all we wait for.
            may_ask = room and not (over and pending)
            if may_ask and (job := study.ask()) is not None:
                pending.append((job, [executor.submit(task) for task in work.tasks(job)]))
            elif not pending:
                return
            else:
                oldest_is_done = all(future.done() for future in pending[0][1])
                if waiting and not (batch_size is not None and oldest_is_done):
                    executor.wait(waiting, None if over else left)
                if batch_size is not None:
                    _tell_finished(study, work, pending, limit=1)
    except KeyboardInterrupt:
        _tell_finished(study, work, pending, in_order=in_order)
        raise
    _stop(study, executor, work, pending)


def _tell_finished(study, work, pending, limit=math.inf, in_order=True):
    """Tell the oldest jobs as far as they are finished, at most `limit` of them.

    Without `in_order` all that are finished, whatever is not.
    """
    for entry in list(pending):
        job, futures = entry
        if limit == 0:
            return
        if all(future.done() for future in futures):
            pending.remove(entry)
            study.tell(job, work.collect(job, [future.result() for future in futures]))
            work.told(job)
            limit -= 1
        elif in_order:
            return


def _stop(study, executor, work, pending):
    """Drop what has not begun, wait for what runs."""
    for _, futures in reversed(pending):
        for future in reversed(futures):
            future.cancel()
    kept = deque(entry for entry in pending if not any(f.cancelled() for f in entry[1]))
    while kept:
        executor.wait([f for f in kept[0][1] if not f.done()], None)
        _tell_finished(study, work, kept)
