"""Messages to a worker of an engine, and the run of their tasks."""

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import joblib

from sksearch._utils._numerics import one_thread
from sksearch._utils._pickles import dumps, loads
from sksearch.executors import _shared_data
from sksearch.executors._base import TaskEnvironment
from sksearch.executors._limits import Limits, LostTask
from sksearch.executors._shared_data import Payload
from sksearch.executors._signals import Interrupts
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._serving import describe, picklable_error
from sksearch.executors.local._worker import run_limited, run_task

IDLE_SECONDS = 300  # idle time after which the child process of a worker is ended

NO_FOLDER = Path(__file__) / "none"  # a folder that exists on no machine

#: Function, context and nested backend of the searches run by this process, by token.
shared_in_process: dict[str, tuple] = {}

_this_thread = threading.local()  # holds the child of each thread of this worker


@dataclass(frozen=True)
class TaskMessage:
    """A task, and the data that a worker needs to run it.

    Parameters
    ----------
    ref : Ref
        Reference to the data shared by all tasks.
    task : object
        Argument of the function.
    folder : str
        Folder for outputs too large to return.
    limits : Limits
        Limits of the task.
    isolate : bool
        If True, run it in a child process of the worker.
    marker : str or None
        Name of a file that exists while the task runs, for engines that retry a task whose worker
        died. It protects the second worker from the same death.
    """

    ref: _shared_data.Ref
    task: Any
    folder: str
    limits: Limits
    isolate: bool
    marker: str | None


def run_message(message: bytes, payload: Any = None, alone: bool = True) -> bytes:
    """Run the task of a message in a worker.

    Parameters
    ----------
    message : bytes
        A pickled `TaskMessage`.
    payload : bytes-like or None, default=None
        Data of the message's `ref`, for a worker that does not see its file.
    alone : bool, default=True
        True if no other task runs in this process at the same time.

    Returns
    -------
    answer : bytes
        Pickled (False, output) or (True, exception).
    """
    try:
        read = loads(message, is_live=True)
    except BaseException as error:
        lost = LostTask("error", f"a worker could not read the candidate: {describe(error)}")
        return dumps((False, lost))
    try:
        with _ignore_sigint():
            return dumps((False, _run_once(read, payload, alone)))
    except (KeyboardInterrupt, SystemExit):  # raised in this process
        raise
    except BaseException as error:
        return dumps((True, picklable_error(error)))


def _run_once(message: TaskMessage, payload: Payload, alone: bool) -> Any:
    """Run a task, unless its marker shows that it killed another worker."""
    visible = _shared_data.is_visible(message.ref)
    folder = Path(message.folder) if visible else NO_FOLDER
    if message.marker is None or not visible:
        return _run(message, folder, payload, alone)
    marker = folder / message.marker
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return LostTask("crash", "the worker died during the task")
    except OSError:  # run it even if the disk is full
        return _run(message, folder, payload, alone)
    try:
        return _run(message, folder, payload, alone)
    finally:
        with suppress(OSError):
            marker.unlink()


def _run(message: TaskMessage, folder: Path, payload: Payload, alone: bool) -> Any:
    """Run a task in a child process, in a thread of the search, or in this process."""
    shared = shared_in_process.get(message.ref.token)
    # If tasks share a process, a child process gives each its own process-wide state: the global
    # generators, and the thread limit of BLAS.
    if message.isolate or (shared is None and not alone):
        if not hasattr(_this_thread, "child"):
            _this_thread.child = _ChildProcess()
        return _this_thread.child.run(message, folder, payload)
    if shared is not None:  # threads of the searching process
        function, context, nested = shared
        environment = TaskEnvironment(folder, owns_globals=False)
        with joblib.parallel_config(nested):
            return function(context, message.task, environment)
    with _one_blas_thread_in_any_thread():
        return run_task(message.ref, message.task, folder, payload)


class _ChildProcess:
    """A process for the tasks of one worker thread, which ends when idle."""

    def __init__(self) -> None:
        self._process = WorkerProcess()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        # A worker that ends would wait for its children.
        Finalize(None, self._process.close, exitpriority=100)

    def run(self, message: TaskMessage, folder: Path, payload: Payload) -> Any:
        """Run a task within its limits."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            out = run_limited(
                self._process, message.ref, message.task, folder, message.limits, payload
            )
            self._timer = threading.Timer(IDLE_SECONDS, self._end)
            self._timer.daemon = True
            self._timer.start()
        return out

    def _end(self) -> None:
        with self._lock:
            if self._timer is threading.current_thread():
                self._process.kill()


def _one_blas_thread_in_any_thread() -> AbstractContextManager:
    """Limit BLAS to one thread in any thread; `run_task` does so only in the main thread."""
    if threading.current_thread() is threading.main_thread():
        return nullcontext()  # `run_task` does it
    return one_thread("blas")


@contextmanager
def _ignore_sigint() -> Iterator[None]:
    """Ignore Ctrl-C within a context: the search decides about its tasks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # An engine may end its workers by SIGTERM, which is not a failure of the candidate.
        with Interrupts():
            yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
