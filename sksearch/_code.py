"""What is looked at to tell whether code is the same: bytecode, and what it uses of its module.

Line numbers, comments and docstrings are left out. Code of installed packages has a version, and
is not looked at. Bytecode differs between minor versions of Python.
"""

import functools
import importlib
import importlib.util
import inspect
import sys
import sysconfig
import types
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NamedTuple

from sksearch._bytecode import bytecode, uses

NO_DATA = {"_abc_impl"}  # of classes: what Python keeps there


class Datum(NamedTuple):
    """A global, or an attribute of a class or function, that code uses and that is no code."""

    value: Any
    changes: bool  # whether code of the user's own changes it
    module: str  # in which it is
    path: tuple[str, ...]  # names of the class or function that it is an attribute of, and its own


@dataclass
class Code:
    """What a function or class is made of, and what it uses.

    Attributes
    ----------
    own : object
        Bytecode of a function, bases of a class.
    names : dict
        Meaning of the names of functions, classes and modules that it uses.
    used : list
        Functions and classes among them that are of the user's own.
    data : dict of Datum
        All else that it uses, by module and name.
    reads : set of str
        What it reads that nobody can compare: "files", "environment variables".
    changed_variables : list of str
        Variables of its closure that it changes.
    """

    own: Any
    names: dict[str, Any] = field(default_factory=dict)
    used: list[Any] = field(default_factory=list)
    data: dict[str, Datum] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    changed_variables: list[str] = field(default_factory=list)

    def add(self, value: Any, changes: bool, module: str, path: tuple[str, ...]) -> None:
        """Enter a value under its name."""
        name, inner = ".".join((module, *path)), _unwrapped(value)
        if isinstance(value, types.ModuleType):
            self.names[name] = value.__name__
        elif is_installed(value):
            self.names[name] = _short_path(value)
        elif isinstance(inner, (types.FunctionType, type)):
            self.names[name] = (_short_path(inner), _short_path(type(value)))
            self.used.append(inner)
        else:
            self.data[name] = Datum(value, changes, module, path)
            if changes:  # then its text says nothing of what is in it
                self.used += _registered(value)


def path_of(cls: Any) -> str:
    """Return module and name of a class or function."""
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", getattr(cls, "__name__", str(cls)))
    return name if module in (None, "builtins") else f"{module}.{name}"


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
    return is_installed_file(module.__name__, getattr(module, "__file__", None))


def is_installed_file(name: str, file: str | None) -> bool:
    """Whether a module, by its name and file, is of Python or of an installed package."""
    top = name.partition(".")[0]
    if top in sys.builtin_module_names or top == __name__.partition(".")[0]:
        return True
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


def code_of(value: Any) -> Code:
    """Return what a function or class of the user's own is made of, and what it uses.

    Of a base class of an installed package nothing.
    """
    return _code_of_class(value) if isinstance(value, type) else _code_of_function(value)


def _code_of_function(function):
    """Its bytecode, and what it uses of its module and of others, its own attributes too."""
    found, space = uses(function.__code__), function.__globals__
    module = space.get("__name__") or function.__module__
    modules = _own_modules(function, found)
    variables = sorted(found.changed_variables & set(function.__code__.co_freevars))
    code = Code(bytecode(function.__code__), reads=found.reads, changed_variables=variables)
    changed, attributes_changed = _changed(_functions_of(space))
    for name in sorted(found.names & space.keys()):
        code.add(space[name], name in changed, module, (name,))
    for other in modules:
        changed_there, _ = _changed(_functions_of(vars(other)))
        wanted = found.attributes | {name for each in found.imports for name in each.names}
        for name in sorted(wanted & vars(other).keys()):
            changes = name in changed_there | attributes_changed
            code.add(vars(other)[name], changes, other.__name__, (name,))
    for name, value in sorted(vars(function).items()):
        if name != "__wrapped__":  # which is in its closure
            code.add(value, name in attributes_changed, module, (*_names_of(function), name))
    return code


def _own_modules(function, found):
    """List the user's own modules of which a function may use something."""
    space = function.__globals__
    waiting = [space[name] for name in sorted(found.names & space.keys())]
    waiting += _imported(function, found)
    modules: list[types.ModuleType] = []
    for value in waiting:
        is_module = isinstance(value, types.ModuleType) and vars(value) is not space
        if is_module and value not in modules and not is_installed_module(value):
            modules.append(value)
            waiting += [vars(value)[name] for name in found.attributes & vars(value).keys()]
    return modules


def _imported(function, found):
    """List the modules of the user's own that a function imports when it is called."""
    modules: list[types.ModuleType] = []
    package = function.__globals__.get("__package__") or ""
    for each in sorted(found.imports):
        try:
            name = importlib.util.resolve_name("." * each.level + each.module, package)
            if name not in sys.modules:
                spec = importlib.util.find_spec(name)
                if spec is None or is_installed_file(name, spec.origin):
                    continue
            modules.append(importlib.import_module(name))
        except Exception:  # whatever a module does when it is imported: its own user will see it
            continue
        inner = [f"{name}.{each_name}" for each_name in each.names]
        modules += [sys.modules[path] for path in inner if path in sys.modules]
    return modules


def _code_of_class(cls):
    own = [base for base in cls.__mro__ if not is_installed(base)]
    methods = [value for base in own for value in _functions(vars(base))]
    spaces = {id(method.__globals__): method.__globals__ for method in methods}.values()
    near = [each for space in spaces for each in _functions_of(space)]
    _, changed = _changed([*methods, *near])
    code = Code([(_short_path(base), base in own) for base in cls.__mro__])
    for base in own:
        _add_members(code, base, changed)
    if not is_installed(type(cls)):
        code.add(type(cls), False, cls.__module__, (*_names_of(cls), "(metaclass)"))
    return code


def _add_members(code, cls, changed):
    """Enter what one class defines: functions, descriptors, classes and data."""
    path = _names_of(cls)
    for name, value in sorted(vars(cls).items()):
        is_code = isinstance(_unwrapped(value), (types.FunctionType, type))
        if isinstance(value, property):
            for kind in ("fget", "fset", "fdel"):
                if (function := getattr(value, kind)) is not None:
                    code.add(function, False, cls.__module__, (*path, name, kind))
        elif is_code or not ((name[:2] == name[-2:] == "__") or name in NO_DATA):
            if is_code or not hasattr(type(value), "__get__"):
                code.add(value, name in changed, cls.__module__, (*path, name))
            else:  # a descriptor
                code.names[".".join((cls.__module__, *path, name))] = value


def _changed(functions):
    """Names of globals, and of attributes, that functions change."""
    found = [uses(function.__code__) for function in functions]
    names = [each.changed for each in found], [each.changed_attributes for each in found]
    return set().union(*names[0]), set().union(*names[1])


def _names_of(value):
    return tuple(part for part in value.__qualname__.split(".") if part != "<locals>")


def _short_path(value):
    """Package and name: in which private module of a package a thing is may change."""
    module = getattr(value, "__module__", None) or ""
    name = getattr(value, "__qualname__", None) or type(value).__qualname__
    found = sys.modules.get(module) if module != "__main__" else None
    installed = found is not None and is_installed_module(found)
    return f"{module.partition('.')[0] if installed else module}.{name}"


def _unwrapped(value):
    """The function in a static or class method, or in what is wrapped around it."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if isinstance(value, (types.FunctionType, type)) or not wraps(value):
        return value
    return inspect.unwrap(value)


def wraps(value: Any) -> bool:
    """Whether an object is around a function; one that has any attribute is not."""
    return inspect.getattr_static(value, "__wrapped__", None) is not None


def _registered(value):
    """List functions and classes of the user's own modules in a container that code changes."""
    items = value.values() if isinstance(value, dict) else value
    if not isinstance(value, (dict, list, tuple, set, frozenset)):
        return []
    inner = {path_of(each): each for each in map(_unwrapped, list(items))}
    return [each for _, each in sorted(inner.items()) if _is_own_of_module(each)]


def _is_own_of_module(value):
    """Whether a function or class has a name in a module of the user's own."""
    if not isinstance(value, (types.FunctionType, type)) or is_installed(value):
        return False
    module = sys.modules.get(value.__module__)
    return _unwrapped(getattr(module, value.__qualname__, None)) is value


def _functions(space):
    """Functions and methods in a namespace."""
    values = map(_unwrapped, list(space.values()))
    return [value for value in values if isinstance(value, types.FunctionType)]


def _functions_of(space):
    """Functions of a module, and methods of its classes."""
    classes = [value for value in list(space.values()) if isinstance(value, type)]
    found = [
        function for inside in (space, *map(vars, classes)) for function in _functions(inside)
    ]
    return [function for function in found if function.__globals__ is space]
