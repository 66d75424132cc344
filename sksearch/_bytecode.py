"""What a piece of code has to do with, read from its bytecode: names that it uses or changes."""

import dis
import functools
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

CHANGING = {  # methods that change what they are called on
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem",
    "popleft", "remove", "setdefault", "sort", "update",
}  # fmt: skip
READING = {"open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "urlopen"}
ENVIRONMENT = {"environ", "getenv"}
HAS_DOCSTRING = 0x4000000  # a flag of code, from Python 3.13 on
# Instructions that take from the stack and put nothing on it, or do not touch it.
ONLY_TAKE = ("POP", "STORE", "DELETE", "RETURN", "JUMP", "RESUME", "NOP", "CACHE", "EXTENDED",
             "PRECALL", "KW_NAMES", "MAKE_CELL", "COPY_FREE", "RAISE")  # fmt: skip

Chain = tuple[str, ...] | None  # "global" or "local", a name, attributes; None: anything else


class Import(NamedTuple):
    """An import within a function."""

    module: str
    level: int  # count of dots before it
    names: tuple[str, ...]


class Uses(NamedTuple):
    """What a code object, and those within it, have to do with."""

    names: set[str]  # of globals
    attributes: set[str]
    imports: set[Import]
    changed: set[str]  # globals that it sets, or whose items or attributes it changes
    changed_attributes: set[str]  # of a global, a class, or what an attribute holds
    changed_variables: set[str]  # variables, whose items or attributes it changes
    reads: set[str]  # what no comparison sees: "files", "environment variables"


def bytecode(code: types.CodeType) -> tuple:
    """Return bytecode, names and constants without docstrings; of code within it, the same."""
    consts = [
        bytecode(const) if isinstance(const, types.CodeType) else const
        for const in _constants(code)
    ]
    return code.co_code, code.co_names, consts


def _constants(code):
    """The constants of a code object without its docstring."""
    consts = code.co_consts
    if sys.version_info >= (3, 13):
        documented = code.co_flags & HAS_DOCSTRING
    else:  # functions begin with their docstring, or None
        documented = code.co_flags & 2 and not code.co_name.startswith("<")
    return (None, *consts[1:]) if documented and consts else consts


@functools.lru_cache(1000)
def uses(code: types.CodeType) -> Uses:
    """Find what a code object, and those within it, have to do with."""
    found = Uses(set(), set(), set(), set(), set(), set(), set())
    for each in _codes(code):
        _Reader(found).read(each)
    words = found.names | found.attributes
    if words & ENVIRONMENT:
        found.reads.add("environment variables")
    if words & READING or any(word.startswith("read_") for word in words):
        found.reads.add("files")
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and all within it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


class _Reader:
    """Follows the names on the stack through straight code; a jump may make it forget some.

    A name that it forgets counts as one that is not changed, and is compared.
    """

    def __init__(self, found: Uses):
        self._found = found
        self._stack: list[Chain] = []
        self._consts: list[Any] = []  # the last ones

    def read(self, code: types.CodeType) -> None:
        """Read all instructions of a code object."""
        for step in dis.get_instructions(code):
            kind = step.opname
            if kind.startswith(("LOAD_CONST", "LOAD_SMALL_INT")):
                self._consts = [*self._consts[-1:], step.argval]
            if not (self._load(step) or self._store(step) or self._shuffle(step)):
                self._other(step)

    def _load(self, step):
        """Follow what puts a name on the stack."""
        kind, found = step.opname, self._found
        if kind in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.names.add(step.argval)
            self._push(step, ("global", step.argval))
        elif kind.startswith(("LOAD_FAST", "LOAD_DEREF")):
            names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            self._stack += [("local", name) for name in names]
        elif kind in ("LOAD_ATTR", "LOAD_METHOD"):
            found.attributes.add(step.argval)
            chain = self._pop()
            if step.argval in CHANGING and chain is not None:
                self._change(chain, is_set=False)
            self._push(step, chain and (*chain, step.argval), taken=1)
        elif kind == "IMPORT_NAME":
            level, names = [0, None, *self._consts][-2:]
            found.imports.add(Import(step.argval, level or 0, tuple(names or ())))
            return False
        else:
            return False
        return True

    def _store(self, step):
        """Follow what changes something, or takes a part of it."""
        kind, found = step.opname, self._found
        if kind in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            found.changed.add(step.argval)
            return False
        if kind in ("STORE_DEREF", "DELETE_DEREF"):
            found.changed_variables.add(step.argval)
            return False
        if kind in ("STORE_ATTR", "DELETE_ATTR"):
            found.attributes.add(step.argval)
            chain = self._pop()
            self._change((*(chain or ("", "")), step.argval), is_set=True)
            self._drop(kind == "STORE_ATTR")
            return True
        n_above = {"STORE_SUBSCR": 1, "DELETE_SUBSCR": 1, "STORE_SLICE": 2}.get(kind)
        if n_above is not None:
            chain = self._peek(n_above + 1)
            if chain is not None:
                self._change(chain, is_set=False)
            self._drop(n_above + 1 + kind.startswith("STORE"))
            return True
        if kind == "BINARY_SUBSCR" or (kind == "BINARY_OP" and step.argrepr == "[]"):
            chain = self._peek(2)  # what is changed in an item is changed in the whole
            self._drop(2)
            self._stack.append(chain)
            return True
        return False

    def _shuffle(self, step):
        """Follow what changes the order of the stack."""
        if step.opname == "COPY":
            self._stack.append(self._peek(step.arg))
        elif step.opname == "SWAP" and len(self._stack) >= step.arg:
            stack, n = self._stack, step.arg
            stack[-1], stack[-n] = stack[-n], stack[-1]
        else:
            return False
        return True

    def _other(self, step):
        """Follow any other instruction by how much higher or lower the stack is after it."""
        effect = dis.stack_effect(step.opcode, step.arg, jump=False)
        if effect > 0:
            self._stack += [None] * effect
            return
        self._drop(-effect)
        if self._stack and not step.opname.startswith(ONLY_TAKE):
            self._stack[-1] = None

    def _change(self, chain, is_set):
        """Note a change of what a chain of names leads to; setting an attribute ends it."""
        root, name, *attributes = chain
        if root == "global":
            self._found.changed.add(name)
        elif root == "local":
            self._found.changed_variables.add(name)
        if attributes and not (is_set and len(attributes) == 1 and name == "self"):
            self._found.changed_attributes.add(attributes[-1])

    def _push(self, step, chain, taken=0):
        """Put a name on the stack, above what else its instruction puts there."""
        effect = dis.stack_effect(step.opcode, step.arg, jump=False)
        self._stack += [None] * (effect + taken - 1)
        self._stack.append(chain)

    def _pop(self):
        return self._stack.pop() if self._stack else None

    def _peek(self, n):
        return self._stack[-n] if len(self._stack) >= n else None

    def _drop(self, n):
        del self._stack[max(0, len(self._stack) - n) :]
