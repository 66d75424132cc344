"""The engines that each row of the table of faults is tested on."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import joblib
import pytest

from tests import scripts
from tests.executors import engines

ROOT = Path(__file__).parents[2]
LOCAL = {
    "serial": {"n_jobs": 1},
    "slots": {"backend": "loky", "n_jobs": 2},
    "threads": {"backend": "threading", "n_jobs": 2},
}
# Spark has much to say about local mode, pandas and tags that is not ours to change.
SPARK = [
    pytest.mark.filterwarnings("ignore:Spark local mode"),
    pytest.mark.filterwarnings("ignore:Spark session is not provided"),
    pytest.mark.filterwarnings("ignore:User-specified n_jobs"),
    pytest.mark.filterwarnings("ignore:`apply_async` is deprecated"),
]
PARAMS = [
    *LOCAL,
    pytest.param("dask", marks=[pytest.mark.slow, pytest.mark.xdist_group("dask")]),
    pytest.param("ray", marks=[pytest.mark.slow, pytest.mark.xdist_group("ray")]),
    pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark"), *SPARK]),
    pytest.param("mpi", marks=[pytest.mark.slow, pytest.mark.xdist_group("mpi")]),
]


class Engine:
    """Where the searches of a test run; the test is inside of its joblib context.

    Parameters
    ----------
    name : str
        One of `PARAMS`.
    """

    def __init__(self, name):
        self.name = name
        #: Whether tasks run in this process.
        self.is_here = name in ("serial", "threads")
        #: Whether workers are ours, and not those of a cluster.
        self.is_local = name in LOCAL

    def context(self):
        """A joblib context, also for another thread than the test's."""
        if self.is_local:
            return joblib.parallel_config(**LOCAL[self.name])
        return engines.engine(self.name)

    def start(self, script, *args):
        """Start a Python script on the same engine, in a process group of its own.

        In the script `engine()` is a joblib context, and `args` are the arguments.
        """
        env = os.environ | {"PYTHONPATH": str(ROOT), "SKSEARCH_CLUSTER": self._address()}
        code = f"{HEAD}{script}"
        if self.is_local:
            return scripts.start(["-c", code, self.name, *map(str, args)], env=env, cwd=ROOT)
        return subprocess.Popen(
            [sys.executable, "-c", code, self.name, *map(str, args)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT,
            start_new_session=True,
        )  # fmt: skip

    def run(self, script, *args):
        """Run a script to its end; returns exit code, output and errors."""
        process = self.start(script, *args)
        try:
            return process.communicate(), process.returncode
        finally:
            end(process)

    def _address(self):
        if self.name == "dask":
            return engines.dask_client().scheduler.address
        if self.name == "ray":
            import ray

            return ray.get_runtime_context().gcs_address
        return ""


# A script joins the cluster of the tests, which has started already.
HEAD = """
import os, sys
from tests.faults.engine import joined
engine, args = joined(sys.argv[1], os.environ["SKSEARCH_CLUSTER"]), sys.argv[2:]
"""


def joined(name, address):
    """A function that makes the joblib context of an engine that others have started."""
    if name == "dask":
        from distributed import Client

        client = Client(address)
        return lambda: joblib.parallel_config("dask", n_jobs=2) if client else None
    if name == "ray":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import ray
            from ray.util.joblib import register_ray

            ray.init(address=address, log_to_driver=False, logging_level="critical")
            register_ray()
        return lambda: joblib.parallel_config("ray", n_jobs=2)
    return Engine(name).context


def end(process):
    """Kill a script and all of its group, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, 9)
    process.communicate()
