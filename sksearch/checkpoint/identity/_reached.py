"""Code of the user's own that an object leads to, and the data that this code names."""

import types
import warnings
from typing import Any

from sksearch.checkpoint.identity._code import Code, code_of, environment, path_of
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
        self._waiting: list[Code] = []
        self.stored: set[str] = set()

    def name_of(self, value: Any) -> str:
        """Return the name of a function, a class or a module, which is looked at in its turn.

        Others of the same name, as lambdas have, get a number: texts that name them tell them
        apart by code alone if it is in `codes`.
        """
        if id(value) not in self._known:
            is_module = isinstance(value, types.ModuleType)
            path = value.__name__ if is_module else path_of(value)
            code, name = code_of(value), path
            self._waiting.append(code)
            if not is_module:
                name = _enter(self.codes, path, digest(describe(code.own)))
            self._known[id(value)] = value, name
        return self._known[id(value)][1]

    def look(self) -> "Reached":
        """Follow all that was named, and describe the data."""
        visitor = Visitor({}, reached=self, whole=True)
        texts: set[str] = set()
        readers: set[str] = set()
        with warnings.catch_warnings(action="ignore"):  # what is asked for may be deprecated
            while self._waiting:
                code = self._waiting.pop(0)
                for value in code.used:
                    self.name_of(value)
                for name, value in code.data.items():
                    text = visitor.visit_whole(value)
                    _enter(self.data, name, marked_by_statement(name, value, text))
                self.stored |= code.stored
                self.data |= dict.fromkeys(code.unseen, OPAQUE)
                texts |= code.texts
                readers |= {code.reader} - {""}
        variables = environment(texts) if readers else {}
        self.data |= {name: visitor.visit_whole(value) for name, value in variables.items()}
        self.data |= {} if variables else dict.fromkeys(sorted(readers), OPAQUE)
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
