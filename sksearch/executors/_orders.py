"""What an engine's worker is told to do, and how it does it."""

import pickle
import signal
import threading
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import joblib

from sksearch._compat import cloudpickle
from sksearch._threads import controller
from sksearch.executors import _broadcast
from sksearch.executors._executor import TaskEnvironment
from sksearch.executors._limits import Limits, LostTask
from sksearch.executors._process import WorkerProcess, that_travels
from sksearch.executors._signals import Interrupts
from sksearch.executors._worker import run_limited, run_task

IDLE_SECONDS = 300  # after which the child of an engine's worker is ended

NOWHERE = Path(__file__) / "nowhere"  # a folder that no machine has

#: Function, context and nested backend of the searches of this process, by token.
shared_here: dict[str, tuple] = {}

_own = threading.local()  # the child of each thread of this worker


@dataclass(frozen=True)
class Order:
    """A task for a worker.

    Parameters
    ----------
    ref : Ref
        Of what all tasks share.
    task : object
        For the function.
    folder : str
        Where to leave what is too large to return.
    limits : Limits
        What the task may use.
    isolate : bool
        Whether to run it in a child of the worker.
    mark : str or None
        File name that says that the task was begun, for engines that try a task again when its
        worker died. The second worker then does not die, too.
    """

    ref: _broadcast.Ref
    task: Any
    folder: str
    limits: Limits
    isolate: bool
    mark: str | None


def work(order: bytes, payload=None, alone=True) -> bytes:
    """Carry out an order in a worker.

    Parameters
    ----------
    order : bytes
        A pickled `Order`.
    payload : bytes-like or None, default=None
        What the order's `ref` names, for a worker that does not see its file.
    alone : bool, default=True
        Whether no other task runs in this process at the same time.

    Returns
    -------
    answer : bytes
        Pickled (False, output) or (True, exception).
    """
    try:
        with _deaf_to_ctrl_c():
            return cloudpickle.dumps((False, _carry_out(pickle.loads(order), payload, alone)))
    except Exception as error:
        return cloudpickle.dumps((True, that_travels(error)))


def work_in_a_thread(order: bytes, payload=None) -> bytes:
    """Carry out an order in a worker of Dask, which may have several threads."""
    from distributed import get_worker

    return work(order, payload, alone=get_worker().state.nthreads == 1)


def _carry_out(order, payload, alone):
    visible = _broadcast.is_visible(order.ref)
    folder = Path(order.folder) if visible else NOWHERE
    if order.mark is None or not visible:
        return _run(order, folder, payload, alone)
    mark = folder / order.mark
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return LostTask("crash", "the worker died while it ran the task")
    except OSError:  # a full disk is no reason not to run it
        return _run(order, folder, payload, alone)
    try:
        return _run(order, folder, payload, alone)
    finally:
        with suppress(OSError):
            mark.unlink()


def _run(order, folder, payload, alone):
    here = shared_here.get(order.ref.token)
    # Where tasks share a process, a child gives each of them what belongs to the process: the
    # global generators, and BLAS to be limited.
    if order.isolate or (here is None and not alone):
        if not hasattr(_own, "child"):
            _own.child = _Child()
        return _own.child.run(order, folder, payload)
    if here is not None:  # threads of the searching process
        function, context, nested = here
        place = TaskEnvironment(folder, owns_globals=False)
        with joblib.parallel_config(nested):
            return function(context, order.task, place)
    with _one_blas_thread_from_any_thread():
        return run_task(order.ref, order.task, folder, payload)


class _Child:
    """A process for the tasks of one thread of a worker, which ends when it is idle."""

    def __init__(self):
        self._process = WorkerProcess()
        self._lock = threading.Lock()
        self._timer = None
        # A worker that ends would wait for its children.
        Finalize(None, self._process.close, exitpriority=100)

    def run(self, order, folder, payload):
        """Run a task within its limits."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            out = run_limited(self._process, order.ref, order.task, folder, order.limits, payload)
            self._timer = threading.Timer(IDLE_SECONDS, self._end)
            self._timer.daemon = True
            self._timer.start()
        return out

    def _end(self):
        with self._lock:
            if self._timer is threading.current_thread():
                self._process.kill()


def _one_blas_thread_from_any_thread():
    if threading.current_thread() is threading.main_thread():
        return nullcontext()  # `run_task` does it
    return controller().limit(limits=1, user_api="blas")


@contextmanager
def _deaf_to_ctrl_c():
    """Ctrl-C is meant for the search, which decides what becomes of its tasks."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # An engine may end its workers by SIGTERM, which is no failure of the candidate.
        with Interrupts():
            yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
