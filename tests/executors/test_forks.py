"""Forked processes: no lock of their parent's threads is held in them."""

import os
import re
from pathlib import Path

import pytest

import sksearch
from tests import scripts

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of Unix")

FORK = """
import os, threading
from sksearch._utils._forks import ThreadLock
lock, is_held, may_end = ThreadLock(), threading.Event(), threading.Event()

def hold():
    with lock:
        is_held.set()
        may_end.wait()

thread = threading.Thread(target=hold)
thread.start()
is_held.wait()
if (pid := os.fork()) == 0:
    with lock:
        os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), lock._lock.locked())
may_end.set()
thread.join()
with lock:
    if (pid := os.fork()) == 0:
        pass
if pid == 0:
    os._exit(4)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), lock._lock.locked())
"""


def test_a_lock_that_a_thread_holds_is_free_in_a_fork():
    done = scripts.run(["-W", "ignore", "-c", FORK], timeout=20)
    assert done.stdout == "3 True\n4 False\n", done.stderr


def test_all_locks_of_modules_are_free_in_forks():
    bare = re.compile(r"^\w+\b.*= *(threading\.)?(R?Lock|Condition|Semaphore)\(", re.MULTILINE)
    for path in Path(sksearch.__file__).parent.rglob("*.py"):
        assert not bare.search(path.read_text(encoding="utf-8")), f"{path}: use ThreadLock"
