"""Rows 47 to 54 of the table of faults: what a search runs in, and how much there is of it."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sksearch
from sksearch._utils._compat import cloudpickle
from sksearch.checkpoint._checkpoint import read_journal
from sksearch.checkpoint._lines import encode
from sksearch.executors import FuturesBackend, end_idle_workers
from sksearch.fitting.run._run import Run
from sksearch.search import EngineLostError, SearchLockedError, SearchMismatchError
from tests.executors import engines
from tests.faults.engine import ROOT
from tests.faults.estimators import (
    FEW,
    Everywhere,
    Fake,
    X,
    Y,
    assert_same,
    halving,
    pids,
    random_search,
    slow_halving,
    slow_halving_undisturbed,
    trainings,
    wait_until,
)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = [pytest.mark.usefixtures("engine"), pytest.mark.timeout(120)]


@pytest.mark.slow
def test_a_search_inside_of_another_task_starts_no_workers_of_workers(engine, tmp_path):  # row 47
    log = tmp_path / "log"
    search = random_search(Fake(log=str(log)))
    scores = cross_val_score(search, X, Y, cv=2, error_score="raise")
    np.testing.assert_allclose(scores, 0.4 - 0.01)
    # Folds of the inner searches have 15 rows, and their refits 30.
    assert len(trainings(log)) == 2 * (4 * 2 + 1)
    assert len(pids(log)) <= 2
    assert not engine.is_here or pids(log) == {os.getpid()}
    pipe = make_pipeline(StandardScaler(), random_search())
    assert pipe.fit(X, Y)[-1].best_params_ == {"quality": 0.4}
    search.set_params(checkpoint_dir=tmp_path / "one for two")
    errors = (SearchLockedError, SearchMismatchError)
    if engine.name == "spark":  # joblibspark 0.6 returns errors instead of raising them
        errors += (TypeError,)
    with pytest.raises(errors):
        cross_val_score(search, X, Y, cv=2, error_score="raise")


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("engine", ["serial"], indirect=True)
def test_ten_thousand_trials_are_read_in_time_that_grows_with_them(tmp_path):  # row 48
    few, many = (seconds_to_read(n, tmp_path / str(n)) for n in (1_000, 10_000))
    assert many < 30 * few, "ten times as many"


def seconds_to_read(n, folder):
    """CPU seconds that a search takes of whose n trials a checkpoint knows all but one."""
    space = {"quality": np.linspace(0, 1, n).tolist()}
    search = random_search(Fake(), space, n_iter=n, checkpoint_dir=folder)

    def stop(run, job):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, joblib.parallel_config("sequential"):
        patch.setattr(Run, "on_result", stop)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, Y)
    _, (ask, tell, *_), _ = read_journal(folder)
    with open(folder / "journal.jsonl", "ab") as file:
        for t in range(1, n - 1):
            file.write(encode(ask | {"t": t, "p": {"quality": space["quality"][t]}}))
            file.write(encode(tell | {"t": t}))
    begin = time.process_time()
    assert len(search.fit(X, Y).cv_results_["params"]) == n
    return time.process_time() - begin


@pytest.mark.slow
def test_any_count_of_workers_finds_the_same():  # row 49
    expected = halving(n_jobs=1).fit(X, Y)
    for n_jobs in (3, -1):
        assert_same(halving(n_jobs=n_jobs).fit(X, Y), expected)


ENGINE_LOST = """
import threading
from pathlib import Path
from sksearch.search import EngineLostError
from tests.faults.estimators import X, Y, slow_halving, trainings, wait_until
def leave():
    import ray
    wait_until(lambda: len(trainings(Path(args[0], "log"))) >= 8)
    ray.shutdown()
with engine():
    threading.Thread(target=leave).start()
    try:
        slow_halving(args[0]).fit(X, Y)
    except EngineLostError as error:
        print(error)
"""


def lose(close, folder):
    """Run the slow halving, and close its engine while it runs."""
    log = folder / "log"
    closing = threading.Thread(
        target=lambda: close() if wait_until(lambda: len(trainings(log)) >= 8) else None
    )
    closing.start()
    try:
        slow_halving(folder).fit(X, Y)
    finally:
        closing.join()


@pytest.mark.whole
@pytest.mark.slow
def test_a_search_whose_engine_is_gone_continues_on_another(engine, tmp_path):  # row 50
    log = tmp_path / "log"
    gone = pytest.raises(EngineLostError, match=r"is lost.*checkpoint_dir")
    if engine.name == "dask":
        import distributed

        cluster = engines.new_dask_cluster(distributed, n_workers=1)
        with distributed.Client(cluster, set_as_default=False) as client:
            dask = joblib.parallel_config("dask", client=client)
            with dask, gone:
                lose(cluster.close, tmp_path)
    elif engine.name == "ray":
        (out, err), _ = engine.run(ENGINE_LOST, tmp_path)
        # Ray ends a process that is just asking something when it is shut down in a thread.
        ended = "The core worker has already been shutdown" in err
        assert "Ray is lost: it was shut down" in out or ended, err
    else:  # no such engine can go, but a pool of the user's can
        pool = ThreadPoolExecutor(2)
        with pool, joblib.parallel_config(FuturesBackend(pool)), gone:
            lose(pool.shutdown, tmp_path)
    assert len(trainings(log)) >= 8
    search = slow_halving(tmp_path, n_jobs=1 if engine.name != "serial" else None).fit(X, Y)
    assert_same(search, slow_halving_undisturbed())
    assert len(trainings(log)) <= 42 + 2 * 6


class FailsOnAllRows(Fake):
    """Can be trained on folds alone, as long as a file is not there."""

    def fit(self, X, y):
        if np.shape(X)[0] == 60 and not Path(self.ballast).exists():
            raise OSError("not on all rows")
        return super().fit(X, y)


def test_a_refit_that_fails_keeps_the_results_and_is_all_that_is_repeated(tmp_path):  # row 51
    log, repaired = tmp_path / "log", tmp_path / "repaired"
    estimator = FailsOnAllRows(ballast=str(repaired), log=str(log))
    search = random_search(estimator, FEW, checkpoint_dir=tmp_path / "checkpoint")
    with pytest.raises(OSError, match="not on all rows"):
        search.fit(X, Y)
    assert search.best_params_ == {"quality": 0.4}
    assert len(search.cv_results_["params"]) == 4
    ended, won = read_journal(tmp_path / "checkpoint")[1][-2:]
    assert (ended["why"], won["k"]) == ("finished", "won")
    repaired.touch()
    assert search.fit(X, Y).best_estimator_.quality == 0.4
    assert len(trainings(log)) == 4 * 2


def jump():
    """Set the clock of this process back by an hour, and forth again."""
    clock = partial(time.clock_gettime, time.CLOCK_REALTIME)
    time.time = lambda: clock() - 3600
    time.sleep(0.02)
    time.time = clock


def fit_in_time(act):
    """See that a search with a time limit does not stop, and measures times."""
    search = random_search(Fake(act=act, at=Everywhere()), timeout=200).fit(X, Y)
    assert len(search.cv_results_["params"]) == 4
    times = np.concatenate([v for k, v in search.cv_results_.items() if "_time" in k])
    assert (times >= 0).all()
    assert (times < 1800).all()  # half of what the clock jumps by


JUMPS = """
import threading
from tests.faults.test_surroundings import fit_in_time, jump
threading.Timer(0.03, jump).start()
with engine():
    fit_in_time(jump)
"""


@pytest.mark.slow
def test_a_clock_that_jumps_changes_nothing(engine):  # row 52
    if engine.is_local:  # in another process: Dask may run in this one
        (_, err), code = engine.run(JUMPS)
        assert code == 0, err
    else:
        # Tornado, on which Dask runs, may wait for an hour then.
        fit_in_time(None if engine.name == "dask" else jump)
    for file in Path(sksearch.__file__).parent.rglob("*.py"):
        text = file.read_text()
        if file.name != "_clock.py":  # when a fold ran, which is shown and decides nothing
            assert "time.time(" not in text, file
        assert "datetime.now" not in text, file


UNGUARDED = """
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sksearch import RandomSearchCV
search = RandomSearchCV(SGDClassifier(random_state=0), {"alpha": [0.1, 1]}, n_iter=2, n_jobs=2)
print(len(search.fit(*load_iris(return_X_y=True)).cv_results_["params"]))
"""


@pytest.mark.few(1)
@pytest.mark.slow
def test_a_search_runs_in_any_thread_in_an_event_loop_and_unguarded(engine, tmp_path):  # row 53
    expected = halving(n_jobs=1).fit(X, Y)
    found = []

    def fit():
        with engine.context():
            found.append(halving().fit(X, Y))

    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()

    async def cell():
        found.append(halving().fit(X, Y))

    asyncio.run(cell())
    assert len(found) == 2
    for search in found:
        assert_same(search, expected)
    if engine.name == "slots":
        script = tmp_path / "unguarded.py"
        script.write_text(UNGUARDED)
        command = [sys.executable, script]
        out = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=100)
        assert out.stdout == "2\n", out.stderr


class Cuda(types.ModuleType):
    """Like CUDA it remembers the process in which it was initialised, also in forks of it."""

    def __init__(self):
        super().__init__("fake_cuda")
        self.process = os.getpid()


class OnGpu(Fake):
    """Fails as PyTorch does in a process that was forked from one with CUDA."""

    def fit(self, X, y):
        cuda = sys.modules.get("fake_cuda")
        if cuda is not None and cuda.process != os.getpid():
            raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")
        return super().fit(X, y)


@pytest.mark.slow
def test_no_worker_is_a_fork_of_a_process_with_cuda(monkeypatch, tmp_path):  # row 54
    end_idle_workers()
    monkeypatch.setitem(sys.modules, "fake_cuda", Cuda())
    for kwargs in ({}, {"workers": {"timeout": 60}}):
        log = tmp_path / json.dumps(kwargs)
        search = random_search(OnGpu(log=str(log)), error_score="raise", **kwargs)
        assert search.fit(X, Y).best_params_ == {"quality": 0.4}
        assert not kwargs or os.getpid() not in pids(log)
