"""Executors on what others have started: Dask, Ray, pools of futures, any joblib backend."""

import copy
import time
import uuid
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue

import joblib
import numpy as np
from joblib.parallel import ThreadingBackend, get_active_backend

from sksearch._compat import configured
from sksearch.executors._broadcast import MISSING
from sksearch.executors._engine import EngineExecutor, first_line
from sksearch.executors._executor import Executor
from sksearch.executors._futures import FuturesBackend
from sksearch.executors._orders import work_in_a_thread

DESERTED_SECONDS = 300  # a cluster that has had no worker for so long will not get any
DESERTED_LOOK_SECONDS = 10
LARGE = 1_000_000  # bytes; Dask sends larger things around its scheduler


class DaskExecutor(EngineExecutor):
    """Runs tasks on the workers of a Dask client."""

    name = "The Dask cluster"
    work = staticmethod(work_in_a_thread)
    repeats = True

    def _open(self):
        self._client = self._backend.client
        self._pool = self._client.get_executor(pure=False, retries=0)
        self._deserted_since, self._look_at = None, 0.0
        # Between two tasks a worker waits for client and scheduler, about 15 ms.
        self.ahead = self.n_workers

    def _start(self, order, payload):
        if len(order) > LARGE:
            order = self._put(order)
        return self._pool.submit(self.work, order, payload)

    def _put(self, payload):
        return self._client.scatter(payload, hash=False)

    def _gone(self):
        status = self._client.status
        return None if status in ("running", "connecting") else f"its client is {status}"

    def _deserted(self):
        if (reason := self._gone()) is not None or time.monotonic() < self._look_at:
            return reason
        self._look_at = time.monotonic() + DESERTED_LOOK_SECONDS
        if self._client.nthreads():
            self._deserted_since = None
        elif self._deserted_since is None:
            self._deserted_since = time.monotonic()
        elif time.monotonic() - self._deserted_since > DESERTED_SECONDS:
            return f"it has had no worker for {DESERTED_SECONDS} seconds"
        return None

    def _judge(self, error):
        if isinstance(error, CancelledError) and self._payload is not None and not self._gone():
            self._payload = None  # the worker that held it has died
            return MISSING
        return super()._judge(error)


class RayExecutor(EngineExecutor):
    """Runs tasks as Ray tasks, on the Ray that is connected to."""

    name = "Ray"

    def _open(self):
        import ray

        if not ray.is_initialized():
            ray.init()
        args = {"num_cpus": 1, "max_retries": 0} | (self._backend.ray_remote_args or {})
        self._ray, self._remote = ray, ray.remote(**args)(self.work)
        self._job = ray.get_runtime_context().get_job_id()

    def _start(self, order, payload):
        ref = self._remote.remote(order, payload)
        handle = ref.future()
        handle.ref = ref
        return handle

    def _put(self, payload):
        # An array is mapped by the workers, bytes would be copied for each task.
        return self._ray.put(np.frombuffer(payload, dtype=np.uint8))

    def _gone(self):
        if not self._ray.is_initialized():
            return "it was shut down"
        if self._ray.get_runtime_context().get_job_id() != self._job:
            return "it was shut down and started again"
        return None

    def _stop(self, handle):
        # Cancelling the future would leave the task running.
        self._ray.cancel(handle.ref, force=True)


class FuturesExecutor(EngineExecutor):
    """Runs tasks on the pool of a `FuturesBackend`."""

    def _open(self):
        self._pool = self._backend.executor
        self.name = f"The {type(self._pool).__name__}"

    def _start(self, order, payload):
        try:
            return self._pool.submit(self.work, order, payload)
        except Exception as error:  # it was shut down, or it broke
            raise self.lost_error(first_line(error)) from error


class JoblibExecutor(EngineExecutor):
    """Runs tasks through `joblib.Parallel` of any backend, in a thread for each.

    The futures of a backend are not joblib's public interface, and an error in one task of a
    ``Parallel`` ends the others. So each has one task.
    """

    repeats = True

    def _open(self):
        self.name = type(self._backend).__name__
        self._pool = ThreadPoolExecutor(self.n_workers, thread_name_prefix="sksearch")
        self._slots = SimpleQueue()
        for _ in range(self.n_workers):
            self._slots.put(_copy(self._backend))

    def _start(self, order, payload):
        return self._pool.submit(self._run, order, payload)

    def _gone(self):
        try:
            self._backend.effective_n_jobs(-1)
        except Exception as error:  # whatever an engine says when it is asked and cannot answer
            return first_line(error)
        return None

    def _run(self, order, payload):
        backend = self._slots.get()
        try:
            # With one job joblib would run it here.
            parallel = joblib.Parallel(n_jobs=2, backend=backend)
            return parallel([joblib.delayed(self.work)(order, payload)])[0]
        finally:
            self._slots.put(backend)

    def _end(self):
        super()._end()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _copy(backend):
    """A backend that serves another ``Parallel`` at the same time."""
    new = copy.copy(backend)
    new.retrieve_result = partial(_retrieve, backend)
    if hasattr(new, "_job_group"):
        # Spark's ends all jobs of its group when a Parallel ends.
        new._job_group = f"sksearch-{uuid.uuid4()}"
    return new


def _retrieve(backend, job, timeout=None):
    """What a backend retrieves, raised where it is an error: joblibspark 0.6 returns it."""
    out = backend.retrieve_result(job, timeout=timeout)
    if isinstance(error := getattr(out, "exc", None), Exception):
        raise error
    return out


EXECUTORS = {"DaskDistributedBackend": DaskExecutor, "RayBackend": RayExecutor}


def engine_executor(backend, function, context, n_jobs, n_workers, limits, folder) -> Executor:
    """The executor for a joblib backend that is not joblib's own.

    Parameters
    ----------
    backend : joblib backend
        The active one.
    function, context, limits, folder
        See `make_executor`.
    n_jobs : int or None
        As in scikit-learn.
    n_workers : int
        What joblib makes of it.

    Returns
    -------
    executor : Executor
        To be entered as a context.
    """
    if isinstance(backend, FuturesBackend):
        cls = FuturesExecutor
    else:
        cls = EXECUTORS.get(type(backend).__name__, JoblibExecutor)
    if cls is DaskExecutor:  # joblib takes all workers, whatever n_jobs
        wanted = get_active_backend()[1] if n_jobs is None else n_jobs
        n_workers = wanted if wanted is not None and wanted > 0 else n_workers
    # Searches and forests inside of tasks: never workers of workers, which wait for each other.
    nested = ThreadingBackend(nesting_level=1)
    return cls(backend, (configured(function), context, nested), n_workers, limits, folder)
