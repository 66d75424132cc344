"""The data that a user's code takes from its module: described, and compared between starts."""

import datetime
import uuid
from pathlib import PurePath

import numpy as np

from sksearch._code import Datum
from sksearch._description import GENERATORS, OPAQUE
from sksearch._digests import SCALARS, cut
from sksearch.checkpoint._origin import origin_of

# What is often of this start: a time, a name of this run, a file with the number of a process.
PLAIN = (*SCALARS, np.generic, PurePath, uuid.UUID, datetime.date, datetime.time,
         datetime.timedelta)  # fmt: skip
OF_START = ", of this start, by "
LENGTH = 140  # characters of a value, and of the statement that makes it


def texts_of(data: dict[str, tuple[Datum | None, str]]) -> dict[str, str]:
    """Return a text for each global that code depends on, by module and name.

    One that the user's code changes is told by the statement that sets it first, and one that a
    call makes again at each start by its value and by that statement.
    """
    return {name: _text(datum, text) for name, (datum, text) in sorted(data.items())}


def _text(datum: Datum | None, text: str) -> str:
    if datum is None:
        return text
    changes = datum.changes or isinstance(datum.value, GENERATORS)
    if not (changes or isinstance(datum.value, PLAIN)):
        return text
    origin = origin_of(datum.module, datum.path)
    if changes:
        return f"{'' if origin is None else cut(origin.text, LENGTH)} {OPAQUE}".strip()
    if origin is None or not origin.is_computed:
        return text
    return f"{cut(text, LENGTH)}{OF_START}{cut(origin.text, LENGTH)}"


def is_of_start(was: str, now: str) -> bool:
    """Whether a value differs because the same statement makes another one at each start."""
    (_, between, by), (_, _, by_now) = was.rpartition(OF_START), now.rpartition(OF_START)
    return bool(between) and by == by_now


def value_of(text: str) -> str:
    """Return a text without the statement that makes the value."""
    return text.rpartition(OF_START)[0] or text
