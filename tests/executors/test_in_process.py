"""What runs in this process, and what a task of it may use."""

import os
import resource
import threading
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import FrozenInstanceError
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from sksearch import RandomSearchCV
from sksearch.executors import _in_process
from sksearch.executors._in_process import SerialExecutor, ThreadExecutor
from sksearch.executors._limits import (
    Limits,
    LostTask,
    _address_space,
    can_limit_memory,
    limited_memory,
)
from sksearch.search import EngineLostError


def around(context, task, environment):
    """Where a task runs."""
    return context, task, environment, threading.current_thread().name, os.getpid()


def crash(context, task, environment):
    return SimpleNamespace(status="crash", error="the GPU is gone")


def threads_of_ours():
    return [each for each in threading.enumerate() if each.name.startswith("sksearch")]


def test_a_task_is_run_at_once_in_this_thread(tmp_path):
    with SerialExecutor(around, "context", tmp_path) as executor:
        future = executor.submit(5)
    assert future.done()
    context, task, environment, thread, pid = future.result()
    assert (context, task, thread, pid) == ("context", 5, "MainThread", os.getpid())
    assert environment.folder == tmp_path
    assert environment.owns_globals
    assert environment.shares_memory


def test_tasks_of_threads_share_what_is_global(tmp_path):
    with ThreadExecutor(around, "context", 2, 4, "sequential", tmp_path) as executor:
        assert (executor.n_workers, executor.window) == (2, 4)
        context, task, environment, thread, pid = executor.submit(5).result()
        assert threads_of_ours()
    assert (context, task, pid) == ("context", 5, os.getpid())
    assert thread.startswith("sksearch")
    assert environment.folder == tmp_path
    assert not environment.owns_globals


def test_threads_end_with_their_executor_and_do_not_begin_what_waits():
    begun, may_end = threading.Event(), threading.Event()

    def work(context, task, environment):
        begun.set()
        may_end.wait(30)

    with ThreadExecutor(work, None, 1, 4, "sequential") as executor:
        futures = [executor.submit(i) for i in range(3)]
        begun.wait(30)
        threading.Timer(0.05, may_end.set).start()
    assert [future.cancelled() for future in futures] == [False, True, True]
    assert not threads_of_ours()


@pytest.mark.parametrize("make", [
    lambda function: SerialExecutor(function, None),
    lambda function: ThreadExecutor(function, None, 1, 1, "sequential"),
])  # fmt: skip
def test_a_process_that_a_candidate_has_broken_ends_the_search(make):
    with make(crash) as executor, pytest.raises(EngineLostError, match="the GPU is gone"):
        executor.submit(0).result()


@pytest.mark.parametrize("make", [
    lambda: SerialExecutor(around, None),
    lambda: ThreadExecutor(around, None, 1, 1, "sequential"),
])  # fmt: skip
def test_blas_has_one_thread_inside_and_as_many_as_before_outside(make, monkeypatch):
    log = []

    @contextmanager
    def one_thread():
        log.append("one")
        yield
        log.append("as before")

    monkeypatch.setattr(_in_process, "one_blas_thread", one_thread)
    with make():
        assert log == ["one"]
    assert log == ["one", "as before"]


class Threads(DummyClassifier):
    """Notes the number of OpenMP threads in ``fit``."""

    def fit(self, X, y, sample_weight=None):
        pools = [each for each in threadpool_info() if each["user_api"] == "openmp"]
        self.n_threads_ = {each["num_threads"] for each in pools}
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(("n_columns", "n_threads"), [(3, 1), (50_001, 2)])
@pytest.mark.parametrize("kind", [np.asarray, csr_array, pd.DataFrame])
def test_openmp_has_one_thread_on_few_values(kind, n_columns, n_threads):
    X, y = kind(np.zeros((4, n_columns))), [0, 1, 0, 1]
    with threadpool_limits(2, user_api="openmp"):
        search = RandomSearchCV(Threads(), {"strategy": ["prior"]}, n_iter=1, cv=2).fit(X, y)
    assert search.best_estimator_.n_threads_ == {n_threads}


def test_a_suspect_runs_in_its_own_process(tmp_path):
    with SerialExecutor(around, "context", tmp_path) as executor:
        future = executor.submit_suspect(5)
    context, task, environment, _, pid = future.result()
    assert (context, task) == ("context", 5)
    assert pid != os.getpid()
    assert environment.folder == tmp_path
    assert environment.owns_process  # nothing else draws from its generators


def test_a_suspect_that_cannot_be_sent_runs_here():
    lock = threading.Lock()  # which cannot be pickled
    with SerialExecutor(around, lock) as executor:
        future = executor.submit_suspect(5)
    assert future.result()[0] is lock


# ---- limits


def test_a_limit_needs_its_own_process():
    assert not Limits().isolate
    assert not Limits(retries=3).isolate
    assert Limits(seconds=0.0).isolate
    assert Limits(memory=0).isolate
    assert Limits(stops=True).isolate


def test_a_limit_and_an_outcome_stay_as_they_are():
    lost = LostTask("crash", "gone")
    assert lost.seconds == 0.0
    for each in (lost, Limits()):
        with pytest.raises(FrozenInstanceError):
            each.seconds = 1.0


@pytest.mark.skipif(not can_limit_memory(), reason="no limits of memory")
def test_memory_is_limited_inside_and_as_before_outside():
    before = resource.getrlimit(resource.RLIMIT_AS)
    with limited_memory(None):
        assert resource.getrlimit(resource.RLIMIT_AS) == before
    room = 2**36
    with pytest.raises(KeyError), limited_memory(room):
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        assert abs(soft - room - _address_space()) < 2**28
        assert hard == before[1]
        with limited_memory(2 * room):  # a limit that is there stays
            assert resource.getrlimit(resource.RLIMIT_AS) == (soft, hard)
        assert resource.getrlimit(resource.RLIMIT_AS) == (soft, hard)
        raise KeyError
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no Linux")
def test_the_address_space_matches_the_system():
    with open("/proc/self/status") as file:
        size = next(int(line.split()[1]) for line in file if line.startswith("VmSize"))
    assert abs(_address_space() - 1024 * size) < 2**24


def test_a_task_that_fails_fails_in_its_future():
    def fail(context, task, environment):
        raise OSError("on purpose")

    with ThreadExecutor(fail, None, 1, 1, "sequential") as executor:
        future = executor.submit(0)
        wait([future])
        assert isinstance(future.exception(), OSError)
    with SerialExecutor(fail, None) as executor, pytest.raises(OSError, match="on purpose"):
        executor.submit(0)
