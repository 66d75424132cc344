"""Searches of processes whose standard streams are missing or closed."""

import os
import sys

import pytest

from sksearch.checkpoint._checkpoint import read_journal
from sksearch.executors import end_idle_workers
from sksearch.executors.local import _template
from sksearch.executors.local._process import WorkerProcess
from tests import scripts

pytestmark = pytest.mark.timeout(120)

CLOSED = """
import os, sys
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from sksearch import RandomSearchCV

n_jobs, folder, *numbers = sys.argv[1:]
for number in map(int, numbers):
    os.close(number)
    setattr(sys, ("stdin", "stdout", "stderr")[number], None)
search = RandomSearchCV(SVC(verbose=True), {"C": [1, 10]}, n_iter=2, cv=2, n_jobs=int(n_jobs),
                        checkpoint_dir=folder, error_score="raise")
search.fit(*load_iris(return_X_y=True))
"""


@pytest.mark.skipif(os.name == "nt", reason="descriptors of Unix")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("numbers", ["012", "12", "1", "2"])
def test_a_search_runs_without_standard_streams(n_jobs, numbers, tmp_path):
    folder = tmp_path / "checkpoint"
    done = scripts.run(["-c", CLOSED, str(n_jobs), folder, *numbers], timeout=60)
    assert done.returncode == 0, done.stderr
    *_, won = read_journal(folder)[1]  # no library has printed into it
    assert won["k"] == "won"


OPEN = """
import os
from sksearch._utils._filesystem import open_standard_streams
os.close(0), os.close(2)
open_standard_streams()
print(os.pipe()[0] > 2, *map(os.get_inheritable, range(3)), os.fstat(0) == os.fstat(2))
"""


@pytest.mark.skipif(os.name == "nt", reason="descriptors of Unix")
def test_files_and_pipes_get_no_number_of_a_standard_stream():
    assert scripts.run(["-c", OPEN]).stdout == "True True True True True\n"


@pytest.mark.parametrize("may_fork", [True, False])
def test_workers_start_without_streams_of_python(may_fork, monkeypatch):
    end_idle_workers()
    monkeypatch.setattr(_template, "CAN_FORK", may_fork and _template.CAN_FORK)
    with open(os.devnull, "w") as closed:
        pass
    worker = WorkerProcess()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        patch.setattr(sys, "stderr", closed)
        try:
            assert worker.call(os.getpid) != os.getpid()
            assert worker.call(has_streams)
        finally:
            worker.kill()
        assert (sys.stdout, sys.stderr) == (None, closed)


def has_streams():
    return all(os.fstat(stream.fileno()) for stream in (sys.stdin, sys.stdout, sys.stderr))
