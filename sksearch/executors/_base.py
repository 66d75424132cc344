"""Base class of executors, and the description of a task's environment."""

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

MAX_WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class TaskEnvironment:
    """Description of the environment in which a task runs.

    Parameters
    ----------
    folder : Path or None
        Folder for outputs too large to return; None if objects are shared, or if the search's
        folder is not visible.
    owns_globals : bool
        True if the task is alone in its process, and so may seed its global generators.
    shares_memory : bool
        True if the search runs in this process.
    owns_process : bool
        True if the process runs nothing but tasks, so that no other code needs the state of its
        global generators.
    """

    folder: Path | None = None
    owns_globals: bool = True
    shares_memory: bool = True
    owns_process: bool = False


class Finished(Future):
    """Future with a known value; ten times faster, since nothing can wait for it."""

    def __init__(self, value: object):
        self._value = value

    def __repr__(self) -> str:
        return f"Finished({self._value!r})"

    def cancel(self) -> bool:
        """Return False: the future is done."""
        return False

    def cancelled(self) -> bool:
        """Return False."""
        return False

    def add_done_callback(self, fn: Callable[[Future], object]) -> None:
        """Call the function immediately."""
        fn(self)

    def done(self) -> bool:
        """Return True."""
        return True

    def result(self, timeout: float | None = None) -> Any:
        """Return the value."""
        return self._value

    def exception(self, timeout: float | None = None) -> None:
        """Return None: there was no error."""
        return


def environment_of_this_thread(folder: Path | None) -> TaskEnvironment:
    """Describe the environment of a task that the searching thread runs itself."""
    return TaskEnvironment(folder, threading.current_thread() is threading.main_thread())


class Executor(ABC):
    """Runs ``function(context, task, environment)``.

    The result of a task's future is the return value of the function, or a `LostTask`.

    Attributes
    ----------
    n_workers : int
        Number of tasks that run at the same time.
    window : float
        Number of tasks to keep submitted, running and waiting.
    has_latency : bool
        True if a free worker waits some milliseconds for its next task.
    recount_seconds : float
        Time after which `n_workers` may have changed; infinite for a fixed number.

    Examples
    --------
    >>> from concurrent.futures import Future
    >>> from sksearch.executors._base import Executor
    >>> class AtOnce(Executor):
    ...     def __init__(self, function, context):
    ...         self.function, self.context, self.n_workers = function, context, 1
    ...     def submit(self, task):
    ...         future = Future()
    ...         future.set_result(self.function(self.context, task, None))
    ...         return future
    >>> executor = AtOnce(lambda context, task, environment: context * task, 10)
    >>> executor.submit(4).result()
    40
    """

    n_workers: int = 1
    window: float = 1
    has_latency: bool = False
    recount_seconds: float = math.inf

    @property
    def wakes(self) -> bool:
        """True if `wait` also accepts a future that the end of any task completes.

        Otherwise it receives all running tasks each time.
        """
        return type(self).wait is Executor.wait

    @abstractmethod
    def submit(self, task: Any) -> Future:
        """Start a task."""

    def submit_suspect(self, task: Any) -> Future:
        """Start a task that may have killed an earlier process."""
        return self.submit(task)

    def stop(self) -> None:  # noqa: B027
        """Stop all running tasks if possible; no other task is submitted."""

    def wait(self, futures: Sequence[Future], timeout: float | None) -> None:
        """Return when one of the unfinished futures is done, or after `timeout` seconds."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        # Poll, because Ctrl-C would wait if a library has interrupted calls restarted.
        while futures:
            left = end - time.monotonic()
            done = wait(futures, max(0, min(left, MAX_WAIT_SECONDS)), FIRST_COMPLETED).done
            if done or left <= MAX_WAIT_SECONDS:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None
