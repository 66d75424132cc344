"""One object for all worker processes of this machine, by a file that they map."""

import pickle
import struct
from pathlib import Path

import numpy as np

from sksearch._compat import cloudpickle

ALIGNMENT = 64  # bytes, as numpy likes its arrays
SHARED_FROM = 1_000_000  # bytes; smaller buffers are copied, so that they stay writable

_loaded: dict[str, object] = {}


def write(obj, path: Path) -> None:
    """Write an object to a file, its large buffers (arrays, frames, sparse matrices) apart.

    Parameters
    ----------
    obj : object
        Anything that cloudpickle can pickle.
    path : Path
        A file that does not exist yet.
    """
    buffers: list[memoryview] = []
    head = cloudpickle.dumps(
        obj, protocol=5, buffer_callback=lambda buffer: buffers.append(buffer.raw())
    )
    sizes = [len(head), *(buffer.nbytes for buffer in buffers)]
    with open(path, "wb") as file:
        file.write(struct.pack(f"<q{len(sizes)}q", len(sizes), *sizes))
        for part in (head, *buffers):
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            file.write(part)


def read(path: Path) -> object:
    """Return the object of a file; large arrays are read-only views of the file's pages."""
    pages = np.memmap(path, dtype=np.uint8, mode="r")
    n = struct.unpack_from("<q", pages, 0)[0]
    sizes = struct.unpack_from(f"<{n}q", pages, 8)
    parts, at = [], 8 * (n + 1)
    for size in sizes:
        at += -at % ALIGNMENT
        part = pages[at : at + size]
        parts.append(part if size >= SHARED_FROM else bytearray(part))
        at += size
    return pickle.loads(parts[0], buffers=parts[1:])


def read_once(path: Path) -> object:
    """Return the object of a file, kept in this process until another file is asked for."""
    key = str(path)
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = read(path)
    return _loaded[key]
