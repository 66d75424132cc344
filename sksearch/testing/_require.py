"""How a broken promise is told."""

from typing import Any

import numpy as np


def require(holds: Any, otherwise: str) -> None:
    """As `assert`, which ``python -O`` leaves out."""
    if not holds:
        raise AssertionError(otherwise)


def comparable(column: Any) -> np.ndarray:
    """A column of any values, NaN among them, as texts."""
    return np.array([repr(value) for value in column])
