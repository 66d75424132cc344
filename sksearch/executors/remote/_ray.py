"""Ray."""

from concurrent.futures import Future
from typing import Any

import numpy as np

from sksearch.executors.remote._base import Engine


class RayEngine(Engine):
    """The Ray connected to this process; our tasks are Ray tasks."""

    name = "Ray"

    def __init__(self, backend: Any, n_workers: int):
        import ray

        if not ray.is_initialized():
            ray.init()
        args = {"num_cpus": 1, "max_retries": 0} | (backend.ray_remote_args or {})
        self._n_cpus = args["num_cpus"]
        self._ray, self._remote = ray, ray.remote(**args)(self.run_message)
        self._job = ray.get_runtime_context().get_job_id()

    def start(self, message: bytes, payload: Any) -> Future:
        """Start a Ray task."""
        ref = self._remote.remote(message, payload)
        handle = ref.future()
        handle.ref = ref
        return handle

    def put(self, payload: bytes) -> Any:
        """Put an array into the object store: workers map it, but would copy bytes each time."""
        return self._ray.put(np.frombuffer(payload, dtype=np.uint8))

    def count_workers(self) -> int:
        """Return the number of tasks for which the cluster has CPUs."""
        return int(self._ray.cluster_resources().get("CPU", 0) // max(1, self._n_cpus))

    def why_lost(self) -> str | None:
        """Return the reason why this is not the Ray on which the search began."""
        if not self._ray.is_initialized():
            return "it was shut down"
        if self._ray.get_runtime_context().get_job_id() != self._job:
            return "it was shut down and started again"
        return None

    def cancel(self, handle: Any) -> None:
        """Stop the task; cancelling its future would leave it running."""
        self._ray.cancel(handle.ref, force=True)
