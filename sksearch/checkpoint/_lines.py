"""A record as a line with a checksum: `crc32hex SP json NL`.

JSON has no NaN and no infinities, so they are written as `{"$f": "nan"}`. Keys of a record that
begin with "$" get one more "$", so that user data are never mistaken for this mark.
"""

import contextlib
import gc
import json
import math
import stat
import zlib
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from sksearch._utils._files import look_at, open_lines

MARK = "$f"
# File names may contain bytes other than UTF-8, which Python keeps as lone surrogates.
SURROGATES = "surrogatepass"


class Scan(NamedTuple):
    """Readable part of a file of lines."""

    records: list[dict]  # records of the longest prefix of intact lines
    good: int  # bytes of that prefix
    size: int  # bytes of the file
    damaged: bytes  # the line after that prefix, if any
    followed: bool  # True if an intact line comes after a damaged one


def encode(record: dict) -> bytes:
    """Return the line of a record.

    Raises
    ------
    TypeError
        If it contains anything but None, booleans, numbers, strings, lists, tuples and dicts with
        string keys.
    """
    if not isinstance(record, dict):
        raise TypeError(f"A record must be a dict, got {record!r:.100} of {type(record)}.")
    text = json.dumps(
        _plain(record, "the record"), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    data = text.encode("utf-8", SURROGATES)
    return b"%08x %b\n" % (zlib.crc32(data), data)


def decode(line: bytes) -> dict | None:
    """Return the record of a line, None if the line is damaged."""
    if line[-1:] != b"\n":
        return None
    data = line[9:-1]
    if line[:9] != b"%08x " % zlib.crc32(data):
        return None
    # Only a few lines need this slower parser.
    hook = _original if b'"$' in data else None
    try:
        record = json.loads(data.decode("utf-8", SURROGATES), object_hook=hook)
    # The checksum is right, but the content is invalid
    except (ValueError, TypeError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def scan(path: Path) -> Scan:
    """Read the longest prefix of intact lines; PermissionError if it is not a regular file."""
    info = look_at(path)
    if info is not None and not stat.S_ISREG(info.st_mode):
        raise PermissionError(f"{path} is not a regular file: remove it.")
    records, good, size = [], 0, 0
    damaged, followed = b"", False
    with open_lines(path) as file, without_garbage_collection():
        for line in file:
            size += len(line)
            record = decode(line)
            if damaged:
                followed = followed or record is not None
            elif record is None:
                damaged = line
            else:
                records.append(record)
                good = size
            if line[-1:] != b"\n":
                break  # lines appended meanwhile by a search are ignored
    return Scan(records, good, size, damaged, followed)


@contextlib.contextmanager
def without_garbage_collection():
    """Pause garbage collection, which would take longer than reading and finds no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _plain(value: object, name: str) -> Any:
    """Convert a value to JSON; `name` is its key."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {MARK: repr(float(value))}
    if isinstance(value, (list, tuple)):
        return [_plain(item, name) for item in value]
    if isinstance(value, dict):
        return {_plain_key(key, name): _plain(item, key) for key, item in value.items()}
    if _is_numpy_number(value):
        return _plain(value.item(), name)
    raise TypeError(
        f"{name!r} holds {value!r:.100} of {type(value)}, which a journal cannot store: pass "
        "None, booleans, numbers, strings, or lists and dicts of these."
    )


def _is_numpy_number(value: object) -> TypeGuard[np.generic]:
    """Return whether a value is a NumPy scalar with an equal in Python; times have none."""
    numbers = (np.bool_, np.integer, np.float16, np.float32)
    return isinstance(value, numbers) and not isinstance(value, np.timedelta64)


def _plain_key(key: object, name: str) -> str:
    """Return the written form of a key."""
    if not isinstance(key, str):
        # JSON would turn it into a string, and the record would change.
        raise TypeError(f"{name!r} has the key {key!r} of {type(key)}: keys must be strings.")
    return "$" + key if key.startswith("$") else key


def _original(value: dict) -> Any:
    """Invert the conversion of a value written as this dict."""
    if MARK in value:
        return float(value[MARK])
    return {key[1:] if key.startswith("$$") else key: item for key, item in value.items()}
