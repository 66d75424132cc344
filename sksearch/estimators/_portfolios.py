"""Recorded first candidates, which complement each other on many tables."""

import functools
import json
from importlib import resources
from typing import Any


@functools.cache
def portfolios() -> dict[str, list[dict[str, Any]]]:
    """Read the recorded candidates; layers of a net are tuples."""
    text = resources.files(__package__).joinpath("portfolios.json").read_text(encoding="utf-8")
    return {
        family: [
            {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
            for entry in entries
        ]
        for family, entries in json.loads(text).items()
    }
