"""A lock that dies with its owner."""

import os
import socket
import time
import weakref
from pathlib import Path
from typing import IO

from sksearch._files import open_own, process_exists
from sksearch.checkpoint._errors import SearchLockedError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module that is not there
    import msvcrt

PATIENCE_SECONDS = 5.0  # for what a dead process has started
FAR = 1 << 30  # a locked byte cannot be read on Windows, so it is one that nobody reads

_held: weakref.WeakSet = weakref.WeakSet()


class Lock:
    """The right to write to a directory, held until it is closed or this process ends.

    The file is never replaced or removed: a lock belongs to a file, not to its name.

    Parameters
    ----------
    path : Path
        The file; it says who holds the lock.

    Raises
    ------
    SearchLockedError
        If another process, or this one, holds the lock.
    PermissionError
        If the path is not a regular file of this user.
    """

    def __init__(self, path: Path):
        descriptor = open_own(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._file = open(descriptor, "a+b", buffering=0)  # noqa: SIM115 - open as long as we are
        try:
            if not _lock_or_wait(self._file):
                raise SearchLockedError(
                    f"{path.parent} is in use by another search ({_holder(self._file)}): wait "
                    "until it ends, end it, or pass another directory. With {data} in the path of "
                    "checkpoint_dir each data set has a directory of its own."
                )
            self._file.truncate(0)
            self._file.write(f"{os.getpid()} {socket.gethostname()}\n".encode())
        except BaseException:
            self._file.close()
            raise
        _held.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def close(self) -> None:
        """Give the lock back."""
        self._file.close()


def _lock(file: IO) -> bool:
    """Lock an open file; return whether that was possible, at once."""
    try:
        if fcntl is not None:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            file.seek(FAR)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError):  # Unix, Windows
        return False
    return True


def _lock_or_wait(file: IO) -> bool:
    """Lock an open file; wait while who holds the lock is dead, but for what it has started.

    A process that was killed while it started another one leaves its lock to that for a moment.
    """
    end = time.monotonic() + PATIENCE_SECONDS
    while not _lock(file):
        pid, host = _read_holder(file)
        is_here = pid.isdecimal() and host == socket.gethostname()
        if not is_here or process_exists(int(pid)) or time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _read_holder(file: IO) -> tuple[str, str]:
    """Return pid and host of who has the lock."""
    file.seek(0)
    pid, _, host = file.read(1000).decode(errors="replace").strip().partition(" ")
    return pid, host


def _holder(file: IO) -> str:
    """Who holds the lock, in words."""
    pid, host = _read_holder(file)
    if pid == str(os.getpid()) and host == socket.gethostname():
        return f"this process, {pid} on {host}"
    return f"process {pid} on {host}" if pid else "it does not say which process"


def _let_go_in_child() -> None:
    """Close what a forked process inherited; the lock itself stays with the parent."""
    for lock in _held:
        lock.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)
