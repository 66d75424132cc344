"""What is looked at to tell whether code is the same: bytecode, and what it uses of its module.

Line numbers, comments and docstrings are left out. Code of installed packages has a version, and
is not looked at. Bytecode differs between minor versions of Python.
"""

import dis
import sys
import sysconfig
import types
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, NamedTuple

SCALARS = (type(None), bool, int, float, complex, str, bytes)
CONTAINERS = (tuple, list, dict, set, frozenset)
LARGEST = 1000  # items of a container that is looked at
CHANGING = frozenset(
    "add append appendleft clear discard extend insert pop popitem popleft remove setdefault "
    "sort update".split()
)
NAMES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD")
STORES = ("STORE_GLOBAL", "STORE_ATTR", "DELETE_GLOBAL", "DELETE_ATTR")
HAS_DOCSTRING = 0x4000000  # a flag of code, from Python 3.13 on
NEAR = 4  # instructions between the name of a container and the change of an item


class Uses(NamedTuple):
    """Names that a piece of code has to do with."""

    names: set[str]  # of globals
    attributes: set[str]
    changed: set[str]  # globals and attributes that it sets, or whose items it changes


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
    parts = PurePath(file).parts
    standard = PurePath(sysconfig.get_path("stdlib")).parts
    return (
        "site-packages" in parts or "dist-packages" in parts or parts[: len(standard)] == standard
    )


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and all within it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from codes(const)


def constants_of(code: types.CodeType) -> tuple:
    """Return the constants of a code object without its docstring."""
    consts = code.co_consts
    if sys.version_info >= (3, 13):
        documented = code.co_flags & HAS_DOCSTRING
    else:  # functions begin with their docstring, or None
        documented = code.co_flags & 2 and not code.co_name.startswith("<")
    return (None, *consts[1:]) if documented and consts else consts


def uses(code: types.CodeType) -> Uses:
    """Find the names that a code object, and those within it, have to do with."""
    found = Uses(set(), set(), set())
    for each in codes(code):
        near: list[str] = []  # names of the last instructions
        for step in dis.get_instructions(each):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found.names.add(step.argval)
            elif step.opname in NAMES:
                found.attributes.add(step.argval)
                if step.argval in CHANGING and near:
                    found.changed.add(near[-1])
            elif step.opname in STORES:
                found.changed.add(step.argval)
            elif step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR"):
                found.changed.update(near)
            near = [*near[1 - NEAR :], step.argval if step.opname in NAMES else ""]
    return found


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
        changed = _changed_in(space)
        own |= {n: v for n, v in constants.items() if n.rpartition(".")[2] not in changed}
    return own


def is_constant(value: Any) -> bool:
    """Whether a value is a scalar, or a container that is not large."""
    kind = type(value)
    return kind in SCALARS or (kind in CONTAINERS and len(value) <= LARGEST)


def members(cls: type) -> dict[str, Any]:
    """Return the functions, descriptors, classes and constants that a class itself defines."""
    own = vars(cls)
    changed: set[str] = set()
    for value in own.values():
        if isinstance(value, types.FunctionType):
            changed |= uses(value.__code__).changed
    found = {}
    for name, value in sorted(own.items()):
        if isinstance(value, (staticmethod, classmethod)):
            found[name] = value.__func__
        elif isinstance(value, property):
            found[name] = (value.fget, value.fset, value.fdel)
        elif isinstance(value, (types.FunctionType, type)):
            found[name] = value
        elif name[:2] == name[-2:] == "__":
            continue
        elif hasattr(type(value), "__get__") or (is_constant(value) and name not in changed):
            found[name] = value
    return found


def _has_code(value):
    return isinstance(value, (types.FunctionType, type)) or hasattr(value, "__wrapped__")


def _changed_in(space):
    """Names that functions of a module change, and methods of its classes."""
    changed: set[str] = set()
    for value in list(space.values()):
        inside = vars(value).values() if isinstance(value, type) else (value,)
        for function in inside:
            if isinstance(function, types.FunctionType) and function.__globals__ is space:
                changed |= uses(function.__code__).changed
    return changed
