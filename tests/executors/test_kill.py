"""What becomes of workers when a search ends early."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import uniform

from sksearch import RandomSearchCV
from sksearch.executors._folder import TaskFolder
from tests.fakes import Failing


@pytest.mark.whole
@pytest.mark.slow
def test_a_pool_is_killed_with_its_queue_full_and_no_thread_dies(monkeypatch):
    errors = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    search = RandomSearchCV(
        Failing(threshold=-1.0),
        {"quality": uniform(0, 1)},
        n_iter=30,
        cv=[([0], [1])] * 3,
        n_jobs=2,
        pre_dispatch="all",
        error_score="raise",
    )
    for seed in range(3):
        with pytest.raises(RuntimeError, match="too good to be true"):
            search.set_params(random_state=seed).fit(np.zeros((4, 1)), np.arange(4))
    assert errors == []


SEARCH = """
import sys, time
import numpy as np
from scipy.stats import uniform
from sksearch import RandomSearchCV
from tests.fakes import Curve

class Slow(Curve):
    def fit(self, X, y):
        print("begun", flush=True)
        time.sleep(60)

RandomSearchCV(Slow(), {"quality": uniform(0, 1)}, n_jobs=2).fit(np.zeros((20, 1)), np.arange(20))
"""


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(os.name == "nt", reason="there a process does not see its parent die")
def test_the_data_of_a_killed_search_are_removed_by_its_workers(tmp_path):
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", SEARCH],
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline().startswith("begun")
    assert len(list(tmp_path.glob("sksearch-*"))) == 1
    process.kill()
    process.wait()
    end = time.monotonic() + 20
    while list(tmp_path.glob("sksearch-*")) and time.monotonic() < end:
        time.sleep(0.1)
    process.stdout.close()
    assert list(tmp_path.glob("sksearch-*")) == []


@pytest.mark.skipif(os.name == "nt", reason="limits of Unix")
def test_a_disk_that_is_too_small_for_the_data_is_named_and_left_empty(tmp_path):
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limit[1]))
    try:
        with pytest.raises(
            OSError, match=rf"need 8\d\d,\d\d\d bytes in {tmp_path}, .* disk space there"
        ):
            TaskFolder(tmp_path, "context", np.zeros(100_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert list(tmp_path.iterdir()) == []
