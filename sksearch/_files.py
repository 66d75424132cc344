"""Files that others could have put where ours are: opened as what they are, or not at all."""

import os
import stat
from pathlib import Path

# What Windows lacks is 0 there.
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # to open a pipe would wait for its other end


def open_own(path: Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file of this user, and no link to one; return its descriptor.

    Raises
    ------
    FileNotFoundError
        If there is none.
    PermissionError
        If it is anything else, or another user's.
    """
    try:
        descriptor = os.open(path, flags | NO_LINK | NO_WAIT, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise PermissionError(f"{path} {_what_is_wrong(path.lstat())}: remove it.") from error
        raise
    if wrong := _what_is_wrong(os.fstat(descriptor)):
        os.close(descriptor)
        raise PermissionError(f"{path} {wrong}: remove it.")
    return descriptor


def read_own(path: Path) -> bytes:
    """Return the content of a regular file of this user; errors as `open_own`."""
    with open(open_own(path), "rb") as file:
        return file.read()


def is_own(path: Path) -> bool:
    """Whether a path is a regular file of this user."""
    try:
        return not _what_is_wrong(path.lstat())
    except (OSError, ValueError):
        return False


def process_exists(pid: int) -> bool:
    """Whether a process of this machine is there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _what_is_wrong(info):
    """Why a file cannot be ours, "" if it can."""
    if stat.S_ISLNK(info.st_mode):
        return "is a link, which could lead anywhere"
    if not stat.S_ISREG(info.st_mode):
        return "is no regular file"
    if os.name != "nt" and info.st_uid != os.geteuid():
        return f"belongs to another user (uid {info.st_uid})"
    if info.st_nlink > 1:
        return "has a second name, which could be anywhere"
    return ""
