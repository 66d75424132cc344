"""What executors on engines that others have started have in common.

All send the same order to a worker and get the same answer, both as bytes. So no engine has to
pickle or unpickle anything of the user's, which is what breaks pools. Data and function are in a
file; a worker that does not see it says so, and is sent what the file holds.
"""

import pickle
import shutil
import threading
import time
import uuid
from abc import abstractmethod
from collections import deque
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import ExitStack, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue

from sksearch._compat import cloudpickle
from sksearch._threads import one_blas_thread
from sksearch.executors import _broadcast
from sksearch.executors._broadcast import MISSING
from sksearch.executors._executor import Executor
from sksearch.executors._limits import EngineLostError, LostTask
from sksearch.executors._orders import Order, shared_here, work
from sksearch.executors._slots import temporary_folder

LOOK_SECONDS = 0.5  # how often to look whether a silent engine is still there
CLOSE_SECONDS = 10  # how long to wait for an engine that does not answer when the search ends
MAX_SENT = 3  # how often to send the data for one task: a worker may die with them

# How engines call it when the worker of a task died: names of classes, and words of a message.
DIED = {
    "KilledWorker",  # Dask
    "WorkerCrashedError",  # Ray
    "NodeDiedError",
    "OutOfMemoryError",
    "ObjectLostError",
    "WorkerLost",  # Parsl
    "ManagerLost",
    "TerminatedWorkerError",  # loky
}
DIED_WORDS = ("exited unexpectedly", "ExecutorLostFailure")  # Spark


class _Item:
    """A task on its way."""

    def __init__(self, task, isolate):
        self.task, self.isolate = task, isolate
        self.future = Future()
        self.handle = None  # the engine's future
        self.n_sent = 0  # how often with the data
        self.n_crashes = 0
        self.needs_data = False
        self.begin = 0.0


class EngineExecutor(Executor):
    """Runs tasks on an engine; one thread of ours knows what is where.

    Whatever happens (a task is submitted, an answer comes, nothing comes) is an event in its
    queue. So there are no locks, and nothing of ours runs in threads of the engine.

    Parameters
    ----------
    backend : joblib backend
        The active one.
    shared : tuple
        Function, context, and the backend for searches inside of tasks.
    n_workers : int
        Count of tasks that the engine runs at the same time.
    limits : Limits
        What a task may use.
    folder : Path or None
        Where tasks leave what is too large to return; None for a temporary one.
    """

    name = "The engine"
    work = staticmethod(work)
    distant = True
    ahead = 1  # tasks that the engine has while its workers are busy, to hide its latency
    repeats = False  # whether the engine itself tries a task again when its worker died

    def __init__(self, backend, shared, n_workers, limits, folder):
        self.n_workers, self.window = n_workers, 2 * n_workers
        self._backend, self._shared, self._limits = backend, shared, limits
        self._given_folder = folder
        self._lost: EngineLostError | None = None
        self._payload = None
        self._far = False  # whether there are workers that do not see our files

    # ---- what an engine has to know

    def _open(self):
        """Get hold of the engine."""

    @abstractmethod
    def _start(self, order: bytes, payload) -> Future:
        """Begin ``work(order, payload)``."""

    def _put(self, payload):
        """What to pass to `_start` instead of the bytes, so that they travel once."""
        return payload

    def _gone(self) -> str | None:
        """Why the engine will never answer; None if it may."""

    def _deserted(self) -> str | None:
        """As `_gone`, but may take a while: asked only when there has been no answer for long."""
        return self._gone()

    def _stop(self, handle):
        """Cancel what was begun."""
        handle.cancel()

    def _judge(self, error):
        """The outcome of a task whose worker gave no answer.

        A `LostTask`, `MISSING`, or an exception; an `EngineLostError` if it is not about this task.
        """
        if (reason := self._gone()) is not None:
            return self.lost_error(reason)
        names = {cls.__name__ for cls in type(error).__mro__}
        if names & DIED or any(words in str(error) for words in DIED_WORDS):
            return LostTask("crash", f"the worker died ({type(error).__name__})")
        if isinstance(error, CancelledError | BrokenExecutor):
            return self.lost_error(first_line(error))
        return error

    # ---- what the loop calls

    def __enter__(self):
        with ExitStack() as stack:
            self._folder = self._given_folder or temporary_folder()
            stack.callback(self._remove_files)
            self._file = self._folder / f"context-{uuid.uuid4().hex}"
            self._ref = _broadcast.write(self._shared, self._file)
            shared_here[self._ref.token] = self._shared
            stack.callback(shared_here.pop, self._ref.token)
            stack.enter_context(one_blas_thread())
            stack.enter_context(self._backend.retrieval_context())
            self._open()
            self._queue, self._running = deque(), set()
            self._events = SimpleQueue()
            self._thread = threading.Thread(target=self._manage, name="sksearch", daemon=True)
            self._thread.start()
            stack.callback(self._end)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        self._stack.close()

    def submit(self, task):
        """Queue the task."""
        return self._submit(_Item(task, self._limits.isolate))

    def submit_suspect(self, task):
        """Queue the task for a process of its own: it might take the engine down."""
        return self._submit(_Item(task, isolate=True))

    def _submit(self, item):
        self._events.put(item)
        return item.future

    # ---- the thread

    def _manage(self):
        """Handle events until the end."""
        while True:
            try:
                event = self._events.get(timeout=LOOK_SECONDS)
                if event is None:
                    return
                self._handle(event)
            except Empty:
                self._look()
            except Exception as error:  # nobody may wait for a thread that is dead
                self._lose(self.lost_error(first_line(error)))

    def _handle(self, event):
        """A new task, or the answer to one that the engine had."""
        if isinstance(event, _Item):
            self._queue.append(event)
        elif event[0] in self._running:
            self._settle(*event)
        while self._queue and len(self._running) < self.n_workers + self.ahead:
            self._begin(self._queue.popleft())

    def _look(self):
        """Look after an engine that says nothing."""
        try:
            reason = self._deserted() if self._running else None
        except Exception as error:  # whatever it says when it is asked and cannot answer
            reason = first_line(error)
        if reason is not None:
            self._lose(self.lost_error(reason))

    def _begin(self, item):
        """Hand a task over to the engine; from now on it cannot be cancelled."""
        if not item.future.running() and not item.future.set_running_or_notify_cancel():
            return
        try:
            if (lost := self._lost or self._gone()) is not None:
                raise self.lost_error(lost) if isinstance(lost, str) else lost
            order, payload = self._order(item), self._data(item)
            item.begin = time.monotonic()
            item.handle = self._start(order, payload)
        except EngineLostError as error:
            self._lose(error)
            _resolve(item.future, error, failed=True)
        except Exception as error:  # the task cannot be pickled, for instance
            _resolve(item.future, error, failed=True)
        else:
            self._running.add(item)
            item.handle.add_done_callback(lambda handle: self._events.put((item, handle)))

    def _order(self, item):
        """What a worker has to know, pickled."""
        task = item.task
        if self._far and hasattr(task, "carrying"):
            task = task.carrying()  # its state is in a file
        return cloudpickle.dumps(
            Order(
                ref=self._ref,
                task=task,
                folder=str(self._folder),
                limits=replace(self._limits, retries=0),
                isolate=item.isolate,
                mark=f"{self._file.name}.{uuid.uuid4().hex}" if self.repeats else None,
            )
        )

    def _data(self, item):
        """What goes with the order to a worker that lacks the data."""
        if not item.needs_data:
            return None
        if self._payload is None:
            self._payload = self._put(self._file.read_bytes())
        item.n_sent += 1
        return self._payload

    def _settle(self, item, handle):
        """Make the outcome known, or try again."""
        self._running.remove(item)
        item.handle = None
        try:
            failed, value = pickle.loads(handle.result())
        except Exception as error:
            value = self._judge(error)
            failed = isinstance(value, Exception)
            if isinstance(value, EngineLostError):
                self._lose(value)
        if value is MISSING and item.n_sent < MAX_SENT:
            self._far = item.needs_data = True
            self._queue.appendleft(item)
            return
        if value is MISSING:
            failed = True
            value = RuntimeError(f"A worker was sent the data {MAX_SENT} times and has none.")
        if isinstance(value, LostTask) and value.status == "crash":
            item.n_crashes += 1
            if item.n_crashes <= self._limits.retries:
                self._queue.appendleft(item)
                return
            if not value.seconds:
                value = replace(value, seconds=time.monotonic() - item.begin)
        _resolve(item.future, value, failed)

    def lost_error(self, reason):
        """The error for a search whose engine is gone."""
        return EngineLostError(
            f"{self.name} is gone: {reason}. What had been evaluated is kept; with "
            "checkpoint_dir= the search goes on from there when it is fitted again."
        )

    def _lose(self, error):
        """The engine is gone: so are all tasks."""
        self._lost = error
        for item in [*self._running, *self._queue]:
            if item.future.running() or item.future.set_running_or_notify_cancel():
                _resolve(item.future, error, failed=True)
        self._running.clear()
        self._queue.clear()

    # ---- the end

    def _end(self):
        """End the thread, and stop what still runs."""
        self._events.put(None)
        self._thread.join(CLOSE_SECONDS)
        for item in list(self._running):
            if item.handle is not None:
                with suppress(Exception):  # the engine may be gone
                    self._stop(item.handle)
        self._lose(EngineLostError("The search has ended."))
        self._payload = None

    def _remove_files(self):
        if self._given_folder is None:
            shutil.rmtree(self._folder, ignore_errors=True)
        else:
            for file in self._folder.glob(f"{self._file.name}*"):
                file.unlink(missing_ok=True)


def first_line(error):
    """The class of an error and what it says, in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": .")


def _resolve(future, value, failed):
    if failed:
        future.set_exception(value)
    else:
        future.set_result(value)
