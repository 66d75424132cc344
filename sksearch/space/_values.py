"""Comparison and keys of parameter values of any type, stable across processes."""

import math
import numbers
import re
from functools import lru_cache
from typing import Any

import numpy as np

# A type's name is a new string on each access; a long history has many keys.
_SCALARS = {kind: kind.__name__ for kind in (str, bytes, bool, int, float, complex, type(None))}


def native(value: Any) -> Any:
    """Convert a NumPy scalar to the equivalent Python value; dates and durations have none."""
    is_plain = isinstance(value, np.generic) and value.dtype.kind not in "mMV"
    return value.item() if is_plain else value


def is_number(value: Any) -> bool:
    """Return whether a value is a number: not True, False, or a duration of NumPy."""
    others = (bool, np.bool_, np.timedelta64)
    return isinstance(value, numbers.Real) and not isinstance(value, others)


def hashable_key(value: Any) -> tuple | None:
    """Return a hashable key of a plain value, which distinguishes True, 1 and 1.0.

    Parameters
    ----------
    value : object
        Any value of a parameter.

    Returns
    -------
    tuple or None
        None if the value is neither a scalar nor a tuple, list or dict of scalars. Such an object
        is identified by its position among the choices, as its hash may be its address.
    """
    if type(value) not in _SCALARS:
        value = native(value)
    kind = type(value)
    if kind is float and math.isnan(value):
        return ("float", "nan")  # NaN equals nothing, and hashes by address
    if kind in _SCALARS:
        return (_SCALARS[kind], value)
    if kind in (tuple, list):
        items = tuple(hashable_key(item) for item in value)
        return None if None in items else (kind.__name__, items)
    if kind is dict:
        pairs = frozenset((hashable_key(key), hashable_key(item)) for key, item in value.items())
        return None if any(None in pair for pair in pairs) else ("dict", pairs)
    return None


@lru_cache(maxsize=1_000)
def same(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return one object for equal tuples, shared by the million keys of a long history."""
    return words


def equal(a: Any, b: Any) -> bool:
    """Compare two values of any type, including arrays, and return one bool."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    try:
        found = a == b
        return found if type(found) is bool else bool(np.all(found))
    except (TypeError, ValueError):
        return False  # a container of arrays, or an object that cannot be compared


def stable_repr(value: Any) -> str:
    """Return the repr of an object without its address, which changes from run to run."""
    return f"{type(value).__qualname__}:" + re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def own(dimension: Any, value: Any) -> Any:
    """Return the dimension's equal value: the choice 1 for 1.0."""
    if dimension.kind == "categorical" and is_number(value):
        for choice in dimension.choices:
            if is_number(choice) and choice == value:
                return choice
    return value


def place(dimension: Any, value: Any) -> float:
    """Return the coordinate of a value possibly outside the dimension, see `Space.place`."""
    if dimension.contains(value):
        return dimension.to_unit(value)
    if value is None:
        return 1.0
    if is_number(value) and dimension.kind in ("real", "integer") and not math.isnan(value):
        return dimension.to_unit(min(max(value, dimension.bounds[0]), dimension.bounds[1]))
    return 0.5


def randbelow(rng: np.random.Generator, n: int) -> int:
    """Draw from 0 .. n - 1 for any n, even beyond the 64 bits that NumPy draws."""
    # Eight more bytes than n has: the remainder is uniform to within 2**-64.
    return int.from_bytes(rng.bytes(n.bit_length() // 8 + 9), "little") % n
