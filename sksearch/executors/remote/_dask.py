"""Dask."""

import time
from concurrent.futures import CancelledError, Future
from typing import Any

from sksearch.executors._limits import LostTask
from sksearch.executors._shared_data import Payload
from sksearch.executors.remote._base import Engine
from sksearch.executors.remote._worker import run_message

PATIENCE_SECONDS = 300  # without a worker, after which the cluster counts as lost
JOBLIB_SECONDS = 10  # joblib's default of ``wait_for_workers_timeout``
CHECK_SECONDS = 10  # interval between checks that a silent cluster has workers
LARGE = 1_000_000  # bytes; Dask sends larger objects around its scheduler


def run_message_on_dask(message: bytes, payload: Payload = None) -> bytes:
    """Run a task in a Dask worker, which may have several threads."""
    from distributed import get_worker

    return run_message(message, payload, alone=get_worker().state.nthreads == 1)


class DaskEngine(Engine):
    """The workers of a Dask client."""

    name = "The Dask cluster"
    run_message = staticmethod(run_message_on_dask)  # type: ignore[assignment]  # Dask itself shows whether it is alone
    retries_tasks = takes_all_workers = True

    def __init__(self, backend: Any, n_workers: int):
        self._client = backend.client
        self._pool = self._client.get_executor(pure=False, retries=0)
        self._no_worker_since: float | None = None
        self._next_check = 0.0
        # joblib's default of ten seconds is for the start; workers may take longer to come back.
        given = getattr(backend, "wait_for_workers_timeout", None)
        self._patience = PATIENCE_SECONDS if given in (None, 0, JOBLIB_SECONDS) else given
        # Between two tasks, a worker waits about 15 ms for client and scheduler.
        self.n_prefetched = n_workers

    def start(self, message: bytes, payload: Any) -> Future:
        """Submit to the client."""
        if len(message) > LARGE:
            message = self.put(message)
        return self._pool.submit(self.run_message, message, payload)

    def put(self, payload: bytes) -> Any:
        """Send the bytes to a worker, from which others fetch them."""
        return self._client.scatter(payload, hash=False)

    def has_lost_payload(self, error: Exception) -> bool:
        """Return True if the worker that held the payload has died."""
        return isinstance(error, CancelledError) and not self.why_lost()

    def why_lost(self) -> str | None:
        """Return the reason why the client is no longer usable."""
        status = self._client.status
        return None if status in ("running", "connecting") else f"its client is {status}"

    def count_workers(self) -> int:
        """Return the number of threads of all workers."""
        n = sum(self._threads().values())
        self.n_prefetched = max(1, n)
        return n

    def _threads(self) -> dict[str, int]:
        """Return the number of threads by worker; a client that looks for its scheduler has none.

        It would not answer before it gives up, and meanwhile hide that its tasks are cancelled.
        """
        return self._client.nthreads() if self._client.status == "running" else {}

    def outcome_of(self, error: Exception) -> LostTask | Exception:
        """Return the outcome of a task; an unexpected cancellation means a lost scheduler."""
        if isinstance(error, CancelledError) and self.why_lost() is None:
            reason = "its scheduler has dropped the tasks, as after a restart or at its end"
            return self.lost_error(f"{reason} ({type(error).__name__})")
        return super().outcome_of(error)

    def why_silent(self) -> str | None:
        """Return the reason why the client is no longer usable, or has no worker for too long."""
        if (reason := self.why_lost()) is not None or time.monotonic() < self._next_check:
            return reason
        self._next_check = time.monotonic() + min(CHECK_SECONDS, self._patience / 4)
        if self._threads():
            self._no_worker_since = None
        elif self._no_worker_since is None:
            self._no_worker_since = time.monotonic()
        elif time.monotonic() - self._no_worker_since > self._patience:
            return (
                f"it has had no worker for {self._patience:g} seconds "
                "(wait_for_workers_timeout= in parallel_config changes this limit)"
            )
        return None
