"""Forked processes have no locks of their parent."""

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from io import FileIO

_closed_in_children: weakref.WeakSet = weakref.WeakSet()


def in_child(function: Callable[[], None]) -> None:
    """Have every forked process call a function first, for as long as this process runs."""
    if hasattr(os, "register_at_fork"):  # not on Windows
        os.register_at_fork(after_in_child=function)


class ThreadLock:
    """A lock for the lifetime of the process; it is free in a forked process.

    The thread that holds it does not exist there, and so would never release it.
    """

    def __init__(self) -> None:
        self._renew()
        in_child(self._renew)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc_info: object) -> None:
        with suppress(RuntimeError):  # this thread has forked while it held the lock
            self._lock.release()

    def _renew(self) -> None:
        self._lock = threading.Lock()


def close_in_children(file: FileIO) -> None:
    """Have forked processes close a file; its lock stays with this process."""
    _closed_in_children.add(file)


def _close_files() -> None:
    for file in _closed_in_children:
        file.close()


in_child(_close_files)
