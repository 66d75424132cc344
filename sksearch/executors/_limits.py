"""Where tasks run, what one may use, and what is left of one that used more."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from joblib import effective_n_jobs

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module that is not there


@dataclass(frozen=True)
class Limits:
    """What one task may use.

    Parameters
    ----------
    seconds : float or None
        Seconds after which its worker is stopped, counted from when the worker is ready.
    memory : int or None
        Bytes that the task may allocate on top of what its worker has at rest.
    retries : int
        How often a task whose worker died is tried again.
    stops : bool
        Whether tasks that run may be stopped at any moment.
    """

    seconds: float | None = None
    memory: int | None = None
    retries: int = 0
    stops: bool = False

    @property
    def isolate(self) -> bool:
        """Whether a task needs a process of its own."""
        return self.stops or self.seconds is not None or self.memory is not None


@dataclass(frozen=True)
class Workers:
    """Where tasks run, and how many at a time.

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
        Count of candidates that are under way at a time; "auto": as many as keep all busy.
    """

    n_jobs: int | None = None
    pre_dispatch: int | str | None = "2*n_jobs"
    devices: Sequence[int | str] | None = None
    limits: Limits = Limits()
    batch_size: int | str = 1

    @property
    def are_needed(self) -> bool:
        """Whether no task runs in this process: tasks are limited, or have devices."""
        return self.limits.isolate or self.devices is not None

    def n_under_way(self, n_tasks: int) -> int:
        """Count of candidates under way at a time, where each begins with so many tasks."""
        if not isinstance(self.batch_size, str):
            return self.batch_size
        return max(1, -(-effective_n_jobs(self.n_jobs) // n_tasks))


@dataclass(frozen=True)
class LostTask:
    """The outcome of a task from which its worker did not return.

    Parameters
    ----------
    status : {"crash", "timeout", "error"}
        As in `Result`; "error" for a task that could not be sent.
    error : str
        The error in one line.
    seconds : float
        How long it ran.
    """

    status: str
    error: str
    seconds: float = 0.0


class EngineLostError(RuntimeError):
    """What ran the tasks is gone as a whole: a cluster that was closed, a pool that broke.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import joblib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.executors import EngineLostError, FuturesBackend
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
    """Say whether this system lets a process limit its own memory."""
    return resource is not None and hasattr(resource, "RLIMIT_AS")


@contextmanager
def limited_memory(n_bytes: int | None) -> Iterator[None]:
    """A context in which this process can allocate `n_bytes` more than it has now.

    What asks for more gets a ``MemoryError`` and can go on.
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
    """Bytes of address space that this process has; large arrays that it maps are among them."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except OSError:  # no Linux: the peak of resident memory is the nearest that there is
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
