"""Short texts for long texts and for arrays, the same in every process."""

import hashlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from sksearch.checkpoint.identity._code import path_of
from sksearch.checkpoint.identity._of_start import in_both, neutral, without_marks

SCALARS = (type(None), bool, int, float, complex, str, bytes)
LONGEST = 2000  # characters of a description; a longer one ends with a digest of its whole
OPAQUE = "(opaque)"  # end of an opaque object's text
BLOCK = 2**24  # bytes hashed at a time, so that no array is copied as a whole


def digest(text: str) -> str:
    """Return 16 hexadecimal digits of a text, ignoring differences between starts."""
    return hashlib.sha256(neutral(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hidden(text: str) -> str:
    """Return a digest of a text that still shows whether all of it was seen."""
    end = f" {OPAQUE}" if OPAQUE in text else ""
    return in_both(lambda each: f"#{digest(each)}", text) + end


def cut(text: str, limit: int = LONGEST) -> str:
    """Shorten a text to `limit` characters, so that different texts stay different."""
    if len(text) <= limit or max(len(neutral(text)), len(without_marks(text))) <= limit:
        return text
    return in_both(partial(_cut, limit=limit), text)


def _cut(text, limit):
    return text if len(text) <= limit else f"{text[: limit - 32]} ... {hidden(text)}"


def numpy_scalar(value: Any) -> str:
    """Describe a NumPy scalar like the Python scalar that a candidate gets."""
    if value.dtype.kind in "biufcSU" and type(value.item()) in SCALARS:
        return cut(repr(value.item()))
    return f"{value.dtype} {value}"


def sparse_digest(matrix: Any) -> str:
    """Describe a sparse matrix or array."""
    # Other formats become CSR, even COO: their entries are in no particular order.
    csr = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    csr = csr if csr.has_sorted_indices else csr.sorted_indices()  # a fit may sort them in place
    parts = [bytes_digest(part) for part in (csr.data, csr.indices, csr.indptr)]
    head = f"sparse {matrix.format} {matrix.shape} {matrix.dtype}"
    return f"{head} #{digest(' '.join(parts))}"


def is_plain(dtype: Any) -> bool:
    """Return whether the bytes of a column are its values."""
    return isinstance(dtype, np.dtype) and not dtype.hasobject


def bytes_digest(array: np.ndarray) -> str:
    """Digest of an array's values in C order, whatever their memory layout is."""
    sha = hashlib.sha256()
    array = np.atleast_1d(array)
    n_rows = max(1, BLOCK // max(1, array.nbytes // max(1, len(array))))
    for start in range(0, len(array), n_rows):
        block = np.ascontiguousarray(array[start : start + n_rows])
        sha.update(block.reshape(-1).view(np.uint8).data)
    return sha.hexdigest()[:16]


class TableTexts:
    """Texts of arrays and tables of any library.

    Parameters
    ----------
    visit : callable
        Returns the text of any value.
    items : callable
        Returns a digest of a list.
    """

    def __init__(self, visit: Callable, items: Callable):
        self._visit, self._items = visit, items

    def way_of(self, kind: type) -> Callable[[Any], str] | None:
        """Return the function that describes objects of a class, None if they are not tables."""
        if issubclass(kind, (sparse.spmatrix, sparse.sparray)):  # some are dicts
            return sparse_digest
        if issubclass(kind, np.ndarray):
            return self._array_of_class
        if issubclass(kind, memoryview):
            return self._memoryview
        pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
        if pandas is not None and issubclass(kind, (pandas.DataFrame, pandas.Series)):
            return self._pandas
        if pandas is not None and issubclass(kind, pandas.Index):
            return self._index
        if pandas is not None and issubclass(kind, pandas.api.extensions.ExtensionArray):
            return lambda value: f"{path_of(kind)} {self._pandas_column(pandas.Series(value))}"
        if polars is not None and issubclass(kind, (polars.DataFrame, polars.Series)):
            return self._polars
        is_array = hasattr(kind, "__array__") and not issubclass(kind, np.generic)
        return self._other_array if is_array else None

    def _array_of_class(self, value):
        if isinstance(value, np.ma.MaskedArray):
            return f"masked {self._array(value.filled())} {self._array(value.mask)}"
        # An array of a class with different arithmetic.
        if type(value) in (np.ndarray, np.memmap):
            return self._array(value)
        noted = getattr(value, "__dict__", None)
        noted = f" {self._visit(noted)}" if noted else ""
        return f"{self._visit(type(value))}{self._array(value)}{noted}"

    def _array(self, array):
        head = f"ndarray {array.shape} {array.dtype}"
        if array.dtype.hasobject:
            return f"{head} {self._items(array.reshape(-1).tolist())}"
        return f"{head} #{bytes_digest(np.asarray(array))}"

    def _other_array(self, value):
        """Describe another library's array, such as a torch tensor on a GPU or in a graph."""
        array = value.detach().cpu() if hasattr(value, "detach") else value
        return f"{path_of(type(value))} {self._array(np.asarray(array))}"

    def _memoryview(self, value):
        return f"memoryview {value.format} {value.shape} {self._items(value.tolist())}"

    def _index(self, index):
        """Describe an index: its names and levels."""
        name = f"{type(index).__name__} {index.shape}"
        if type(index).__name__ == "RangeIndex":
            return f"{name} {index.start}:{index.stop}:{index.step} {self._visit(index.name)}"
        frame = index.to_frame(index=False)
        columns = [self._pandas_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
        freq = f" freq={index.freqstr}" if getattr(index, "freq", None) is not None else ""
        return f"{name} {' '.join(columns)} names={self._visit(list(index.names))}{freq}"

    def _pandas(self, frame):
        """Describe a DataFrame or Series, with its index and its attributes."""
        own = {name: getattr(frame, name, None) for name in frame._metadata if name != "_name"}
        noted = [self._visit(each) for each in (frame.attrs, own) if each]
        beside = " ".join([self._index(frame.index), *noted])
        if frame.ndim == 1:
            name = self._visit(frame.name)
            return f"Series {frame.shape} {self._pandas_column(frame)} name={name} {beside}"
        kinds = set(frame.dtypes)
        columns = [
            f"{self._visit(name)}: {dtype}"
            for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        ]
        if len(kinds) == 1 and is_plain(next(iter(kinds))):
            contents = f"#{bytes_digest(frame.to_numpy())}"
        else:
            parts = [self._pandas_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
            contents = hidden(" ".join(parts))
        if any(name is not None for name in frame.columns.names):
            beside += f" columns={self._visit(list(frame.columns.names))}"
        return f"DataFrame {frame.shape} {contents} [{', '.join(columns)}] {beside}"

    def _pandas_column(self, column):
        """Describe type and contents of a column."""
        dtype = column.dtype
        if is_plain(dtype):
            return f"{dtype} #{bytes_digest(column.to_numpy())}"
        if hasattr(dtype, "categories"):
            kind = "ordered" if dtype.ordered else "unordered"
            categories = self._visit(list(dtype.categories))
            return f"category {kind} {categories} #{bytes_digest(column.cat.codes.to_numpy())}"
        if dtype.kind == "M":  # with a time zone
            utc = column.dt.tz_convert("UTC").dt.tz_localize(None)
            return f"{dtype} #{bytes_digest(utc.to_numpy())}"
        return f"{dtype} {self._items(column.tolist())}"

    def _polars(self, frame):
        if not hasattr(frame, "get_columns"):
            return f"polars Series ({frame.len()},) {frame.name!r} {self._polars_column(frame)}"
        columns = [f"{c.name!r}: {c.dtype}" for c in frame.get_columns()]
        contents = hidden(" ".join(map(self._polars_column, frame.get_columns())))
        return f"polars DataFrame {frame.shape} {contents} [{', '.join(columns)}]"

    def _polars_column(self, column):
        dtype = column.dtype
        column = column.to_physical() if dtype.is_temporal() else column
        if column.dtype.is_numeric():
            values, missing = column.fill_null(0).to_numpy(), column.is_null().to_numpy()
            return f"{dtype} #{bytes_digest(values)} {bytes_digest(missing)}"
        return f"{dtype} {self._items(column.to_list())}"
