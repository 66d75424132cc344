"""A lock, released when its owner dies."""

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Self

from sksearch._utils._files import is_dead, open_own, read_holder, write_holder
from sksearch._utils._filesystem import system
from sksearch._utils._forks import close_in_children
from sksearch._utils._terminal import warn
from sksearch.checkpoint._errors import SearchLockedError

PATIENCE_SECONDS = 30  # then a warning explains the wait


class Lock:
    """Exclusive lock of a directory, held until it is closed or this process ends.

    The file is never replaced or removed: a lock belongs to a file, not to its name.

    Parameters
    ----------
    path : Path
        The file, which contains the ID of the process that holds the lock.

    Raises
    ------
    SearchLockedError
        If another process, or this one, holds the lock.
    PermissionError
        If the path is not a regular file of this user.
    """

    def __init__(self, path: Path):
        self._file = open_own(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            if not _lock_or_wait(self._file, path):
                raise SearchLockedError(
                    f"{path.parent} is in use by another search ({_holder(self._file)}): wait "
                    "until it ends, end it, or pass another directory. With {data} in the path of "
                    "checkpoint_dir, each data set gets its own directory."
                )
            write_holder(self._file)
        except BaseException:  # otherwise the lock would outlive this object
            self._file.close()
            raise
        close_in_children(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock.

        The ID is removed, since a process forked a moment ago may hold the file a little longer.
        """
        if not self._file.closed:
            with suppress(OSError):
                self._file.truncate(0)
        self._file.close()


def _lock_or_wait(file: FileIO, path: Path) -> bool:
    """Lock an open file; wait while no live process is known to hold the lock.

    A killed process keeps its files until its memory is freed. If it was killed while starting
    another process, that process holds them until it runs another program. The new owner of a lock
    is known once it has written its ID.
    """
    computer = system()
    start, has_warned = computer.seconds(), False
    while not computer.lock(file):
        pid, where = read_holder(file)
        if pid and not is_dead(pid, where):
            return False
        seconds = computer.seconds() - start
        if seconds > PATIENCE_SECONDS and not has_warned:
            has_warned = True
            ended = f"process {pid}, which has ended," if pid else "a process not yet identified,"
            warn(
                f"{path.parent} is locked by {ended} or by a process started by it. The search "
                f"waits for its end; `fuser {path}` prints its number.",
            )
        computer.sleep(min(1.0, 0.02 + seconds / 10))
    return True


def _holder(file: FileIO) -> str:
    """Describe the holder of the lock."""
    pid, where = read_holder(file)
    if not pid:
        return "process unknown"
    own_pid, own = system().process()
    host, _, namespace = where.partition(" ")
    if where == own:
        return f"{'this process,' if pid == str(own_pid) else 'process'} {pid} on {host}"
    if namespace and host == own.partition(" ")[0]:
        return f"process {pid} in another container, or computer, with the name {host}"
    return f"process {pid} on {host}"
