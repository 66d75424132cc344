"""Searches that are killed at random moments; the whole of it is examples/benchmarks/chaos.py."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sksearch import chaos
from tests import scripts

CHAOS = Path(__file__).parents[1] / "examples" / "benchmarks" / "chaos.py"
LIMIT = 280  # seconds, on a machine that has a lot to do; else a minute

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it looks for processes"),
]


def run_chaos(*args):
    """Run the benchmark in a process group of its own; return its status and what it printed."""
    process = subprocess.Popen(
        [sys.executable, str(CHAOS), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(timeout=LIMIT)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, out


@pytest.mark.whole
@pytest.mark.timeout(LIMIT + 10)
def test_kills_change_no_result_and_no_ended_evaluation_is_run_again():
    kinds = ["halving, trees", "Hyperband, epochs, in process"]
    status, out = run_chaos("--kills", "4", "--parallel", "2", "--gone", "10", "--kinds", *kinds)
    assert status == 0, out
    assert out.count(": ok\n") == 5, out


DEADLY = """
import sys
from joblib import parallel_config
from scipy.stats import uniform
from sksearch import HyperbandSearchCV
from tests.interrupted import Deadly, X, Y

folder, how, backend, n_jobs = sys.argv[1:]
with parallel_config(backend):
    search = HyperbandSearchCV(
        Deadly(how), {"quality": uniform()}, resource="epochs", max_resources=9, cv=2,
        random_state=0, n_jobs=int(n_jobs), checkpoint_dir=folder,
        known={"params": [{"quality": 0.25}, {"quality": 0.5}, {"quality": 0.75}]},
    ).fit(X, Y)
print([t.params["quality"] for t in search.history_.trials
       if any(r.status != "ok" for r in t.results.values())])
print(*sorted(set(search.statuses_)), search.best_params_["quality"] > 0.5)
"""


@pytest.mark.few(1)
@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize(
    ("how", "backend", "n_jobs"),
    [
        ("exit", "loky", 1),
        ("kill", "threading", 2),
        pytest.param("kill", "loky", 1, marks=pytest.mark.whole),
        pytest.param("exit", "threading", 2, marks=pytest.mark.whole),
    ],
)
def test_a_candidate_that_ends_the_process_is_found_out_by_the_next(
    how, backend, n_jobs, tmp_path
):
    folder = tmp_path / "checkpoint"

    def start():
        return scripts.run(
            ["-W", "ignore", "-c", DEADLY, folder, how, backend, str(n_jobs)],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
            timeout=LIMIT // 2 - 10,
        )

    assert start().returncode == (3 if how == "exit" else -signal.SIGKILL)
    second = start()
    assert second.returncode == 0, second.stderr
    assert second.stdout.split() == ["[0.5]", "crash", "ok", "True"]
    assert not [*(folder / "states").iterdir(), *(folder / "spool").iterdir()]


SCRIPT = """
import time
import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sksearch import SuccessiveHalvingSearchCV


class Net(ClassifierMixin, BaseEstimator):
    def __init__(self, quality=0.5):
        self.quality = quality

    def partial_fit(self, X, y, classes=None):
        time.sleep(0.4 if self.quality == 0.75 else 0.02)
        self.classes_ = np.unique(y)
        self.n_ = getattr(self, "n_", 0) + 1
        return self

    def fit(self, X, y):
        self.n_ = 0
        return self.partial_fit(X, y)

    def score(self, X, y):
        return self.quality * (1 - 0.5**self.n_) + SHIFT


if __name__ == "__main__":
    SuccessiveHalvingSearchCV(
        Net(), {"quality": uniform()}, resource="epochs", max_resources=9, cv=2, n_jobs=2,
        known={"params": {"quality": 0.75}},
    ).fit(np.zeros((40, 3)), np.tile([0, 1], 20))
"""


@pytest.mark.whole
@pytest.mark.timeout(LIMIT)
@pytest.mark.parametrize(
    ("shift", "status", "says"),
    [
        ("0.0", 0, "ok    each search ends like"),
        pytest.param("time.time()", 1, "FAIL  each search ends like", marks=pytest.mark.whole),
    ],
)
def test_a_users_own_script_is_killed_and_compared(shift, status, says, tmp_path, capsys):
    """A straggler, classes of ``__main__``, two workers; a score that depends on time is found."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("SHIFT", shift))
    assert chaos.main([str(script), "--kills", "2"]) == status
    out = capsys.readouterr().out
    assert "2 kills" in out
    assert says in out
    assert out.count("ok    0 ") == 2


@pytest.mark.whole
def test_a_script_without_a_search_and_one_that_fails_are_told(tmp_path):
    script = tmp_path / "script.py"
    for text, says in (("", "does not fit an sksearch search"), ("1 / 0", "ZeroDivisionError")):
        script.write_text(text)
        with pytest.raises(RuntimeError, match=says):
            chaos.main([str(script)])
