"""Numbers, candidates and lists as short texts."""

import ast
import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from sksearch.history import Params
from sksearch.space._values import native

LONGEST = 48  # characters of one value
WIDTH = 96  # characters of a line
MARGIN = 10  # columns of the titles
WRAP: dict[str, Any] = {
    "width": WIDTH - MARGIN,
    "subsequent_indent": "  ",
    "break_long_words": False,
    "break_on_hyphens": False,
}


def number(x: float) -> str:
    """Four digits."""
    return f"{x:.4g}"


def score(x: float, error: float = math.nan) -> str:
    """Format a score with its significant digits; four if its error is unknown."""
    if not (math.isfinite(error) and error > 0 and math.isfinite(x)):
        return f"{x:.4g}"
    decimals = min(max(0, 1 - math.floor(math.log10(error))), 8)
    return f"{x:.{decimals}f}"


def percent(share: float) -> str:
    """A share of one as whole percent."""
    return f"{100 * share:.0f} %"


def seconds(x: float) -> str:
    """A time in the unit that suits it."""
    units = (("hours", 3600, 5400), ("minutes", 60, 90), ("s", 1, 0.1), ("ms", 0.001, 0))
    unit, size, _ = next((each for each in units if x >= each[2]), units[-1])
    return f"{float(f'{x / size:.2g}'):g} {unit}"


def value(x: Any) -> str:
    """One value of a parameter, shortened if long."""
    x = native(x)
    text = f"{x:.4g}" if isinstance(x, float) else repr(x)
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def params(each: Params, n: int = 12) -> str:
    """A candidate in one line."""
    shown = [f"{name}={value(x)}" for name, x in list(each.items())[:n]]
    rest = len(each) - len(shown)
    return ", ".join(shown) + (f", and {rest} more" if rest else "") or "no parameters"


def listed(items: Iterable[str]) -> str:
    """Items as in a sentence: a, b and c."""
    items = list(items)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def code_of(values: Sequence) -> str:
    """Choices as Python code."""
    return "[" + ", ".join(map(_exact, values)) + "]"


def _exact(x):
    """A value as Python reads it, without rounding errors."""
    x = native(x)
    return repr(float(f"{x:.12g}")) if isinstance(x, float) else repr(x)


def dict_of(each: Params) -> str | None:
    """A candidate as a dict, for code; None if a value cannot be rebuilt from its repr."""
    if not all(is_literal(x) for x in each.values()):
        return None
    return "{" + ", ".join(f"{name!r}: {_exact(x)}" for name, x in each.items()) + "}"


def is_literal(x: Any) -> bool:
    """True if a value can be rebuilt from its repr."""
    x = native(x)
    try:
        again = ast.literal_eval(repr(x))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return type(again) is type(x) and bool(again == x)


def block(title: str, lines: Iterable[str]) -> list[str]:
    """A title next to its lines; indented lines are code and are not wrapped."""
    out: list[str] = []
    for line in lines:
        out += [line] if line.startswith(" ") else textwrap.wrap(line, **WRAP) or [""]
    heads = [title.ljust(MARGIN), *[" " * MARGIN] * (len(out) - 1)]
    return [(head + text).rstrip() for head, text in zip(heads, out, strict=True)]
