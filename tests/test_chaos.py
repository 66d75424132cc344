"""Searches that are killed at random moments; the whole of it is examples/benchmarks/chaos.py."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.timeout(LIMIT + 10)
def test_kills_change_no_result_and_no_ended_evaluation_is_run_again():
    kinds = ["Hyperband, epochs", "halving, trees", "Hyperband, epochs, in process"]
    status, out = run_chaos("--kills", "12", "--parallel", "3", "--kinds", *kinds)
    assert status == 0, out
    assert out.count(": ok\n") == 5, out
