"""Executors that run tasks in this process."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, Self

import joblib
from joblib.parallel import ParallelBackendBase

from sksearch._utils._compat import configured
from sksearch._utils._numerics import one_blas_thread
from sksearch.executors._base import (
    Executor,
    Finished,
    TaskEnvironment,
    environment_of_this_thread,
)
from sksearch.executors._limits import EngineLostError, Limits
from sksearch.executors.local._pool import ProcessExecutor


class InProcessExecutor(Executor):
    """Runs tasks in this process, which a task can crash.

    Parameters
    ----------
    function, context
        See `make_executor`.
    folder : Path or None, default=None
        Folder for outputs too large to return; None for memory.
    nested : joblib backend, default="sequential"
        Backend for searches inside tasks.
    limits : Limits or None, default=None
        Limits of a suspect task.
    """

    def __init__(
        self,
        function: Callable,
        context: object,
        folder: Path | None = None,
        nested: ParallelBackendBase | str = "sequential",
        limits: Limits | None = None,
    ):
        self._function, self._context = function, context
        self._folder, self._nested, self._limits = folder, nested, limits

    def _call(self, task: object, environment: TaskEnvironment) -> Any:
        """Run the task; an error that has broken this process ends the search.

        Otherwise later candidates would also fail, although they are sound.
        """
        out = self._function(self._context, task, environment)
        if getattr(out, "status", None) == "crash":
            raise EngineLostError(
                f"A candidate has left this process without a working GPU: {out.error}. Pass the "
                "GPU, such as workers={'devices': [0]}, to train candidates in separate "
                "processes, so that such an error affects only one candidate."
            )
        return out

    def submit_suspect(self, task: object) -> Future:
        """Run the task immediately in a separate process."""
        executor = ProcessExecutor(
            self._function, self._context, 1, 1, self._nested, self._limits, self._folder
        )
        try:
            with executor:
                future = executor.submit(task)
                wait([future])
        except Exception:  # an estimator that cannot be pickled can only run here
            return self.submit(task)
        return future

    def __enter__(self) -> Self:
        self._limit = one_blas_thread()
        self._limit.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._limit.__exit__(*error)


class SerialExecutor(InProcessExecutor):
    """Runs each task in this thread, immediately."""

    def __init__(
        self,
        function: Callable,
        context: object,
        folder: Path | None = None,
        nested: ParallelBackendBase | str = "sequential",
        limits: Limits | None = None,
    ):
        super().__init__(function, context, folder, nested, limits)
        self._environment = environment_of_this_thread(folder)

    def submit(self, task: object) -> Future:
        """Run the task; its exceptions are raised here."""
        return Finished(self._call(task, self._environment))


class ThreadExecutor(InProcessExecutor):
    """Runs tasks in threads of this process."""

    def __init__(
        self,
        function: Callable,
        context: object,
        n_workers: int,
        window: float,
        nested: ParallelBackendBase | str,
        folder: Path | None = None,
        limits: Limits | None = None,
    ):
        super().__init__(configured(function), context, folder, nested, limits)
        self.n_workers, self.window = n_workers, window
        self._environment = TaskEnvironment(folder, owns_globals=False)
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix="sksearch")

    def submit(self, task: object) -> Future:
        """Queue the task."""
        return self._pool.submit(self._run, task)

    def _run(self, task: object) -> Any:
        with joblib.parallel_config(self._nested):
            return self._call(task, self._environment)

    def __exit__(self, *error: Any) -> None:
        self._pool.shutdown(cancel_futures=True)
        super().__exit__(*error)
