"""Any other joblib backend."""

import copy
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import Any

import joblib
from joblib.parallel import ParallelBackendBase

from sksearch.executors.remote._base import Engine, first_line


class JoblibEngine(Engine):
    """`joblib.Parallel` with any backend, called in a thread for each task.

    The futures of a backend are not part of joblib's public interface, and an error in one task of
    a ``Parallel`` ends the others. So each ``Parallel`` has one task.

    Attributes
    ----------
    copies, busy : list of joblib backends
        Copies of the backend, and the copies that run a task.
    """

    retries_tasks = True

    def __init__(self, backend: ParallelBackendBase, n_workers: int):
        self.name = type(backend).__name__
        self._backend = backend
        self._threads = ThreadPoolExecutor(n_workers, thread_name_prefix="sksearch")
        self.copies = [self.copy_backend(backend) for _ in range(n_workers)]
        self.busy: list = []
        self._free: SimpleQueue = SimpleQueue()
        for new in self.copies:
            self._free.put(new)

    def copy_backend(self, backend: ParallelBackendBase) -> Any:
        """Copy the backend: each copy serves one ``Parallel`` at a time."""
        new = copy.copy(backend)
        new.retrieve_result = partial(_retrieve, backend)
        return new

    def start(self, message: bytes, payload: Any) -> Future:
        """Queue the task for a thread."""
        return self._threads.submit(self._run, message, payload)

    def why_lost(self) -> str | None:
        """Return the error that the backend raises when asked for its workers."""
        try:
            self._backend.effective_n_jobs(-1)
        except Exception as error:  # an engine that cannot answer may raise anything
            return first_line(error)
        return None

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, message: bytes, payload: Any) -> bytes:
        backend = self._free.get()
        self.busy.append(backend)
        try:
            # With one job, joblib would run it in this process.
            parallel = joblib.Parallel(n_jobs=2, backend=backend)
            return parallel([joblib.delayed(self.run_message)(message, payload)])[0]
        finally:
            self.busy.remove(backend)
            self._free.put(backend)


def _retrieve(backend: ParallelBackendBase, job: object, timeout: float | None = None) -> Any:
    """Retrieve from a backend, and raise returned errors: joblibspark 0.6 returns them."""
    out = backend.retrieve_result(job, timeout=timeout)
    if isinstance(error := getattr(out, "exc", None), Exception):
        raise error
    return out
