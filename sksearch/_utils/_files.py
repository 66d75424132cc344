"""Safe opening of files that others could have replaced."""

import os
import secrets
import stat
from contextlib import suppress
from io import BufferedReader, FileIO
from pathlib import Path

from sksearch._utils._filesystem import system

NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # 0 on Windows, which lacks it
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # otherwise opening a pipe waits for its other end
TEMPORARY = ".tmp"


def open_own(path: Path, flags: int = os.O_RDONLY) -> FileIO:
    """Open a regular file of this user, but not a link.

    Raises
    ------
    FileNotFoundError
        If it does not exist.
    PermissionError
        If it is anything else, or another user's.
    """
    try:
        file = system().open(path, flags | NO_LINK | NO_WAIT)
    except FileNotFoundError:  # callers tell a missing file from a wrong one
        raise
    except OSError as error:
        found = look_at(path, follow=False)
        if found is not None and not stat.S_ISREG(found.st_mode):
            raise PermissionError(f"{path} {_what_is_wrong(found)}.") from error
        raise
    if wrong := _what_is_wrong(system().stat_of(file)):
        file.close()
        raise PermissionError(f"{path} {wrong}.")
    return file


def read_own(path: Path) -> bytes:
    """Return the content of a regular file of this user; errors as `open_own`."""
    with open_own(path) as file:
        return file.readall()


def is_own(path: Path) -> bool:
    """True if a path is a regular file of this user."""
    try:
        return not _what_is_wrong(system().stat(path, follow=False))
    except (OSError, ValueError):  # ValueError: the path has a null byte
        return False


def look_at(path: Path, follow: bool = True) -> os.stat_result | None:
    """Return the status of a path, None if it does not exist."""
    try:
        return system().stat(path, follow)
    except (FileNotFoundError, NotADirectoryError):  # also if a parent is a file
        return None


def is_folder(path: Path) -> bool:
    """True if a path is a directory, or leads to one."""
    found = look_at(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def remove(path: Path) -> None:
    """Unlink a file if it exists."""
    with suppress(FileNotFoundError):
        system().remove(path)


def open_lines(path: Path) -> BufferedReader:
    """Open a file to read it line by line."""
    return BufferedReader(system().open(path, os.O_RDONLY))


def write_all(file: FileIO, data: bytes) -> None:
    """Write bytes to the end of them: the system may take a part at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def write_new(path: Path, data: bytes, sync: bool = True) -> None:
    """Create and write a file of a new name."""
    with open_own(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
        write_all(file, data)
        if sync:
            system().sync(file)


def temporary(path: Path) -> Path:
    """Return a temporary name for a file to be renamed once complete."""
    return path.with_name(f"{path.name}.{secrets.token_hex(8)}{TEMPORARY}")


def make_folders(path: Path) -> None:
    """Create a directory and its missing parents, for this user alone.

    Their names survive a loss of power.
    """
    folders = [*reversed(path.parents), path]
    n_there = sum(look_at(folder) is not None for folder in folders)
    # The process that made the last one may have been killed before its name was synced.
    for number, folder in enumerate(folders[n_there - 1 :], n_there - 1):
        if number >= n_there:
            with suppress(FileExistsError):  # two processes at the same time
                system().make_folder(folder)
        system().sync_folder(folder.parent)


def write_atomically(path: Path, data: bytes, sync: bool = True) -> None:
    """Write a file atomically; with `sync` it also survives a loss of power."""
    unfinished = temporary(path)
    try:
        write_new(unfinished, data, sync)
        system().replace(unfinished, path)
    except BaseException:  # Ctrl-C leaves no unfinished file either
        with suppress(OSError):
            system().remove(unfinished)
        raise


def write_holder(file: FileIO) -> None:
    """Write the number of this process, and the system that gave it, into a locked file."""
    file.truncate(0)
    file.write("{} {}\n".format(*system().process()).encode())


def read_holder(file: FileIO) -> tuple[str, str]:
    """Read the content of `write_holder`; two empty texts if it is not complete."""
    file.seek(0)
    line, end, _ = file.read(1000).decode(errors="replace").partition("\n")
    pid, _, where = line.partition(" ") if end else ("", "", "")
    return pid, where


def is_dead(pid: str, where: str) -> bool:
    """True if the holder of a lock is known to have ended, or to be about to end.

    A number proves it only if the same system has given this process its number.
    """
    is_here = pid.isdecimal() and where == system().process()[1]
    return is_here and not system().process_lives(int(pid))


def _what_is_wrong(info):
    """Reason that a file cannot be ours, and the remedy, otherwise ""."""
    if stat.S_ISLNK(info.st_mode):
        return "is a link, which may point anywhere: remove it"
    if not stat.S_ISREG(info.st_mode):
        return "is not a regular file: remove it"
    if os.name != "nt" and info.st_uid != os.geteuid():
        return f"belongs to another user (uid {info.st_uid}): remove it"
    if info.st_nlink > 1:
        return "has a second hard link, which may be anywhere: replace it by a copy"
    return ""
