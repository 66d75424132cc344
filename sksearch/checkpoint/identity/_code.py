"""Identity of the user's code, by its bytecode and the names that it uses.

Line numbers, comments, docstrings and names of local variables, except arguments, are ignored. The
source is not used, since it may be missing (`exec`, ``python -c``) or newer than the running code.
Installed packages are identified by their version alone.
"""

import dataclasses
import dis
import functools
import importlib
import importlib.util
import inspect
import itertools
import os
import re
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from sksearch._utils._installed import is_installed, is_installed_file, is_installed_module

READING = {
    *("open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "urlopen", "input", "read"),
    *("loadmat", "imread", "fromregex", "connect", "urlretrieve", "check_output", "popen"),
    "Popen",
    *("run_path", "listdir", "scandir", "iterdir", "glob", "rglob"),
    *("getline", "getlines", "HDFStore", "ZipFile", "File", "getsize", "getmtime", "stat"),
}
READS = ("read_", "load_", "fetch_", "open_")
# Names by which code reads settings that libraries keep
OF_LIBRARIES = {
    *("get_option", "rcParams", "get_config", "geterr", "geterrcall", "getcontext"),
    *("getrecursionlimit", "getlocale", "localeconv", "get_printoptions", "get_default_dtype"),
}
# Modules with attributes that depend on the computer
OF_COMPUTER = {"sys", "os", "platform", "time", "socket"}
# These names reach globals by text, so anything in their module may affect results
OF_OWN_MODULE = {"globals", "eval", "exec"}
OF_OWN_MODULE_BY_ATTRIBUTE = {"f_globals", "__globals__"}
# Methods that find globals by the names in an expression, as those of tables
OF_EXPRESSIONS = {"query", "eval", "sql"}
EXPRESSION = re.compile("[@<>=+*/%]|select", re.IGNORECASE)
# Names by which modules are reached by text
OF_MODULES = {"import_module", "__import__", "modules"}
OF_IMPORTED = {"getattr", "vars", "attrgetter", "__dict__", "getmembers", "dir"}
# Names by which code reads the command line
OF_ARGUMENTS = {
    *("argv", "orig_argv", "parse_args", "parse_known_args", "parse_intermixed_args"),
    *("parse_known_intermixed_args", "docopt", "ArgumentParser"),
}
OF_ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "expandvars"}
COMPOSING = ("BUILD_STRING", "FORMAT", "BINARY_OP")  # instructions that make texts
OF_NOTEBOOKS = {"In", "Out", "exit", "quit", "get_ipython"}
ENVIRONMENT = re.compile("[A-Z][A-Z0-9_]*")
# Names used internally by Python and notebooks
HIDDEN = re.compile("__.*|_+(i+|[iod]h)?[0-9]*|_i[0-9]+|_exit_code")
HAS_DOCSTRING = 0x4000000  # a flag of code objects, from Python 3.13 on
STARRED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
NO_DATA = (types.MemberDescriptorType, types.GetSetDescriptorType)
# Attributes that Python adds to classes
NO_NAMES = {"_abc_impl"}


class Uses(NamedTuple):
    """Names used by a code object, including nested ones."""

    names: set[str]  # names of globals
    attributes: set[str]  # attributes and imports from modules
    passed: set[str]  # globals and attributes used other than by an attribute
    imports: set[str]  # modules, with dots before a relative one
    texts: set[str]  # constants
    stored: set[str]  # globals and attributes that it sets
    assigned: set[str]  # the same, without attributes of arguments
    in_place: set[str]  # globals and attributes that it changes in place

    @property
    def words(self) -> set[str]:
        """Names and attributes."""
        return self.names | self.attributes


def path_of(cls: Any) -> str:
    """Return module and name of a class or function."""
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", getattr(cls, "__name__", str(cls)))
    return name if module in (None, "builtins") else f"{module}.{name}"


def made_of(value: Any) -> list:
    """Return the bytecode of a function or of code, the bases of a class, nothing for a module."""
    if isinstance(value, types.CodeType):
        return [_bytecode(value)]
    if isinstance(value, type):
        return [[(short_path(base), not is_installed(base)) for base in value.__mro__]]
    return [_bytecode(value.__code__)] if isinstance(value, types.FunctionType) else []


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts used by the user's function, class or module, by module and name.

    A module that matters as a whole has no name.
    """
    if isinstance(value, types.ModuleType):
        return _parts_of_module(value)
    return _parts_of_class(value) if isinstance(value, type) else _parts_of_function(value)


def given_to(function: Any) -> dict[str, Any]:
    """Return defaults, closure and attributes of a function, by name; empty for a class.

    A wrapper of the standard library has its attributes alone, with the function inside.
    """
    if not isinstance(function, types.FunctionType):
        return {}
    if str(function.__globals__.get("__name__")).partition(".")[0] in sys.stdlib_module_names:
        return vars(function)
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    given = dict(zip(names, defaults, strict=True)) | (function.__kwdefaults__ or {})
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            given[name] = cell.cell_contents
        except ValueError:  # it is filled later
            continue
    attributes = {k: v for k, v in vars(function).items() if k != "__wrapped__"}
    return {f"{k} (attribute)" if k in given else k: v for k, v in attributes.items()} | given


def is_special(name: str) -> bool:
    """Return whether the last of dotted names is special, as ``__doc__`` is."""
    own = name.rpartition(".")[2]
    return own[:2] == own[-2:] == "__"


def around(wrapper: Any) -> dict[str, Any]:
    """Return the attributes of an object around a function, by name, with the object's class.

    Without those set by its methods, such as a number of calls. An object of a library only has
    those of the user's functions and classes.
    """
    if isinstance(wrapper, (types.FunctionType, type, staticmethod, classmethod)):
        return {}
    kinds = [base for base in type(wrapper).__mro__ if not is_installed(base)]
    own = {n: v for n, v in attributes_of(wrapper).items() if not is_special(n)}
    if is_installed(type(wrapper)):
        code = {n: v for n, v in own.items() if isinstance(v, (types.FunctionType, type))}
        return {n: v for n, v in code.items() if not is_installed(v)}
    methods = [each for kind in kinds for n, each in vars(kind).items() if n != "__init__"]
    codes = [each.__code__ for each in methods if isinstance(each, types.FunctionType)]
    changed = set().union(*(uses(code).stored for code in codes))
    return {"(class)": type(wrapper)} | {n: v for n, v in own.items() if n not in changed}


def has_only_attributes(cls: Any) -> bool:
    """Return whether objects of a class consist of their attributes alone."""
    return (
        cls.__dictoffset__ != 0
        and cls.__reduce_ex__ is object.__reduce_ex__
        and cls.__reduce__ is object.__reduce__
        and cls.__getstate__ is object.__getstate__
        and not any(vars(base).get("__slots__") for base in cls.__mro__)
        and all(base is object or base.__flags__ & 1 << 9 for base in cls.__mro__)  # no C base
        and not dataclasses.is_dataclass(cls)
        and "__wrapped__" not in dir(cls)
    )


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, including those in slots of the user's classes."""
    kinds = [base for base in type(value).__mro__ if not is_installed(base)]
    slots = [vars(kind).get("__slots__", ()) for kind in kinds]
    names = [n for each in slots for n in ((each,) if isinstance(each, str) else each)]
    in_slots = {n: getattr(value, n) for n in names if hasattr(value, n)}
    return in_slots | (getattr(value, "__dict__", None) or {})


def additions(value: Any) -> dict[str, Any]:
    """Return the attributes of an object that no installed base sets when it is created."""
    made = [vars(base).get("__init__") for base in type(value).__mro__ if is_installed(base)]
    functions = [each for each in made if isinstance(each, types.FunctionType)]
    known = set().union(*(uses(function.__code__).stored for function in functions))
    return {name: each for name, each in attributes_of(value).items() if name not in known}


def cached_names(kind: Any) -> set[str]:
    """Names of cached properties, and of caches of libraries: attributes filled by use."""
    return _cached_names(kind)


@functools.lru_cache(1000)
def _cached_names(kind):
    members = [item for base in kind.__mro__ for item in vars(base).items()]
    cached = {n for n, each in members if isinstance(each, functools.cached_property)}
    return cached | ({"_cache"} if any(map(is_installed, kind.__mro__[:-1])) else set())


# ---- functions


def _bytecode(code):
    """Bytecode, arguments, names and constants without docstrings, including nested code."""
    consts = code.co_consts
    if sys.version_info >= (3, 13):
        documented = code.co_flags & HAS_DOCSTRING
    else:  # functions begin with their docstring, or None
        documented = code.co_flags & 2 and not code.co_name.startswith("<")
    consts = (None, *consts[1:]) if documented and consts else consts
    inside = [_bytecode(each) if isinstance(each, types.CodeType) else each for each in consts]
    n_named = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    arguments = *n_named, code.co_flags & STARRED, *_arguments(code)
    return _steps(code), arguments, code.co_names, inside


def _arguments(code):
    """Names of arguments, also of those with stars."""
    n_starred = (code.co_flags & STARRED).bit_count()
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + n_starred]


def _steps(code):
    """Instructions, with their handlers of errors, as a text.

    Line markers, which depend on formatting, are left out.
    """
    steps = [*dis.get_instructions(code)]
    kept = [step.opname not in ("NOP", "EXTENDED_ARG") for step in steps]
    numbers = itertools.accumulate(kept, initial=0)
    places = dict(zip([step.offset for step in steps], numbers, strict=False))
    jumps = {*dis.hasjrel, *dis.hasjabs}
    handlers = {
        offset: f"@{places.get(each.target)}-{each.depth}"
        for each in dis._parse_exception_table(code)  # type: ignore[attr-defined]
        for offset in range(each.start, each.end, 2)
    }
    return " ".join(
        f"{step.opname}:{places.get(step.argval) if step.opcode in jumps else step.arg}"
        f"{handlers.get(step.offset, '')}"
        for step, is_kept in zip(steps, kept, strict=True)
        if is_kept
    )


@functools.lru_cache(1000)
def uses(code: types.CodeType) -> Uses:
    """Find the names used by a code object, including nested ones."""
    found = Uses(*(set() for _ in Uses._fields))
    steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
    for number, (step, after) in enumerate(zip(steps, [*steps[1:], steps[-1]], strict=True)):
        kind, name = step.opname, step.argval
        if kind == "IMPORT_NAME":  # preceded by the number of dots and the imported names
            found.imports.add("." * (steps[number - 2].argval or 0) + name)
        elif kind in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.names.add(name)
        elif kind.startswith("LOAD_ATTR") or kind.endswith(("_ATTR", "_METHOD", "IMPORT_FROM")):
            found.attributes.add(name)
        if kind.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR")) and not (
            after.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR"))
        ):
            found.passed.add(name)
        if kind in ("STORE_ATTR", "STORE_GLOBAL"):
            found.stored.add(name)
    _find_changes(steps, found)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            for own, inner in zip(found, uses(const), strict=True):
                own |= inner
        else:
            texts = const if isinstance(const, (tuple, frozenset)) else (const,)
            found.texts.update(os.fsdecode(t) for t in texts if isinstance(t, (str, bytes)))
    return found


def _find_changes(steps, found):
    """Find the names changed by code: all names of a statement with ``name[key] = value``.

    And the owner of a method with an unused result, as in ``LOG.append(1)``.
    """
    loaded: list[str] = []  # by the statement
    called = 0  # how many of them are the function of a call
    for before, step in itertools.pairwise(steps):
        kind, was = step.opname, before.opname
        if kind.startswith(("LOAD_GLOBAL", "LOAD_NAME", "LOAD_ATTR", "LOAD_METHOD")):
            is_next = called == len(loaded) and kind.startswith(("LOAD_ATTR", "LOAD_METHOD"))
            called += is_next or not loaded
            loaded.append(step.argval)
        elif kind == "STORE_GLOBAL" or (kind == "STORE_ATTR" and not was.startswith("LOAD_FAST")):
            found.assigned.add(step.argval)
            found.in_place.update(loaded)
        elif kind in ("STORE_SUBSCR", "DELETE_SUBSCR"):
            found.in_place.update(loaded)
        elif kind == "POP_TOP" and was.startswith("CALL"):
            found.in_place.update(loaded[:called])
        if kind.startswith(("STORE", "DELETE", "POP", "RETURN", "JUMP")):
            loaded, called = [], 0


def _parts_of_function(function):
    """Parts of its own and other modules that a function uses, and arguments of the script."""
    found, space = uses(function.__code__), function.__globals__
    builtin = vars(sys.modules["builtins"])
    named = found.names | _named_in_expressions(function, found)
    for name in sorted(named & (space.keys() | builtin.keys())):
        owner = (space.get("__name__") or function.__module__) if name in space else "builtins"
        yield f"{owner}.{name}", space[name] if name in space else builtin[name]
    for other, is_whole in _own_modules(function, found):
        if is_whole:
            yield "", other
        for name in sorted((found.words | {"__getattr__"}) & vars(other).keys()):
            yield f"{other.__name__}.{name}", vars(other)[name]
    for name in sorted(found.names & space.keys()):
        yield from _set_in_library(space[name], found.attributes)
    if found.words & OF_ARGUMENTS:
        yield "sys.argv", sys.argv[1:]


def _named_in_expressions(function, found):
    """Names of globals in texts that may be expressions."""
    texts = filter(EXPRESSION.search, texts_of(function) if found.words & OF_EXPRESSIONS else ())
    return set(re.findall(r"\w+", " ".join(texts))) & function.__globals__.keys()


def _set_in_library(owner, names):
    """Attributes of an installed module or class that the user may have set."""
    is_module = isinstance(owner, types.ModuleType)
    if is_module and (owner.__name__ in OF_COMPUTER or not is_installed_module(owner)):
        return
    if not is_module and not (isinstance(owner, type) and is_installed(owner)):
        return
    for name in sorted(names & vars(owner).keys()):
        value = vars(owner)[name]
        home = sys.modules.get(getattr(value, "__module__", None) or "")
        is_code = isinstance(value, (types.FunctionType, type))
        is_own = is_code and home is not None and not is_installed_module(home)
        if is_own or (isinstance(value, (str, int, float)) and not HIDDEN.fullmatch(name)):
            yield f"{owner.__name__}.{name}", value


def unseen_in(function: types.FunctionType) -> list[str]:
    """Name the inputs of a function that cannot be compared."""
    found, space = uses(function.__code__), function.__globals__
    foreign = {name for name in found.words if name not in space or is_installed(space[name])}
    kinds = {
        "files": any(name in READING or name.startswith(READS) for name in foreign),
        "settings of libraries": bool(foreign & OF_LIBRARIES),
        "modules": found.words & OF_MODULES and not _named_by_text(function),
    }
    return [f"{kind} in {path_of(function)}" for kind, is_used in kinds.items() if is_used]


def environment(texts: set[str]) -> dict[str, str | None]:
    """Return environment variables whose names begin with one of the texts."""
    texts = {text for text in texts if text.strip("_")}
    stems = tuple(text for text in texts if text.endswith("_"))
    names = {name for name in os.environ if name in texts or name.startswith(stems)}
    names |= set(filter(ENVIRONMENT.fullmatch, texts))
    return {f"os.environ[{name!r}]": os.environ.get(name) for name in sorted(names)}


def composes_names(code: types.CodeType) -> bool:
    """Return whether code looks up environment variables by other than a constant or a name."""
    n_loads = -1  # since the environment was loaded; negative if it is not in use
    for before, step in itertools.pairwise(dis.get_instructions(code)):
        kind, is_item = step.opname, step.argrepr == "[]" or step.opname == "BINARY_SUBSCR"
        is_of_text = before.opname == "LOAD_CONST" and kind in ("LOAD_ATTR", "LOAD_METHOD")
        if n_loads >= 0 and is_of_text:  # "...".format
            return True
        if kind.startswith("LOAD"):
            is_start = kind != "LOAD_CONST" and step.argval in OF_ENVIRONMENT
            n_loads = 0 if is_start else n_loads + (n_loads >= 0)
        elif n_loads >= 2 * is_item and (is_item or kind.startswith(COMPOSING)):
            return True
        elif is_item or kind.startswith(("CALL", "STORE", "POP", "RETURN")):
            n_loads = -1
    return any(composes_names(each) for each in code.co_consts if isinstance(each, type(code)))


def _own_modules(function, found):
    """List the user's modules that a function uses, and whether each matters as a whole."""
    space, words = function.__globals__, found.words
    waiting = [(space[name], name in found.passed) for name in sorted(found.names & space.keys())]
    imported = [_module(function, name) for name in sorted(found.imports)]
    waiting += [(each, bool(words & OF_IMPORTED)) for each in imported]
    whole = [*given_to(function).values()]
    whole += _named_by_text(function) if words & OF_MODULES else []
    own = sys.modules.get(space.get("__name__", ""))
    by_text = found.names & OF_OWN_MODULE or found.attributes & OF_OWN_MODULE_BY_ATTRIBUTE
    if by_text and own is not None and vars(own) is space:
        whole.append(own)
    waiting += [(each, True) for each in whole]
    modules: list[tuple[types.ModuleType, bool]] = []
    for value, is_whole in waiting:  # grows during the loop
        is_whole |= "__dict__" in found.attributes
        if isinstance(value, types.ModuleType) and not is_installed_module(value):
            if (value, is_whole) in modules or (vars(value) is space and not is_whole):
                continue
            modules.append((value, is_whole))
            inner = sorted(found.attributes & vars(value).keys())
            waiting += [(vars(value)[n], is_whole or n in found.passed) for n in inner]
    return modules


def texts_of(function: types.FunctionType) -> set[str]:
    """Texts among the constants of a function, and the globals that it uses."""
    found = uses(function.__code__)
    values = [function.__globals__.get(name) for name in found.names]
    return found.texts | {value for value in values if isinstance(value, str)}


def _named_by_text(function):
    """List the modules named by texts of a function."""
    texts = [t.rstrip(".") for t in texts_of(function) if t.replace(".", "").isidentifier()]
    modules = [*filter(None, [_module(function, text) for text in sorted(texts)])]
    inside = tuple(f"{each.__name__}." for each in modules)
    return modules + [sys.modules[name] for name in sorted(sys.modules) if name.startswith(inside)]


def _module(function, name):
    """Return the user's module of a name, importing it if necessary; otherwise None."""
    try:
        name = importlib.util.resolve_name(name, function.__globals__.get("__package__") or "")
        if name not in sys.modules:
            spec = importlib.util.find_spec(name)
            if spec is None or is_installed_file(name, spec.origin):
                return None
        module = importlib.import_module(name)
        return None if is_installed_module(module) else module
    except Exception:  # an import may raise anything; the user sees the error later
        return None


# ---- classes and modules


def _parts_of_module(module):
    """All of its globals, since any may be reached by its text."""
    for name, value in sorted(vars(module).items()):
        if not HIDDEN.fullmatch(name) and name not in OF_NOTEBOOKS and not _is_running(value):
            yield f"{module.__name__}.{name}", value


def _parts_of_class(cls):
    """Definitions in a class and its bases, if they are the user's."""
    for base in cls.__mro__:
        for name, value in [] if is_installed(base) else sorted(vars(base).items()):
            if isinstance(value, types.ModuleType) and not is_installed_module(value):
                yield "", value
            if not (name in NO_NAMES or isinstance(value, NO_DATA)):
                yield f"{path_of(base)}.{name}", value
    if not is_installed(type(cls)):
        yield f"{path_of(cls)}.(metaclass)", type(cls)


def short_path(value: Any) -> str:
    """Return package and name, since an object may move between private modules."""
    module = getattr(value, "__module__", None) or ""
    name = getattr(value, "__qualname__", None) or type(value).__qualname__
    found = sys.modules.get(module) if module != "__main__" else None
    installed = found is not None and is_installed_module(found)
    return f"{module.partition('.')[0] if installed else module}.{name}"


def unwrapped(value: Any) -> Any:
    """Return the function inside a static or class method, or next inside a wrapper."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    # An object with attributes of any name is not a wrapper.
    is_around = inspect.getattr_static(value, "__wrapped__", None) is not None
    is_code = isinstance(value, (types.FunctionType, type))
    return value.__wrapped__ if is_around and not is_code else value


def _is_running(value):
    """Return whether a value is a search with a folder, whose settings are compared separately."""
    return getattr(value, "checkpoint_dir", None) is not None and hasattr(value, "get_params")
