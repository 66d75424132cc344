"""Where tasks run, and that the history does not notice."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import uniform

from sksearch.executors import _shared_data
from sksearch.executors._base import Executor
from sksearch.executors._factory import make_executor
from sksearch.executors._limits import LostTask, Workers
from sksearch.executors._loop import Workload, drive
from sksearch.history import Problem, Result
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, FullFidelity, Hyperband
from sksearch.space import Space
from sksearch.study import Study
from tests.executors.engines import Squares, square


def study():
    return Study(Problem(Space({"x": uniform(0, 1)}), 1, 9), RandomSampler(), Hyperband())


def run(n_jobs, backend="loky", limit=None):
    work, ours = Squares(limit), study()
    with (
        joblib.parallel_config(backend, n_jobs=n_jobs),
        make_executor(square, {"offset": 1}, None, "2*n_jobs") as executor,
    ):
        drive(ours, executor, work)
    return ours, work


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_jobs", "backend"), [(2, "loky"), (3, "threading"), (2, "multiprocessing")]
)
def test_the_history_does_not_depend_on_the_executor(n_jobs, backend):
    expected, _ = run(1)
    found, _ = run(n_jobs, backend)
    assert found.history.trials == expected.history.trials


@pytest.mark.parametrize(("n_jobs", "backend"), [(1, "loky"), (2, "loky"), (2, "threading")])
def test_a_stop_drops_what_has_not_begun_and_waits_for_the_rest(n_jobs, backend):
    run(n_jobs, backend, limit=1)  # its workers have begun: none ends far behind the others
    ours, work = run(n_jobs, backend, limit=5)
    assert 5 <= len(work.told_jobs) <= 5 + 4
    assert len(work.told_jobs) == sum(len(t.results) for t in ours.history.trials)


def test_results_are_told_in_the_order_in_which_jobs_of_their_length_would_end():
    ours, work = run(3, "threading")
    time, ends = 0, {}
    for kind, trial, resource in ours.history.log:
        if kind == "ask":
            ends[trial] = time + resource - ours.history.trials[trial].spent(resource)
        else:
            assert ends[trial] == min(ends.values())
            time = ends.pop(trial)
    assert work.told_jobs == [event[1:] for event in ours.history.log if event[0] == "tell"]


class ByHand(Executor):
    """Ends the oldest task whenever it is waited for."""

    n_workers = 3

    def __init__(self, has_latency):
        self.has_latency, self.running, self.most = has_latency, [], 0

    def submit(self, task):
        self.running.append(Future())
        self.most = max(self.most, len(self.running))
        return self.running[-1]

    def wait(self, futures, timeout):
        self.running.pop(0).set_result(None)


class Lasting(Workload):
    """Jobs of one task that take so many seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def tasks(self, job):
        return [job.trial_id]

    def collect(self, job, outputs):
        return Result(job.params["x"], cost=self.seconds)

    def on_result(self, job):
        pass


@pytest.mark.parametrize(
    ("has_latency", "seconds", "most"), [(True, 0.01, 4), (True, 2.0, 3), (False, 0.01, 3)]
)
def test_an_asynchronous_search_asks_ahead_where_jobs_are_short_and_workers_far(
    has_latency, seconds, most
):
    executor = ByHand(has_latency)
    problem = Problem(Space({"x": uniform(0, 1)}), 1, 9)
    drive(Study(problem, RandomSampler(), ASHA(12)), executor, Lasting(seconds))
    assert executor.most == most


class Looked(Future):
    """Counts how often anybody looks whether a task is done."""

    n_looks = 0

    def done(self):
        Looked.n_looks += 1
        return super().done()


class Straggling(Executor):
    """Ends tasks in their order, but for the first, which ends last."""

    n_workers = 2
    window = 4

    def __init__(self):
        self.running = []

    def submit(self, task):
        self.running.append(Looked())
        return self.running[-1]

    def wait(self, futures, timeout):
        self.running.pop(min(1, len(self.running) - 1)).set_result(None)


@pytest.mark.parametrize("scheduler", [FullFidelity, ASHA])
def test_behind_a_straggler_a_job_costs_no_more_than_without(scheduler):
    n, Looked.n_looks = 2000, 0
    ours = Study(Problem(Space({"x": uniform(0, 1)})), RandomSampler(), scheduler(n))
    drive(ours, Straggling(), Lasting(1.0))
    assert len(ours.history.trials) == n
    assert Looked.n_looks < 20 * n


@pytest.mark.slow
def test_a_foreign_backend_runs_in_batches():
    from joblib._parallel_backends import ThreadingBackend

    class Foreign(ThreadingBackend):
        """A backend that we do not know by name, as dask's or ray's."""

    joblib.register_parallel_backend("foreign", Foreign)
    found, _ = run(2, "foreign")
    assert found.history.trials == run(1)[0].history.trials


def test_no_jobs_is_an_error():
    with pytest.raises(ValueError, match="n_jobs == 0"):
        make_executor(square, {}, 0, "2*n_jobs")


@pytest.mark.parametrize(
    ("pre_dispatch", "window"), [("2*n_jobs", 6), (1, 3), (10, 10), ("all", float("inf"))]
)
def test_pre_dispatch_is_the_count_of_tasks_in_flight(pre_dispatch, window):
    with joblib.parallel_config("threading"):
        assert make_executor(square, {}, 3, pre_dispatch).window == window


def test_a_batch_is_as_many_candidates_as_are_asked_for_or_keep_all_workers_busy():
    auto = Workers(n_jobs=8, batch_size="auto")
    assert [auto.n_under_way(8, n_tasks) for n_tasks in (1, 7, 8, 20)] == [np.inf, np.inf, 1, 1]
    assert Workers(n_jobs=8, batch_size=5).n_under_way(8, 3) == 5
    assert Workers(n_jobs=8).n_under_way(8, 3) == 1
    assert not Workers(n_jobs=8).are_needed


def test_what_is_broadcast_comes_back_and_large_arrays_are_shared(tmp_path):
    large = np.random.default_rng(0).random((400, 400))
    obj = {
        "large": large,
        "fortran": np.asfortranarray(large),
        "small": np.arange(5),
        "frame": pd.DataFrame({"a": [1.5, 2], "b": ["x", "y"]}),
        "sparse": sparse.random(50, 50, 0.1, random_state=0, format="csr"),
        "empty": np.empty((0, 3)),
        "function": lambda x: x + 1,
    }
    ref = _shared_data.write(obj, tmp_path / "context")
    found = _shared_data.fetch(ref)
    assert found is _shared_data.fetch(ref)
    np.testing.assert_array_equal(found["large"], large)
    np.testing.assert_array_equal(found["fortran"], large)
    assert not found["large"].flags.writeable
    assert found["small"].flags.writeable
    found["small"][0] = 7
    pd.testing.assert_frame_equal(found["frame"], obj["frame"])
    assert (found["sparse"] != obj["sparse"]).nnz == 0
    assert found["empty"].shape == (0, 3)
    assert found["function"](1) == 2


def pid_and_file(context, task, environment):
    return os.getpid(), next(reversed(_shared_data._loaded))


def test_workers_read_the_data_once_and_are_kept_for_the_next_search():
    pids = []
    for _ in range(2):
        with make_executor(pid_and_file, {}, 2, "all") as executor:
            futures = [executor.submit(i) for i in range(20)]
            outs = [future.result() for future in futures]
            folder = executor._folder.path
        assert len({loaded for _, loaded in outs}) == 1
        assert not folder.exists()
        pids.append({pid for pid, _ in outs})
    assert pids[0] | pids[1] == pids[0] or len(pids[0] | pids[1]) <= 2
    assert os.getpid() not in pids[0]


def blas_threads(context, task, environment):
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_whatever_n_jobs(n_jobs):
    with make_executor(blas_threads, {}, n_jobs, "all") as executor:
        threads = executor.submit(0).result()
    assert threads
    assert set(threads) == {1}


def test_joblib_can_still_use_its_own_pool_afterwards():
    run(2)
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(-i) for i in range(4)) == [0, 1, 2, 3]
    assert len(run(2)[0].history.trials) == 15


def test_a_study_of_full_fidelity_runs_as_many_as_asked():
    ours = Study(Problem(Space({"x": uniform(0, 1)})), RandomSampler(), FullFidelity(7))
    with make_executor(square, {"offset": 1}, 2, "2*n_jobs") as executor:
        drive(ours, executor, Squares())
    assert len(ours.history.trials) == 7


def fail_or_sleep(context, task, environment):
    if context["fails"]:
        raise RuntimeError("on purpose")
    time.sleep(0.05)
    return os.getpid()


@pytest.mark.slow
def test_a_search_that_fails_leaves_the_workers_of_another_alone():
    with make_executor(fail_or_sleep, {"fails": False}, 2, "all") as healthy:
        futures = [healthy.submit(i) for i in range(20)]
        with (
            pytest.raises(RuntimeError, match="on purpose"),
            make_executor(fail_or_sleep, {"fails": True}, 2, "all") as failing,
        ):
            failing.submit(0).result()
        assert len({future.result() for future in futures}) <= 2


@pytest.mark.slow
def test_idle_workers_that_died_are_replaced_and_ctrl_c_does_not_reach_them():
    def pids():
        with make_executor(pid_and_file, {}, 2, "all") as executor:
            results = [f.result() for f in [executor.submit(i) for i in range(20)]]
            return {each[0] for each in results if not isinstance(each, LostTask)}

    first = pids()
    for pid in first:
        os.kill(pid, signal.SIGINT)
    assert pids() & first
    for pid in first:
        os.kill(pid, signal.SIGKILL)
    time.sleep(1)  # for the pool to notice; on a busy machine it does when a task is lost
    second = pids()
    assert second
    assert not second & first


@pytest.mark.whole
@pytest.mark.slow
def test_a_forked_child_that_searched_ends(tmp_path):
    script = """
import multiprocessing, sys
sys.path.insert(0, ROOT)
from tests.executors.test_executors import run

if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=run, args=(2,))
    child.start()
    child.join(150)
    print(child.exitcode)
    child.kill()
"""
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", script.replace("ROOT", repr(root))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.strip() == "0", done.stderr


def test_a_foreign_backend_stops_after_a_batch():
    from joblib._parallel_backends import ThreadingBackend

    class Other(ThreadingBackend):
        """Not known by name."""

    joblib.register_parallel_backend("other", Other)
    _, work = run(2, "other", limit=3)
    assert len(work.told_jobs) < 15
