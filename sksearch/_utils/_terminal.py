"""Texts without control characters: used for all output, logs, warnings and errors.

Names, values and errors come from others. An escape sequence in them can clear a terminal, change
its title or hide earlier text, and a direction mark can reverse a line.
"""

import functools
import logging
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO, TypeVar

F = TypeVar("F", bound=Callable)
# Control characters but for tabs and ends of lines, signs of direction, other ends of lines, and
# halves of characters, which no terminal can be sent.
OBEYED = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
VALIDATION = "sklearn.utils._param_validation"  # validates our parameters
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # a memory address in a repr


def printable(text: str) -> str:
    """Return a text with control characters escaped, such as ``\\x1b``."""
    return OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str, file: TextIO | None = None) -> None:
    """Print a text; drop it if it cannot be written (a full disk, a closed pipe)."""
    with suppress(Exception):  # of any stream that replaces the default
        print(printable(text), file=file, flush=True)


def warn(message: str, stacklevel: int = 2) -> None:
    """Give a `UserWarning`; `stacklevel` is as in ``warnings.warn``."""
    warnings.warn(printable(message), UserWarning, stacklevel=stacklevel + 1)


class PlainRecords(logging.Filter):
    """Makes the records of a logger printable."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Fill in the arguments of a record."""
        record.msg, record.args = printable(record.getMessage()), None
        return True


def plain_errors(function: F) -> F:
    """Wrap a function so that this package's errors are printable."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if _is_ours(error):
                error.args = tuple(map(_plain, error.args))
                error.__notes__ = [*map(_plain, getattr(error, "__notes__", ()))]
            raise

    return call  # type: ignore[return-value]


def _plain(value):
    return printable(value) if isinstance(value, str) else value


def _is_ours(error):
    """True if this package's code has raised an error, and not the user's."""
    frame = error.__traceback__
    while frame.tb_next is not None:
        frame = frame.tb_next
    name = frame.tb_frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == __name__.partition(".")[0] or name == VALIDATION


def short_repr(value: Any, limit: int) -> str:
    """Return a repr on one line of at most `limit` characters, without addresses in memory."""
    try:
        text = printable(" ".join(ADDRESS.sub("", repr(value)).split()))
    except Exception:  # an object whose repr fails has a text as well
        text = ""
    text = text or type(value).__name__
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def counted(n: int, noun: str) -> str:
    """Return a count with its noun: 1 candidate, 2 candidates."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def unit_of(n: int, unit: str) -> str:
    """Return the noun for n units: epoch for 1, epochs for 2.

    The name of a parameter, such as n_estimators, has no singular.
    """
    return unit.removesuffix("s") if n == 1 and "_" not in unit else unit


def amount(n: int, unit: str) -> str:
    """Return a number of units of resource: 1 epoch, 81 epochs; resource 81 without a name."""
    return f"resource {n:,}" if unit == "resource" else f"{n:,} {unit_of(n, unit)}"
