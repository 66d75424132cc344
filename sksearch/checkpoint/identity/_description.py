"""Describe any object in one line of text that is the same in every process.

No repr, pickle or hash is the same in every process: they depend on addresses in memory and on
the order of sets. So the text is made here.
"""

import collections
import contextvars
import dataclasses
import enum
import functools
import gc
import json
import logging
import random
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
from sksearch.checkpoint.identity._code import given_to, has_only_attributes, path_of
from sksearch.checkpoint.identity._digests import (
    OPAQUE,
    SCALARS,
    TableTexts,
    cut,
    digest,
    hidden,
    numpy_scalar,
)
from sksearch.checkpoint.identity._of_start import marked, without_marks

MANY = 1000  # items from which on a list is described by a digest
DEEPEST = 60  # levels of objects within objects
MOST = 1_000_000  # effort for the data that code uses, about a second; what is beyond is named

# Parameters of estimators that change how fast they are, or what they print, and nothing else.
FREE_PARAMS = {"n_jobs", "verbose", "memory"}
FREE_PARAMS_OF_ALL = {"n_jobs"}  # whoever has written the estimator
# What holds no value on which a result should depend: tools of threads, logs, and collections
# whose items go when nothing else refers to them.
TOOLS = (
    threading.Event, threading.Condition, threading.Semaphore, threading.Thread, logging.Handler,
    type(threading.Lock()), type(threading.RLock()), weakref.WeakSet, weakref.WeakKeyDictionary,
    weakref.WeakValueDictionary,
)  # fmt: skip
GENERATORS = (
    np.random.RandomState, np.random.Generator, np.random.BitGenerator, np.random.SeedSequence,
    random.Random,
)  # fmt: skip
LAWS = (stats.rv_continuous, stats.rv_discrete)
DRAWN = 2**64  # seeds from which on a generator was seeded by the system, which draws 128 bits
DATES = (date, time, timedelta, uuid.UUID, PurePath)

SHORT = (bool, float, type(None))  # whose texts are


def describe(
    value: Any,
    memo: dict | None = None,
    deep: bool = True,
    exact: bool = False,
    reached: Any = None,
) -> str:
    """Describe any object.

    Functions and classes are described by their names, and functions by their defaults and
    closures, too. A generator of random numbers, and whatever cannot be looked into, is described
    by its type: "(opaque)".

    Parameters
    ----------
    value : object
        Anything.
    memo : dict or None, default=None
        Texts of the objects that earlier calls with the same `memo` described, as in
        ``copy.deepcopy``: each object is looked at once.
    deep : bool, default=True
        Whether estimators are described with their parameters, or by their class alone.
    exact : bool, default=False
        Whether the order of dicts and the state of generators are parts of the text, and what
        ``__getstate__`` leaves out is not.
    reached : Reached or None, default=None
        Gets the functions and classes of the user's own that are met.

    Returns
    -------
    str
        At most 2000 characters.
    """
    return Visitor({} if memo is None else memo, deep, exact, reached).visit(value)


def is_free(name: str, estimator: Any) -> bool:
    """Whether a parameter of an estimator, by its own name, has no effect on results."""
    return name in (FREE_PARAMS if is_installed(type(estimator)) else FREE_PARAMS_OF_ALL)


class TooManyObjectsError(Exception):
    """An object is made of more than can be looked at before each fit."""


class Visitor:
    """Visits an object and all that it is made of, and returns their texts.

    Parameters
    ----------
    memo : dict
        Texts by id, with the object so that no other gets its id.
    deep, exact, reached
        See `describe`.
    whole : bool
        Whether all counts that an object is, also what an estimator has learnt, and what is of
        this start is marked.
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
        self._cached: dict[type, set[str]] = {}
        self._tables = TableTexts(self.visit, self._items)

    def visit(self, value: Any) -> str:
        """Return the text of a value; parts that were visited before are not visited again."""
        kind = type(value)
        if kind in SCALARS:
            return self._of_start(value) or (repr(value) if kind in SHORT else cut(repr(value)))
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
        except Exception:  # whatever its own methods raise: it cannot be looked into
            text = _opaque(value)
        finally:
            self._depth -= 1
        self._memo[id(value)] = (value, text)
        return text

    def visit_whole(self, value: Any) -> str:
        """Return the text of a value, or only its class if it is made of too many objects."""
        self._limit = max(MOST, self._effort + MOST // 20)
        try:
            return self.visit(value)
        except TooManyObjectsError:
            self._memo[id(value)] = (value, _opaque(value))
            return _opaque(value)

    def _of_start(self, value):
        """Text of a value with marks if they count and it has any, else None."""
        return marked(value) if self._whole else None

    def _spend(self, effort):
        """Count microseconds, about, whatever computer this is: each start sees as much."""
        self._effort += effort
        if self._limit and self._effort > self._limit:
            raise TooManyObjectsError

    def _way(self, kind):
        """Return the method that describes objects of a class, found only once."""
        if kind not in self._ways:
            self._ways[kind] = self._way_of(kind)
        return self._ways[kind]

    def _way_of(self, kind):
        """Find the method that describes objects of a class."""
        if (way := self._tables.way_of(kind)) is not None:
            return way
        for classes, way in (
            (enum.Enum, self._enum), (type, self._class), (types.ModuleType, self._module),
            (logging.Logger, lambda value: f"logger {value.name}"), (np.ufunc, self._ufunc),
            (TOOLS, lambda value: path_of(kind)), (types.FunctionType, self._function),
            (functools.partial, self._partial), (types.MethodType, self._method),
            (weakref.ref, lambda value: f"reference to {self.visit(value())}"),
            (types.BuiltinFunctionType, self._builtin), (np.generic, self._numpy_scalar),
            (DATES, self._date),
            ((list, tuple), self._list), ((set, frozenset), self._set),
            (collections.OrderedDict, lambda value: f"in order {self.visit([*value.items()])}"),
            ((dict, types.MappingProxyType), self._dict),
            ((str, bytes, int, float, complex), self._scalar), (rv_frozen, self._distribution),
            (LAWS, lambda value: f"{value.name}{self._law(value)}"),
            (threading.local, self._attributes), (contextvars.ContextVar, self._variable),
            (GENERATORS, self._generator),
        ):  # fmt: skip
            if issubclass(kind, classes):
                return way
        if hasattr(kind, "get_params"):
            return self._estimator
        return self._attributes if has_only_attributes(kind) else self._object

    def _call(self, name, fields):
        """Write fields as ``name(key=text, ...)``, sorted by key."""
        inside = ", ".join([f"{key}={self.visit(fields[key])}" for key in sorted(fields)])
        return f"{name}({inside})"

    # ---- classes, functions and all else that a name identifies

    def _class(self, value):
        if is_installed(value) or self._reached is None:
            return path_of(value)
        self._spend(400)
        return self._reached.name_of(value)

    def _enum(self, value):
        kind = type(value)
        of = "" if is_installed(kind) else f"={self.visit(value.value)}"
        return f"{self.visit(kind)}.{value.name}{of}"

    def _module(self, value):
        if self._reached is not None and not is_installed_module(value):
            self._reached.name_of(value)
        return value.__name__

    def _ufunc(self, value):
        # One of `np.frompyfunc` has a function of Python, and no attribute that leads there.
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
        """Digest of a list or dict that may be long: JSON is ten times as fast as many texts."""
        values = list(items.values()) if isinstance(items, dict) else items
        kinds, all_of = set(map(type, values)), ""
        if len(kinds) == 1 and self._is_plain(kind := kinds.pop()):  # without a call for each
            self._spend(2 * len(values))
            values, all_of = [*map(vars, values)], self.visit(kind)
            items = dict(zip(items, values, strict=True)) if isinstance(items, dict) else values
        try:
            text = json.dumps(items, default=self._as_json, sort_keys=not self._exact)
        except (TypeError, ValueError):  # keys that are no strings, a list that holds itself
            if isinstance(items, dict):
                items = self._sorted(items.items())
            text = "\n".join(map(self.visit, items))
        # Among so many numbers one may be that of this process by chance.
        return hidden(all_of + without_marks(text))

    def _as_json(self, value):
        """Attributes of an object that has nothing else, a text of any other."""
        kind = type(value)
        if self._is_plain(kind):
            self._spend(7)
            return {"$": self.visit(kind), "is": vars(value)}
        return {"$": without_marks(self.visit(value))}

    def _is_plain(self, kind):
        """Whether objects of a class are their attributes, and all of these count."""
        return self._way(kind) == self._attributes and not self._cached_names(kind)

    # ---- containers, distributions, estimators, and anything else

    def _name(self, value):
        """Name the class of a container or a scalar, unless it is one of Python's own."""
        kind = type(value)
        own = (list, tuple, dict, set, frozenset)
        name = "" if kind in own else self.visit(kind)
        attributes = getattr(value, "__dict__", None)
        return self._call(name, attributes) if attributes else name

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
        return f"{name}{{{', '.join(sorted(map(self.visit, value)))}}}"

    def _long(self, name, value, items):
        return f"{name} of {len(value)} {self._items(items)}"

    def _sorted(self, items):
        """Texts of many items, in an order that depends on no start."""
        return sorted(
            repr(item) if type(item) in SCALARS else without_marks(self.visit(item))
            for item in items
        )

    def _dict(self, value):
        name = self._name(value)
        if isinstance(value, collections.defaultdict):
            name += f"({self.visit(value.default_factory)})"
        if len(value) > MANY:
            return self._long(name or "dict", value, dict(value))
        pairs = [f"{self.visit(k)}: {self.visit(v)}" for k, v in value.items()]
        # The order decides what a search draws first.
        return f"{name}{{{', '.join(pairs if self._exact else sorted(pairs))}}}"

    def _date(self, value):
        """Describe a date, a time, an identifier or a path."""
        text = repr(str(value)) if isinstance(value, PurePath) else str(value)
        return f"{self.visit(type(value))}({self._of_start(value) or text})"

    def _scalar(self, value):
        """Describe a scalar of a subclass of one of Python's."""
        bases = (str, bytes, int, float, complex)
        text = next(base.__repr__(value) for base in bases if isinstance(value, base))
        return f"{self._name(value)}({self._of_start(value) or text})"

    def _generator(self, value):
        """Describe a generator of random numbers by its state, marked if chance has seeded it."""
        if not (self._whole or self._exact):
            return _opaque(value)
        state = digest(without_marks(self.visit(self._reduced(value))))
        source = getattr(value, "_bit_generator", getattr(value, "bit_generator", value))
        entropy = getattr(getattr(source, "seed_seq", source), "entropy", None)
        if isinstance(entropy, int) and entropy >= DRAWN:
            return f"{path_of(type(value))} ⟦name {state}⟧"
        return f"{path_of(type(value))} #{state}"

    def _variable(self, value):
        """Describe a variable of contexts by its value, or its default."""
        try:
            return self._call("ContextVar", {"value": value.get()})
        except LookupError:
            return "ContextVar()"

    def _distribution(self, value):
        """Describe a frozen distribution of SciPy."""
        args = [self.visit(arg) for arg in value.args]
        args += [f"{key}={self.visit(arg)}" for key, arg in sorted(value.kwds.items())]
        return f"{value.dist.name}({', '.join(args)}){self._law(value.dist)}"

    def _law(self, dist):
        """Describe a distribution of SciPy, but for its name."""
        if type(getattr(stats, dist.name or "", None)) is type(dist):
            return ""
        # A histogram, values with masses, a subclass: the rest is in its attributes.
        own = {
            key: item
            for key, item in vars(dist).items()
            if isinstance(item, (str, int, float, tuple, list, np.ndarray))
        }
        return f" of {self._call(self.visit(type(dist)), own)}"

    def _estimator(self, value):
        if not self._deep or isinstance(value, type):
            return self.visit(type(value))
        params = value.get_params(deep=False)
        fields = {name: param for name, param in params.items() if not is_free(name, value)}
        if self._whole:  # what it has learnt
            fields |= {k: v for k, v in vars(value).items() if k not in params}
        return self._call(self.visit(type(value)), fields)

    def _attributes(self, value):
        """Describe an object that has attributes and nothing else: this is fast."""
        hidden_names = self._cached_names(type(value))
        fields = {k: v for k, v in vars(value).items() if k not in hidden_names}
        return self._call(self.visit(type(value)), fields)

    def _object(self, value):
        """Describe any other object by what a pickle holds of it, its attributes, or its repr."""
        if is_installed(value):
            return path_of(value)
        if "__wrapped__" in getattr(value, "__dict__", ()) and callable(value):
            return f"{self.visit(type(value))}({self.visit(value.__wrapped__)})"
        if dataclasses.is_dataclass(value):
            fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
            return self._call(self.visit(type(value)), fields)
        name, parts = self.visit(type(value)), self._reduced(value)
        if isinstance(parts, dict):
            return self._call(name, parts)
        if parts is not None:
            return f"{name} {self.visit(parts)}"
        if getattr(value, "__dict__", None):  # and what else it is, nobody can see
            return f"{self._call(name, vars(value))} {OPAQUE}"
        text = repr(value)
        if ADDRESS.search(text):
            return _opaque(value)
        return f"{name} {self._of_start(text) or text}"

    def _reduced(self, value):
        """Attributes of an object, or all that a pickle holds of it; None if there is none."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # whatever its own methods raise
            return None
        if isinstance(parts, str):
            return parts
        parts = [part if n < 3 else list(part or ()) for n, part in enumerate(parts)]
        state = parts[2] if len(parts) > 2 else None
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # of slots
            state = (state[0] or {}) | state[1]
        if isinstance(state, dict):
            state = {k: v for k, v in state.items() if k not in self._cached_names(type(value))}
        is_new = getattr(parts[0], "__name__", "") == "__newobj__" and len(parts[1]) == 1
        if (is_new or parts[:2] == [type(value), ()]) and not any(parts[3:]):
            return state or {} if isinstance(state, (dict, type(None))) else [state]
        return [*parts[:2], state, *parts[3:]]

    def _cached_names(self, kind):
        """Names of the properties of a class that an object keeps once they were asked for."""
        if kind not in self._cached:
            members = [item for base in kind.__mro__ for item in vars(base).items()]
            cached = [n for n, each in members if isinstance(each, functools.cached_property)]
            self._cached[kind] = set(cached)
        return self._cached[kind]


def _opaque(value):
    return f"{path_of(type(value))} {OPAQUE}"
