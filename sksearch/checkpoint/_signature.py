"""The user's key that signs fitted models; other models are never unpickled.

The key is a file in the user's configuration. The author of a foreign checkpoint has a different
key, so its models are trained again, as are models that cannot be verified: if no key can be
stored, or if other users can read or write its file.
"""

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from sksearch._utils._files import (
    TEMPORARY,
    is_own,
    look_at,
    make_folders,
    open_own,
    remove,
    temporary,
    write_new,
)
from sksearch._utils._filesystem import system
from sksearch._utils._terminal import warn

SIZE = 32  # bytes
LEAST = 8  # different bytes; a random key has fewer with probability 1e-36


def key_file() -> Path:
    """Return the file: in ``XDG_CONFIG_HOME`` (on Windows ``APPDATA``), or in the home."""
    place = Path(os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME", ""))
    # A relative path would depend on the working directory, and so is ignored.
    folder = place if place.is_absolute() else Path("~/.config").expanduser()
    return folder / "sksearch" / "key"


def make_key() -> None:
    """Create the key if it is missing or readable by others; it is on disk on return.

    If it cannot be stored, no key is used, see `key_trouble`.
    """
    _read.cache_clear()
    with suppress(OSError, RuntimeError):  # no home
        file = key_file()
        if is_own(file) and not _fault_of_place(file) and (wrong := _look_at_key(file)[1]):
            system().remove(file)
            warn(
                f"{file}, the key that signs the models of checkpoints, {wrong}: it is replaced "
                "by a new key, and earlier models are trained again.",
            )
        if look_at(file, follow=False) is None:
            _write_key(file)
        system().sync_folder(file.parent)
        # Left by a process that died while creating a key
        for name in system().names(file.parent):
            if name.startswith(f"{file.name}.") and name.endswith(TEMPORARY):
                remove(file.with_name(name))


def _write_key(file: Path) -> None:
    """Write a new key, completely or not at all."""
    make_folders(file.parent)
    unfinished = temporary(file)
    try:
        write_new(unfinished, secrets.token_bytes(SIZE))
        try:
            # If two keys are created at the same time, keep the first
            system().link(unfinished, file)
        except FileExistsError:
            pass
        except OSError:  # no hard links on this file system
            system().replace(unfinished, file)
    finally:
        remove(unfinished)


def sign(sha: str) -> str:
    """Return the signature of a file by its SHA-256; "" if this user has no key."""
    with suppress(RuntimeError):  # no home
        if (key := _read(key_file())) is not None:
            return hmac.new(key, sha.encode(), hashlib.sha256).hexdigest()
    return ""


def is_signed(sha: str, signature: str) -> bool:
    """Return whether a signature is this user's own; False without a key."""
    own = sign(sha)
    return own != "" and hmac.compare_digest(own.encode(), signature.encode())


def key_trouble() -> str:
    """Return the reason for a missing key, and the remedy; "" if there is one."""
    try:
        file = key_file()
    except RuntimeError:
        return "The key has no home folder: set XDG_CONFIG_HOME to your own folder."
    if _read(file) is not None:
        return ""
    try:
        _, wrong = _look_at_key(file)
    except PermissionError as error:
        return f"The key cannot be used: {error}"
    except OSError:
        return f"{file} cannot be written: set XDG_CONFIG_HOME to a writable folder."
    return f"The key cannot be used: {file} {wrong}."


@lru_cache(4)
def _read(file: Path) -> bytes | None:
    with suppress(OSError):
        key, wrong = _look_at_key(file)
        return None if wrong else key
    return None


def _look_at_key(file: Path) -> tuple[bytes, str]:
    """Return the beginning of a key file, and its fault, "" if it is valid.

    Checks the opened file, since the path may name another one by now.
    """
    with open_own(file) as opened:
        info, key = system().stat_of(opened), opened.read(SIZE)
    if info.st_size != SIZE:
        return key, f"has {info.st_size} bytes, but a key has {SIZE}"
    if os.name != "nt" and info.st_mode & 0o077:
        return key, f"can be read or written by others (mode {info.st_mode & 0o777:o})"
    if len(set(key)) < LEAST:
        return key, "is not random, as after damage to a disk"
    return key, _fault_of_place(file)


def _fault_of_place(file: Path) -> str:
    """Name the users who can replace the key, "" if no other user can."""
    if os.name == "nt":
        return ""
    folder = file.parent
    if system().stat(folder).st_mode & 0o022:
        return f"can be replaced by others, who can write to {folder}: run `chmod go-w '{folder}'`"
    return ""
