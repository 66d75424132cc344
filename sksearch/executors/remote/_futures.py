"""Any pool of `concurrent.futures`, and such a pool as a joblib backend."""

from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from joblib.parallel import ParallelBackendBase

from sksearch._utils._pickles import dumps, loads
from sksearch.executors._limits import EngineLostError
from sksearch.executors.remote._base import Engine, first_line

CHECK_SECONDS = 0.1  # interval between checks that a pool still starts its workers


class FuturesBackend(ParallelBackendBase):
    """A joblib backend for any pool with the interface of `concurrent.futures.Executor`.

    Examples are the process pools of the standard library, ``mpi4py.futures.MPIPoolExecutor`` and
    Parsl. The backend works for all searches of this package and for ``joblib.Parallel``.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        The pool. It is not shut down.
    n_workers : int or None, default=None
        Number of tasks that the pool runs at the same time, used for ``n_jobs=None`` and
        ``n_jobs=-1``. None: the number that the pool reports.

    Raises
    ------
    ValueError
        If `n_workers` is None and the pool does not report its number of workers.
    EngineLostError
        If `n_workers` is None and MPI could not start the pool's workers.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import joblib
    >>> from scipy.stats import uniform
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.executors import FuturesBackend
    >>> search = RandomSearchCV(Ridge(), {"alpha": uniform(0, 1)}, n_iter=4)
    >>> with ThreadPoolExecutor(2) as pool, joblib.parallel_config(FuturesBackend(pool)):
    ...     _ = search.fit(*load_diabetes(return_X_y=True))
    >>> len(search.cv_results_["params"])
    4
    """

    supports_retrieve_callback = True

    def __init__(self, executor: Executor, n_workers: int | None = None):
        super().__init__()
        self.executor = executor
        self.default_n_jobs = self.n_workers = n_workers or _count_workers(executor)
        self.supports_sharedmem = self.uses_threads = isinstance(executor, ThreadPoolExecutor)

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return the number of tasks to run at the same time; -2 means all workers but one."""
        if n_jobs == 0:
            raise ValueError("n_jobs == 0 in Parallel has no meaning")
        if n_jobs is None:
            return self.n_workers
        return n_jobs if n_jobs > 0 else max(self.n_workers + 1 + n_jobs, 1)

    def submit(self, func: Callable, callback: Callable | None = None) -> Future:
        """Queue a batch of calls."""
        if self.supports_sharedmem:
            future = self.executor.submit(func)
        else:  # pools use the standard pickle, which does not support lambdas
            future = self.executor.submit(_call, dumps(func))
        if callback is not None:
            future.add_done_callback(callback)
        return future

    apply_async = submit  # called by joblib before 1.5

    def retrieve_result_callback(self, out: Future) -> Any:
        """Return the result of a batch."""
        return out.result()


class FuturesEngine(Engine):
    """The pool of a `FuturesBackend`."""

    def __init__(self, backend: FuturesBackend, n_workers: int):
        self._pool = backend.executor
        self._is_own = False  # replaced by the user
        self.name = f"The {type(self._pool).__name__}"
        # An MPI process that dies ends all others, or leaves the search waiting for its answer.
        self.isolates_tasks = _is_of_mpi(self._pool)

    def start(self, message: bytes, payload: Any) -> Future:
        """Submit to the pool."""
        try:
            if getattr(self._pool, "_broken", False):
                self.revive()
            return self._pool.submit(self.run_message, message, payload)
        except Exception as error:  # it was shut down, or it broke
            raise self.lost_error(first_line(error)) from error

    def revive(self) -> bool:
        """Replace a broken pool of the standard library by one with the same arguments."""
        if type(self._pool) is not ProcessPoolExecutor:
            return False
        if getattr(self._pool, "_broken", False):
            self.close()
            names = "max_workers", "mp_context", "initializer", "initargs", "max_tasks_per_child"
            args: dict[str, Any] = {name: getattr(self._pool, f"_{name}", None) for name in names}
            self._pool = ProcessPoolExecutor(**{"initargs": ()} | args)
            self._is_own = True
        return True

    def close(self) -> None:
        """Shut down a pool that replaces the user's."""
        if self._is_own:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def why_lost(self) -> str | None:
        """Return the reason why no worker will answer: MPI silently started none."""
        workers = _workers_of_mpi(self._pool) if self.isolates_tasks else None
        if workers is None or workers.thread.is_alive():
            return None
        return "it has no workers: MPI did not start them, or they were shut down"


def _call(pickled: bytes) -> Any:
    return loads(pickled, is_live=True)()


def _is_of_mpi(executor: Executor) -> bool:
    return hasattr(executor, "bootup")


def _workers_of_mpi(executor: Executor) -> Any:
    """Private worker state of mpi4py; None before it starts workers."""
    workers = getattr(executor, "_pool", None)
    return workers if hasattr(workers, "thread") and hasattr(workers, "event") else None


def _await_workers_of_mpi(executor: Any) -> None:
    """Wait until an mpi4py pool has workers; if none starts, its count would wait forever."""
    executor.bootup(wait=False)
    if (workers := _workers_of_mpi(executor)) is None:
        return
    while not workers.event.wait(CHECK_SECONDS):
        if not workers.thread.is_alive():
            raise EngineLostError(
                f"The {type(executor).__name__} has no workers: MPI did not start them, see "
                "stderr for the reason. Request fewer workers (max_workers=), or give MPI more "
                "slots (--oversubscribe)."
            )


def _count_workers(executor: Executor) -> int:
    if _is_of_mpi(executor):
        _await_workers_of_mpi(executor)
    # The first is mpi4py's, the second the standard library's and loky's.
    for name in ("num_workers", "_max_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    raise ValueError(
        f"The number of workers of {type(executor).__name__} is unknown: pass n_workers=."
    )
