"""Each row of the table of faults on several engines, and what no test may leave behind."""

import os
import tempfile
import threading
from contextlib import suppress

import joblib
import psutil
import pytest

from sksearch.executors.local import _pool, _template
from tests.faults.engine import PARAMS, Engine
from tests.faults.estimators import wait_until

#: Beside this process, each row has the next one of these.
IN_TURN = ("slots", "dask", "slots", "threads", "slots", "ray")


def pytest_collection_modifyitems(items):
    """Leave each row two engines, unless the whole table is asked for."""
    for item in items:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if "engine" in params and "tests/faults/" in item.nodeid:
            rows = [name for name in vars(item.module) if name.startswith("test_")]
            in_turn = IN_TURN[rows.index(item.originalname) % len(IN_TURN)]
            if params["engine"] not in ("serial", in_turn):
                item.add_marker(pytest.mark.whole)


@pytest.fixture(params=PARAMS)
def engine(request):
    """Each engine; searches of the test run on it."""
    engine = Engine(request.param)
    with engine.context():
        yield engine


@pytest.fixture(autouse=True)
def _leaves_nothing(request, tmp_path_factory, monkeypatch):
    """See that a test leaves no process, thread or temporary file of ours."""
    if "engine" in request.fixturenames:
        request.getfixturevalue("engine")  # a cluster that starts has files of its own
    temp = tmp_path_factory.mktemp("temp")
    monkeypatch.setattr(tempfile, "tempdir", str(temp))
    before = _workers()
    yield
    assert wait_until(lambda: not _threads(), 5), _threads()
    assert wait_until(lambda: _workers() <= before | _idle(), 5), "worker processes are left"
    assert not [path.name for path in temp.iterdir() if "sksearch-" in path.name]


def _threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("sksearch")]


def _workers():
    """Processes of ours, or of joblib, that descend from this one."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        try:
            if "popen_loky_posix" in " ".join(process.cmdline()):
                found.add(process.pid)
        except psutil.Error:  # it has just ended
            continue
    return found


def _idle():
    """Processes that wait for the next search, or for the next task of an engine's worker."""
    idle = {
        worker._process.pid
        for workers in _pool._idle.values()
        for _, worker in workers
        if worker._process is not None
    }
    idle |= {template.pid for template in _template._templates.values()}
    pool = getattr(joblib.externals.loky.reusable_executor, "_executor", None)
    if pool is not None:
        idle |= set(pool._processes)
    parents = {}
    for pid in _workers():
        with suppress(psutil.Error):  # it has just ended
            parents[pid] = psutil.Process(pid).ppid()
    # Of a worker of dask, ray or MPI, and the forks of such a template.
    theirs = {
        p for p, parent in parents.items() if parent != os.getpid() and parent not in parents
    }
    idle |= theirs | {pid for pid, parent in parents.items() if parent in theirs}
    return idle
