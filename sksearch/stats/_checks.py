"""Checks of arguments."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def check_finite(values: ArrayLike, name: str, ndim: int) -> np.ndarray:
    """Return `values` as an array of floats; refuse other shapes, NaN and infinities."""
    array = np.asarray(values, dtype=float)
    if array.ndim != ndim or array.size == 0:
        raise ValueError(
            f"{name} has shape {array.shape}: it must have {ndim} dimension(s) and at least one "
            "value."
        )
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} has {np.count_nonzero(~np.isfinite(array))} non-finite values: leave out "
            "failures, or replace them by a finite loss."
        )
    return array


def check_losses(losses: ArrayLike) -> np.ndarray:
    """Return losses of shape (n_problems, n_methods), with infinity in place of NaN."""
    losses = np.asarray(losses, dtype=float)
    if losses.ndim != 2 or losses.shape[0] == 0 or losses.shape[1] < 2:
        raise ValueError(
            f"losses has shape {losses.shape}: average over seeds, and pass a row for each "
            "problem and a column for each of at least two methods."
        )
    return np.where(np.isnan(losses), np.inf, losses)


def check_count(value: Any, name: str, low: int) -> int:
    """Return an integer of at least `low`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ValueError(f"{name}={value!r} must be an integer of at least {low}.")
    return int(value)


def check_fraction(value: float, name: str) -> float:
    """Return a number strictly between 0 and 1."""
    if not 0 < value < 1:
        raise ValueError(f"{name}={value!r} must lie strictly between 0 and 1.")
    return value
