"""The directory of a search, and its files other than the journal."""

import contextlib
import io
import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sksearch._utils._files import look_at, make_folders, read_own, write_atomically
from sksearch._utils._filesystem import system
from sksearch.checkpoint._errors import JournalError
from sksearch.checkpoint._lines import decode, encode
from sksearch.resources._data import row_numbers

SPOOLED = ".json"


def make_folder(path: Path) -> None:
    """Create a private directory, with its parents; check it if it exists.

    Raises
    ------
    NotADirectoryError
        If the path is a file.
    PermissionError
        If it belongs to another user, or others can change or replace it.
    """
    info = look_at(path)
    if info is not None and not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(f"{path} is a file: pass a directory, or the path of a new one.")
    make_folders(path)
    if os.name == "nt":
        return
    info = system().stat(path)
    danger = "and files loaded from it can run arbitrary code"
    if info.st_uid != os.geteuid():
        raise PermissionError(
            f"{path} belongs to another user (uid {info.st_uid}), {danger}: pass your own "
            "directory."
        )
    if info.st_mode & 0o022:
        raise PermissionError(
            f"{path} can be changed by other users, {danger}: run `chmod go-w '{path}'`, or pass "
            "another directory."
        )
    for parent in path.resolve().parents:
        mode = system().stat(parent).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise PermissionError(
                f"{path} can be replaced by other users with write access to {parent}, {danger}: "
                f"run `chmod o-w '{parent}'`, or pass another directory."
            )


def make_subfolder(path: Path) -> None:
    """Create or check a directory inside the search's; it must not lead elsewhere."""
    info = look_at(path, follow=False)
    if info is not None and stat.S_ISLNK(info.st_mode):
        raise PermissionError(f"{path} is a link, which may point anywhere: remove it.")
    make_folder(path)


def write_spool(folder: Path, name: str, record: dict) -> None:
    """Store the result of an evaluation until the journal contains it.

    A full disk must not lose the evaluation, whose result also travels to the search directly:
    then nothing is stored.

    Parameters
    ----------
    folder : Path
        The checkpoint's `spool`.
    name : str
        Name of the result; replaces an older one with the same name.
    record : dict
        The result: JSON values, NaN, infinities, and NumPy scalars.

    Raises
    ------
    TypeError
        If the record contains anything else.
    """
    line = encode(record)
    with contextlib.suppress(OSError):
        # Guards against kills; the checksum detects damage by a loss of power.
        write_atomically(spool_file(folder, name), line, sync=False)


def read_spool(folder: Path, name: str) -> dict | None:
    """Return a result stored by a worker, None if it is absent or damaged."""
    try:
        return decode(read_own(spool_file(folder, name)))
    except OSError:
        return None


def spool_file(folder: Path, name: str) -> Path:
    """Return the file of a result."""
    return Path(folder) / f"{name}{SPOOLED}"


def write_splits(path: Path, splits: list) -> None:
    """Write folds: all rows concatenated, and the size of each fold."""
    arrays: dict[str, Any] = {}
    for key, parts in (("train", [s[0] for s in splits]), ("test", [s[1] for s in splits])):
        rows = [rows_of(part) for part in parts]
        arrays[key] = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        arrays[f"{key}_sizes"] = np.array([len(part) for part in rows], dtype=np.int64)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_atomically(path, buffer.getvalue())
    system().sync_folder(path.parent)


def read_splits(path: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of a file; JournalError if it is missing or damaged."""
    try:
        with np.load(io.BytesIO(read_own(path)), allow_pickle=False) as file:
            train, test = (_cut(file[key], file[f"{key}_sizes"]) for key in ("train", "test"))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise JournalError(
            f"{path}, which stores the folds of the search, is missing or damaged ({error}): pass "
            "another directory, or move this one away to start again."
        ) from error
    return list(zip(train, test, strict=True))


def rows_of(indices: ArrayLike) -> np.ndarray:
    """Return row indices as integers; they may be a mask."""
    rows = row_numbers(indices)
    return rows.astype(np.int64, casting="unsafe" if rows.size == 0 else "same_kind")


def _cut(rows: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """Split an array into parts of the given sizes."""
    return [rows[end - size : end] for size, end in zip(sizes, np.cumsum(sizes), strict=True)]
