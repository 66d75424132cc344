"""Values that naturally differ between two starts, recognised by the values themselves.

Readings of a clock, random identifiers, the ID of this process, names of temporary files and of
this computer. Parts of identifiers have no typical form: they are recognised by the statement that
creates them.

A number may have the form by chance, in one of the starts. So a mark has two texts, a neutral one
with the kind of the value, and the text of this start. Two marks are equal if either pair is.
Whatever sorts, shortens or hashes texts with marks does so with both. Marks consist of control
characters, which the repr of a text does not contain.
"""

import ast
import collections
import datetime
import functools
import linecache
import os
import random
import re
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import PurePath
from typing import Any

import numpy as np

from sksearch._utils._clock import BEGAN, was_counted, was_read

LEAST_PID = 100  # smaller numbers are settings more often than process IDs
UNITS = {10: 1, 13: 1e3, 16: 1e6, 19: 1e9}  # digits of the time in seconds to nanoseconds
HAS_DIGIT = re.compile("[0-9]|tmp")
BEGIN, MIDDLE, END = "\x02", "\x1f", "\x03"
MARK = re.compile("\x02([^\x02\x1f\x03]*)\x1f([^\x02\x1f\x03]*)\x03")
ORDER = re.compile("\x02\x1f[^\x02\x1f\x03]*\x03")
# A statement of only these, constants, and variables set by such statements.
SOURCES = {
    *("time", "time_ns", "perf_counter", "monotonic", "process_time", "now", "today", "utcnow"),
    *("ctime", "asctime", "localtime", "gmtime", "strftime", "uuid1", "uuid4", "token_hex"),
    *("token_bytes", "token_urlsafe", "urandom", "getpid", "getppid", "gethostname", "node"),
    *("mkdtemp", "mkstemp", "mktemp", "get_ident"),
}
FORMS = {
    *("hex", "int", "bytes", "str", "float", "round", "format", "isoformat", "timestamp"),
    *("replace", "split", "join", "encode", "decode", "Path", "path", "name"),
    *("datetime", "date", "timezone", "utc", "UTC", "random", "default_rng", "RandomState"),
    "Random",
}
MODULES = {
    *("time", "datetime", "uuid", "os", "secrets", "tempfile"),
    *("socket", "platform", "threading", "pathlib", "random", "numpy"),
}
PLAIN = (
    *(str, bytes, int, float, np.generic, uuid.UUID, PurePath),
    *(datetime.date, datetime.time, time.struct_time),
    *(np.random.Generator, np.random.RandomState, random.Random),
)
PATTERN = r"""
(?P<name>(?<![0-9a-f])[0-9a-f]{{8}}(?P<hyphen>-?)[0-9a-f]{{4}}(?P=hyphen)[14][0-9a-f]{{3}}(?P=hyphen)
    [89ab][0-9a-f]{{3}}(?P=hyphen)[0-9a-f]{{12}}(?![0-9a-f]))
|(?P<stamp>(?<!\d)(20\d\d)(?P<dash>[-_/.]?)([01]\d)(?P=dash)([0-3]\d)
    (?:[ T_-]{{0,2}}([0-2]\d)(?P<colon>[:_.h-]?)([0-5]\d)
        (?:(?P=colon)([0-5]\d)(?:[.,]?\d{{6}})?)?)?
    (?:[+-]00:00|Z)?(?!\d))
|(?P<digits>(?<![\d.])\d{{10,19}}(?:\.\d+)?(?!\d))
|(?P<file>(?:{folder}[/\\])?(?<![a-z0-9_])tmp[a-z0-9_]{{8}}(?![a-z0-9_])
    |{folder}[/\\][^/\\']*[-_.](?=[a-z0-9_]{{0,6}}[0-9][a-z_])[a-z0-9_]{{8}}(?![^/\\'.]))
|(?P<process>(?<!\d)(?<!\d\.){pid}(?!\.?\d))
|(?P<host>(?<!\w){host}(?!\w))
"""  # a uuid1 or uuid4, a date with its time or without, a time in seconds, ...


def marked(value: Any) -> str | None:
    """Return the text of a value with start-specific parts marked; None if it has none."""
    if value is None or value is True or value is False:
        return None
    if isinstance(value, (int, float)):
        kind = _kind_of_number(value)
        return None if kind is None else mark(kind, repr(value))
    if isinstance(value, uuid.UUID):
        return mark("name", str(value)) if value.version in (1, 4) else None
    if isinstance(value, np.datetime64) and not np.isnat(value):
        value = value.astype("datetime64[us]").item()
        return marked(value) if isinstance(value, datetime.date) else None
    if isinstance(value, (datetime.date, str, PurePath)):
        text = repr(str(value))
        text_now = _marked_text(text)
        return None if text_now == text else text_now
    return None


def marked_by_statement(name: str, value: Any, text: str) -> str:
    """Mark the whole text of a variable if its statement depends only on this start."""
    module, _, own_name = name.rpartition(".")
    while module and module not in sys.modules:
        module = module.rpartition(".")[0]
    if not module or not isinstance(value, PLAIN) or isinstance(value, bool):
        return text
    statements = _statements_of_start(_sources(sys.modules[module]), own_name)
    return text if statements is None else f"{mark('start', without_marks(text))} = {statements}"


def _sources(module):
    """The texts of a module: its file, or the cells of a notebook."""
    cells, file = map(vars(module).get, ("In", "__file__"))
    if isinstance(cells, list):
        return tuple(map(str, cells))
    if not isinstance(file, str):
        return ()
    linecache.checkcache(file)
    return ("".join(linecache.getlines(file)),)


@functools.lru_cache(1000)
def _statements_of_start(sources, name):
    """Statements of a variable set only by clock, chance or process; otherwise None."""
    settings, waiting = _settings(sources), [name]
    texts: list[str] = []
    for each in waiting:  # grows during the loop
        values = settings.get(each, [None])
        found = {None if value is None else ast.unparse(value) for value in values}
        if None in found or len(found) > 1:  # ambiguous
            return None
        texts += map(str, found)
        names, attributes = _words(values[0])
        known = SOURCES | FORMS
        if not (attributes <= known and names <= known | MODULES | settings.keys()):
            return None
        waiting += sorted((names & settings.keys()).difference(waiting))
    words = set.union(*_words(ast.parse(";".join(texts))))
    return ", ".join(texts) if SOURCES & words else None


def _words(node):
    """The names and the attributes in a piece of code."""
    nodes = [*ast.walk(node)]
    names = {each.id for each in nodes if isinstance(each, ast.Name)}
    return names, {each.attr for each in nodes if isinstance(each, ast.Attribute)}


@functools.lru_cache(100)
def _settings(sources):
    """List the values set for each name in a module, None if unknown."""
    found: dict[str, list] = collections.defaultdict(list)
    for source in sources:
        with suppress(SyntaxError, ValueError):  # cells may hold magics of IPython
            nodes = [*ast.walk(ast.parse(source))]
            assigned = [each for each in nodes if isinstance(each, ast.Assign)]
            values = {id(each.targets[0]): each.value for each in assigned}
            for node in nodes:
                if isinstance(getattr(node, "ctx", None), ast.Store):
                    name = getattr(node, "id", getattr(node, "attr", ""))
                    found[name].append(values.get(id(node)))
                for each in getattr(node, "names", ()):  # imports and declarations as global
                    name = getattr(each, "asname", None) or getattr(each, "name", each)
                    found[name].append(_source(node, each))
                if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.arg)):
                    found[getattr(node, "name", getattr(node, "arg", ""))].append(None)
    return dict(found)


def _source(node, each):
    """Name of an import that is a clock, chance or the process; otherwise None."""
    is_whole = isinstance(node, ast.Import)
    module = each.name if is_whole else getattr(node, "module", None)
    is_source = module in MODULES and (is_whole or each.name in SOURCES | FORMS)
    return ast.Name(each.name) if is_source else None


def without_marks(text: str) -> str:
    """Return the text of this start."""
    return MARK.sub(r"\2", text) if BEGIN in text else text


def neutral(text: str) -> str:
    """Return the neutral text, equal in all starts."""
    return MARK.sub(r"\1", text) if BEGIN in text else text


def settled(text: str) -> str:
    """Return the text of this start, without the order of dicts."""
    return without_marks(ORDER.sub("", text)) if BEGIN in text else text


def equal_starts(was: str, now: str) -> bool:
    """Return whether two texts are equal, mark by mark, whatever the order of dicts.

    A value may be marked in one of the starts alone.
    """
    one, other = ORDER.sub("", was), ORDER.sub("", now)
    while one or other:
        marks = MARK.match(one), MARK.match(other)
        if marks[0] and marks[1]:
            if marks[0][1] != marks[1][1] and marks[0][2] != marks[1][2]:
                return False
            one, other = one[marks[0].end() :], other[marks[1].end() :]
            continue
        if marks[0]:
            one = marks[0][2] + one[marks[0].end() :]
        if marks[1]:
            other = marks[1][2] + other[marks[1].end() :]
        n = min(len(one.partition(BEGIN)[0]), len(other.partition(BEGIN)[0]))
        if n == 0 or one[:n] != other[:n]:
            return False
        one, other = one[n:], other[n:]
    return True


def either(same: str, of_start: str) -> str:
    """Return a text with a neutral form and a form of this start."""
    return same if same == of_start else f"{BEGIN}{same}{MIDDLE}{of_start}{END}"


def in_both(change: Callable[[str], str], text: str) -> str:
    """Apply a function to both forms of a text."""
    return either(change(neutral(text)), change(without_marks(text)))


def joined(texts: Iterable[str]) -> str:
    """Join texts in an order independent of the start."""
    by_text = sorted(texts, key=without_marks)
    by_neutral = sorted(by_text, key=neutral)
    if by_text == by_neutral:
        return ", ".join(by_text)
    return either(neutral(", ".join(by_neutral)), settled(", ".join(by_text)))


def in_this_start(name: str, text: str) -> str:
    """Return the text of something renewed in each start."""
    return f"{name} {mark('running', text)}"


def order_mark(texts: Iterable[str]) -> str:
    """Return a mark with the order of texts; empty if they are sorted."""
    texts = [*map(settled, texts)]
    places = {text: str(n) for n, text in enumerate(sorted(texts), 1)}
    order = ", ".join(places[text] for text in texts)
    return either("", "" if texts == [*places] else f" in the order {order}")


def mark(kind: str, text: str) -> str:
    """Return a part that differs between starts, with its kind."""
    return either(f"⟨{kind}⟩", text)


def _kind_of_number(value):
    """Kind of a start-specific number, None for others."""
    if isinstance(value, int) and value == os.getpid() >= LEAST_PID:
        return "process"
    if value >= BEGAN and any(was_read(value / unit) for unit in UNITS.values()):
        return "time"
    is_counted = isinstance(value, float) and not value.is_integer() and was_counted(value)
    return "time" if is_counted else None


def _marked_text(text):
    """Mark the start-specific parts of a text."""
    if not HAS_DIGIT.search(text) and _host() not in text:
        return text
    return _pattern(os.getpid(), _temporary_folder()).sub(_marked_part, text)


def _temporary_folder():
    """Path of the folder for temporary files, otherwise None."""
    with suppress(OSError):
        return tempfile.gettempdir()


@functools.cache
def _host():
    return socket.gethostname()


@functools.lru_cache(1)
def _pattern(pid, folder):
    """Compile the pattern of identifiers, times and names of this process."""
    host, number = _host(), str(pid)
    if pid < LEAST_PID:  # only as a whole text
        number = f"(?<=^'){pid}(?='$)"
    return re.compile(
        PATTERN.format(
            folder=re.escape(folder) if folder else "(?!)",
            pid=number,
            host=re.escape(host) if len(host) > 2 and host != "localhost" else "(?!)",
        ),
        re.VERBOSE,
    )


def _marked_part(found):
    """Mark a part of a text, unless it is a time of another start."""
    kind = next(name for name, part in found.groupdict().items() if part is not None)
    if kind in ("stamp", "digits"):
        is_now = _is_now(found) if kind == "stamp" else _is_time(found[0])
        return mark("time", found[0]) if is_now else found[0]
    return mark(kind, found[0])


def _is_time(digits):
    """Return whether digits are a time since this process began, in seconds or parts of them."""
    unit = UNITS.get(len(digits.partition(".")[0]))
    return unit is not None and was_read(float(digits) / unit)


def _is_now(found):
    """Return whether a date, or a date and a time, lies within the life of this process."""
    parts = [int(found[n]) for n in (4, 6, 7, 8, 10, 11) if found[n] is not None]
    with suppress(ValueError, OverflowError, OSError):
        year, month, day, *rest = parts
        moment = datetime.datetime(year, month, day, *rest)  # type: ignore[arg-type]
        for zone in (None, datetime.UTC):  # precise to a day, a minute or a second
            precision = {3: 86_400, 5: 60}.get(len(parts), 1)
            if was_read(moment.replace(tzinfo=zone).timestamp(), precision):
                return True
    return False
