"""How a broken promise is told."""

from typing import Any


def require(holds: Any, otherwise: str) -> None:
    """As `assert`, which ``python -O`` leaves out."""
    if not holds:
        raise AssertionError(otherwise)
