"""Arrays that workers map from the file in which they already are, and others without a copy.

A pickle of a `numpy.memmap` contains its values. Workers on the same machine, or with the same
file system, can map the file instead, and then share its pages.
"""

import mmap
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

N_SAMPLES, SAMPLE_SIZE = 16, 4096  # parts of an array that identify its file, and their bytes
PART_SIZE = 2**24  # bytes compared at a time


class UnseenFileError(Exception):
    """This process does not see a mapped file, or another file of its name."""


def reduced(array: Any, smallest: int, files: set[str] | None) -> Any:
    """Reduce an array for a pickle, if this saves a copy of its values.

    Parameters
    ----------
    array : object
        Anything.
    smallest : int
        Number of bytes from which an array is reduced here.
    files : set of str or None
        Receives the names of mapped files. None: memory maps are sent with their values.

    Returns
    -------
    reduction : tuple or NotImplemented
        As for ``pickle.Pickler.reducer_override``.

    Raises
    ------
    TypeError
        For a Dask future, which another process cannot use.
    """
    if type(array).__name__ == "ObjectRef" and "ray.cloudpickle" in sys.modules:
        # Only Ray pickles the owner of an object, without which a worker waits for it forever.
        own = sys.modules["ray.cloudpickle"].CloudPickler.dispatch.get(type(array))
        return NotImplemented if own is None else own(array)
    dask = sys.modules.get("distributed")
    if dask is not None and type(array) is dask.Future:  # its pickle has no client
        raise TypeError("a Dask Future: pass its value, future.result()")
    polars = sys.modules.get("polars")
    if polars is not None and type(array) in (polars.DataFrame, polars.Series):
        return _as_arrow(array, smallest, polars)
    if not isinstance(array, np.ndarray) or array.nbytes < smallest or array.dtype.hasobject:
        return NotImplemented
    if type(array) is np.ma.MaskedArray:
        parts = np.asarray(array.data), np.ma.getmaskarray(array)
        return _masked, (*parts, array.fill_value)
    if type(array) not in (np.ndarray, np.memmap):
        return NotImplemented
    is_map = type(array) is np.memmap
    if files is not None and (place := _place(array)) is not None:
        files.add(place[0])
        return _mapped, (*place, is_map)
    if is_map:
        return _as_map, (np.ascontiguousarray(np.asarray(array)),)
    if array.flags.c_contiguous or array.flags.f_contiguous:
        return NotImplemented  # NumPy passes its buffer on
    return _as_array, (np.ascontiguousarray(array),)


def _as_arrow(frame: Any, smallest: int, polars: Any) -> Any:
    """Reduce a polars object to an Arrow table of the same buffers: its own pickle copies them."""
    if frame.estimated_size() < smallest:
        return NotImplemented
    if isinstance(frame, polars.Series):
        return _named, (frame.to_frame("values"), frame.name)  # Arrow needs a name
    try:
        table = frame.to_arrow(compat_level=polars.CompatLevel.newest())
        is_same = polars.from_arrow(table, rechunk=False).schema == frame.schema
    except Exception:  # PyArrow is missing, or has no such type
        return NotImplemented
    return (_from_arrow, (table,)) if is_same else NotImplemented


def _from_arrow(table: Any) -> Any:
    import polars

    return polars.from_arrow(table, rechunk=False)


def _named(frame: Any, name: str) -> Any:
    return frame.to_series().rename(name)


def _place(array: np.ndarray) -> tuple | None:
    """Return file, digest, type, offset, shape and strides of a mapped array, otherwise None."""
    base: Any = array
    while isinstance(base, np.ndarray) and not isinstance(getattr(base, "_mmap", None), mmap.mmap):
        base = base.base
    # With mode "c", changes in memory are not in the file.
    if not isinstance(base, np.memmap) or base.filename is None or base.mode == "c":
        return None
    whole = np.frombuffer(base._mmap, np.uint8)  # type: ignore[attr-defined]  # private
    begin = base.offset - base.offset % mmap.ALLOCATIONGRANULARITY
    offset = begin + _address(array) - _address(whole)
    if base.mode != "r":
        base.flush()  # for workers on other machines
    path, form = str(Path(base.filename).absolute()), (offset, array.shape, array.strides)
    try:  # the file may have been removed, or replaced by one that differs in a few places
        is_there = _are_equal(array, _view(path, array.dtype, *form))
    except UnseenFileError:
        return None
    return (path, _digest(array), array.dtype, *form) if is_there else None


def _are_equal(first: np.ndarray, second: np.ndarray) -> bool:
    """Compare all bytes, part by part: the pages of one file are read once."""
    step = max(1, PART_SIZE * len(first) // first.nbytes)
    parts = (slice(i, i + step) for i in range(0, len(first), step))
    return all(first[part].tobytes() == second[part].tobytes() for part in parts)


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _digest(array: np.ndarray) -> int:
    """Checksum of evenly spaced parts of an array."""
    n = max(1, SAMPLE_SIZE // array.itemsize)
    starts = np.linspace(0, max(0, array.size - n), N_SAMPLES).astype(int)
    parts = (array[np.unravel_index(_within(i, n, array.size), array.shape)] for i in starts)
    value = 0
    for part in parts:
        value = zlib.crc32(np.ascontiguousarray(part).tobytes(), value)
    return value


def _within(start: int, n: int, size: int) -> np.ndarray:
    return np.arange(start, min(start + n, size))


def _mapped(
    path: str,
    digest: int,
    dtype: np.dtype,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    is_map: bool = False,
) -> np.ndarray:
    """Map an array, read-only; UnseenFileError if its values are not in the file."""
    array = _view(path, dtype, offset, shape, strides)
    if _digest(array) != digest:
        raise UnseenFileError(path)
    return array.view(np.memmap) if is_map else array


def _view(
    path: str, dtype: np.dtype, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> np.ndarray:
    """Map this place of a file, read-only, whatever its values."""
    try:
        pages: np.ndarray = np.memmap(path, np.uint8, mode="r")
        return np.ndarray(shape, dtype, pages, offset, strides)
    except (OSError, ValueError, TypeError) as error:
        raise UnseenFileError(path) from error


def _as_array(array: np.ndarray) -> np.ndarray:
    return array


def _as_map(array: np.ndarray) -> np.memmap:
    return array.view(np.memmap)


def _masked(data: np.ndarray, mask: np.ndarray, fill_value: Any) -> np.ma.MaskedArray:
    return np.ma.MaskedArray(data, mask, fill_value=fill_value)
