"""Digests of code, however far what it uses reaches, with the data that it uses beside."""

import types
from collections.abc import Callable
from typing import Any

from sksearch._bytecode import uses
from sksearch._code import Datum, code_of, path_of
from sksearch._digests import digest

OPAQUE = "(opaque)"  # the end of a text of what cannot be looked into

Found = dict[str, tuple[Datum | None, str]]  # data that code uses, by name, and their texts


class CodeTexts:
    """Texts of functions and classes of the user's own.

    Parameters
    ----------
    visit, visit_all_of : callable
        Return the text of any value; the second with all that it is, fitted attributes too.
    found : dict or None
        Where to put the texts of data that code uses; None: they are part of the code's.
    wanted : bool
        False: code has no text.
    codes : dict or None
        Where to put the digest of each function and class alone, by module and name.
    """

    def __init__(
        self,
        visit: Callable,
        visit_all_of: Callable,
        found: Found | None,
        wanted: bool,
        codes: dict[str, str] | None = None,
    ):
        self._visit, self._visit_all_of, self._globals = visit, visit_all_of, found
        self._wanted, self._codes = wanted, {} if codes is None else codes
        self._known: dict[int, tuple[Any, str, list]] = {}  # by id: it, its text, what it uses

    def suffix(self, value: Any) -> str:
        """Return "#" and a digest of a function or class, and of all that it uses."""
        if not self._wanted:
            return ""
        texts, waiting, seen = [], [value], {id(value)}
        for each in waiting:
            text, used = self._of_one(each)
            texts.append(text)
            new = {id(other): other for other in used if id(other) not in seen}
            waiting += new.values()
            seen |= new.keys()
        return f"#{digest(' '.join(texts))}"

    def _of_one(self, value):
        """Text of one function or class, and the others that it uses."""
        if id(value) not in self._known:
            self._known[id(value)] = value, path_of(value), []
            code = code_of(value)
            inside = [code.own, code.names]
            if isinstance(value, types.FunctionType):
                inside.append(given_to(value))
            text = digest(f"{path_of(value)} {self._visit(inside)} {self._data_of(code, value)}")
            self._known[id(value)] = value, text, code.used
            self._codes[path_of(value)] = text
        return self._known[id(value)][1:]

    def _data_of(self, code, owner):
        """Text of the data that code uses, or nothing if they have a place of their own."""
        found: Found = {} if self._globals is None else self._globals
        for name, datum in code.data.items():
            if name not in found:
                found[name] = datum, "(itself)"
                found[name] = datum, self._visit_all_of(datum.value)
        if self._globals is None:
            texts = {
                name: found[name][1] for name, datum in code.data.items() if not datum.changes
            }
            return self._visit(texts)
        unseen = [f"{kind} in {path_of(owner)}" for kind in sorted(code.reads)]
        unseen += [f"{path_of(owner)}.{name}" for name in code.changed_variables]
        found |= dict.fromkeys(unseen, (None, OPAQUE))
        return ""


def given_to(function: types.FunctionType) -> dict[str, Any]:
    """Return defaults and closure of a function, but for what it changes there."""
    names, changed = function.__code__.co_freevars, uses(function.__code__).changed_variables
    cells = zip(names, function.__closure__ or (), strict=True)
    closure = [cell.cell_contents for name, cell in cells if name not in changed]
    fields: dict[str, Any] = {"closure": closure} if closure else {}
    if function.__defaults__ or function.__kwdefaults__:
        fields["defaults"] = (function.__defaults__, function.__kwdefaults__)
    return fields
