"""Code of the user's own that an object leads to, and the data that this code names."""

import types
import warnings
from typing import Any

from sksearch._utils._installed import is_installed
from sksearch.checkpoint.identity._code import (
    OF_ENVIRONMENT,
    environment,
    given_to,
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


class Reached:
    """Functions and classes of the user's own, with all that they use in turn.

    Attributes
    ----------
    codes : dict
        Digest of each function and class alone, by module and name.
    data : dict
        Text of each global, attribute of a class, default and variable of a closure that they
        name, by module and name: its value now, whoever has set it. What cannot be compared, such
        as files that are read, has the text "(opaque)".
    stored : set of str
        Globals and attributes that this code sets itself.
    """

    def __init__(self):
        self.codes: dict[str, str] = {}
        self.data: dict[str, str] = {}
        self._known: dict[int, tuple[Any, str]] = {}  # by id: it and its name
        self._waiting: list[tuple[str, Any]] = []  # data by name, code without
        self._texts: set[str] = set()  # which may be handed to what reads the environment
        self._readers: list[str] = []
        self.stored: set[str] = set()

    def name_of(self, value: Any) -> str:
        """Return the name of a function, a class or a module, which is looked at in its turn.

        Others of the same name, as lambdas have, get a number: texts that name them tell them
        apart by code alone if it is in `codes`.
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
        """Have all that code uses looked at, and return the meanings of its names."""
        meanings: dict[str, str] = {}
        data, used = [], []
        parts = [*parts_of(value)]
        for name, part in parts:  # which grow
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
            elif not isinstance(inner, (types.FunctionType, type)):
                data.append((name, part))
            elif name not in meanings:
                meanings[name] = f"{short_path(inner)} in {short_path(type(part))}"
                if not any(inner is each for each in used):
                    parts += [(f"{name}.{key}", item) for key, item in given_to(inner).items()]
                used.append(inner)
        self._waiting += [*(("", each) for each in used), *data]
        return meanings

    def _look_around(self, function):
        """Note what a function sets, and what it reads beside values."""
        found = uses(function.__code__)
        self.stored |= found.stored
        self.data |= dict.fromkeys(unseen_in(function), OPAQUE)
        self._texts |= texts_of(function)
        if found.words & OF_ENVIRONMENT:
            self._readers.append(f"environment variables in {path_of(function)}")

    def look(self) -> "Reached":
        """Follow all that was named, and describe the data."""
        visitor = Visitor({}, reached=self, whole=True)
        with warnings.catch_warnings(action="ignore"):  # what is asked for may be deprecated
            while self._waiting:
                name, value = self._waiting.pop(0)
                if name:
                    text = visitor.visit_whole(value)
                    _enter(self.data, name, marked_by_statement(name, value, text))
                else:
                    self.name_of(value)
        variables = environment(self._texts) if self._readers else {}
        self.data |= {name: visitor.visit_whole(value) for name, value in variables.items()}
        self.data |= {} if variables else dict.fromkeys(self._readers, OPAQUE)
        return self


def _enter(texts, path, text):
    """Enter a text under its name, or another one if that has another text; return the name."""
    name, n = path, 1
    while texts.setdefault(name, text) != text:
        n += 1
        name = f"{path} ({n})"
    return name


def fingerprint(value: Any) -> str:
    """Return 16 hexadecimal digits that change with whatever makes an object what it is.

    Use does not change them: what code sets itself, such as a number of calls, is left out.
    """
    reached = Reached()
    text = describe(value, exact=True, reached=reached)
    reached.look()
    stored = reached.stored
    data = {k: v for k, v in reached.data.items() if k.rpartition(".")[2] not in stored}
    return digest(describe([text, reached.codes, data]))
