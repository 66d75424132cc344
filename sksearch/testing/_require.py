"""Reports of broken promises."""

from typing import Any


def require(holds: Any, otherwise: str) -> None:
    """Raise AssertionError unless `holds`; unlike `assert`, even under ``python -O``."""
    if not holds:
        raise AssertionError(otherwise)
