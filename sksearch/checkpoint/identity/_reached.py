"""User code reached from an object, and the data that this code uses."""

import inspect
import os
import re
import types
import warnings
from typing import Any

from sksearch._utils._installed import is_installed
from sksearch.checkpoint.identity._code import (
    OF_ENVIRONMENT,
    around,
    composes_names,
    environment,
    given_to,
    is_special,
    made_of,
    parts_of,
    path_of,
    short_path,
    texts_of,
    unseen_in,
    unwrapped,
    uses,
)
from sksearch.checkpoint.identity._description import Visitor, describe
from sksearch.checkpoint.identity._digests import OPAQUE, digest
from sksearch.checkpoint.identity._of_start import marked_by_statement

# Special names of data that operators use
OPERATORS = re.compile("__match_args__|__array_.*")


class Reached:
    """The user's functions and classes, with all parts that they use in turn.

    Attributes
    ----------
    codes : dict
        Digest of each function and class alone, by module and name.
    data : dict
        Text of each global, class attribute, default and closure variable that they use, by module
        and name: its current value, wherever it was set. Opaque inputs, such as files that are
        read, have the text "(opaque)".
    stored : set of str
        Globals and attributes that this code sets itself.
    changed : dict
        Owners of the data changed by this code itself, by name: the value if it is changed in
        place, otherwise its class or the globals of its module.
    """

    def __init__(self):
        self.codes: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self._known: dict[int, tuple[Any, str]] = {}  # by id: the object and its name
        self._waiting: list[tuple[str, Any]] = []  # data by name, code without
        self._words: set[str] = set()  # by which code names attributes
        self._special: list[tuple[str, Any]] = []  # data with names that Python and libraries use
        self._texts: set[str] = set()  # may be passed to readers of the environment
        self._readers: list[str] = []
        self.stored: set[str] = set()
        self.changed: dict[str, Any] = {}
        self._homes: dict[str, Any] = {}  # class, module or globals by names of data
        self._assigned: set[str] = set()
        self._in_place: set[str] = set()

    def name_of(self, value: Any) -> str:
        """Return the name of a function, a class or a module, and queue it for a visit.

        Others of the same name, such as lambdas, get a number: texts that name them distinguish
        them by code only if the code is in `codes`.
        """
        if id(value) not in self._known:
            is_module = isinstance(value, types.ModuleType)
            name = value.__name__ if is_module else path_of(value)
            own = [*made_of(value), self._enter_parts(value)]
            if not is_module:
                name = _enter(self.codes, name, digest(describe(own)))
            if isinstance(value, types.FunctionType):
                self._look_around(value)
            self._known[id(value)] = value, name
        return self._known[id(value)][1]

    def _enter_parts(self, value):
        """Queue all parts that code uses, and return the meanings of its names."""
        meanings: dict[str, str] = {}
        data, used = [], []
        seen: list[Any] = []
        parts = [*parts_of(value)]
        for name, part in parts:  # grows during the loop
            inner = unwrapped(part)
            if not name:
                used.append(part)
            elif isinstance(part, types.ModuleType):
                meanings[name] = part.__name__
            elif isinstance(part, property):
                kinds = ("fget", "fset", "fdel")
                parts += [(f"{name}.{kind}", getattr(part, kind)) for kind in kinds]
            elif is_installed(part):
                meanings[name] = short_path(part)
            elif not isinstance(inner, (types.FunctionType, type)) or _is_note(value, name, part):
                data.append((name, part))
            elif name not in meanings:
                meanings[name] = f"{short_path(inner)} in {short_path(type(part))}"
                if not any(part is each for each in seen):
                    given = given_to(inner) | around(part)
                    parts += [(f"{name}.{key}", item) for key, item in given.items()]
                seen.append(part)
                used.append(inner)
        self._waiting += [("", each) for each in used]
        self._homes |= dict.fromkeys(dict(data), getattr(value, "__globals__", value))
        for name, part in data:
            (self._special if is_special(name) else self._waiting).append((name, part))
        return meanings

    def _look_around(self, function):
        """Record the globals set by a function, and its inputs other than values."""
        found = uses(function.__code__)
        self.stored |= found.stored
        self._assigned |= found.assigned
        self._in_place |= found.in_place
        self._words |= found.words | found.texts
        self.data |= dict.fromkeys(unseen_in(function), OPAQUE)
        self._texts |= texts_of(function)
        used = [function.__globals__.get(name) for name in found.names]
        if found.words & OF_ENVIRONMENT or any(each is os.environ for each in used):
            reader = f"environment variables in {path_of(function)}"
            self._readers.append(reader)
            self.data |= {reader: OPAQUE} if composes_names(function.__code__) else {}

    def look(self) -> "Reached":
        """Follow all names, and describe the data."""
        visitor = Visitor({}, reached=self, whole=True)
        values: dict[str, Any] = {}
        with warnings.catch_warnings(action="ignore"):  # accessed attributes may be deprecated
            while self._waiting or self._call_for_special():
                name, value = self._waiting.pop(0)
                if name:
                    values[name] = value
                    text = visitor.visit_whole(value)
                    _enter(self.data, name, marked_by_statement(name, value, text))
                else:
                    self.name_of(value)
        for name, value in values.items():
            own = name.rpartition(".")[2]
            if own in self._assigned | self._in_place:
                self.changed[name] = self._homes[name] if own in self._assigned else value
        variables = environment(self._texts) if self._readers else {}
        self.data |= {name: visitor.visit_whole(value) for name, value in variables.items()}
        self.data |= {} if variables else dict.fromkeys(self._readers, OPAQUE)
        return self

    def _call_for_special(self):
        """Queue special names that code or operators use.

        Python and libraries may add the others at any time.
        """
        parts, self._special = self._special, []
        for name, value in parts:
            own = name.rpartition(".")[2]
            is_used = own in self._words or OPERATORS.fullmatch(own) or _is_method(value)
            (self._waiting if is_used else self._special).append((name, value))
        return bool(self._waiting)


def _is_method(value):
    """Return whether an object is callable or a descriptor, and not a class."""
    return not isinstance(value, type) and (callable(value) or hasattr(type(value), "__get__"))


def _is_note(cls, name, part):
    """Return whether a special attribute of a class is a class, as libraries note them."""
    if not (isinstance(part, type) and is_special(name)):
        return False
    return inspect.getattr_static(cls, name.rpartition(".")[2], None) is part


def _enter(texts, path, text):
    """Enter a text under its name, or a new name if that is taken by another text."""
    name, n = path, 1
    while texts.setdefault(name, text) != text:
        n += 1
        name = f"{path} ({n})"
    return name


def fingerprint(value: Any) -> str:
    """Return 16 hexadecimal digits that change with any part of an object's identity.

    Use does not change them: values set by the code itself, such as a call counter, are excluded.
    """
    reached = Reached()
    text = describe(value, exact=True, reached=reached)
    reached.look()
    stored = reached.stored
    data = {k: v for k, v in reached.data.items() if k.rpartition(".")[2] not in stored}
    return digest(describe([text, reached.codes, data]))
