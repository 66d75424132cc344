"""A script in a fork of a warm process has what it has in a new Python."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests import scripts

SEEN = """
import atexit, json, os, pickle, sys, threading
class Mine: pass
def text(): return type(pickle.loads(pickle.dumps(Mine()))) is Mine
atexit.register(print, "atexit")
threading.Timer(0.1, print, ["thread"]).start()
print(json.dumps({
    "name": __name__, "argv": sys.argv[1:], "known": text(), "path": sys.path[0],
    "file": globals().get("__file__"), "folder": os.getcwd(), "extra": os.environ.get("EXTRA"),
    "home": os.environ.get("HOME"), "n_threads": threading.active_count(),
    "group": os.getpgid(0) == os.getpid(), "main": sys.modules["__main__"].text is text,
    "input": sys.stdin.read(), "options": sys.warnoptions,
}))
sys.exit(5)
"""


def new(arguments, **kwargs):
    """Run a script in a new Python."""
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
        start_new_session=True, **kwargs,
    )  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.skipif(not scripts.CAN_FORK, reason="needs fork")
@pytest.mark.parametrize("kind", ["code", "file"])
def test_a_script_sees_the_same_as_in_a_new_python(kind, tmp_path):
    (tmp_path / "script.py").write_text(SEEN)
    what = ["-c", SEEN] if kind == "code" else [str(tmp_path / "script.py")]
    arguments = ["-W", "ignore", *what, "a", "b c"]
    env = {name: value for name, value in os.environ.items() if name != "HOME"} | {"EXTRA": "x"}
    ours, theirs = (f(arguments, env=env, cwd=tmp_path) for f in (scripts.run, new))
    assert json.loads(ours.stdout.splitlines()[0]) == json.loads(theirs.stdout.splitlines()[0])
    assert ours.stdout == theirs.stdout
    assert ours.stdout.endswith("thread\natexit\n")
    assert ours.returncode == theirs.returncode == 5


@pytest.mark.parametrize(
    ("code", "status", "says"),
    [
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("import os; os._exit(3)", 3, ""),
        ("raise SystemExit('bad')", 1, "bad"),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL, ""),
        ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM, ""),
        ("import os; os.kill(os.getpid(), 2)", -signal.SIGINT, "KeyboardInterrupt"),
        ("import warnings; warnings.warn('odd')", 0, "UserWarning: odd"),
    ],
)
def test_ends_match_a_new_python(code, status, says):
    done = scripts.run(["-c", code])
    assert done.returncode == status
    assert says in done.stderr
    assert bool(done.stderr) == bool(says)


def test_draws_differ_from_script_to_script():
    code = "import random, numpy as np; print(random.random(), np.random.random_sample())"
    assert len({scripts.run(["-c", code]).stdout for _ in range(3)}) == 3


def test_it_is_killed_and_its_children_with_it():
    code = "import os, time; os.fork(); print(os.getpid(), flush=True); time.sleep(600)"
    process = scripts.start(["-c", code])
    assert process.poll() is None
    pids = {int(process.stdout.readline()) for _ in range(2)}
    assert process.pid in pids
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    for pid in pids:
        while _lives(pid):
            time.sleep(0.01)
    assert process.communicate() == ("", "")


def _lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
