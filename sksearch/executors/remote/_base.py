"""Base class of engines: start of a task, and detection of its loss."""

from abc import ABC, abstractmethod
from concurrent.futures import BrokenExecutor, CancelledError, Future
from typing import Any

from sksearch._utils._terminal import printable
from sksearch.executors._limits import EngineLostError, LostTask
from sksearch.executors.remote._worker import run_message

# Engines' signs that the worker of a task died: class names, and words of a message.
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

# Class names of errors that show that no task will get an answer.
LOST = {
    "CommClosedError",  # Dask
    "LocalRayletDiedError",  # Ray
    "RaySystemError",
}


class Engine(ABC):
    """A cluster or pool, started by other software, that runs tasks for us.

    A search uses the engine registered as an entry point of the group "sksearch.engines" under the
    class name of the active joblib backend, or of one of its base classes; otherwise a built-in
    engine, and ``joblib.Parallel`` for unknown backends.

    Parameters
    ----------
    backend : joblib backend
        The active one.
    n_workers : int
        Number of tasks that the engine runs at the same time.

    Attributes
    ----------
    name : str
        Name in messages.
    n_prefetched : int
        Number of tasks queued at the engine while its workers are busy, to hide its latency.
    retries_tasks : bool
        True if the engine itself retries a task whose worker died.
    isolates_tasks : bool
        True if each worker runs tasks in a child process, because its own death goes unnoticed.
    takes_all_workers : bool
        True if joblib counts all workers of this backend, whatever ``n_jobs``.

    Examples
    --------
    In the ``pyproject.toml`` of a package whose backend's class is ``FarmBackend``::

        [project.entry-points."sksearch.engines"]
        FarmBackend = "farm.sksearch:FarmEngine"

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from sksearch.executors.remote._base import Engine
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
    run_message = staticmethod(run_message)  # called by a worker

    @abstractmethod
    def __init__(self, backend: Any, n_workers: int): ...

    @abstractmethod
    def start(self, message: bytes, payload: Any) -> Future:
        """Begin ``run_message(message, payload)``."""

    def put(self, payload: bytes) -> Any:
        """Return a reference to the bytes, to be passed to `start`, so they are sent only once."""
        return payload

    def has_lost_payload(self, error: Exception) -> bool:
        """Return True if this error of a task means that the result of `put` is lost."""
        return False

    def why_lost(self) -> str | None:
        """Return the reason why the engine will never answer; None if it may."""
        return None

    def why_silent(self) -> str | None:
        """Same as `why_lost`, but possibly slow: called only after a long time without answers."""
        return self.why_lost()

    def count_workers(self) -> int | None:
        """Return the number of tasks that the engine can run now; None for a fixed number.

        Called every few seconds if the user asks for all workers.
        """
        return None

    def revive(self) -> bool:
        """Replace a broken pool; True if tasks can be started again."""
        return False

    def cancel(self, handle: Future) -> None:
        """Cancel a started task."""
        handle.cancel()

    def close(self) -> None:  # noqa: B027
        """Free the resources of this search."""

    def outcome_of(self, error: Exception) -> LostTask | Exception:
        """Return the outcome of a task whose worker gave no answer.

        Parameters
        ----------
        error : Exception
            The exception of the engine.

        Returns
        -------
        outcome : LostTask or Exception
            An `EngineLostError` if the error does not concern this task alone.
        """
        if (reason := self.why_lost()) is not None:
            return self.lost_error(reason)
        names = {cls.__name__ for cls in type(error).__mro__}
        if names & DIED or any(words in str(error) for words in DIED_WORDS):
            return LostTask("crash", f"the worker died ({type(error).__name__})")
        if isinstance(error, CancelledError | BrokenExecutor) or names & LOST:
            return self.lost_error(first_line(error))
        return error

    def lost_error(self, reason: str) -> EngineLostError:
        """Return the error for a search whose engine is lost."""
        return EngineLostError(
            f"{self.name} is lost: {reason}. Finished evaluations are kept; with checkpoint_dir=, "
            "fit resumes the search from them."
        )


def first_line(error: Exception) -> str:
    """Return the class and message of an error in one line."""
    return printable(f"{type(error).__name__}: {error}".splitlines()[0].rstrip(": ."))
