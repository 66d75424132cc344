"""Description of any object in one line of text, the same in every process.

repr, pickle and hash differ between processes: they depend on memory addresses and on the order of
sets. So the text is created here.
"""

import collections
import contextvars
import ctypes
import dataclasses
import enum
import functools
import gc
import json
import logging
import os
import random
import socket
import threading
import types
import uuid
import weakref
from collections.abc import Callable
from datetime import date, time, timedelta
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import stats
from scipy.stats.distributions import rv_frozen

from sksearch._utils._installed import is_installed, is_installed_module
from sksearch._utils._terminal import ADDRESS
from sksearch.checkpoint.identity._code import (
    additions,
    attributes_of,
    cached_names,
    given_to,
    has_only_attributes,
    made_of,
    path_of,
)
from sksearch.checkpoint.identity._digests import (
    OPAQUE,
    SCALARS,
    TableTexts,
    cut,
    digest,
    hidden,
    numpy_scalar,
)
from sksearch.checkpoint.identity._of_start import (
    in_this_start,
    joined,
    mark,
    marked,
    order_mark,
    settled,
)

MANY = 1000  # items from which on a list is described by a digest
DEEPEST = 60  # levels of nested objects
MOST = 1_000_000  # effort for data used by code, about a second; the rest is only named

# Parameters of estimators that only affect their speed or their output.
FREE_PARAMS = {"n_jobs", "verbose", "memory"}
FREE_PARAMS_OF_ALL = {"n_jobs"}  # parameters of any library
# Types without values on which a result should depend: thread tools, logs, and collections whose
# items disappear when nothing else refers to them.
TOOLS = (
    *(threading.Event, threading.Condition, threading.Semaphore, threading.Thread),
    *(type(threading.Lock()), type(threading.RLock()), logging.Handler),
    *(weakref.WeakSet, weakref.WeakKeyDictionary, weakref.WeakValueDictionary),
)
# Attributes by which an object of a library is a running thing: a pool, a queue, a progress bar
RUNNING = (
    *(threading.Event, threading.Condition, threading.Semaphore, threading.Thread, socket.socket),
    *(type(threading.Lock()), type(threading.RLock())),
)
OF_PROCESSES = {"multiprocessing.synchronize", "_multiprocessing"}  # modules of other locks
GENERATORS = (
    *(np.random.RandomState, np.random.Generator, np.random.BitGenerator),
    *(np.random.SeedSequence, random.Random),
)
UNNAMED = (collections.OrderedDict, np.generic)  # bases that come before dict and float
LAWS = (stats.rv_continuous, stats.rv_discrete)
DRAWN = 2**64  # larger seeds were drawn by the system, which draws 128 bits
DATES = (date, time, timedelta, uuid.UUID, PurePath)
OF_MEMBERS = {"_value_", "_name_", "__objclass__", "_sort_order_"}  # attributes of any enum's

# Attributes that a clone of an estimator has, too: requests of metadata, the kind of its output
OF_CLONES = ("_metadata_request", "_sklearn_output_config")
SHORT = (bool, float, type(None))  # types with short texts


def describe(
    value: Any,
    memo: dict | None = None,
    deep: bool = True,
    exact: bool = False,
    reached: Any = None,
) -> str:
    """Describe any object.

    Functions and classes are described by their names, and functions also by their defaults and
    closures. A generator of random numbers, and any opaque object, is described by its type:
    "(opaque)".

    Parameters
    ----------
    value : object
        Anything.
    memo : dict or None, default=None
        Texts of the objects described by earlier calls with the same `memo`, as in
        ``copy.deepcopy``: each object is described once.
    deep : bool, default=True
        If True, describe estimators with their parameters, otherwise by their class alone.
    exact : bool, default=False
        If True, include the order of dicts and the state of generators, and exclude attributes
        that ``__getstate__`` omits.
    reached : Reached or None, default=None
        Collects the user's functions and classes found.

    Returns
    -------
    str
        At most 2000 characters.
    """
    return Visitor({} if memo is None else memo, deep, exact, reached).visit(value)


def is_free(name: str, estimator: Any) -> bool:
    """Return whether a parameter of an estimator, by its own name, has no effect on results."""
    return name in (FREE_PARAMS if is_installed(type(estimator)) else FREE_PARAMS_OF_ALL)


class TooManyObjectsError(Exception):
    """An object has too many parts to be compared before each fit."""


class Visitor:
    """Visits an object and all its parts, and returns their texts.

    Parameters
    ----------
    memo : dict
        Texts by id, with the object so that its id is not reused.
    deep, exact, reached
        See `describe`.
    whole : bool
        If True, include everything, even fitted attributes, and mark values that are specific to
        this start.
    """

    def __init__(
        self,
        memo: dict,
        deep: bool = True,
        exact: bool = False,
        reached: Any = None,
        whole: bool = False,
    ):
        self._memo = memo
        self._deep, self._exact, self._reached, self._whole = deep, exact, reached, whole
        self._depth = self._effort = self._limit = 0
        self._ways: dict[type, Callable[[Any], str]] = {}
        self._tables = TableTexts(self.visit, self._items)

    def visit(self, value: Any) -> str:
        """Return the text of a value; parts visited before are not visited again."""
        kind = type(value)
        if kind in SCALARS:
            text = self._of_start(value) or repr(value)
            return text if kind in SHORT else cut(text)
        if id(value) in self._memo:
            return self._memo[id(value)][1]
        if self._depth >= DEEPEST:
            return _opaque(value)
        self._spend(30)
        self._memo[id(value)] = (value, "(itself)")
        self._depth += 1
        try:
            text = cut(self._way(kind)(value))
        except TooManyObjectsError:
            del self._memo[id(value)]
            raise
        except Exception:  # its methods may raise anything; the object is then opaque
            text = _opaque(value)
        finally:
            self._depth -= 1
        self._memo[id(value)] = (value, text)
        return text

    def visit_whole(self, value: Any) -> str:
        """Return the text of a value, or only its class if it has too many parts."""
        self._limit = max(MOST, self._effort + MOST // 20)
        try:
            return self.visit(value)
        except TooManyObjectsError:
            self._memo[id(value)] = (value, _opaque(value))
            return _opaque(value)

    def _of_start(self, value):
        """Text of a value with marks, if marks are wanted and it has any, otherwise None."""
        return marked(value) if self._whole else None

    def _spend(self, effort):
        """Add approximate microseconds, the same on any computer, for a repeatable limit."""
        self._effort += effort
        if self._limit and self._effort > self._limit:
            raise TooManyObjectsError

    def _way(self, kind):
        """Return the cached method that describes objects of a class."""
        if kind not in self._ways:
            self._ways[kind] = self._way_of(kind)
        return self._ways[kind]

    def _way_of(self, kind):
        """Find the method that describes objects of a class.

        A subclass of the user's may add methods and attributes to those of its base.
        """
        way, is_named = self._way_of_base(kind)
        return way if is_named or is_installed(kind) else self._with_additions(way)

    def _way_of_base(self, kind):
        """Find the method for a class or its base, and return whether its text has the class."""
        if (way := self._tables.way_of(kind)) is not None:
            return way, issubclass(kind, np.ndarray)
        for classes, way in (
            (enum.Enum, self._enum), (type, self._class), (types.ModuleType, self._module),
            (types.FunctionType, self._function), (DATES, self._date),
            ((list, tuple), self._list), ((set, frozenset), self._set),
            ((dict, types.MappingProxyType), self._dict), (threading.local, self._attributes),
            ((str, bytes, int, float, complex), self._scalar),
        ):  # fmt: skip
            if issubclass(kind, classes) and not issubclass(kind, UNNAMED):
                return way, True
        if (way := self._unnamed_way(kind)) is not None:
            return way, False
        if hasattr(kind, "get_params"):
            return self._estimator, True
        way = self._attributes if has_only_attributes(kind) else self._object
        return (self._running(way) if self._whole and is_installed(kind) else way), True

    def _unnamed_way(self, kind):
        """Find the method for a class or its base; its text does not have the class."""
        for classes, way in (
            (logging.Logger, self._logger), (np.ufunc, self._ufunc), (types.CodeType, self._code),
            (type(os.environ), lambda value: "os.environ"), (ctypes.c_void_p, _opaque),
            (ctypes.CDLL, lambda value: f"library {value._name}"),
            (TOOLS, lambda value: path_of(kind)), (functools.partial, self._partial),
            (types.MethodType, self._method), (types.BuiltinFunctionType, self._builtin),
            (weakref.ref, lambda value: f"reference to {self.visit(value())}"),
            (collections.OrderedDict, lambda value: f"in order {self.visit([*value.items()])}"),
            (np.generic, self._numpy_scalar), (contextvars.ContextVar, self._variable),
            (rv_frozen, self._distribution), (GENERATORS, self._generator),
            (LAWS, lambda value: f"{value.name}{self._law(value)}"),
        ):  # fmt: skip
            if issubclass(kind, classes):
                return way
        return None

    def _running(self, way):
        """Return a method that marks what differs between starts since it is running."""

        def of(value):
            text, parts = way(value), [value, *getattr(value, "__dict__", {}).values()]
            if any(isinstance(v, RUNNING) or type(v).__module__ in OF_PROCESSES for v in parts):
                return in_this_start(path_of(type(value)), digest(settled(text)))
            return text

        return of

    def _with_additions(self, way):
        """Return a method that adds the user's class and attributes to the text of its base."""
        return lambda value: (
            f"{self._call(self.visit(type(value)), additions(value))} {way(value)}"
        )

    def _call(self, name, fields):
        """Write fields as ``name(key=text, ...)``, sorted by key."""
        inside = ", ".join([f"{key}={self.visit(fields[key])}" for key in sorted(fields)])
        return f"{name}({inside})"

    # ---- classes, functions and other objects identified by a name

    def _class(self, value):
        if is_installed(value) or self._reached is None:
            return path_of(value)
        self._spend(400)
        return self._reached.name_of(value)

    def _enum(self, value):
        kind = type(value)
        if is_installed(kind):
            return f"{path_of(kind)}.{value.name}"
        own = {k: v for k, v in vars(value).items() if k not in OF_MEMBERS}
        text = f"{self.visit(kind)}.{value.name}={self.visit(value.value)}"
        return self._call(text, own) if own else text

    def _module(self, value):
        if self._reached is not None and not is_installed_module(value):
            self._reached.name_of(value)
        return value.__name__

    def _code(self, value):
        return f"code #{digest(self._items(made_of(value)))}"

    def _logger(self, value):
        # The manager, which leads to all loggers, is an attribute of the class, too.
        own = {k: v for k, v in additions(value).items() if not hasattr(logging.Logger, k)}
        return self._call(f"logger {value.name}", own).removesuffix("()")

    def _ufunc(self, value):
        # A ufunc of `np.frompyfunc` has a Python function, which no attribute reveals.
        own = [self.visit(each) for each in gc.get_referents(value) if callable(each)]
        return " of ".join([f"numpy.{value.__name__}", *own])

    def _function(self, value):
        if is_installed(value):
            return path_of(value)
        return self._call(self._class(value), given_to(value)).removesuffix("()")

    def _partial(self, value):
        fields = {"function": value.func, "args": value.args, "keywords": value.keywords}
        return self._call("partial", fields | vars(value))

    def _method(self, value):
        return f"{self.visit(value.__func__)} of {self.visit(value.__self__)}"

    def _builtin(self, value):
        of = value.__self__
        is_of_module = of is None or isinstance(of, types.ModuleType)
        return path_of(value) if is_of_module else f"{value.__qualname__} of {self.visit(of)}"

    # ---- data

    def _numpy_scalar(self, value):
        return self._of_start(getattr(value, "item", int)()) or numpy_scalar(value)

    def _items(self, items):
        """Digest of a list or dict, possibly long: JSON is ten times as fast as many texts."""
        values = list(items.values()) if isinstance(items, dict) else items
        kinds, all_of = set(map(type, values)), ""
        if len(kinds) == 1 and self._is_plain(kind := kinds.pop()):  # without a call for each item
            self._spend(2 * len(values))
            values, all_of = [*map(vars, values)], self.visit(kind)
            items = dict(zip(items, values, strict=True)) if isinstance(items, dict) else values
        try:
            text = json.dumps(items, default=self._as_json, sort_keys=not self._exact)
        except (TypeError, ValueError):  # keys other than strings, a list that contains itself
            if isinstance(items, dict):
                items = self._sorted(items.items())
            text = "\n".join(map(self.visit, items))
        # Among this many numbers, one may equal this process's ID by chance.
        return hidden(all_of + settled(text))

    def _as_json(self, value):
        """Return the attributes of an object with nothing else, otherwise a text."""
        kind = type(value)
        if self._is_plain(kind):
            self._spend(7)
            return {"$": self.visit(kind), "is": vars(value)}
        return {"$": settled(self.visit(value))}

    def _is_plain(self, kind):
        """Return whether objects of a class are their attributes, and all of these matter."""
        return self._way(kind) == self._attributes and not cached_names(kind)

    # ---- containers, distributions, estimators, and other objects

    def _name(self, value):
        """Name the class of a container or a scalar, unless it is a Python built-in."""
        kind = type(value)
        if kind in (list, tuple, dict, set, frozenset):
            return ""
        own = self._own(value)
        return self._call(self.visit(kind), own) if own else self.visit(kind)

    def _own(self, value):
        """Return the attributes of an object, but for cached properties."""
        cached = cached_names(type(value))
        return {k: v for k, v in attributes_of(value).items() if k not in cached}

    def _list(self, value):
        name = self._name(value)
        if len(value) > MANY:
            return self._long(name or type(value).__name__, value, list(value))
        left, right = "[]" if isinstance(value, list) else "()"
        return f"{name}{left}{', '.join(map(self.visit, value))}{right}"

    def _set(self, value):
        name = self._name(value)
        if len(value) > MANY:
            return self._long(name or "set", value, self._sorted(value))
        return f"{name}{{{joined(map(self.visit, value))}}}"

    def _long(self, name, value, items):
        return f"{name} of {len(value)} {self._items(items)}"

    def _sorted(self, items):
        """Texts of many items, in an order independent of the start."""
        return sorted(
            repr(item) if type(item) in SCALARS else settled(self.visit(item)) for item in items
        )

    def _dict(self, value):
        name = self._name(value)
        if isinstance(value, collections.defaultdict):
            name += f"({self.visit(value.default_factory)})"
        if len(value) > MANY:
            return self._long(name or "dict", value, dict(value))
        pairs = [f"{self.visit(k)}: {self.visit(v)}" for k, v in value.items()]
        if self._exact:  # the order determines the search's first draws
            return f"{name}{{{', '.join(pairs)}}}"
        # Code may use the order, which differs by nature if the keys come from a set.
        return f"{name}{{{joined(pairs)}}}{order_mark(pairs) if self._whole else ''}"

    def _date(self, value):
        """Describe a date, a time, an identifier or a path."""
        text = repr(str(value)) if isinstance(value, PurePath) else str(value)
        return f"{self._name(value)}({self._of_start(value) or text})"

    def _scalar(self, value):
        """Describe a scalar of a subclass of a Python built-in."""
        bases = (str, bytes, int, float, complex)
        text = next(base.__repr__(value) for base in bases if isinstance(value, base))
        return f"{self._name(value)}({self._of_start(value) or text})"

    def _generator(self, value):
        """Describe a random generator by its state, marked if it was seeded by chance."""
        if not (self._whole or self._exact):
            return _opaque(value)
        state = digest(settled(self.visit(self._reduced(value))))
        source = getattr(value, "_bit_generator", getattr(value, "bit_generator", value))
        entropy = getattr(getattr(source, "seed_seq", source), "entropy", None)
        is_drawn = isinstance(entropy, int) and entropy >= DRAWN
        return f"{path_of(type(value))} {mark('name', state) if is_drawn else f'#{state}'}"

    def _variable(self, value):
        """Describe a context variable by its value, or its default."""
        try:
            return self._call("ContextVar", {"value": value.get()})
        except LookupError:
            return "ContextVar()"

    def _distribution(self, value):
        """Describe a frozen SciPy distribution."""
        args = [self.visit(arg) for arg in value.args]
        args += [f"{key}={self.visit(arg)}" for key, arg in sorted(value.kwds.items())]
        return f"{value.dist.name}({', '.join(args)}){self._law(value.dist)}"

    def _law(self, dist):
        """Describe a SciPy distribution, except its name."""
        if type(getattr(stats, dist.name or "", None)) is type(dist):
            return ""
        # A histogram, values with masses, a subclass: the rest is in its attributes.
        known = _known_of_laws()
        own = {
            key: item
            for key, item in vars(dist).items()
            if key not in known or isinstance(item, (str, int, float, tuple, list, np.ndarray))
        }
        return f" of {self._call(self.visit(type(dist)), own)}"

    def _estimator(self, value):
        """Describe an estimator by its parameters, and whatever else its clones have."""
        if not self._deep or isinstance(value, type):
            return self.visit(type(value))
        params = value.get_params(deep=False)
        fields = {name: param for name, param in params.items() if not is_free(name, value)}
        noted = {name: getattr(value, name, None) for name in OF_CLONES}
        fields |= {k: v for k, v in noted.items() if v not in (None, {"transform": "default"})}
        if self._whole:  # fitted attributes
            addresses = {id(each) for each in params.values()}  # noted by text vectorizers
            fitted = {k: v for k, v in vars(value).items() if k not in params}
            fields |= {k: v for k, v in fitted.items() if type(v) is not int or v not in addresses}
            if isinstance(results := fields.get("cv_results_"), dict):  # a search: no seconds
                fields = {k: v for k, v in fields.items() if k in params or k.startswith("best_")}
                fields["cv_results_"] = {k: v for k, v in results.items() if "_time" not in k}
        return self._call(self.visit(type(value)), fields)

    def _attributes(self, value):
        """Describe an object that has only attributes, which is fast."""
        hidden_names = cached_names(type(value))
        fields = {k: v for k, v in vars(value).items() if k not in hidden_names}
        return self._call(self.visit(type(value)), fields)

    def _object(self, value):
        """Describe any other object by its pickled state, its attributes, or its repr."""
        if is_installed(value):
            return path_of(value)
        if "__wrapped__" in getattr(value, "__dict__", ()) and callable(value):
            return f"{self.visit(type(value))}({self.visit(value.__wrapped__)})"
        if dataclasses.is_dataclass(value):
            names = [each.name for each in dataclasses.fields(value)]
            fields = {name: getattr(value, name) for name in names if hasattr(value, name)}
            return self._call(self.visit(type(value)), fields | self._own(value))
        name, parts = self.visit(type(value)), self._reduced(value)
        if isinstance(parts, dict):
            return self._call(name, parts)
        if parts is not None:
            return f"{name} {self.visit(parts)}"
        if getattr(value, "__dict__", None):  # other contents are invisible
            return f"{self._call(name, vars(value))} {OPAQUE}"
        text = repr(value)
        has_address = ADDRESS.search(text)
        return _opaque(value) if has_address else f"{name} {self._of_start(text) or text}"

    def _reduced(self, value):
        """Return the attributes or the pickled state of an object, otherwise None."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # any error of its methods
            return None
        if isinstance(parts, str):
            return parts
        parts = [part if n < 3 else list(part or ()) for n, part in enumerate(parts)]
        state = parts[2] if len(parts) > 2 else None
        # Values of slots
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
            state = (state[0] or {}) | state[1]
        if isinstance(state, dict):
            state = {k: v for k, v in state.items() if k not in cached_names(type(value))}
        is_new = getattr(parts[0], "__name__", "") == "__newobj__" and len(parts[1]) == 1
        if (is_new or parts[:2] == [type(value), ()]) and not any(parts[3:]):
            return state or {} if isinstance(state, (dict, type(None))) else [state]
        return [*parts[:2], state, *parts[3:]]


@functools.cache
def _known_of_laws():
    """Names of the attributes that all distributions have."""
    laws = stats.rv_continuous(name="law"), stats.rv_discrete(name="law")
    return {name for law in laws for name in vars(law)}


def _opaque(value):
    return f"{path_of(type(value))} {OPAQUE}"
