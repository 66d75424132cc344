"""Forked processes: no lock of their parent's threads is held in them."""

import importlib
import os
import pkgutil
import threading

import pytest

import sksearch
from sksearch._utils._forks import ThreadLock
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
    found = set()
    for info in pkgutil.walk_packages(sksearch.__path__, "sksearch."):
        try:
            names = vars(importlib.import_module(info.name)).items()
        except ImportError:  # it needs an optional library
            continue
        found |= {(info.name, name) for name, value in names if isinstance(value, ThreadLock)}
        bare = [
            n for n, v in names if isinstance(v, type(threading.Lock()) | type(threading.RLock()))
        ]
        assert not bare, f"{info.name}: make {bare} by ThreadLock"
    assert len(found) >= 3
