"""Worker processes of this machine: a failure affects only its own task."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self

import joblib
from joblib.parallel import ParallelBackendBase

from sksearch._utils._compat import configured
from sksearch._utils._forks import ThreadLock
from sksearch._utils._numerics import one_blas_thread
from sksearch.executors._base import Executor
from sksearch.executors._folder import TaskFolder
from sksearch.executors._limits import Limits
from sksearch.executors._shared_data import MISSING, payload_of
from sksearch.executors.local._devices import VARIABLE, DeviceLock, device_locks, visible_devices
from sksearch.executors.local._process import WorkerProcess
from sksearch.executors.local._template import THREAD_VARIABLES, end_idle_template
from sksearch.executors.local._worker import free_gpu_memory, run_limited

FREE_SECONDS = 30.0  # for a worker to release unused memory
IDLE_SECONDS = 300  # idle time after which processes of an earlier search are ended


class ProcessExecutor(Executor):
    """Runs tasks in worker processes, each watched by its own thread.

    A crash, a timeout or exhausted memory affects one task; its worker is replaced and the others
    continue. Later searches reuse the processes. If several share a CUDA device, a task whose
    output has the status "memory" is run again while the others on that device wait.

    Parameters
    ----------
    function, context
        See `make_executor`.
    n_workers, window : int
        Number of processes, and of tasks in flight.
    nested : joblib backend
        Backend for searches inside tasks.
    limits : Limits
        Limits of a task.
    folder : Path or None
        Folder for outputs too large to return; None for a temporary one.
    devices : sequence or None
        CUDA devices that the processes share in turn, see `visible_devices`.
    """

    has_latency = True

    def __init__(
        self,
        function: Callable,
        context: object,
        n_workers: int,
        window: float,
        nested: ParallelBackendBase | str,
        limits: Limits | None = None,
        folder: Path | None = None,
        devices: Sequence | None = None,
    ):
        self.n_workers, self.window = n_workers, window
        self._shared = (configured(function), context, nested)
        self._limits = limits or Limits()
        self._given_folder = folder
        self._visible = visible_devices(devices, n_workers)
        self._is_stopped = False

    def __enter__(self) -> Self:
        """Write the data shared by all tasks, and take the workers."""
        self._folder = TaskFolder(self._given_folder, "context", self._shared)
        self._workers = _take_workers(self._visible)
        self._free: SimpleQueue = SimpleQueue()
        self._locks = device_locks(self._visible)
        for worker in zip(self._workers, self._locks, strict=True):
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(self.n_workers, thread_name_prefix="sksearch")
        self._limit = one_blas_thread()  # for proposals, as if tasks ran in this process
        self._limit.__enter__()
        return self

    def submit(self, task: object) -> Future:
        """Queue the task."""
        return self._threads.submit(self._run, task)

    def stop(self) -> None:
        """Kill the workers."""
        self._is_stopped = True
        _close(self._workers)

    def _run(self, task: object) -> Any:
        """Run a task on a free worker, alone on its device if it lacked memory."""
        worker, device_lock = self._free.get()
        try:
            if device_lock is None:
                return self._try(worker, task)
            with suppress(MemoryError), device_lock.shared():
                out = self._try(worker, task)
                if getattr(out, "status", None) != "memory":
                    return out
            # The memory may have been used by other workers, and results must not depend on this.
            with device_lock.exclusive():
                self._free_memory(device_lock)
                return self._try(worker, task)
        finally:
            self._free.put((worker, device_lock))

    def _try(self, worker: WorkerProcess, task: object) -> Any:
        """Run a task, and again if its worker died."""
        for _ in range(1 + self._limits.retries):
            args = worker, self._folder.ref, task, self._folder.path, self._limits
            out = run_limited(*args)
            if out is MISSING:  # a mapped file has been removed
                out = run_limited(*args, payload_of(self._shared, self._folder.ref))
            if getattr(out, "status", None) != "crash":
                break
        return out

    def _free_memory(self, device_lock: DeviceLock) -> None:
        """Have the idle workers of a device release cached memory."""
        for worker, lock in zip(self._workers, self._locks, strict=True):
            if lock is device_lock and worker.loaded is not None:
                with suppress(Exception):
                    worker.call(free_gpu_memory, seconds=FREE_SECONDS)

    def __exit__(self, *error: Any) -> None:
        self._limit.__exit__(*error)
        if error[0] is not None:  # the remaining tasks are useless now
            self.stop()
        self._threads.shutdown(cancel_futures=True)
        if not self._is_stopped:
            _keep_workers(self._visible, self._workers)
        self._folder.remove()


# ---- processes of earlier searches

# Idle workers by process and visible CUDA devices, each with the time it became idle.
_idle: dict[tuple[int, str | None], list[tuple[float, WorkerProcess]]] = {}
_idle_lock = ThreadLock()


def _take_workers(visible: tuple[str | None, ...]) -> list[WorkerProcess]:
    """Take idle processes of earlier searches, and new ones, for exclusive use."""
    env = _worker_env(len(visible))
    with _idle_lock:
        if not any(pid == os.getpid() for pid, _ in _idle):
            # This process would wait for them when it ends; a forked child has its own.
            Finalize(None, end_idle_workers, exitpriority=100)
        workers = []
        for device in visible:
            idle = _idle.setdefault((os.getpid(), device), [])
            workers.append(idle.pop()[1] if idle else WorkerProcess())
            # A process that replaces a dead one gets the same devices.
            workers[-1].env = env if device is None else env | {VARIABLE: device}
    return workers


def _keep_workers(visible: tuple[str | None, ...], workers: list[WorkerProcess]) -> None:
    """Keep processes for later searches, for a limited time."""
    with _idle_lock:
        for device, worker in zip(visible, workers, strict=True):
            _idle.setdefault((os.getpid(), device), []).append((time.monotonic(), worker))
    timer = threading.Timer(IDLE_SECONDS + 1, end_idle_workers, (IDLE_SECONDS,))
    timer.daemon = True
    timer.start()


def end_idle_workers(idle_seconds: float = 0) -> None:
    """End idle worker processes, kept for later searches.

    They end by themselves after five idle minutes, as does the process from which they are forked.
    Until then each keeps its memory, a few hundred megabytes on a GPU.

    Parameters
    ----------
    idle_seconds : float, default=0
        Minimum idle time, in seconds, of the processes to end.

    Examples
    --------
    >>> from sksearch.executors import end_idle_workers
    >>> end_idle_workers()
    """
    before = time.monotonic() - idle_seconds
    old = []
    with _idle_lock:
        for key, idle in _idle.items():
            if key[0] == os.getpid():
                old += [worker for since, worker in idle if since <= before]
                idle[:] = [(since, worker) for since, worker in idle if since > before]
    _close(old)
    end_idle_template(before)


def _close(workers: list[WorkerProcess]) -> None:
    """End processes in parallel."""
    threads = [threading.Thread(target=worker.close) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _worker_env(n_workers: int) -> dict[str, str]:
    """Thread limits that share the cores among workers, unless the user has set them."""
    share = str(max(joblib.cpu_count() // n_workers, 1))
    return {name: os.environ.get(name, share) for name in THREAD_VARIABLES.values()}
