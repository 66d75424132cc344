"""What is looked at to tell whether code is the same: bytecode, and what it uses of its module.

Line numbers, comments and docstrings are left out. Code of installed packages has a version, and
is not looked at. Bytecode differs between minor versions of Python.
"""

import dis
import functools
import sys
import sysconfig
import types
from pathlib import PurePath
from typing import Any, NamedTuple

SCALARS = (type(None), bool, int, float, complex, str, bytes)
CONTAINERS = (tuple, list, dict, set, frozenset)
LARGEST = 1000  # items of a container that is looked at
CHANGING = {
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem",
    "popleft", "remove", "setdefault", "sort", "update",
}  # fmt: skip
LOAD_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
LOADS = (*LOAD_GLOBALS, "LOAD_ATTR", "LOAD_METHOD")
STORES = ("STORE_GLOBAL", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_ATTR")
HAS_DOCSTRING = 0x4000000  # a flag of code, from Python 3.13 on
NEAR = 7  # instructions in which a name and what changes it are


class Uses(NamedTuple):
    """Names that a piece of code has to do with."""

    names: set[str]  # of globals
    attributes: set[str]
    changed: set[str]  # globals and attributes that it sets, or whose items it changes
    changed_elsewhere: set[str]  # attributes among them that it sets on what a global is


def is_installed(value: Any) -> bool:
    """Whether a class is of an installed package, or the name of a value leads to it there."""
    name, module_name = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
    module = sys.modules.get(module_name) if isinstance(module_name, str) else None
    if module is None or not isinstance(name, str) or module_name == "__main__":
        return False
    if isinstance(value, type):  # also one that was made within a function
        return is_installed_module(module)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value and is_installed_module(module)


def is_installed_module(module: types.ModuleType) -> bool:
    """Whether a module is of Python, of this library, or of an installed package."""
    top = module.__name__.partition(".")[0]
    if top in sys.builtin_module_names or top == __name__.partition(".")[0]:
        return True
    file = getattr(module, "__file__", None)
    if file is None:
        return False
    parts, standard = PurePath(file).parts, _standard_library()
    return (
        "site-packages" in parts or "dist-packages" in parts or parts[: len(standard)] == standard
    )


@functools.cache
def _standard_library():
    """Parts of the path of Python's own modules."""
    return PurePath(sysconfig.get_path("stdlib")).parts


def parts_of(function: types.FunctionType) -> tuple:
    """Return what the code of a function is made of, and what it uses of its module."""
    return _bytecode(function.__code__), own_globals(function)


def _bytecode(code):
    """Bytecode, names and constants; of code within it, the same."""
    consts = [
        _bytecode(const) if isinstance(const, types.CodeType) else const
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
    """Find the names that a code object, and those within it, have to do with."""
    found = Uses(set(), set(), set(), set())
    for each in _codes(code):
        near: list[dis.Instruction] = []  # the last ones
        for step in dis.get_instructions(each):
            loaded = [other.argval for other in near if other.opname in LOADS]
            if step.opname in LOAD_GLOBALS:
                found.names.add(step.argval)
            elif step.opname in LOADS:
                found.attributes.add(step.argval)
                if step.argval in CHANGING and loaded:
                    found.changed.add(loaded[-1])
            elif step.opname in STORES:
                found.changed.add(step.argval)
                if any(other.opname in LOAD_GLOBALS for other in near):
                    found.changed_elsewhere.add(step.argval)
            elif step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR"):
                found.changed.update(loaded)
            near = [*near[1 - NEAR :], step]
    return found


def _codes(code):
    """Yield a code object and all within it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _codes(const)


def own_globals(function: types.FunctionType) -> dict[str, Any]:
    """Return the functions, classes and constants of the user's own that a function uses.

    Constants are scalars, and lists, dicts and the like, that no function of the module changes.
    """
    used, space = uses(function.__code__), function.__globals__
    found: dict[str, Any] = {}
    for name in sorted(used.names & space.keys()):
        value = space[name]
        if not isinstance(value, types.ModuleType):
            found[name] = value
        elif not is_installed_module(value):
            inside = sorted(used.attributes & vars(value).keys())
            found |= {f"{name}.{inner}": vars(value)[inner] for inner in inside}
    own = {n: v for n, v in found.items() if _has_code(v) and not is_installed(v)}
    constants = {n: v for n, v in found.items() if is_constant(v)}
    if constants:
        functions = _functions_of_module(space)
        changed = {name for each in functions for name in uses(each.__code__).changed}
        own |= {n: v for n, v in constants.items() if n.rpartition(".")[2] not in changed}
    return own


def is_constant(value: Any) -> bool:
    """Whether a value is a scalar, or a container that is not large."""
    kind = type(value)
    return kind in SCALARS or (kind in CONTAINERS and len(value) <= LARGEST)


def members_of(cls: type) -> list[tuple[str, dict[str, Any]]]:
    """Return names of a class and its bases, and what each defines of its own.

    Functions, descriptors, classes, and constants that no method changes; of a base of an
    installed package nothing.
    """
    own = [{} if is_installed(base) else dict(vars(base)) for base in cls.__mro__]
    methods = [value for space in own for value in _functions(space)]
    changed = {name for method in methods for name in uses(method.__code__).changed}
    for space in {id(m.__globals__): m.__globals__ for m in methods}.values():
        for function in _functions_of_module(space):
            changed |= uses(function.__code__).changed_elsewhere
    names = [f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__]
    return [(name, _members(space, changed)) for name, space in zip(names, own, strict=True)]


def _members(space, changed):
    """Those of one class."""
    found: dict[str, Any] = {}
    for name, value in sorted(space.items()):
        if isinstance(value, property):
            found[name] = (value.fget, value.fset, value.fdel)
        elif isinstance(_unwrapped(value), (types.FunctionType, type)):
            found[name] = _unwrapped(value)
        elif name[:2] == name[-2:] == "__":
            continue
        elif hasattr(type(value), "__get__") or (is_constant(value) and name not in changed):
            found[name] = value
    return found


def _unwrapped(method):
    return method.__func__ if isinstance(method, (staticmethod, classmethod)) else method


def _has_code(value):
    return isinstance(value, (types.FunctionType, type)) or hasattr(value, "__wrapped__")


def _functions(space):
    """Functions and methods in a namespace."""
    values = map(_unwrapped, list(space.values()))
    return [value for value in values if isinstance(value, types.FunctionType)]


def _functions_of_module(space):
    """Functions of a module, and methods of its classes."""
    classes = [value for value in list(space.values()) if isinstance(value, type)]
    found = [
        function for inside in (space, *map(vars, classes)) for function in _functions(inside)
    ]
    return [function for function in found if function.__globals__ is space]
