"""Kinds of values in a record, to be checked because a journal may be damaged or forged.

A kind is a function that returns whether a value is valid.
"""

import math
import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any, TypeGuard

STATUSES = ("ok", "error", "memory", "nan", "crash", "timeout")
LARGEST = 2**63  # upper bound of counts and seeds
MOST_FOLDS = 10**6  # a table has a column for each
LONGEST = 1e12  # seconds; larger values overflow when times are added
DIGITS = re.compile(r"[0-9a-f]{64}")
STATE_NAME = re.compile(r"\d{1,20}\.\d{1,20}\.\d{1,20}(\.[0-9a-f]{16})?")  # task, digest

Kind = Callable[[object], bool]


def optional(kind: Kind) -> Kind:
    """Return the kind that also accepts None."""
    return lambda value: value is None or kind(value)


def text(value: object) -> TypeGuard[str]:
    """Return whether a value is a text."""
    return isinstance(value, str)


def texts(value: object) -> bool:
    """Return whether a value is a list of texts."""
    return isinstance(value, list) and all(map(text, value))


def flag(value: object) -> bool:
    """Return whether a value is true or false."""
    return isinstance(value, bool)


def count(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of at least 0."""
    return type(value) is int and 0 <= value < LARGEST


def positive(value: object) -> TypeGuard[int]:
    """Return whether a value is an integer of at least 1."""
    return count(value) and value > 0


def n_splits(value: object) -> bool:
    """Return whether a value is a number of folds."""
    return positive(value) and value <= MOST_FOLDS


def number(value: object) -> TypeGuard[float]:
    """Return whether a value can be a float, including NaN and infinities."""
    if type(value) is int:
        return abs(value) < 2**1023
    return isinstance(value, float | bool)


def seconds(value: object) -> TypeGuard[float]:
    """Return whether a value is a time, negative if a clock was set back."""
    return number(value) and abs(value) < LONGEST


def duration(value: Any) -> bool:
    """Return whether a value is a duration: seconds, 0 or more."""
    return type(value) in (int, float) and 0 <= value < LONGEST


def span(value: object) -> bool:
    """Return whether a value is the beginning and end of an evaluation, and its worker."""
    if not (isinstance(value, list) and len(value) == 3 and all(map(seconds, value[:2]))):
        return False
    return value[0] <= value[1] and text(value[2])


def prediction(value: object) -> bool:
    """Return whether a value is a predicted score, its interval, a resource, and a factor."""
    if not (isinstance(value, list) and len(value) == 5 and positive(value[3])):
        return False
    return all(isinstance(x, float) and math.isfinite(x) for x in (*value[:3], *value[4:]))


def status(value: object) -> bool:
    """Return whether a value is the status of an evaluation."""
    return value in STATUSES


def scores(value: object) -> bool:
    """Return whether a value is a score, or a score for each metric."""
    if isinstance(value, dict):
        return len(value) > 0 and all(map(number, value.values()))
    return number(value)


def numbers(value: object) -> bool:
    """Return whether a value maps names to numbers."""
    return isinstance(value, dict) and all(map(number, value.values()))


def bounds(value: object) -> bool:
    """Return whether a value is bounds, each a metric, an operator and a value."""
    return _list_of(value, _is_bound)


def sample(value: object) -> bool:
    """Return whether a value has the fields of a `RowSample`."""
    return _list_of(value, optional(number)) and len(value) == 5 and positive(value[0])


def rows(value: object) -> bool:
    """Return whether a value is numbers of 8 bytes each, as `base64` writes them."""
    try:
        return text(value) and len(b64decode(value, validate=True)) % 8 == 0
    except ValueError:
        return False


def curve(value: object) -> bool:
    """Return whether a value is a list of count, scores and training scores."""
    return _list_of(value, _is_point) and len(value) > 0


def record(value: object) -> bool:
    """Return whether a value has entries by name, which its own schema, or the space, checks."""
    return isinstance(value, dict)


def records(value: object) -> bool:
    """Return whether a value is a list of records."""
    return _list_of(value, record)


def state_name(value: object) -> bool:
    """Return whether a value is the name of a state's file."""
    return text(value) and STATE_NAME.fullmatch(value) is not None


def sha(value: object) -> bool:
    """Return whether a value is a SHA-256."""
    return text(value) and DIGITS.fullmatch(value) is not None


def ascii_text(value: object) -> bool:
    """Return whether a value can be a signature's text."""
    return text(value) and value.isascii()


def random_state(value: object) -> bool:
    """Return whether a value is a seed, or the state of a generator."""
    if not isinstance(value, dict):
        return count(value)
    return isinstance(value.get("state"), list) and text(value.get("left", ""))


def versions(value: object) -> bool:
    """Return whether a value maps libraries to versions."""
    return _texts_by_name(value) and "sklearn" in value


def parts(value: object) -> bool:
    """Return whether a value has the form returned by `fingerprint`."""
    return isinstance(value, dict) and all(map(_texts_by_name, value.values()))


def plan(value: object) -> bool:
    """Return whether a value is the rungs of a plan."""
    return _list_of(value, lambda rung: _list_of(rung, count) and len(rung) == 6)


def _list_of(value: object, kind: Kind) -> TypeGuard[list]:
    return isinstance(value, list) and all(map(kind, value))


def _texts_by_name(value: object) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and all(map(text, value.values()))


def _is_point(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and count(value[0])
        and scores(value[1])
        and optional(scores)(value[2])
    )


def _is_bound(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and text(value[0])
        and value[1] in ("<=", ">=")
        and isinstance(value[2], float)
        and math.isfinite(value[2])
    )
