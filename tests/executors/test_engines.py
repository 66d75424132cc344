"""Searches on engines that are not ours, and what becomes of them when something dies."""

import os
import pickle
import re
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from scipy.stats import uniform

from sksearch.executors import FuturesBackend
from sksearch.executors._factory import make_executor
from sksearch.executors._limits import Limits, LostTask
from sksearch.executors._loop import drive
from sksearch.executors.remote import _executor as executor_module
from sksearch.executors.remote._worker import TaskMessage, shared_in_process
from sksearch.history import Problem
from sksearch.samplers import RandomSampler
from sksearch.schedulers import Hyperband
from sksearch.search import EngineLostError
from sksearch.space import Space
from sksearch.study import Study
from tests.executors.engines import (
    Squares,
    all_engines,
    dask_client,
    engine,
    new_dask_cluster,
    new_process_pool,
    square,
    start_ray,
)

pytestmark = pytest.mark.timeout(150)  # an engine that hangs must not block the others
FRAGILE = ("processes", "threads")  # engines that a crash of a worker breaks

start = partial(make_executor, pre_dispatch="2*n_jobs", n_jobs=None)


def trials_of(executor):
    """The trials of a small study."""
    study = Study(Problem(Space({"x": uniform(0, 1)}), 1, 9), RandomSampler(), Hyperband())
    with executor:
        drive(study, executor, Squares())
    return study.history.trials


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("name", all_engines())
def test_the_history_does_not_depend_on_the_engine(name):
    expected = trials_of(start(square, {"offset": 1}))
    with engine(name):
        assert trials_of(start(square, {"offset": 1})) == expected


@dataclass
class Do:
    """A task: what to do, and how."""

    what: str = "pid"
    value: object = None


class PoisonError(Exception):
    """An error that cannot be unpickled."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def act(context, task, environment):
    """Do what the task says."""
    what, value = task.what, task.value
    if what == "sleep":
        time.sleep(value)
    elif what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "kill once" and not Path(value).exists():
        Path(value).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "write later":
        time.sleep(5)
        Path(value).touch()
    elif what == "raise":
        raise PoisonError("this", "that")
    elif what == "return":
        return threading.Lock()
    elif what == "sum":
        return float(context.sum())
    elif what == "environment":
        return environment
    elif what == "blas":
        from threadpoolctl import threadpool_info

        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    return os.getpid()


# ---- crashes, hangs and errors


@pytest.mark.parametrize("name", all_engines(*FRAGILE))
def test_a_crash_costs_one_task(name):
    begin = time.monotonic()
    with engine(name), start(act, None) as executor:
        tasks = [Do("sleep", 0.5), Do("kill"), Do(), Do()]
        outs = [future.result() for future in [executor.submit(task) for task in tasks]]
    assert [isinstance(out, LostTask) for out in outs] == [False, True, False, False]
    assert outs[1].status == "crash"
    assert re.search("died|SIGKILL", outs[1].error)
    assert 0 < outs[1].seconds < time.monotonic() - begin


@pytest.mark.parametrize("name", all_engines(*FRAGILE))
def test_a_task_whose_worker_died_is_tried_again_where_that_is_wanted(name, tmp_path):
    with engine(name), start(act, None, limits=Limits(retries=1)) as executor:
        assert isinstance(executor.submit(Do("kill once", str(tmp_path / "once"))).result(), int)
        assert executor.submit(Do("kill")).result().status == "crash"


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("name", all_engines(whole=("ray",)))
def test_a_limit_stops_a_task_and_a_crash_within_limits_costs_one_task_on_each_engine(name):
    with engine(name), start(act, None, limits=Limits(seconds=1)) as executor:
        tasks = [Do(), Do("sleep", 60), Do("kill"), Do()]
        outs = [future.result() for future in [executor.submit(task) for task in tasks]]
    assert [getattr(out, "status", "ok") for out in outs] == ["ok", "timeout", "crash", "ok"]
    assert outs[0] != os.getpid()


@pytest.mark.slow
@pytest.mark.parametrize("name", all_engines("ray", "threads", "mpi", "spark"))
def test_a_suspect_harms_no_other_candidate(name):
    with engine(name), start(act, None) as executor:
        assert executor.submit_suspect(Do("kill")).result().status == "crash"
        assert isinstance(executor.submit(Do()).result(), int)


@pytest.mark.parametrize("name", all_engines(whole=("ray",)))
def test_what_cannot_be_pickled_is_one_tasks_error(name):
    with engine(name), start(act, None) as executor:
        raised, returned = executor.submit(Do("raise")), executor.submit(Do("return"))
        unsendable = executor.submit(Do("pid", threading.Lock()))
        fine = executor.submit(Do())
        assert "this and that" in str(raised.exception())
        assert "pickle" in str(returned.exception() or returned.result().error)
        assert unsendable.result().status == "error"
        assert "pickle" in unsendable.result().error
        assert isinstance(fine.result(), int)


# ---- the data


class Counted:
    """Counts how often it is pickled."""

    n_pickled = 0

    def __reduce__(self):
        Counted.n_pickled += 1
        return Counted, ()

    def sum(self):
        return 1.0


@pytest.mark.parametrize("name", all_engines("mpi", "spark"))
def test_the_data_are_pickled_once(name):
    before = Counted.n_pickled
    with engine(name), start(act, Counted()) as executor:
        futures = [executor.submit(Do("sum")) for _ in range(10)]
        assert {future.result() for future in futures} == {1.0}
    assert Counted.n_pickled == before + 1


@pytest.fixture
def elsewhere(monkeypatch):
    """Workers see our files no more, as on another machine."""

    def message(ref, folder, **kwargs):
        hidden = replace(ref, path=f"/elsewhere{ref.path}")
        return TaskMessage(ref=hidden, folder=f"/elsewhere{folder}", **kwargs)

    monkeypatch.setattr(executor_module, "TaskMessage", message)


class Courier(ThreadPoolExecutor):
    """Passes messages on to a process pool, and notes the size of the data that go with them."""

    def __init__(self, pool):
        super().__init__(2)
        self.pool, self.sizes = pool, []

    def submit(self, function, message, payload=None):
        self.sizes.append(0 if payload is None else len(payload))
        return self.pool.submit(function, message, payload)


@dataclass
class Continued(Do):
    """A task whose state is in a file."""

    path: str = ""

    def carrying(self):
        return Do("return value", Path(self.path).read_text())


def name_or_value(context, task, environment):
    time.sleep(0.05)
    return task.value, environment.folder


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("limits", [Limits(), Limits(seconds=60)])
@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_machine_without_our_files_is_sent_the_data(n_workers, limits, tmp_path):
    X = np.arange(500_000.0)
    with new_process_pool(n_workers) as pool:
        courier = Courier(pool)
        with (
            joblib.parallel_config(FuturesBackend(courier)),
            start(act, X, limits=limits) as executor,
        ):
            futures = [executor.submit(Do("sum")) for _ in range(20)]
            assert {future.result() for future in futures} == {X.sum()}
        n_sent = sum(size >= X.nbytes for size in courier.sizes)
        # Without data go the tasks that are under way before the first answer; of two workers,
        # either may then take what is sent for the other.
        assert 1 <= n_sent <= (3 if n_workers == 1 else 10)
        (tmp_path / "state").write_text("fitted")
        with joblib.parallel_config(FuturesBackend(courier)), start(name_or_value, X) as executor:
            tasks = [Continued("", None, str(tmp_path / "state")) for _ in range(6)]
            outs = [future.result() for future in [executor.submit(task) for task in tasks]]
        assert outs == [("fitted", None)] * 6


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("name", all_engines("threads", whole=("ray",)))
def test_the_history_does_not_depend_on_whether_files_are_shared(name):
    expected = trials_of(start(square, {"offset": 1}))
    with engine(name):
        assert trials_of(start(square, {"offset": 1, "X": np.arange(500_000.0)})) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", all_engines("mpi"))
def test_nothing_is_left_of_a_search(name, tmp_path):
    before = set(shared_in_process)
    with engine(name):
        with start(act, None, folder=tmp_path) as executor:
            futures = [executor.submit(Do("environment")) for _ in range(4)]
            assert {future.result().folder for future in futures} == {tmp_path}
            assert len(list(tmp_path.iterdir())) == 1
        assert list(tmp_path.iterdir()) == []
        with start(act, None) as executor:
            folder = executor.submit(Do("environment")).result().folder
        assert not folder.exists()
    assert set(shared_in_process) == before
    assert "sksearch" not in {thread.name for thread in threading.enumerate()}


# ---- the end


def lost_after(executor, end):
    """The errors of what ran and of what is submitted when the engine has ended."""
    with executor:
        futures = [executor.submit(Do("sleep", 600)) for _ in range(5)]  # longer than a test may
        time.sleep(0.5)
        end()
        errors = [future.exception() for future in futures]
        return [*errors, executor.submit(Do()).exception()]


@pytest.mark.slow
@pytest.mark.xdist_group("dask")
@pytest.mark.parametrize("event", ["close", "restart"])
def test_a_dask_cluster_that_is_closed_or_restarted_ends_the_search(event):
    distributed = pytest.importorskip("distributed")
    with (
        new_dask_cluster(distributed) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
    ):
        end = {"close": cluster.close, "restart": client.restart}[event]
        errors = lost_after(start(act, None), end)
    assert {type(error) for error in errors} == {EngineLostError}
    assert "checkpoint_dir" in str(errors[0])


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_ray_that_is_shut_down_ends_the_search():
    with engine("ray"):
        import ray

        try:
            errors = lost_after(start(act, None), ray.shutdown)
        finally:
            start_ray.cache_clear()
    assert {type(error) for error in errors} == {EngineLostError}
    assert not ray.is_initialized()


@pytest.mark.slow
def test_a_pool_that_breaks_is_replaced_and_the_candidate_that_broke_it_is_found():
    what = ["pid", "kill", "pid", "kill", "pid", "pid"]
    with new_process_pool() as pool, joblib.parallel_config(FuturesBackend(pool)):
        for _ in range(2):  # the second search begins with the broken pool
            with start(act, None) as executor:
                found = [executor.submit(Do(each)) for each in what]
                outcomes = [future.result() for future in found]
            assert [getattr(out, "status", "pid") for out in outcomes] == [
                {"kill": "crash"}.get(each, each) for each in what
            ]


def test_a_pool_that_is_shut_down_ends_the_search():
    pool = ThreadPoolExecutor(2)
    pool.shutdown()
    with joblib.parallel_config(FuturesBackend(pool)), start(act, None) as executor:
        assert isinstance(executor.submit(Do()).exception(), EngineLostError)


@pytest.mark.slow
@pytest.mark.parametrize("name", all_engines("dask", "processes", "threads", "mpi"))
def test_what_runs_is_stopped_when_a_search_fails(name, tmp_path):
    with engine(name):
        with pytest.raises(ZeroDivisionError), start(act, None) as executor:
            executor.submit(Do()).result()
            executor.submit(Do("write later", str(tmp_path / "late")))
            time.sleep(1)
            raise ZeroDivisionError
        time.sleep(5.5)
        assert not (tmp_path / "late").exists()
        with start(act, None) as executor:
            assert isinstance(executor.submit(Do()).result(), int)


def test_what_the_engine_does_not_have_yet_can_be_cancelled():
    with engine("threads"), start(act, None) as executor:
        futures = [executor.submit(Do("sleep", 0.3)) for _ in range(6)]
        time.sleep(0.1)
        assert [future.cancel() for future in futures] == [False] * 3 + [True] * 3
        assert all(isinstance(future.result(), int) for future in futures[:3])


@pytest.mark.slow
@pytest.mark.xdist_group("dask")
def test_ctrl_c_ends_the_wait():
    with engine("dask"), start(act, None) as executor:
        future = executor.submit(Do("sleep", 2))
        main = threading.main_thread().ident
        threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            executor.wait([future], None)
        assert not future.done()


# ---- Dask's ways


@pytest.mark.slow
@pytest.mark.xdist_group("dask")
def test_dask_has_as_many_workers_as_n_jobs_or_as_the_cluster():
    with engine("dask", n_jobs=None):
        assert start(act, None).n_workers == 2
    with engine("dask", n_jobs=1):
        assert start(act, None).n_workers == 1
        assert make_executor(act, None, -1, "all").n_workers == 2


@pytest.mark.slow
@pytest.mark.xdist_group("dask")
def test_threads_of_one_dask_worker_have_processes_of_their_own():
    distributed = pytest.importorskip("distributed")
    with (
        new_dask_cluster(distributed, n_workers=1, threads_per_worker=2) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
        start(act, None) as executor,
    ):
        worker = client.submit(os.getpid).result()
        futures = [executor.submit(Do("sleep", 0.3)) for _ in range(4)]
        assert worker not in {future.result() for future in futures}
        assert executor.submit(Do("environment")).result().owns_globals


@pytest.mark.parametrize("name", all_engines("threads"))
def test_blas_has_one_thread_and_tasks_own_their_process_on_each_engine(name):
    with engine(name), start(act, None) as executor:
        assert executor.submit(Do("blas")).result() == {1}
        environment = executor.submit(Do("environment")).result()
        assert environment.owns_globals
        assert environment.owns_process == (name == "mpi")  # others may run tasks of the user's


def search_on_dask():
    with joblib.parallel_config("dask"):
        return trials_of(start(square, {"offset": 1}))


@pytest.mark.slow
@pytest.mark.xdist_group("dask")
def test_a_search_inside_of_a_dask_task_does_not_wait_for_its_own_worker():
    client = dask_client()
    expected = trials_of(start(square, {"offset": 1}))
    futures = [client.submit(search_on_dask, pure=False) for _ in range(2)]
    assert client.gather(futures) == [expected] * 2


# ---- Spark's ways


@pytest.mark.slow
@pytest.mark.xdist_group("spark")
@pytest.mark.filterwarnings("ignore")
def test_spark_is_not_asked_to_cancel_what_has_ended(monkeypatch):
    cancelled = []
    with engine("spark"):
        from pyspark import SparkContext

        monkeypatch.setattr(SparkContext, "cancelJobGroup", lambda *args: cancelled.append(args))
        with start(act, None) as executor:
            fine, raised, died = [executor.submit(Do(what)) for what in ("pid", "raise", "kill")]
            assert isinstance(fine.result(), int)
            assert "this and that" in str(raised.exception())
            assert died.result().status == "crash"
    assert cancelled == []


# ---- FuturesBackend


@pytest.mark.parametrize("name", ["processes", "threads"])
def test_a_pool_works_with_plain_joblib(name):
    three = 3
    with engine(name):
        calls = [joblib.delayed(lambda i: i + three)(i) for i in range(5)]
        assert joblib.Parallel()(calls) == [3, 4, 5, 6, 7]
        with pytest.raises(ZeroDivisionError):
            joblib.Parallel()(joblib.delayed(divmod)(i, 0) for i in range(5))


def test_the_count_of_workers_is_the_pools_or_what_is_said():
    with ThreadPoolExecutor(3) as pool, ProcessPoolExecutor(2) as processes:
        backend = FuturesBackend(pool)
        assert [backend.effective_n_jobs(n) for n in (None, -1, -2, 2, 8)] == [3, 3, 2, 2, 8]
        assert FuturesBackend(processes).effective_n_jobs(-1) == 2
        assert FuturesBackend(pool, n_workers=5).effective_n_jobs(None) == 5
        with pytest.raises(ValueError, match="n_jobs == 0"):
            backend.effective_n_jobs(0)
        with joblib.parallel_config(backend):
            assert start(act, None).n_workers == 3
    with pytest.raises(ValueError, match="number of workers of object is unknown"):
        FuturesBackend(object())


def test_a_message_is_small():
    messages = []

    class Pool(ThreadPoolExecutor):
        def submit(self, function, message, payload=None):
            messages.append(message)
            return super().submit(function, message, payload)

    with (
        Pool(1) as pool,
        joblib.parallel_config(FuturesBackend(pool)),
        start(act, np.arange(1_000_000.0)) as executor,
    ):
        executor.submit(Do("sum")).result()
    assert len(messages[0]) < 1000
    assert pickle.loads(messages[0]).task == Do("sum")
