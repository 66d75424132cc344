"""Engines for tests, each started once in a process."""

import atexit
import logging
import os
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path

import joblib
import pytest

from sksearch.executors import FuturesBackend
from sksearch.executors._loop import Workload
from sksearch.history import Result

ROOT = Path(__file__).parents[2]
ENGINES = ("dask", "ray", "processes", "threads", "mpi", "spark")

# Ray would write a token into the home directory, hide GPUs with a warning, and send statistics.
RAY = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS": "0",
}

# Unasked, Open MPI starts no processes as root, nor more than the machine has cores.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def all_engines(*but, whole=()):
    """Parameters for tests that run on each engine; clusters are slow, some run with --whole."""
    slow = pytest.mark.slow
    # Spark warns of pandas, of local mode, of tags ... none of which is ours to change.
    more = {key: [slow] for key in ("dask", "ray", "mpi")}
    more["spark"] = [slow, pytest.mark.filterwarnings("ignore")]
    return [
        # One process runs all tests of an engine, so that it is started once.
        pytest.param(
            name,
            marks=[
                pytest.mark.xdist_group(name),
                *more.get(name, ()),
                *([pytest.mark.whole] if name in whole else []),
            ],
        )
        for name in ENGINES
        if name not in but
    ]


def engine(name, n_jobs=2):
    """A context in which an engine is the active joblib backend; skips if it is not installed."""
    if name in ("dask", "ray", "spark"):
        {"dask": dask_client, "ray": start_ray, "spark": start_spark}[name]()
        return joblib.parallel_config(name, n_jobs=n_jobs)
    pool = {"processes": process_pool, "threads": thread_pool, "mpi": mpi_pool}[name]()
    return joblib.parallel_config(FuturesBackend(pool), n_jobs=n_jobs)


@lru_cache
def dask_client():
    """A client of a cluster of two processes of one thread each."""
    distributed = pytest.importorskip("distributed")
    cluster = new_dask_cluster(distributed)
    client = distributed.Client(cluster)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


def new_dask_cluster(distributed, **kwargs):
    """A cluster without logs, and whose dashboard is in nobody's way."""
    kwargs = {"n_workers": 2, "threads_per_worker": 1} | kwargs
    _let_workers_import_tests()
    return distributed.LocalCluster(
        dashboard_address=":0", silence_logs=logging.CRITICAL, **kwargs
    )


@lru_cache
def start_ray():
    """Ray with two CPUs."""
    os.environ |= RAY
    pytest.importorskip("ray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
        from ray.util.joblib import register_ray

        _let_workers_import_tests()
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            object_store_memory=200_000_000,
        )
        register_ray()
    atexit.register(ray.shutdown)


@lru_cache
def start_spark():
    """Spark with two workers of this machine."""
    pytest.importorskip("pyspark")
    joblibspark = pytest.importorskip("joblibspark")
    from pyspark.sql import SparkSession

    _let_workers_import_tests()
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": tempfile.gettempdir(),
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    joblibspark.register_spark()
    atexit.register(session.stop)
    return session


@lru_cache
def mpi_pool():
    """Two processes that MPI has started."""
    pytest.importorskip("mpi4py")
    os.environ |= MPI
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    from mpi4py.futures import MPIPoolExecutor

    pool = MPIPoolExecutor(max_workers=2, path=[str(ROOT)])
    atexit.register(pool.shutdown)
    return pool


@lru_cache
def process_pool():
    """Two processes of the standard library."""
    return new_process_pool()


def new_process_pool(n_workers=2):
    """Processes that are not forked: pytest has threads."""
    _let_workers_import_tests()
    return ProcessPoolExecutor(n_workers, mp_context=get_context("spawn"))


@lru_cache
def thread_pool():
    """Two threads."""
    return ThreadPoolExecutor(2)


def _let_workers_import_tests():
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(ROOT) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, paths)])


def square(context, task, environment):
    time.sleep(task % 3 / 100)
    return context["offset"] + task**2


class Squares(Workload):
    """Each job is two tasks; its score is a function of the trial."""

    def __init__(self, limit=None):
        self.told_jobs, self.limit = [], limit

    def tasks(self, job):
        return [job.trial_id, job.trial_id + 1]

    def collect(self, job, outputs):
        assert outputs == [1 + job.trial_id**2, 1 + (job.trial_id + 1) ** 2]
        return Result(job.params["x"] - 1 / job.resource)

    def on_result(self, job):
        self.told_jobs.append((job.trial_id, job.resource))

    def seconds_left(self):
        return 0 if self.limit is not None and len(self.told_jobs) >= self.limit else None
