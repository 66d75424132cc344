"""What differs between two starts by its nature, recognised in the values themselves.

Readings of a clock, random identifiers, the number of this process, names of temporary files and
of this computer. Each is written with its kind, as ``⟦time 1.5⟧``.
"""

import datetime
import functools
import os
import re
import socket
import tempfile
import uuid
from contextlib import suppress
from pathlib import PurePath
from typing import Any

import numpy as np

from sksearch._clock import BEGAN, was_counted, was_read

LEAST_PID = 1000  # smaller ones are settings more often than numbers of processes
UNITS = {10: 1, 13: 1e3, 16: 1e6, 19: 1e9}  # digits of the time in seconds to nanoseconds
HAS_DIGIT = re.compile("[0-9]|tmp")
MARK = re.compile("⟦([a-z]+) ([^⟦⟧]*)⟧")
PATTERN = r"""
(?P<name>(?<![0-9a-f])[0-9a-f]{{8}}(?P<hyphen>-?)[0-9a-f]{{4}}(?P=hyphen)[14][0-9a-f]{{3}}(?P=hyphen)
    [89ab][0-9a-f]{{3}}(?P=hyphen)[0-9a-f]{{12}}(?![0-9a-f]))
|(?P<stamp>(?<!\d)(20\d\d)(?P<dash>[-_/.]?)([01]\d)(?P=dash)([0-3]\d)
    (?:[ T_-]{{0,2}}([0-2]\d)(?P<colon>[:_.h-]?)([0-5]\d)
        (?:(?P=colon)([0-5]\d)(?:[.,]?\d{{6}})?)?)?
    (?:[+-]00:00|Z)?(?!\d))
|(?P<digits>(?<![\d.])\d{{10,19}}(?:\.\d+)?(?!\d))
|(?P<file>(?<![a-z0-9_])tmp[a-z0-9_]{{8}}(?![a-z0-9_])
    |(?<={folder}[/\\])[^/\\']*[-_.](?=[a-z_]{{0,7}}[0-9])[a-z0-9_]{{8}}(?![^/\\'.]))
|(?P<process>(?<![\d.]){pid}(?![\d.]))
|(?P<host>(?<!\w){host}(?!\w))
"""  # a uuid1 or uuid4, a date with its time or without, a time in seconds, ...


def marked(value: Any) -> str | None:
    """Return a text of a value in which what is of this start is marked; None if nothing is."""
    if value is None or value is True or value is False:
        return None
    if isinstance(value, (int, float)):
        kind = _kind_of_number(value)
        return None if kind is None else _mark(kind, repr(value))
    if isinstance(value, uuid.UUID):
        return _mark("name", str(value)) if value.version in (1, 4) else None
    if isinstance(value, np.datetime64) and not np.isnat(value):
        value = value.astype("datetime64[us]").item()
        return marked(value) if isinstance(value, datetime.date) else None
    if isinstance(value, (datetime.date, str, PurePath)):
        text = repr(str(value))
        text_now = _marked_text(text)
        return None if text_now == text else text_now
    return None


def without_marks(text: str) -> str:
    """Return a text as it is without marks."""
    return MARK.sub(r"\2", text) if "⟦" in text else text


def neutral(text: str) -> str:
    """Return a text with marks, and without what is marked."""
    return MARK.sub(r"⟦\1⟧", text) if "⟦" in text else text


def _mark(kind, text):
    return f"⟦{kind} {text}⟧"


def _kind_of_number(value):
    """The kind of a number that is of this start, None for others."""
    if -LEAST_PID < value < LEAST_PID:  # the clock that counts from any point has more
        return "time" if value % 1 and was_counted(value) else None
    if isinstance(value, int) and value == os.getpid():
        return "process"
    if value >= BEGAN and any(was_read(value / unit) for unit in UNITS.values()):
        return "time"
    is_counted = isinstance(value, float) and not value.is_integer() and was_counted(value)
    return "time" if is_counted else None


def _marked_text(text):
    """Mark the parts of a text that are of this start."""
    if not HAS_DIGIT.search(text) and _host() not in text:
        return text
    return _pattern(os.getpid()).sub(_marked_part, text)


@functools.cache
def _host():
    return socket.gethostname()


@functools.lru_cache(1)
def _pattern(pid):
    """Compile what identifiers, times and names of this process look like."""
    host = _host()
    return re.compile(
        PATTERN.format(
            folder=re.escape(tempfile.gettempdir()),
            pid=pid if pid >= LEAST_PID else "(?!)",
            host=re.escape(host) if len(host) > 2 and host != "localhost" else "(?!)",
        ),
        re.VERBOSE,
    )


def _marked_part(found):
    """Mark a part of a text, unless it is a time of another start."""
    kind = next(name for name, part in found.groupdict().items() if part is not None)
    if kind in ("stamp", "digits"):
        is_now = _is_now(found) if kind == "stamp" else _is_time(found[0])
        return _mark("time", found[0]) if is_now else found[0]
    return _mark(kind, found[0])


def _is_time(digits):
    """Whether digits are a time since this process began, in seconds or parts of them."""
    unit = UNITS.get(len(digits.partition(".")[0]))
    return unit is not None and was_read(float(digits) / unit)


def _is_now(found):
    """Whether a date, or a date and a time, lies within the life of this process."""
    parts = [int(found[n]) for n in (4, 6, 7, 8, 10, 11) if found[n] is not None]
    with suppress(ValueError, OverflowError, OSError):
        year, month, day, *rest = parts
        moment = datetime.datetime(year, month, day, *rest)  # type: ignore[arg-type]
        for zone in (None, datetime.UTC):  # precise to a day, a minute or a second
            precision = {3: 86_400, 5: 60}.get(len(parts), 1)
            if was_read(moment.replace(tzinfo=zone).timestamp(), precision):
                return True
    return False
