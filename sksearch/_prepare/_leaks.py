"""Warnings about a target that leaves nothing to learn."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from sksearch._compat import to_numpy
from sksearch._plain import warn
from sksearch._typing import Estimator, Samples, Targets

ENOUGH_ROWS = 20  # two columns of zeros and ones are equal by chance once in 2^20


def warn_of_target(estimator: Estimator, X: Samples, y: Targets) -> None:
    """Warn of a regressor's target that is constant, or of one that is a column of X."""
    if y is None:
        return
    values = to_numpy(y)
    if values.ndim != 1 or len(values) < 2 or values.dtype.kind == "V":
        return  # records, such as times of events, are no column of X
    if (values == values[0]).all():
        if is_regressor(estimator):
            warn(
                f"y is {values[0]} in each row, so there is nothing to learn and every "
                "candidate has the same score: pass the column that you want to predict.",
                UserWarning,
                stacklevel=2,
            )
        return
    for name, column in _columns(X):
        if len(values) >= ENOUGH_ROWS and _are_equal(column, values):
            warn(
                f"Column {name!r} of X is y itself, so every score says only that it was copied: "
                "leave it out of X.",
                UserWarning,
                stacklevel=2,
            )


def _columns(X: Samples) -> Iterator[tuple[object, np.ndarray]]:
    """Names, or numbers, and values of the columns of an array or a table; none of the rest."""
    if isinstance(X, np.ndarray):
        if X.ndim == 2:
            yield from enumerate(X.T)
    elif hasattr(X, "columns"):
        table: Any = X
        for name in table.columns:
            yield name, np.asarray(table[name])


def _are_equal(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two columns have the same values; the first few tell most apart."""
    for part in (slice(ENOUGH_ROWS), slice(None)):
        if not np.array_equal(one[part], other[part]):
            return False
    return True
