"""A clock of simulated seconds, with simulated workers that all run in this thread."""

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from decimal import Context, Decimal
from itertools import count
from numbers import Integral
from pathlib import Path
from typing import Any, Self

from sksearch._utils._clock import _open_clock
from sksearch._utils._numerics import one_blas_thread
from sksearch.executors._base import Executor, environment_of_this_thread
from sksearch.executors._in_process import SerialExecutor
from sksearch.executors._limits import Limits, LostTask

DIGITS = 18
TICKS = 10**DIGITS  # per second; time is counted in integers, which do not round
_CONTEXT = Context(prec=60)  # regardless of the user's decimal precision


@dataclass(order=True)
class _VirtualTask:
    """Task of a simulated worker; ordered by its end, then by its beginning."""

    end: int
    number: int
    start: int = field(compare=False)
    future: Future = field(compare=False)
    owner: Executor = field(compare=False)
    value: object = field(compare=False)
    error: Exception | None = field(compare=False)


class VirtualClock:
    """Simulated time with any number of simulated workers, on a single core.

    A search fitted inside the ``with`` block runs in this thread, regardless of its `n_jobs` and
    `pre_dispatch`. Each job goes to the first idle worker, and its duration is the time that the
    estimator passes to `spend`. Limits (``timeout``, ``resource="seconds"``) and times
    (``mean_fit_time``, the cost of a `Result`) are in simulated seconds. Real time has no effect,
    so all runs are bit-identical.

    Parameters
    ----------
    n_workers : int, default=1
        Number of simulated workers.

    Attributes
    ----------
    seconds : float
        Simulated seconds since the clock was opened: after a single search, its duration.
    busy_seconds : float
        Simulated working time, summed over workers.
    utilisation : float
        ``busy_seconds / (n_workers * seconds)``; NaN if no time passed.

    Raises
    ------
    ValueError
        If `n_workers` is not an integer of at least 1.

    Notes
    -----
    Time spent outside a task, such as in the refit, occupies one worker and advances the clock.
    Proposals take no time. A search inside a task (nested cross-validation) has only the worker of
    the task. A clock applies to the thread that opened it, so time that an estimator spends in
    other threads or processes is not counted.

    Times are exact fractions: ten times 0.1 seconds is exactly one second, so tasks that end at
    the same time are recognised as such.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.executors import VirtualClock, spend
    >>> class Hour(BaseEstimator):
    ...     def __init__(self, x=0):
    ...         self.x = x
    ...     def fit(self, X, y=None):
    ...         spend(3600)
    ...         return self
    ...     def score(self, X, y=None):
    ...         return self.x
    >>> search = RandomSearchCV(Hour(), {"x": range(100)}, n_iter=64, cv=2, refit=False)
    >>> with VirtualClock(n_workers=64) as clock:
    ...     _ = search.fit([[0], [1]])
    >>> clock.seconds, clock.utilisation
    (7200.0, 1.0)
    """

    def __init__(self, n_workers: int = 1):
        if isinstance(n_workers, bool) or not isinstance(n_workers, Integral) or n_workers < 1:
            raise ValueError(f"n_workers={n_workers!r} must be an integer of at least 1.")
        self.n_workers: int = int(n_workers)
        self._token: Any = None  # token of the context variable, while the clock is open
        self._reset()

    def _reset(self) -> None:
        self._time = self._busy = 0
        self._spent: int | None = None  # time spent by the running task
        self._queue: deque = deque()
        self._running: list[_VirtualTask] = []
        self._numbers = count()

    def __enter__(self) -> Self:
        if self._token is not None:
            raise RuntimeError("This VirtualClock is already open: create another one.")
        self._reset()
        self._token = _open_clock.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        token, self._token = self._token, None
        _open_clock.reset(token)

    @property
    def seconds(self) -> float:
        """Simulated seconds since the clock was opened."""
        return self._time / TICKS

    @property
    def busy_seconds(self) -> float:
        """Simulated working time, summed over workers."""
        return self._busy / TICKS

    @property
    def utilisation(self) -> float:
        """Share of the time during which the workers were busy."""
        return self._busy / (self.n_workers * self._time) if self._time else math.nan

    # ---- called by `now`, `spend`, `count_workers` and `make_executor`

    @property
    def n_free(self) -> int:
        """Number of workers of a search that begins now; 1 inside a task."""
        return self.n_workers if self._spent is None else 1

    def now(self) -> float:
        """Return the seconds since the clock was opened; inside a task, since the task began."""
        # Not since the opening: durations would round differently depending on the start of a
        # task, and so would depend on the number of workers.
        return (self._time if self._spent is None else self._spent) / TICKS

    def spend(self, seconds: float) -> None:
        """Advance time, for the running task or for all workers."""
        if not 0 <= seconds < math.inf:
            raise ValueError(f"seconds={seconds} must be a finite number of at least 0.")
        if self._spent is None:
            self._advance(self._time + _ticks(seconds))
            self._busy += _ticks(seconds)
        else:
            self._spent += _ticks(seconds)

    def executor(
        self,
        function: Callable,
        context: object,
        limits: Limits | None = None,
        folder: Path | None = None,
    ) -> Executor:
        """Return the executor of a search: on all workers, or on the worker of its task."""
        if self._spent is None:
            return VirtualExecutor(function, context, self, limits, folder)
        return SerialExecutor(function, context, folder)

    # ---- called by the executor

    def _submit(self, owner: "VirtualExecutor", call: Callable[[], Any]) -> Future:
        """Queue a call for the first free worker."""
        future: Future = Future()
        self._queue.append((owner, future, call))
        self._advance(self._time)
        return future

    def _wait(self, futures: Sequence[Future], timeout: float | None) -> None:
        """Advance time until one of the unfinished futures is done, or by `timeout` seconds."""
        limit = math.inf
        if timeout is not None:  # less than a tick must not become zero: endless loop
            limit = max(_ticks(self.seconds + max(timeout, 0)), self._time + (timeout > 0))
        while futures and self._running and not any(future.done() for future in futures):
            end = min(self._running[0].end, limit)
            self._advance(max(end, self._time))
            if end == limit:
                return
        if futures and limit < math.inf and not any(future.done() for future in futures):
            self._advance(limit)  # for calls ended by a signal, which never finish

    def _forget(self, owner: "VirtualExecutor") -> None:
        """Drop the unfinished calls of an executor that ends, and free its workers."""
        self._queue = deque(entry for entry in self._queue if entry[0] is not owner)
        self._busy += sum(self._time - task.start for task in self._running if task.owner is owner)
        self._running = [task for task in self._running if task.owner is not owner]
        heapq.heapify(self._running)

    # ---- internals

    def _advance(self, to: Any) -> None:
        """Advance time, and finish the calls that end meanwhile."""
        self._start()
        while self._running and self._running[0].end <= to:
            self._time = self._running[0].end
            while self._running and self._running[0].end == self._time:
                self._finish(heapq.heappop(self._running))
            self._start()
        self._time = to

    def _start(self) -> None:
        """Give queued calls to free workers."""
        while self._queue and len(self._running) < self.n_workers:
            owner, future, call = self._queue.popleft()
            if future.set_running_or_notify_cancel():
                heapq.heappush(self._running, self._run(owner, future, call))

    def _run(
        self, owner: "VirtualExecutor", future: Future, call: Callable[[], Any]
    ) -> _VirtualTask:
        """Make a call when it begins, and keep its outcome until it ends."""
        value = error = None
        self._spent = 0
        try:
            value = call()
        except Exception as raised:
            error = raised
        finally:
            spent, self._spent = self._spent, None
        start = self._time
        seconds = owner.limits.seconds
        if seconds is not None and spent > _ticks(seconds):
            spent, error = _ticks(seconds), None
            value = LostTask("timeout", f"took more than {seconds:g} seconds", seconds)
        return _VirtualTask(start + spent, next(self._numbers), start, future, owner, value, error)

    def _finish(self, task: _VirtualTask) -> None:
        self._busy += task.end - task.start
        if task.error is None:
            task.future.set_result(task.value)
        else:
            task.future.set_exception(task.error)


class VirtualExecutor(Executor):
    """Runs tasks on the simulated workers of a clock, in this thread.

    Parameters
    ----------
    function : callable
        ``function(context, task, environment)``.
    context : object
        Object that all tasks share.
    clock : VirtualClock
        The clock, open as long as the executor is used.
    limits : Limits or None
        Limits of a task: simulated seconds; memory is ignored.
    folder : Path or None
        Folder for outputs too large to return; None for memory.

    Examples
    --------
    >>> from sksearch.executors import VirtualClock, spend
    >>> from sksearch.executors._virtual import VirtualExecutor
    >>> def work(context, task, environment):
    ...     spend(task)
    ...     return task
    >>> with VirtualClock(n_workers=2) as clock, VirtualExecutor(work, None, clock) as executor:
    ...     futures = [executor.submit(seconds) for seconds in (3, 4)]
    ...     while not all(future.done() for future in futures):
    ...         executor.wait([future for future in futures if not future.done()], None)
    >>> clock.seconds
    4.0
    """

    wakes = True

    def __init__(
        self,
        function: Callable,
        context: Any,
        clock: VirtualClock,
        limits: Limits | None = None,
        folder: Path | None = None,
    ):
        self.n_workers = self.window = clock.n_workers
        self._function, self._context, self._clock = function, context, clock
        self.limits, self._folder = limits or Limits(), folder

    def submit(self, task: object) -> Future:
        """Queue the task for the first free worker."""
        environment = environment_of_this_thread(self._folder)
        return self._clock._submit(self, lambda: self._function(self._context, task, environment))

    def wait(self, futures: Sequence[Future], timeout: float | None) -> None:
        """Let simulated time pass."""
        self._clock._wait(futures, timeout)

    def __enter__(self) -> Self:
        self._limit = one_blas_thread()
        self._limit.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._clock._forget(self)
        self._limit.__exit__(*error)


def _ticks(seconds: float) -> int:
    """Convert the printed decimal exactly: 0.1 is a tenth, without binary rounding."""
    return int(Decimal(repr(float(seconds))).scaleb(DIGITS, _CONTEXT))
