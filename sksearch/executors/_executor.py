"""What an executor is, and those that need no other process."""

import math
import threading
import time
from abc import ABC, abstractmethod
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import joblib

from sksearch._compat import configured
from sksearch._threads import one_blas_thread

SLICE = 0.5  # seconds


@dataclass(frozen=True)
class TaskEnvironment:
    """What a task has to know about where it runs.

    Parameters
    ----------
    folder : Path or None
        Where to leave what is too large to return; None where objects are shared, or where the
        search's folder is not seen.
    owns_globals : bool
        Whether the task is alone in its process, and so may seed its global generators.
    shares_memory : bool
        Whether the search is in this process.
    """

    folder: Path | None = None
    owns_globals: bool = True
    shares_memory: bool = True


class Executor(ABC):
    """Runs ``function(context, task, place)``.

    The result of a task's future is what the function returned, or a `LostTask`.

    Attributes
    ----------
    n_workers : int
        Count of tasks that run at the same time.
    window : float
        Count of tasks to keep submitted, running and waiting.
    distant : bool
        Whether it takes a worker time to get a task, milliseconds.
    """

    n_workers: int = 1
    window: float = 1
    distant: bool = False

    @abstractmethod
    def submit(self, task) -> Future:
        """Begin a task."""

    def submit_suspect(self, task) -> Future:
        """Begin a task that may have been what an earlier process died of."""
        return self.submit(task)

    def wait(self, futures, timeout) -> None:
        """Return when one of the unfinished futures is done, or after `timeout` seconds."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        # Not at once: where a library has signals restart what they interrupt, Ctrl-C would wait.
        while futures:
            left = end - time.monotonic()
            done = wait(futures, max(0, min(left, SLICE)), FIRST_COMPLETED).done
            if done or left <= SLICE:
                return

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


class InProcessExecutor(Executor):
    """What runs tasks in this process, which a task can take down with it."""

    def __init__(self, function, context, folder, nested):
        self._function, self._context = function, context
        self._folder, self._nested = folder, nested

    def submit_suspect(self, task):
        """Run the task in a process of its own, at once."""
        from sksearch.executors._slots import SlotExecutor

        slot = SlotExecutor(self._function, self._context, 1, 1, self._nested, None, self._folder)
        try:
            with slot:
                future = slot.submit(task)
                wait([future])
        except Exception:  # an estimator that cannot be pickled can only run here
            return self.submit(task)
        return future

    def __enter__(self):
        self._limit = one_blas_thread()
        self._limit.__enter__()
        return self

    def __exit__(self, *error):
        self._limit.__exit__(*error)


class SerialExecutor(InProcessExecutor):
    """Runs each task in this thread, at once."""

    def __init__(self, function, context, folder=None, nested="sequential"):
        super().__init__(function, context, folder, nested)

    def submit(self, task):
        """Run the task; what it raises is raised here."""
        future = Future()
        place = TaskEnvironment(
            self._folder, threading.current_thread() is threading.main_thread()
        )
        future.set_result(self._function(self._context, task, place))
        return future


class ThreadExecutor(InProcessExecutor):
    """Runs tasks in threads of this process."""

    def __init__(self, function, context, n_workers, window, nested, folder=None):
        super().__init__(configured(function), context, folder, nested)
        self.n_workers, self.window = n_workers, window
        self._place = TaskEnvironment(folder, owns_globals=False)
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="sksearch")

    def submit(self, task):
        """Queue the task."""
        return self._pool.submit(self._run, task)

    def _run(self, task):
        with joblib.parallel_config(self._nested):
            return self._function(self._context, task, self._place)

    def __exit__(self, *error):
        self._pool.shutdown(cancel_futures=True)
        super().__exit__(*error)
