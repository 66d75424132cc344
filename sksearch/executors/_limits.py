"""Settings of workers, limits of a task, and the outcome of a task that exceeded them."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module that is not there


@dataclass(frozen=True)
class Limits:
    """Limits of one task.

    Parameters
    ----------
    seconds : float or None
        Time limit, counted from when the worker is ready; then the worker is stopped.
    memory : int or None
        Bytes that the task may allocate in addition to the idle worker's memory.
    retries : int
        Number of retries of a task whose worker died.
    stops : bool
        True if running tasks may be stopped at any moment.
    """

    seconds: float | None = None
    memory: int | None = None
    retries: int = 0
    stops: bool = False

    @property
    def isolate(self) -> bool:
        """True if a task needs a separate process."""
        return self.stops or self.seconds is not None or self.memory is not None


@dataclass(frozen=True)
class Workers:
    """Settings of the workers.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn.
    pre_dispatch : int, str or None
        As in scikit-learn.
    devices : sequence or None
        CUDA devices that worker processes share in turn.
    limits : Limits
        Limits of one task.
    batch_size : int or "auto"
        Number of candidates in progress at a time; "auto": one if its tasks occupy all workers,
        otherwise enough to keep them busy.
    """

    n_jobs: int | None = None
    pre_dispatch: int | str | None = "2*n_jobs"
    devices: Sequence[int | str] | None = None
    limits: Limits = Limits()
    batch_size: int | str = 1

    @property
    def are_needed(self) -> bool:
        """True if no task runs in this process: tasks are limited, or have devices."""
        return self.limits.isolate or self.devices is not None

    def n_under_way(self, n_workers: int, n_tasks: int) -> float:
        """Number of candidates of a learning search in progress at a time.

        Parameters
        ----------
        n_workers : int
            Number of tasks that run at the same time.
        n_tasks : int
            Number of tasks with which a candidate begins.

        Returns
        -------
        n_candidates : int or math.inf
            Infinite: enough to keep all workers busy, with results told as they arrive.
        """
        if not isinstance(self.batch_size, str):
            return self.batch_size
        return 1 if n_workers <= n_tasks else math.inf


@dataclass(frozen=True)
class LostTask:
    """Outcome of a task whose worker did not return.

    Parameters
    ----------
    status : {"crash", "timeout", "error"}
        As in `Result`; "error" for a task that could not be sent.
    error : str
        The error in one line.
    seconds : float
        Running time of the task.
    """

    status: str
    error: str
    seconds: float = 0.0


class EngineLostError(RuntimeError):
    """Error raised if the cluster was closed, the pool broke, or no worker process can be started.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import joblib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.executors import FuturesBackend
    >>> from sksearch.search import EngineLostError
    >>> X, y = load_iris(return_X_y=True)
    >>> pool = ThreadPoolExecutor(2)
    >>> pool.shutdown()  # as if the cluster had gone away
    >>> with joblib.parallel_config(FuturesBackend(pool), n_jobs=2):
    ...     try:
    ...         _ = RandomSearchCV(SVC(), {"C": [1, 10]}, n_iter=2).fit(X, y)
    ...     except EngineLostError as error:
    ...         print(type(error).__name__)
    EngineLostError
    """


def can_limit_memory() -> bool:
    """Return whether this system lets a process limit its own memory."""
    return resource is not None and hasattr(resource, "RLIMIT_AS")


@contextmanager
def limited_memory(n_bytes: int | None) -> Iterator[None]:
    """Let this process allocate at most `n_bytes` more within a context.

    Larger requests raise a ``MemoryError``, after which the process can continue.
    """
    if n_bytes is None or not can_limit_memory():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = _address_space() + n_bytes
    limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *limits]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    """Bytes of address space of this process, including memory-mapped arrays."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # not Linux: peak resident memory is the nearest substitute
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
