"""Spark, by the backend of joblibspark."""

import uuid
from contextlib import suppress
from typing import Any

from joblib.parallel import ParallelBackendBase

from sksearch.executors.remote._joblib import JoblibEngine


class SparkEngine(JoblibEngine):
    """The Spark session of a backend; each task is a Spark job."""

    name = "Spark"

    def copy_backend(self, backend: ParallelBackendBase) -> Any:
        """Copy the backend with its own job group.

        A ``Parallel`` that ends cancels its group. The group has one job, which has ended by then,
        and Spark would warn that there is nothing to cancel.
        """
        new = super().copy_backend(backend)
        new._job_group = f"sksearch-{uuid.uuid4()}"
        new._pool = None
        new.terminate = new.abort_everything = _do_nothing
        return new

    def close(self) -> None:
        """End the threads, and cancel running jobs."""
        super().close()
        for backend in list(self.busy):
            with suppress(Exception):  # Spark may be gone
                type(backend).terminate(backend)
        for backend in self.copies:
            if backend._pool is not None:  # joblibspark keeps its threads until Python ends
                backend._pool.close()


def _do_nothing(*args: object, **kwargs: object) -> None:
    """Replace a method that has nothing to do."""
