"""Dask."""

import time
from concurrent.futures import CancelledError, Future
from typing import Any

from sksearch._utils._terminal import warn
from sksearch.executors._shared_data import Payload
from sksearch.executors.remote._base import Engine
from sksearch.executors.remote._worker import run_message

PATIENCE_SECONDS = 300  # after which the user is warned that a cluster has no worker
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
        self._has_warned = False
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

    def why_silent(self) -> str | None:
        """Return the reason why the client is no longer usable; warn once without workers."""
        if (reason := self.why_lost()) is not None or time.monotonic() < self._next_check:
            return reason
        self._next_check = time.monotonic() + CHECK_SECONDS
        if self._client.nthreads():
            self._no_worker_since = None
        elif self._no_worker_since is None:
            self._no_worker_since = time.monotonic()
        elif time.monotonic() - self._no_worker_since > PATIENCE_SECONDS and not self._has_warned:
            self._has_warned = True
            warn(
                f"{self.name} has had no worker for {PATIENCE_SECONDS} seconds. The search waits "
                "for one: start workers, or interrupt it.",
            )
        return None
