"""Operating system interface of checkpoints: files, locks, live processes.

All persistent data of a search go through this module, so that tests can simulate a computer that
loses power or fills its disk at any operation.
"""

import os
import socket
import time
from contextlib import suppress
from contextvars import ContextVar
from io import FileIO
from pathlib import Path
from typing import cast

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module that is not there
    import msvcrt

FAR = 1 << 30  # a byte locked on Windows cannot be read, so it is far beyond the data
BINARY = getattr(os, "O_BINARY", 0)  # exists only on Windows
NAMESPACE, BOOT = "/proc/self/ns/pid", "/proc/sys/kernel/random/boot_id"
EXITING = 4  # PF_EXITING, a flag of Linux processes
KILLED = 1 << 8  # a pending signal 9
MODES = {os.O_RDONLY: "rb", os.O_WRONLY: "wb", os.O_RDWR: "r+b"}


class FileSystem:
    """This computer. All errors are OSError, as in `os`."""

    def open(self, path: Path, flags: int) -> FileIO:
        """Open a file by the flags of `os.open`; a new one is for this user alone."""
        open_standard_streams()
        descriptor = os.open(path, flags | BINARY, 0o600)
        try:
            return FileIO(descriptor, MODES[flags & (os.O_WRONLY | os.O_RDWR)])
        except OSError:  # it is a directory
            os.close(descriptor)
            raise

    def sync(self, file: FileIO) -> None:
        """Sync the content of a file to disk."""
        os.fsync(file.fileno())

    def sync_folder(self, path: Path) -> None:
        """Sync the names in a directory to disk, if the system supports it."""
        with suppress(OSError):  # Windows cannot open directories
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def stat(self, path: Path, follow: bool = True) -> os.stat_result:
        """Return the status of a path; of a link's target if `follow`."""
        return os.stat(path, follow_symlinks=follow)

    def stat_of(self, file: FileIO) -> os.stat_result:
        """Return the status of an open file."""
        return os.fstat(file.fileno())

    def names(self, folder: Path) -> list[str]:
        """List the names in a directory."""
        return os.listdir(folder)

    def make_folder(self, path: Path) -> None:
        """Create a directory for this user alone."""
        os.mkdir(path, 0o700)

    def replace(self, old: Path, new: Path) -> None:
        """Rename a file, replacing an existing one."""
        os.replace(old, new)

    def link(self, old: Path, new: Path) -> None:
        """Hard-link a file to a new name."""
        os.link(old, new)

    def remove(self, path: Path) -> None:
        """Unlink a file."""
        os.unlink(path)

    def lock(self, file: FileIO) -> bool:
        """Lock an open file until it is closed, without waiting; return whether it succeeded."""
        try:
            if fcntl is not None:
                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                file.seek(FAR)
                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except (BlockingIOError, PermissionError):  # Unix, Windows
            return False
        return True

    def process(self) -> tuple[int, str]:
        """Return the number of this process, and the name of the system that gave it.

        The same number is another process on another computer, which may have the same name, and
        in another container: the numbers of the system's start and of the namespace are added.
        """
        where = socket.gethostname()
        with suppress(OSError):  # only Linux has them
            where += f" {os.readlink(NAMESPACE)} {Path(BOOT).read_text().strip()}"
        return os.getpid(), where

    def process_lives(self, pid: int) -> bool:
        """True if a process of this computer exists and is not about to end."""
        if fcntl is None:  # Windows: locks end with their process, and signal 0 is Ctrl-C
            return True
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # another user's
            return True
        return not _is_ending(pid)

    def seconds(self) -> float:
        """Return the seconds since some moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


def open_standard_streams() -> None:
    """Open the null device in place of each closed standard stream.

    Otherwise a file or a pipe gets its number, and C libraries print into it.
    """
    with suppress(OSError):
        while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(descriptor, True)
        os.close(descriptor)


def _is_ending(pid: int) -> bool:
    """True if a process is exiting, or a zombie.

    Freeing gigabytes takes a second after a kill, with locks still held. Only Linux reports it.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    fields = text.rpartition(")")[2].split()  # the third and later ones of proc_pid_stat(5)
    state, flags, pending = fields[0], int(fields[6]), int(fields[28])
    return state in "ZX" or bool(flags & EXITING or pending & KILLED)


# A context variable: a search in another thread, or in another process, has its own computer.
_used: ContextVar = ContextVar("sksearch_system", default=FileSystem())  # noqa: B039 - has no state


def system() -> FileSystem:
    """Return the computer that this thread runs on."""
    return cast(FileSystem, _used.get())
