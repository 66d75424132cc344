"""Lookup of known values of rows by the content of the rows.

A scorer may ask a model for the test rows in another order, in batches, for a part of them, or in
another container. Rows are identified by their values, because positions and labels may change.
"""

import copy
import pickle
from collections.abc import Hashable
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from sksearch._utils._compat import num_samples, to_numpy
from sksearch._utils._typing import Samples

# For NaN, None, NaT and pandas.NA, because conversions replace one by another
MISSING = "\0missing"
#: Relative; equal rows with values differing by more have no unique value.
ROUNDING = 1e-5


#: Stands for all rows, if no lookup is needed.
ALL_ROWS: Any = object()


class UnknownRowsError(ValueError):
    """Unknown rows were requested."""


class KnownRows:
    """Known rows, to look up the entries of arrays for any selection of them.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame or list
        The rows. Arrays become read-only, since changes would invalidate the known values.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.fault = ""  # reason why the scorer is not supported, as a clause; otherwise ""
        self._n: int = num_samples(X)
        self._is_locked = _lock(X)
        self._copy: Any = (
            copy.deepcopy(X) if not self._is_locked and hasattr(X, "equals") else None
        )

    def entries(self, X: Samples, table: np.ndarray) -> np.ndarray:
        """Return the entries of a table that belong to some of the rows.

        Parameters
        ----------
        X : array-like, sparse matrix, DataFrame or list
            Some of the rows, in any order, also repeatedly.
        table : ndarray of shape (n_known, ...)
            Entries of the known rows.

        Returns
        -------
        entries : ndarray of shape (n_rows, ...)
            In the order of `X`.

        Raises
        ------
        UnknownRowsError
            If a row is unknown, or occurs twice with different entries.
        """
        if X is ALL_ROWS or self._is_all(X):
            return table
        places = self._places(X)
        # If the order is the same, repeated rows can be distinguished
        if np.array_equal(places, self._first):
            return table
        if len(copies := np.flatnonzero(self._first != np.arange(self._n))):
            own, first = table[copies], table[self._first[copies]]
            is_float = own.dtype.kind == "f"
            apart = ~np.isclose(own, first, rtol=ROUNDING, atol=0) if is_float else own != first
            apart = copies[apart.reshape(len(copies), -1).any(axis=1)]
            if n := int(np.isin(places, self._first[apart]).sum()):
                self._refuse(f"{n} of {len(places)} rows have copies with different predictions")
        return table[places]

    def _is_all(self, X: Any) -> bool:
        """True if these are the known rows themselves, unchanged."""
        return X is self.X and (self._copy is None or bool(X.equals(self._copy)))

    def _places(self, X: Samples) -> np.ndarray:
        """Places of rows among the known ones; the first of equal ones."""
        if not num_samples(X):  # models treat these as the same row
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        try:
            keys = self._keys_of(X)
        except Exception as error:
            self._refuse(f"they are a {type(X).__name__} of a different form ({error})")
        found = [self._by_key.get(key, -1) for key in keys]
        if n := found.count(-1):
            self._refuse(f"{n} of {len(found)} rows are not among the test rows of the fold")
        return np.array(found, dtype=int)

    def _refuse(self, why: str) -> None:
        self.fault = f"it requests predictions for rows other than those passed to it: {why}"
        raise UnknownRowsError(f"These rows are unknown: {why}.")

    @cached_property
    def _known(self) -> tuple[str, tuple[int, ...], list[Hashable]]:
        """The form of the rows, the shape of one, and a key for each."""
        X: Any = self.X if self._copy is None else self._copy
        if sp.issparse(X):
            return "sparse", X.shape[1:], _keys_of_sparse(X)
        table = _as_table(X)
        form = "numbers" if table.dtype.kind in "biuf" else "objects"
        return form, table.shape[1:], _keys(table, form)

    @cached_property
    def _by_key(self) -> dict[Hashable, int]:
        keys = self._known[2]
        return {key: i for i, key in reversed([*enumerate(keys)])}

    @cached_property
    def _first(self) -> np.ndarray:
        """Index of the first equal row, for each row."""
        return np.array([self._by_key[key] for key in self._known[2]], dtype=int)

    def _keys_of(self, X: Any) -> list[Hashable]:
        """Keys of requested rows, made in the same way as for the known ones."""
        form, shape, _ = self._known
        ours, theirs = getattr(self.X, "columns", None), getattr(X, "columns", None)
        if ours is not None and theirs is not None and list(ours) != list(theirs):
            raise ValueError("its columns differ")
        if form == "sparse":
            X = X if sp.issparse(X) else sp.csr_matrix(to_numpy(X))
            table = None
        else:
            table = _as_table(X.toarray() if sp.issparse(X) else X, is_flat=not shape)
        if (X if table is None else table).shape[1:] != shape:
            raise ValueError("its columns differ")
        return _keys_of_sparse(X) if table is None else _keys(table, form)


def _lock(X: Any) -> bool:
    """Make arrays read-only; return whether these are arrays."""
    parts = [X] if isinstance(X, np.ndarray) else []
    if sp.issparse(X):
        names = ("data", "indices", "indptr", "row", "col", "coords", "offsets")
        parts = [part for name in names if isinstance(part := getattr(X, name, 0), np.ndarray)]
    for part in parts:
        part.flags.writeable = False
    return bool(parts)


def _as_table(X: Any, is_flat: bool = False) -> np.ndarray:
    """Rows as an array; one-dimensional of dtype object if they are not a table."""
    if hasattr(X, "shape"):
        return to_numpy(X)
    rows = list(X)
    with suppress(ValueError):  # rows of different lengths
        table = np.asarray(rows)
        if table.dtype.kind in "biufU" and not (is_flat and table.ndim > 1):
            return table
    table = np.empty(len(rows), dtype=object)
    table[:] = rows
    return table


def _keys(table: np.ndarray, form: str) -> list[Hashable]:
    """A key for each row."""
    n = len(table)
    if form == "numbers":
        numbers = np.array(table, dtype=np.float64).reshape(n, -1) + 0.0  # -0.0 is 0.0
        return _bytes_of(np.where(np.isnan(numbers), np.nan, numbers))
    rows = table.astype(object).reshape(n, -1)
    return [tuple(map(_key_of_cell, row)) for row in rows]


def _keys_of_sparse(X: Any) -> list[Hashable]:
    """A key for each row: the nonzero columns and their values."""
    rows = sp.csr_matrix(X, copy=True).astype(np.float64)
    # Equal rows may be stored in different ways, so normalise them.
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.sort_indices()
    columns, data, ends = rows.indices.astype(np.int64), rows.data, rows.indptr
    return [(columns[a:b].tobytes(), data[a:b].tobytes()) for a, b in pairwise(ends)]


def _bytes_of(numbers: np.ndarray) -> list[Hashable]:
    rows = np.ascontiguousarray(numbers)
    return [row.tobytes() for row in rows]


def _key_of_cell(value: Any) -> Hashable:
    """A key, equal for equal values, even of unhashable types."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return MISSING
    with suppress(Exception):  # arrays have no truth value, and dicts no hash
        if value != value:
            return MISSING
        hash(value)
        return value
    with suppress(Exception):
        return pickle.dumps(value)
    return id(value)
