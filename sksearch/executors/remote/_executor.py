"""The executor for all engines started by other software.

All engines send the same message to a worker and receive the same answer, both as bytes. So no
engine has to pickle or unpickle user objects, a frequent cause of broken pools. Data and function
are in a file; a worker that does not see it reports so, and receives the contents of the file.
"""

import math
import threading
import time
import uuid
from collections import deque
from concurrent.futures import BrokenExecutor, Future
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Self

from joblib.parallel import ParallelBackendBase

from sksearch._utils._compat import pre_dispatch_count
from sksearch._utils._numerics import one_blas_thread
from sksearch._utils._pickles import dumps, loads
from sksearch.executors import _shared_data
from sksearch.executors._base import Executor
from sksearch.executors._folder import TaskFolder
from sksearch.executors._limits import EngineLostError, Limits, LostTask
from sksearch.executors._shared_data import MISSING
from sksearch.executors.remote._base import Engine, first_line
from sksearch.executors.remote._worker import TaskMessage, shared_in_process

COUNT_SECONDS = 2.0  # interval between counts of the workers of an engine
CHECK_SECONDS = 0.5  # interval between checks that a silent engine is alive
CLOSE_SECONDS = 10  # maximum wait for an engine that does not answer when the search ends
MAX_SENT = 3  # transfers of the data for one task: a worker may die with them


class _PendingTask:
    """A submitted task without an outcome."""

    def __init__(self, task: Any, isolate: bool) -> None:
        self.task, self.isolate = task, isolate
        self.future: Future = Future()
        self.handle: Future | None = None  # the engine's future
        self.n_sent = 0  # number of times sent with the data
        self.n_crashes = 0
        self.n_broken = 0  # number of pools that broke while it ran
        self.needs_data = False
        self.begin = 0.0

    def resolve(self, value: Any, failed: bool) -> None:
        """Set the outcome of the future."""
        if failed:
            self.future.set_exception(value)
        else:
            self.future.set_result(value)


class RemoteExecutor(Executor):
    """Runs tasks on an engine; a single thread of ours manages all state.

    Everything that happens (a submission, an answer, a long silence) is an event in the thread's
    queue. So there are no locks, and none of our code runs in threads of the engine.

    Parameters
    ----------
    engine : subclass of Engine
        The engine that runs the tasks; created when the executor is entered.
    backend : joblib backend
        The active one.
    shared : tuple
        Function, context, and the backend for searches inside tasks.
    n_workers : int
        Number of tasks that the engine runs at the same time.
    limits : Limits
        Limits of a task.
    folder : Path or None
        Folder for outputs too large to return; None for a temporary one.

    Attributes
    ----------
    pre_dispatch : int, str or None
        As in scikit-learn.
    follows : bool
        Whether the number of workers is the engine's, whenever that changes.
    """

    has_latency = True
    pre_dispatch: int | str | None = "2*n_jobs"
    follows = False

    def __init__(
        self,
        engine: type[Engine],
        backend: ParallelBackendBase,
        shared: tuple,
        n_workers: int,
        limits: Limits,
        folder: Path | None,
    ):
        self.n_workers = n_workers
        self._next_count = 0.0
        self._engine_class, self._backend = engine, backend
        self._shared, self._limits, self._given_folder = shared, limits, folder
        self._lost: EngineLostError | None = None
        self._payload: Any = None
        self._files_are_unseen = False  # by at least one worker
        self._waiting: deque[_PendingTask] = deque()
        self._running: set[_PendingTask] = set()
        self._events: SimpleQueue = SimpleQueue()

    # ---- called by the loop

    @property
    def window(self) -> float:  # type: ignore[override]  # it follows the number of workers
        """Number of tasks to keep submitted."""
        return max(self.n_workers, pre_dispatch_count(self.pre_dispatch, self.n_workers))

    @property
    def recount_seconds(self) -> float:  # type: ignore[override]
        """Time after which the number of workers may have changed."""
        return COUNT_SECONDS if self.follows else math.inf

    def __enter__(self) -> Self:
        """Write the data shared by all tasks, create the engine, and start the thread."""
        with ExitStack() as stack:
            name = f"context-{uuid.uuid4().hex}"
            self._folder = TaskFolder(self._given_folder, name, self._shared)
            stack.callback(self._folder.remove)
            token = self._folder.ref.token
            shared_in_process[token] = self._shared
            stack.callback(shared_in_process.pop, token)
            stack.enter_context(one_blas_thread())
            stack.enter_context(self._backend.retrieval_context())
            self._engine = self._engine_class(self._backend, self.n_workers)
            self._thread = threading.Thread(
                target=self._handle_events, name="sksearch", daemon=True
            )
            self._thread.start()
            stack.callback(self._close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def submit(self, task: object) -> Future:
        """Queue the task."""
        isolate = self._limits.isolate or self._engine.isolates_tasks
        return self._submit(_PendingTask(task, isolate))

    def submit_suspect(self, task: object) -> Future:
        """Queue the task for a separate process, because it may crash the engine."""
        return self._submit(_PendingTask(task, isolate=True))

    def _submit(self, pending: _PendingTask) -> Future:
        self._events.put(pending)
        return pending.future

    # ---- the thread

    def _handle_events(self) -> None:
        """Handle events until the end."""
        while True:
            try:
                event = self._events.get(timeout=CHECK_SECONDS)
                if event is None:
                    return
                self._handle(event)
                self._count_workers()
            except Empty:
                self._check_engine()
                self._count_workers()
            except Exception as error:  # otherwise callers would wait for a dead thread forever
                self._fail_all(self._engine.lost_error(first_line(error)))

    def _handle(self, event: _PendingTask | tuple[_PendingTask, Future]) -> None:
        """Accept a new task or an engine's answer, and start queued tasks."""
        if isinstance(event, _PendingTask):
            self._waiting.append(event)
        elif event[0] in self._running:
            self._finish(*event)
        self._start_waiting()

    def _start_waiting(self) -> None:
        """Start queued tasks while the engine has room."""
        while self._waiting and len(self._running) < self.n_workers + self._engine.n_prefetched:
            self._start(self._waiting.popleft())

    def _count_workers(self) -> None:
        """Count the workers again, and start tasks on new ones."""
        if not self.follows or time.monotonic() < self._next_count:
            return
        self._next_count = time.monotonic() + COUNT_SECONDS
        n_workers = None
        with suppress(Exception):  # a lost engine is noticed by `_check_engine`
            n_workers = self._engine.count_workers()
        if n_workers:  # a cluster without workers keeps its tasks
            self.n_workers = n_workers
            self._start_waiting()

    def _check_engine(self) -> None:
        """Check whether a silent engine is lost."""
        try:
            reason = self._engine.why_silent() if self._running else None
        except Exception as error:  # an engine that cannot answer may raise anything
            reason = first_line(error)
        if reason is not None:
            self._fail_all(self._engine.lost_error(reason))

    def _start(self, pending: _PendingTask) -> None:
        """Pass a task to the engine; afterwards it cannot be cancelled."""
        future = pending.future
        if not future.running() and not future.set_running_or_notify_cancel():
            return
        try:
            if self._lost is not None:
                raise self._lost
            if (reason := self._engine.why_lost()) is not None:
                raise self._engine.lost_error(reason)
            try:
                message = self._message(pending)
            except Exception as error:
                text = f"the candidate cannot be sent to a worker: {first_line(error)}"
                pending.resolve(LostTask("error", text), failed=False)
                return
            payload = self._data(pending)
            pending.begin = time.monotonic()
            pending.handle = self._engine.start(message, payload)
        except EngineLostError as error:
            self._fail_all(error)
            pending.resolve(error, failed=True)
        except Exception as error:
            pending.resolve(error, failed=True)
        else:
            self._running.add(pending)
            pending.handle.add_done_callback(lambda handle: self._events.put((pending, handle)))

    def _message(self, pending: _PendingTask) -> bytes:
        """Return the pickled message for a worker."""
        task, folder = pending.task, self._folder
        if self._files_are_unseen and hasattr(task, "carrying"):
            task = task.carrying()  # its state is in a file
        marker = f"{folder.file.name}.{uuid.uuid4().hex}" if self._engine.retries_tasks else None
        return dumps(
            TaskMessage(
                ref=folder.ref,
                task=task,
                folder=str(folder.path),
                limits=replace(self._limits, retries=0),
                isolate=pending.isolate,
                marker=marker,
            )
        )

    def _data(self, pending: _PendingTask) -> Any:
        """Return the data that accompany the message to a worker that lacks them."""
        if not pending.needs_data:
            return None
        if self._payload is None:
            content = _shared_data.payload_of(self._shared, self._folder.ref)
            self._payload = self._engine.put(content)
        pending.n_sent += 1
        return self._payload

    def _finish(self, pending: _PendingTask, handle: Future) -> None:
        """Set the outcome, or retry."""
        self._running.remove(pending)
        pending.handle = None
        error = None if handle.cancelled() else handle.exception()
        if isinstance(error, BrokenExecutor) and self._revives(pending):
            self._waiting.appendleft(pending)
            return
        failed, value = self._outcome(handle)
        if value is MISSING and pending.n_sent < MAX_SENT:
            self._files_are_unseen = pending.needs_data = True
            self._waiting.appendleft(pending)
            return
        if value is MISSING:
            failed = True
            value = RuntimeError(
                f"The data were sent to a worker {MAX_SENT} times, but did not arrive."
            )
        if isinstance(value, LostTask) and value.status == "crash":
            pending.n_crashes += 1
            if pending.n_crashes <= self._limits.retries:
                self._waiting.appendleft(pending)
                return
            if not value.seconds:
                value = replace(value, seconds=time.monotonic() - pending.begin)
        pending.resolve(value, failed)

    def _revives(self, pending: _PendingTask) -> bool:
        """Return whether a task of a broken pool can run again, then in a separate process.

        Any of the running tasks may have broken the pool. In a separate process, it affects only
        itself.
        """
        pending.n_broken += 1
        if pending.n_broken > MAX_SENT or not self._engine.revive():
            return False
        pending.isolate = True
        return True

    def _outcome(self, handle: Future) -> tuple[bool, Any]:
        """Return whether a task failed, and its output or error; MISSING if data are lacking."""
        try:
            return loads(handle.result())
        except Exception as error:
            if self._payload is not None and self._engine.has_lost_payload(error):
                self._payload = None
                return False, MISSING
            value = self._engine.outcome_of(error)
            if isinstance(value, EngineLostError):
                self._fail_all(value)
            return isinstance(value, Exception), value

    def _fail_all(self, error: EngineLostError) -> None:
        """Record that the engine is lost, and all tasks with it."""
        self._lost = error
        for pending in [*self._running, *self._waiting]:
            if pending.future.running() or pending.future.set_running_or_notify_cancel():
                pending.resolve(error, failed=True)
        self._running.clear()
        self._waiting.clear()

    def _close(self) -> None:
        """End the thread, and stop running tasks."""
        self._events.put(None)
        self._thread.join(CLOSE_SECONDS)
        for pending in list(self._running):
            if pending.handle is not None:
                with suppress(Exception):  # the engine may be gone
                    self._engine.cancel(pending.handle)
        self._fail_all(EngineLostError("The search has ended."))
        self._payload = None
        self._engine.close()
