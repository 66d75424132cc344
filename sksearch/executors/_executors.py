"""Where tasks run: this process, a pool of processes or threads, or a joblib backend.

An executor is made for one function and one context, what all tasks share, which travels once.
"""

import os
import pickle
import queue
import shutil
import signal
import tempfile
import threading
import traceback
from abc import ABC, abstractmethod
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path

import joblib
from joblib.externals.loky import ProcessPoolExecutor
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from sksearch._clock import open_clock
from sksearch._compat import cloudpickle, configured, pre_dispatch_count
from sksearch._threads import one_blas_thread
from sksearch.executors import _broadcast

IDLE_SECONDS = 300
CONTEXT = "context"  # name of the file that all workers read

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


@dataclass(frozen=True)
class Place:
    """What a task has to know about where it runs.

    Parameters
    ----------
    folder : Path or None
        Where to leave what is too large to return; None where objects are shared.
    owns_globals : bool
        Whether the task is alone in its process, and so may seed its global generators.
    """

    folder: Path | None = None
    owns_globals: bool = True


class Executor(ABC):
    """Runs ``function(context, task, place)``.

    Attributes
    ----------
    n_workers : int
        Count of tasks that run at the same time.
    window : float
        Count of tasks to keep submitted, running and waiting.
    """

    n_workers: int = 1
    window: float = 1

    @abstractmethod
    def submit(self, task) -> Future:
        """Begin a task."""

    @abstractmethod
    def wait(self, futures, timeout) -> None:
        """Return when one of the unfinished futures is done, or after `timeout` seconds."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class SerialExecutor(Executor):
    """Runs each task in this thread, at once."""

    def __init__(self, function, context):
        self._function, self._context = function, context

    def submit(self, task):
        """Run the task; what it raises is raised here."""
        future = Future()
        place = Place(owns_globals=threading.current_thread() is threading.main_thread())
        future.set_result(self._function(self._context, task, place))
        return future

    def wait(self, futures, timeout):
        """Nothing is ever unfinished."""

    def __enter__(self):
        self._limit = one_blas_thread()
        self._limit.__enter__()
        return self

    def __exit__(self, *error):
        self._limit.__exit__(*error)


class ThreadExecutor(Executor):
    """Runs tasks in threads of this process."""

    def __init__(self, function, context, n_workers, window, nested):
        self.n_workers, self.window = n_workers, window
        self._function, self._context, self._nested = configured(function), context, nested
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="sksearch")

    def submit(self, task):
        """Queue the task."""
        return self._pool.submit(self._run, task)

    def _run(self, task):
        with joblib.parallel_config(self._nested):
            return self._function(self._context, task, Place(owns_globals=False))

    def wait(self, futures, timeout):
        """Wait for the first."""
        wait(futures, timeout, FIRST_COMPLETED)

    def __enter__(self):
        self._limit = one_blas_thread()
        self._limit.__enter__()
        return self

    def __exit__(self, *error):
        self._pool.shutdown(cancel_futures=True)
        self._limit.__exit__(*error)


class ProcessExecutor(Executor):
    """Runs tasks in a pool of worker processes, which later searches use again."""

    def __init__(self, function, context, n_workers, window, nested):
        self.n_workers, self.window = n_workers, window
        self._shared = (configured(function), context, nested)

    def __enter__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="sksearch-"))
        try:
            _broadcast.write(self._shared, self._folder / CONTEXT)
            self._pool = _lease_pool(self.n_workers)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return self

    def submit(self, task):
        """Queue the task."""
        return self._pool.submit(_run_in_worker, self._folder, task)

    def wait(self, futures, timeout):
        """Wait for the first."""
        wait(futures, timeout, FIRST_COMPLETED)

    def __exit__(self, error_type, *error):
        if error_type is None:
            _return_pool(self.n_workers, self._pool)
        else:  # what still runs is of no use to anyone
            _kill(self._pool)
        shutil.rmtree(self._folder, ignore_errors=True)


class JoblibExecutor(Executor):
    """Runs what was submitted in one call of `joblib.Parallel`: for backends of other packages.

    Their futures are not joblib's public interface, so a batch ends before the next begins.
    """

    def __init__(self, function, context, n_workers, window, shares_memory):
        self.n_workers, self.window = n_workers, window
        self._function, self._context = function, context
        self._place = Place(owns_globals=not shares_memory)
        self._queue = []

    def submit(self, task):
        """Note the task for the next batch."""
        future = Future()
        self._queue.append((task, future))
        return future

    def wait(self, futures, timeout):
        """Run all that are noted."""
        queue, self._queue = self._queue, []
        outs = Parallel(n_jobs=self.n_workers)(
            delayed(self._function)(self._context, task, self._place) for task, _ in queue
        )
        for (_, future), out in zip(queue, outs, strict=True):
            future.set_result(out)


def make_executor(function, context, n_jobs, pre_dispatch) -> Executor:
    """The executor for ``n_jobs`` and the active joblib backend.

    While a `VirtualClock` is open it is that clock's, on that clock's workers.

    Parameters
    ----------
    function : callable
        ``function(context, task, place)``; importable or cloudpicklable.
    context : object
        What all tasks share; must not change any more.
    n_jobs : int or None
        As in scikit-learn.
    pre_dispatch : int or str
        As in scikit-learn: the count of tasks in flight, at least one a worker.

    Returns
    -------
    executor : Executor
        To be entered as a context.

    Raises
    ------
    ValueError
        If ``n_jobs`` is 0.
    """
    n_workers = joblib.effective_n_jobs(n_jobs)
    if (clock := open_clock()) is not None:
        return clock.executor(function, context)
    if n_workers == 1:
        return SerialExecutor(function, context)
    window = max(n_workers, pre_dispatch_count(pre_dispatch, n_workers))
    backend, _ = get_active_backend()
    kind, (nested, _) = type(backend).__name__, backend.get_nested_backend()
    if kind == "ThreadingBackend":
        return ThreadExecutor(function, context, n_workers, window, nested)
    if kind in ("LokyBackend", "MultiprocessingBackend"):
        return ProcessExecutor(function, context, n_workers, window, nested)
    return JoblibExecutor(function, context, n_workers, window, backend.supports_sharedmem)


# Idle pools by process and size. Not loky's own reusable pool: joblib takes that one for its own.
_idle_pools: dict[tuple[int, int], list[ProcessPoolExecutor]] = {}
_idle_pools_lock = threading.Lock()


def _lease_pool(n_workers):
    """An idle pool of an earlier search, or a new one; nobody else has it meanwhile."""
    with _idle_pools_lock:
        idle = _idle_pools.setdefault((os.getpid(), n_workers), [])
        while idle:
            pool = idle.pop()
            if not (pool._flags.broken or pool._flags.shutdown):
                return pool
    # A forked child joins its workers when it ends: stop them before that.
    Finalize(None, _shut_idle_pools, exitpriority=100)
    return ProcessPoolExecutor(
        n_workers, timeout=IDLE_SECONDS, env=_worker_env(n_workers), initializer=_ignore_sigint
    )


def _return_pool(n_workers, pool):
    with _idle_pools_lock:
        _idle_pools[os.getpid(), n_workers].append(pool)


def _shut_idle_pools():
    with _idle_pools_lock:
        for pid, n_workers in list(_idle_pools):
            for pool in _idle_pools.pop((pid, n_workers)) if pid == os.getpid() else ():
                _kill(pool)


def _kill(pool):
    """Stop the workers of a pool, whatever they do."""
    # loky forgets what was queued before it has read the queue, and then fails on a number that
    # it finds there.
    with suppress(queue.Empty):
        while True:
            pool._work_ids.get_nowait()
    pool.shutdown(wait=True, kill_workers=True)


def _ignore_sigint():
    """Ctrl-C is meant for the search, which decides what becomes of the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _worker_env(n_workers):
    """Thread counts that share the cores among workers, where the user has set none."""
    share = str(max(joblib.cpu_count() // n_workers, 1))
    return {name: os.environ.get(name, share) for name in THREAD_VARIABLES}


def _run_in_worker(folder, task):
    """Run one task in a worker process."""
    function, context, nested = _broadcast.read_once(folder / CONTEXT)
    try:
        # A search inside of a search must not start workers of workers.
        with one_blas_thread(), joblib.parallel_config(nested):
            return function(context, task, Place(folder))
    except Exception as error:
        raise _that_travels(error) from None


def _that_travels(error):
    """The error, or its text where it cannot be pickled: that would break the pool."""
    try:
        pickle.loads(cloudpickle.dumps(error))
    except Exception:
        text = "".join(traceback.format_exception(error))
        return RuntimeError(f"{type(error).__name__} in a worker process:\n{text}")
    return error
