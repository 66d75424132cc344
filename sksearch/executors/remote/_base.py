"""What differs from engine to engine: how a task is begun, and how its loss is noticed."""

from abc import ABC, abstractmethod
from concurrent.futures import BrokenExecutor, CancelledError, Future
from typing import Any

from sksearch._utils._terminal import printable
from sksearch.executors._limits import EngineLostError, LostTask
from sksearch.executors.remote._worker import run_message

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


class Engine(ABC):
    """What others have started and runs tasks for us: a cluster, or a pool.

    A search takes the engine that an entry point of the group "sksearch.engines" names by the
    class of the active joblib backend, or a class above it; else one of ours, and for a backend
    that nobody knows ``joblib.Parallel``.

    Parameters
    ----------
    backend : joblib backend
        The active one.
    n_workers : int
        Count of tasks that the engine runs at the same time.

    Attributes
    ----------
    name : str
        Name in messages.
    n_prefetched : int
        Count of tasks that the engine has while its workers are busy, to hide its latency.
    retries_tasks : bool
        Whether the engine itself tries a task again when its worker died.
    isolates_tasks : bool
        Whether each worker runs tasks in a child process, since nobody hears of its own death.
    takes_all_workers : bool
        Whether joblib counts all workers of this backend, whatever ``n_jobs``.

    Examples
    --------
    In the ``pyproject.toml`` of a package whose backend's class is ``FarmBackend``::

        [project.entry-points."sksearch.engines"]
        FarmBackend = "farm.sksearch:FarmEngine"

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from sksearch.executors import Engine
    >>> class FarmEngine(Engine):
    ...     name = "The farm"
    ...     def __init__(self, backend, n_workers):
    ...         self.pool = ThreadPoolExecutor(n_workers)
    ...     def start(self, message, payload):
    ...         return self.pool.submit(self.run_message, message, payload)
    """

    name: str = "The engine"
    n_prefetched: int = 1
    retries_tasks: bool = False
    isolates_tasks: bool = False
    takes_all_workers: bool = False
    run_message = staticmethod(run_message)  # what a worker calls

    @abstractmethod
    def __init__(self, backend: Any, n_workers: int): ...

    @abstractmethod
    def start(self, message: bytes, payload: Any) -> Future:
        """Begin ``run_message(message, payload)``."""

    def put(self, payload: bytes) -> Any:
        """Return what to pass to `start` instead of the bytes, so that they travel once."""
        return payload

    def has_lost_payload(self, error: Exception) -> bool:
        """Whether a task failed by this error because what `put` returned is gone."""
        return False

    def why_lost(self) -> str | None:
        """Return why the engine will never answer; None if it may."""
        return None

    def why_silent(self) -> str | None:
        """Do as `why_lost`, but may take a while: asked only when no answer has come for long."""
        return self.why_lost()

    def cancel(self, handle: Future) -> None:
        """Cancel what was begun."""
        handle.cancel()

    def close(self) -> None:  # noqa: B027
        """Free what belongs to this search."""

    def outcome_of(self, error: Exception) -> LostTask | Exception:
        """Return the outcome of a task whose worker gave no answer.

        Parameters
        ----------
        error : Exception
            The exception of the engine.

        Returns
        -------
        outcome : LostTask or Exception
            An `EngineLostError` if it is not about this task alone.
        """
        if (reason := self.why_lost()) is not None:
            return self.lost_error(reason)
        names = {cls.__name__ for cls in type(error).__mro__}
        if names & DIED or any(words in str(error) for words in DIED_WORDS):
            return LostTask("crash", f"the worker died ({type(error).__name__})")
        if isinstance(error, CancelledError | BrokenExecutor):
            return self.lost_error(first_line(error))
        return error

    def lost_error(self, reason: str) -> EngineLostError:
        """Make the error for a search whose engine is gone."""
        return EngineLostError(
            f"{self.name} is gone: {reason}. What had been evaluated is kept; with "
            "checkpoint_dir= the search goes on from there when it is fitted again."
        )


def first_line(error: Exception) -> str:
    """Return the class of an error and what it says, in one line."""
    return printable(f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": ."))
