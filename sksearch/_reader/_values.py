"""Which values and candidates are equal, and which are numbers."""

import math
import numbers
from collections.abc import Hashable
from typing import Any

import numpy as np

from sksearch.history import Params


def is_number(value: Any) -> bool:
    """Tell whether a value is a number, and not True or False."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def is_finite(value: Any) -> bool:
    """Tell whether a value is a finite number, and not True or False."""
    return is_number(value) and math.isfinite(value)


def key_of(value: Any) -> Hashable:
    """What is equal for equal values: types and texts, numbers by their values."""
    if isinstance(value, bool | np.bool_):
        return bool(value), "bool"
    if isinstance(value, int | float | np.integer | np.floating):
        return float(value)
    return type(value).__name__, repr(value)


def key_of_params(params: Params) -> Hashable:
    """What is equal for equal candidates."""
    return tuple((name, key_of(params[name])) for name in sorted(params))
