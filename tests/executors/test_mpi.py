"""Pools of MPI, which say nothing of workers that do not start, or die: futures never end."""

import os
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sksearch import RandomSearchCV, load_history
from sksearch.executors import EngineLostError, FuturesBackend
from sksearch.executors._factory import make_executor
from tests.executors.engines import ROOT

pytestmark = pytest.mark.timeout(150)  # instead of waiting for ever

X, Y = np.arange(40.0).reshape(20, 2), np.arange(20.0)


class Pool(Executor):
    """As mpi4py's: a thread of its own has the workers, and ends silently if they end."""

    def __init__(self, starts=True, n_tasks=0):
        self.n_tasks, self._ends = n_tasks, threading.Event()
        self._pool = None
        self._starts = starts

    def bootup(self, wait=True):
        if self._pool is None:
            thread = threading.Thread(target=self._ends.wait, daemon=True)
            self._pool = SimpleNamespace(thread=thread, event=threading.Event())
            thread.start()
            if self._starts:
                self._pool.event.set()
            else:
                self._ends.set()

    @property
    def num_workers(self):
        self.bootup()
        self._pool.event.wait()
        return 2

    def submit(self, function, /, *args):
        self.bootup()
        future = Future()
        if self.n_tasks:
            self.n_tasks -= 1
            future.set_result(function(*args))
        else:
            self._ends.set()
        return future


def search(**kwargs):
    return RandomSearchCV(
        Ridge(), {"alpha": [1.0, 2.0, 3.0, 4.0]}, n_iter=4, cv=2, random_state=0, **kwargs
    )


def test_a_pool_without_workers_is_an_error_at_once():
    with pytest.raises(EngineLostError, match=r"The Pool has no workers: .*max_workers="):
        FuturesBackend(Pool(starts=False))


def test_a_search_on_a_pool_without_workers_is_an_error_at_once():
    with (
        joblib.parallel_config(FuturesBackend(Pool(starts=False), n_workers=2), n_jobs=2),
        pytest.raises(EngineLostError, match="The Pool is lost: it has no workers"),
    ):
        search().fit(X, Y)


def test_nothing_is_lost_with_the_workers(tmp_path):
    with (
        joblib.parallel_config(FuturesBackend(Pool(n_tasks=5)), n_jobs=2),
        pytest.raises(EngineLostError, match="with checkpoint_dir=, fit resumes the search"),
    ):
        search(checkpoint_dir=tmp_path).fit(X, Y)
    assert len(load_history(tmp_path).history_.trials) >= 2
    trained = search(checkpoint_dir=tmp_path).fit(X, Y)
    undisturbed = search().fit(X, Y)
    assert trained.cv_results_["mean_test_score"].tolist() == (
        undisturbed.cv_results_["mean_test_score"].tolist()
    )


def pid(context, task, environment):
    return os.getpid()


def test_a_worker_runs_tasks_in_a_child_whose_death_it_survives():
    with (
        joblib.parallel_config(FuturesBackend(Pool(n_tasks=1)), n_jobs=2),
        make_executor(pid, None, None, "all") as executor,
    ):
        assert executor.submit(0).result() != os.getpid()


SCRIPT = """
import sys
from mpi4py.futures import MPIPoolExecutor
from sksearch.executors import FuturesBackend
if __name__ == "__main__":
    with MPIPoolExecutor(max_workers=10_000) as pool:
        FuturesBackend(pool)
"""


@pytest.mark.slow
@pytest.mark.xdist_group("mpi")
def test_more_workers_than_mpi_has_slots_for_is_an_error_at_once(tmp_path):
    pytest.importorskip("mpi4py")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    strict = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_")}
    ended = subprocess.run(
        [sys.executable, script],
        env=ours | strict | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert "EngineLostError: The MPIPoolExecutor has no workers" in ended.stderr, ended.stderr
