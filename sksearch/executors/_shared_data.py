"""One object for all workers: a file that they map, or its bytes if the file is not visible."""

import io
import struct
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from sksearch._utils import _pickles
from sksearch._utils._forks import ThreadLock
from sksearch.executors._mapped_files import UnseenFileError, reduced

ALIGNMENT = 64  # bytes, as NumPy prefers
SHARED_FROM = 1_000_000  # bytes; smaller buffers are copied, so that they stay writable
TOKEN_SIZE = 32  # bytes at the beginning of a file
MAX_LOADED = 2  # objects per worker, so that two concurrent searches keep theirs

_loaded: OrderedDict[str, object] = OrderedDict()  # by token
_lock = ThreadLock()  # a worker may be one of several threads


@dataclass(frozen=True)
class Ref:
    """Reference to an object that workers fetch.

    Parameters
    ----------
    path : str
        The object's file.
    token : str
        Beginning of the file. On another machine the path may name a different file.
    modules : tuple of str
        Modules of installed packages that the object needs.
    maps : tuple of str
        Files of the memory maps in the object, which workers map.
    """

    path: str
    token: str
    modules: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()


class Answer(Enum):
    """Reply of a worker instead of a result; an enum, so that `is` works after pickling."""

    MISSING = "the worker sees no file and was sent no bytes"


MISSING = Answer.MISSING
#: Bytes for a worker that does not see the file; an array if an engine maps them.
Payload = bytes | np.ndarray | None


def write(obj: object, path: Path) -> Ref:
    """Write an object to a file, with its large buffers (arrays, frames, sparse matrices) apart.

    Memory maps are not written: workers map their files.

    Parameters
    ----------
    obj : object
        Anything that cloudpickle can pickle.
    path : Path
        Its file. An existing file is replaced: workers that map it keep its pages.

    Returns
    -------
    ref : Ref
        For `fetch`.

    Raises
    ------
    OSError
        If the disk is full or not writable; no partial file remains.
    """
    files: set[str] = set()
    head, buffers, modules = _pickled(obj, files)
    token = uuid.uuid4().hex
    part = Path(f"{path}.part")
    try:
        with open(part, "wb") as file:
            _write(file, token, [head, *buffers])
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)  # otherwise the disk remains full
        size = len(head) + sum(buffer.nbytes for buffer in buffers)
        raise OSError(
            error.errno,
            f"The data shared by worker processes need {size:,} bytes in {part.parent}, "
            f"which cannot be written ({error.strerror}): free disk space there, set "
            "checkpoint_dir (otherwise TMPDIR) to a larger disk, or pass n_jobs=1",
        ) from error
    return Ref(str(Path(path).absolute()), token, modules, tuple(sorted(files)))


def payload_of(obj: object, ref: Ref) -> bytes:
    """Return the payload of an object for workers that see neither its file nor mapped ones.

    Parameters
    ----------
    obj : object
        As for `write`.
    ref : Ref
        The return value of `write`.

    Returns
    -------
    payload : bytes
        With the values of all arrays.
    """
    if not ref.maps:
        return Path(ref.path).read_bytes()
    head, buffers, _ = _pickled(obj, None)
    file = io.BytesIO()
    _write(file, ref.token, [head, *buffers])
    return file.getvalue()


def _pickled(
    obj: object, files: set[str] | None
) -> tuple[bytes, list[memoryview], tuple[str, ...]]:
    """Return a pickle without its large buffers, these, and the modules that it needs."""
    buffers: list[memoryview] = []
    head, modules = _pickles.dumps_with_modules(
        obj,
        lambda buffer: buffers.append(buffer.raw()),
        partial(reduced, smallest=SHARED_FROM, files=files),
    )
    return head, buffers, modules


def _write(file: IO[bytes], token: str, pieces: Sequence[bytes | memoryview]) -> None:
    """Write a token, the sizes of the pieces, and the pieces."""
    sizes = [memoryview(piece).nbytes for piece in pieces]
    file.write(token.encode())
    file.write(struct.pack(f"<q{len(sizes)}q", len(sizes), *sizes))
    for piece in pieces:
        file.write(b"\0" * (-file.tell() % ALIGNMENT))
        file.write(piece)


def fetch(ref: Ref, payload: Payload = None) -> Any:
    """Return the object, which stays in this process; large arrays are read-only.

    Parameters
    ----------
    ref : Ref
        Return value of `write`.
    payload : bytes-like or None, default=None
        Result of `payload_of`, for workers that do not see the files.

    Returns
    -------
    obj : object
        `MISSING` if this process has neither the object, nor the file, nor the payload.
    """
    with _lock:
        if ref.token not in _loaded:
            obj = _from_file(ref) if is_visible(ref) else MISSING
            if obj is MISSING:
                if payload is None:
                    return MISSING
                pages = np.frombuffer(payload, dtype=np.uint8)
                pages.flags.writeable = False
                obj = _read(pages)
            while len(_loaded) >= MAX_LOADED:
                _loaded.popitem(last=False)
            _loaded[ref.token] = obj
        _loaded.move_to_end(ref.token)
        return _loaded[ref.token]


def _from_file(ref: Ref) -> Any:
    """The object; `MISSING` if its mapped files are not visible."""
    try:
        return _read(np.memmap(ref.path, dtype=np.uint8, mode="r"))
    except UnseenFileError:
        return MISSING


def is_visible(ref: Ref) -> bool:
    """Return whether this process sees the file, and so the folder around it."""
    try:
        with open(ref.path, "rb") as file:
            return file.read(TOKEN_SIZE) == ref.token.encode()
    except OSError:
        return False


def _read(pages: Any) -> Any:
    """The object; large arrays are views of the pages."""
    n = struct.unpack_from("<q", pages, TOKEN_SIZE)[0]
    sizes = struct.unpack_from(f"<{n}q", pages, TOKEN_SIZE + 8)
    parts, at = [], TOKEN_SIZE + 8 * (n + 1)
    for size in sizes:
        at += -at % ALIGNMENT
        part = pages[at : at + size]
        parts.append(part if size >= SHARED_FROM else bytearray(part))
        at += size
    return _pickles.loads(parts[0], parts[1:], is_live=True)
