"""Warnings about constant or leaked targets, and about columns that identify rows."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_regressor

from sksearch._utils._advice import MANY_ROWS, advice, glance, is_id, is_missing
from sksearch._utils._compat import num_samples, to_numpy
from sksearch._utils._typing import Estimator, Samples, Targets

ENOUGH_ROWS = 20  # no check with fewer rows
BITS = 10.0  # an unrelated column is reported in one of 2^10 searches
N_LOOKED_AT = 64  # rows, enough to rule out nearly all columns
NEARLY = 0.9  # least share of different values in a copy with fewer digits
NUMBERS = "biufmM"  # kinds of dtypes


@advice
def warn_of_target(estimator: Estimator, X: Samples, y: Targets) -> Iterator[str]:
    """Warn of a regressor's constant target, or of a target leaked by a column of X."""
    values = None if y is None else to_numpy(y)
    if values is None or values.size != len(values) or values.dtype.kind == "V":
        return  # records, such as times of events, are never a column of X
    target = _Column(values.ravel())
    if len(target) > 1 and (target.codes == 0).all():
        if is_regressor(estimator):
            yield (
                f"y is {target.values[0]} in each row, so every candidate has the same score: "
                "pass the column that you want to predict."
            )
        return
    if len(target) < ENOUGH_ROWS:
        return
    n_columns, columns = _columns(X, target)
    for name, column in columns:
        if relation := glance(_relation, column, target, n_columns):
            yield (
                f"Column {name!r} of X {relation}, so scores only show that it was copied: leave "
                "it out of X."
            )


@advice
def warn_of_ids(estimator: Estimator, X: Samples) -> Iterator[str]:
    """Warn of columns that identify rows, which are useless for new rows."""
    n, table = num_samples(X), cast(Any, X)
    if n < MANY_ROWS:
        return
    names = getattr(table, "columns", None)
    if names is not None:
        columns = [(name, glance(table.__getitem__, name)) for name in names]
    elif getattr(table, "ndim", 0) == 2 and table.dtype.kind in "OUS":
        columns = list(enumerate(table.T))
    else:
        return
    used = glance(_used_columns, estimator, X)
    for name, column in columns:
        if (used is None or name in used) and glance(is_id, name, column, otherwise=False):
            yield (
                f"Column {name!r} of X has a different value in each of the {n} rows, like an ID, "
                "so it is useless for new rows: leave it out of X."
            )


def _used_columns(estimator: Estimator, X: Any) -> set | None:
    """Names of the columns that a ColumnTransformer takes; None if all may be used."""
    parts = [estimator, *estimator.get_params().values()]
    if read := [part for part in parts if hasattr(part, "left_out")]:
        return {name for part in read for name in part.used}
    # A ColumnTransformer: its module imports all linear models.
    found = [
        part for part in parts if hasattr(part, "transformers") and hasattr(part, "remainder")
    ]
    if not found or found[0].remainder != "drop":
        return None
    used: set = set()
    for _, transformer, columns in found[0].transformers:
        columns = columns(X) if callable(columns) else columns
        if not (isinstance(transformer, str) and transformer == "drop"):
            used.update([columns] if isinstance(columns, str) else columns)
    return used if all(isinstance(name, str) for name in used) else None


class _Column:
    """A column, prepared for comparison with another.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Values of any dtype.

    Attributes
    ----------
    codes : ndarray of int of shape (n_rows,)
        Rows with equal values have equal codes; -1 if the value is missing.
    numbers : ndarray of float of shape (n_rows,) or None
        The values, None if they are not numbers.
    """

    def __init__(self, values: Any) -> None:
        self.values = values = np.asarray(values)
        if values.dtype.kind in NUMBERS:
            codes = np.unique(values, return_inverse=True)[1]
            self.codes = np.where(np.isfinite(values), codes, -1)
        else:
            seen: dict[Any, int] = {}
            self.codes = np.array(
                [-1 if is_missing(v) else seen.setdefault(v, len(seen)) for v in values.tolist()]
            )
        self.numbers = glance(self._numbers)

    def _numbers(self) -> np.ndarray:
        if self.values.dtype.kind in "mM":
            return self.values.astype(np.int64).astype(float)
        if self.values.dtype.kind in NUMBERS:
            return self.values.astype(float)
        pairs = zip(self.codes, self.values, strict=True)
        return np.array([math.nan if code < 0 else float(value) for code, value in pairs])

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> "_Column":
        return _Column(self.values[rows])


def _relation(values: Any, target: _Column, n_columns: int) -> str:
    """Return how a column leaks the target, "" if it does not."""
    values = np.asarray(values)
    if values.shape != target.values.shape:
        return ""
    rows = _spread(len(target))
    if _bits(_Column(values[rows]), target[rows]) < 0:
        return ""
    column = _Column(values)
    n_known = np.count_nonzero((column.codes >= 0) & (target.codes >= 0))
    if n_known < max(ENOUGH_ROWS, len(values) / 2):  # a copy may have gaps
        return ""
    if _bits(column, target) < BITS + math.log2(n_columns):
        return ""
    if glance(lambda: bool((column.values == target.values).all())):
        return "is y itself"
    # If X has no other column, the task is to learn this function.
    return (
        "gives y away: each of its values corresponds to a single value of y"
        if n_columns > 1
        else ""
    )


def _bits(column: _Column, target: _Column) -> float:
    """Return the evidence that a column is a copy, in bits; -1 if it is not a copy."""
    both = (column.codes >= 0) & (target.codes >= 0)
    if not both.any():
        return 0.0
    counts = Counter(target.codes[both].tolist()).values()
    orders = _log2_factorial(int(both.sum())) - sum(map(_log2_factorial, counts))
    bits = -1.0
    if _is_one_to_one(column.codes[both], target.codes[both]):
        # Other orders of the column are also a copy, if values are equally frequent.
        bits = orders - sum(map(_log2_factorial, Counter(counts).values()))
    if column.numbers is not None and target.numbers is not None:
        x, y = column.numbers[both], target.numbers[both]
        if _is_monotone(x, y) or _is_monotone(x, -y):
            bits = max(bits, orders - 1, 0.0)
    return bits


def _is_one_to_one(codes: np.ndarray, others: np.ndarray) -> bool:
    """True if rows with equal values in one column also have equal values in another."""
    n, m = len(np.unique(codes)), len(np.unique(others))
    return n == m == len(np.unique(codes * (others.max() + 1) + others))


def _is_monotone(x: np.ndarray, y: np.ndarray) -> bool:
    """True if y increases with x, and both have the same number of values apart from rounding."""
    n, m = len(np.unique(x)), len(np.unique(y))
    return min(n, m) >= NEARLY * max(n, m) and bool((np.diff(y[np.lexsort((y, x))]) >= 0).all())


def _log2_factorial(n: int) -> float:
    return math.lgamma(n + 1) / math.log(2)


def _spread(n: int) -> np.ndarray:
    """Some rows of n, from the first to the last."""
    return np.unique(np.linspace(0, n - 1, N_LOOKED_AT).astype(int))


# ---- columns


def _columns(X: Any, target: _Column) -> tuple[int, Iterator[tuple[object, Any]]]:
    """Return the number of columns, and those that may be a copy, with their names or numbers."""
    if issparse(X):
        return X.shape[1], _of_sparse(X.tocsc(), target)
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is not None and hasattr(X, "__getitem__"):
        return max(1, len(names)), ((name, glance(X.__getitem__, name)) for name in names)
    array = to_numpy(X)
    if array.ndim != 2:
        return 1, iter(())
    may_be = glance(_may_be_copies, array, target, otherwise=slice(None))
    numbers = np.arange(array.shape[1])[may_be].tolist()
    return max(1, array.shape[1]), ((i, array[:, i]) for i in numbers)


def _may_be_copies(X: np.ndarray, target: _Column) -> np.ndarray:
    """Mask of columns that may be a copy, judged by some rows, all columns at once."""
    rows = _spread(len(X))
    rises, known = np.diff(X[rows].astype(float), axis=0), np.diff(target.codes[rows]) != 0
    is_alike = ((rises != 0) == known[:, np.newaxis]) | np.isnan(rises)
    may_be = is_alike.all(axis=0)
    if target.numbers is not None:
        signs = np.sign(rises) * np.sign(np.diff(target.numbers[rows]))[:, np.newaxis]
        may_be |= ~(signs < 0).any(axis=0) | ~(signs > 0).any(axis=0)
    return may_be


def _of_sparse(X: Any, target: _Column) -> Iterator[tuple[object, np.ndarray]]:
    """Columns of a sparse matrix with as many zeros as one value of y has rows."""
    n = X.shape[0]
    owner = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    filled = np.bincount(owner[X.data != 0], minlength=X.shape[1])
    counts = np.bincount(target.codes[target.codes >= 0])
    for i in np.flatnonzero(np.isin(filled, [n, *(n - counts)])).tolist():
        yield i, X[:, [i]].toarray().ravel()
