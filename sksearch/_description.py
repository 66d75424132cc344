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
import inspect
import json
import logging
import random
import re
import sys
import threading
import types
import weakref
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import sparse, stats
from scipy.stats.distributions import rv_frozen

from sksearch._code import is_installed, path_of, wraps
from sksearch._code_texts import OPAQUE, CodeTexts, Found, given_to
from sksearch._digests import (
    SCALARS,
    bytes_digest,
    cut,
    digest,
    is_plain,
    numpy_scalar,
    sparse_digest,
)
from sksearch._plain import printable

MANY = 1000  # items from which on a list is described by a digest
DEEPEST = 60  # levels of objects within objects
MOST = 200_000  # objects of the data that code uses; what is beyond them is not looked into

# Parameters of estimators that change how fast they are, or what they print, and nothing else.
FREE_PARAMS = {"n_jobs", "verbose", "memory"}
FREE_PARAMS_OF_ALL = {"n_jobs"}  # whoever has written the estimator
OF_THREADS = (threading.Event, threading.Condition, threading.Semaphore)
GENERATORS = (np.random.RandomState, np.random.Generator, random.Random)

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def describe(
    value: Any,
    memo: dict | None = None,
    deep: bool = True,
    exact: bool = False,
    code: bool = True,
    data: Found | None = None,
    codes: dict[str, str] | None = None,
) -> str:
    """Describe any object.

    A function is described by its name, code, defaults and closure, and by the functions, classes
    and data of its module that it uses; a class by its name and the code of its methods,
    inherited ones too. Those of an installed package are described by their name alone, so that a
    new version of scikit-learn is not another scorer. A generator of random numbers, and whatever
    cannot be looked into, is described by its type: "(opaque)".

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
        Whether the order of dicts, the attributes of functions and the state of generators are
        parts of the text, and cached properties and what ``__getstate__`` leaves out are not.
    code : bool, default=True
        Whether code is part of the text.
    data : dict or None, default=None
        Where to put the data that code uses, by module and name, with their texts; what it reads
        from elsewhere has no `Datum`. None: they are part of the text.
    codes : dict or None, default=None
        Where to put the digest of each function and class that is looked at, by module and name.

    Returns
    -------
    str
        At most 2000 characters.
    """
    return _Visitor({} if memo is None else memo, deep, exact, code, data, codes=codes).visit(
        value
    )


def fingerprint(value: Any) -> str:
    """Return 16 hexadecimal digits that change with whatever makes an object what it is."""
    return digest(describe(value, exact=True))


def short_repr(value: Any, limit: int) -> str:
    """Return a repr on one line of at most `limit` characters, without addresses in memory."""
    try:
        text = printable(" ".join(ADDRESS.sub("", repr(value)).split()))
    except Exception:  # an object whose repr fails has a text, too
        text = ""
    text = text or type(value).__name__
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def counted(n: int, noun: str) -> str:
    """Return a count with its noun: 1 candidate, 2 candidates."""
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def is_free(name: str, estimator: Any) -> bool:
    """Whether a parameter of an estimator, by its own name, has no effect on results."""
    return name in (FREE_PARAMS if is_installed(type(estimator)) else FREE_PARAMS_OF_ALL)


class _Visitor:
    """Visits an object and all that it is made of, and returns their texts."""

    def __init__(self, memo, deep, exact, code, data=None, whole=False, codes=None):
        self._memo = memo  # texts by id, with the object so that no other gets its id
        self._deep, self._exact, self._code = deep, exact, code
        self._globals = data
        self._codes = CodeTexts(self.visit, self.visit_all_of, data, code, codes)
        self._whole = whole  # fitted attributes, indices and attributes of functions, too
        self._depth = self._n_objects = 0
        self._of_data = self if whole else None

    def visit(self, value: Any) -> str:
        """Return the text of a value; parts that were visited before are not visited again."""
        if type(value) in SCALARS:
            return cut(repr(value))
        if issubclass(type(value), np.generic):
            return numpy_scalar(value)
        if id(value) in self._memo:
            return self._memo[id(value)][1]
        if self._depth >= DEEPEST:
            return f"{path_of(type(value))} (too deep)"
        self._n_objects += 1
        if self._whole and self._n_objects > MOST:
            return _opaque(value)
        self._memo[id(value)] = (value, "(itself)")
        self._depth += 1
        try:
            text = cut(self._text(value))
        except Exception:  # whatever its own methods raise: it cannot be looked into
            text = _opaque(value)
        self._depth -= 1
        self._memo[id(value)] = (value, text)
        return text

    def _text(self, value):
        """Return the text of the first kind to which a value belongs."""
        for describe_kind in (
            self._named,
            self._function,
            self._data,
            self._container,
            self._distribution,
            self._estimator,
        ):
            if (text := describe_kind(value)) is not None:
                return text
        return self._object(value)

    def _call(self, name, fields):
        """Write fields as ``name(key=text, ...)``, sorted by key."""
        inside = ", ".join(f"{key}={self.visit(fields[key])}" for key in sorted(fields))
        return f"{name}({inside})"

    # ---- names, classes and functions

    def _named(self, value):
        """Describe classes, modules and all else that a name identifies; None for others."""
        if isinstance(value, enum.Enum):
            of = "" if is_installed(type(value)) else f"={self.visit(value.value)}"
            return f"{path_of(type(value))}.{value.name}{of}"
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, logging.Logger):
            return f"logger {value.name}"
        if isinstance(value, np.ufunc):
            # One of `np.frompyfunc` has a function of Python, and no attribute that leads there.
            own = [self.visit(each) for each in gc.get_referents(value) if callable(each)]
            return " of ".join([f"numpy.{value.__name__}", *own])
        if is_installed(value):
            return path_of(value)
        if isinstance(value, type):
            return f"{path_of(value)}{self._codes.suffix(value)}"
        return None

    def visit_all_of(self, datum: Any) -> str:
        """Return the text of data that code uses, with all that they are."""
        if self._of_data is None:
            self._of_data = _Visitor({}, True, False, self._code, self._globals, whole=True)
        self._of_data._depth = self._depth
        return self._of_data.visit(datum)

    def _function(self, value):
        """Describe functions, methods and partial functions; None for all else."""
        if isinstance(value, functools.partial):
            fields = {"function": value.func, "args": value.args, "keywords": value.keywords}
            return self._call("partial", fields)
        if isinstance(value, weakref.ref):
            return f"reference to {self.visit(value())}"
        if isinstance(value, types.MethodType):
            return f"{self.visit(value.__func__)} of {self.visit(value.__self__)}"
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            of = "" if owner is None else f" of {self.visit(owner)}"
            return f"{value.__qualname__}{of}"
        if isinstance(value, types.FunctionType):
            fields = given_to(value)
            if self._exact and vars(value):
                fields["attributes"] = vars(value)
            return self._call(f"{path_of(value)}{self._codes.suffix(value)}", fields)
        if wraps(value) and callable(value):
            return f"{self.visit(type(value))}({self.visit(value.__wrapped__)})"
        return None

    # ---- data

    def _data(self, value):
        """Describe arrays and frames of any library; None for all else."""
        if isinstance(value, np.ma.MaskedArray):
            return f"masked {self._array(value.filled())} {self._array(value.mask)}"
        if isinstance(value, np.ndarray):
            # Of a class whose arrays calculate otherwise.
            is_other = self._whole and type(value) not in (np.ndarray, np.memmap)
            return f"{self.visit(type(value)) if is_other else ''}{self._array(value)}"
        if sparse.issparse(value):
            return sparse_digest(value)
        pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
        if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
            return self._pandas(value)
        if pandas is not None and isinstance(value, pandas.Index):
            return self._index(value)
        if polars is not None and isinstance(value, (polars.DataFrame, polars.Series)):
            return self._polars(value)
        if pandas is not None and isinstance(value, pandas.api.extensions.ExtensionArray):
            return f"{path_of(type(value))} {self._pandas_column(pandas.Series(value))}"
        if isinstance(value, memoryview):
            return f"memoryview {value.format} {value.shape} #{self._items(value.tolist())}"
        # Of the type: an object may have any attribute that it is asked for.
        if hasattr(type(value), "__array__") and hasattr(value, "shape"):
            # A tensor of torch may be on a GPU, or part of a graph.
            array = value.detach().cpu() if hasattr(value, "detach") else value
            return f"{path_of(type(value))} {self._array(np.asarray(array))}"
        return None

    def _array(self, array):
        head = f"ndarray {array.shape} {array.dtype}"
        if array.dtype.hasobject:
            return f"{head} #{self._items(array.reshape(-1).tolist())}"
        return f"{head} #{bytes_digest(array)}"

    def _index(self, index):
        """Describe an index: its names and levels."""
        frame = index.to_frame(index=False)
        columns = [self._pandas_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
        return f"Index {index.shape} {' '.join(columns)} names={list(index.names)!r}"

    def _pandas(self, frame):
        """Describe a DataFrame or Series; its index only where nothing may be left out."""
        index = f" {self._index(frame.index)}" if self._whole else ""
        if frame.ndim == 1:
            column = self._pandas_column(frame)
            return f"Series {frame.shape} {column} name={frame.name!r}{index}"
        kinds = set(frame.dtypes)
        columns = [
            f"{self.visit(name)}: {dtype}"
            for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        ]
        if len(kinds) == 1 and is_plain(next(iter(kinds))):
            contents = bytes_digest(frame.to_numpy())
        else:
            parts = [self._pandas_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
            contents = digest(" ".join(parts))
        return f"DataFrame {frame.shape} #{contents} [{', '.join(columns)}]{index}"

    def _pandas_column(self, column):
        """Describe type and contents of a column."""
        dtype = column.dtype
        if is_plain(dtype):
            return f"{dtype} #{bytes_digest(column.to_numpy())}"
        if hasattr(dtype, "categories"):
            kind = "ordered" if dtype.ordered else "unordered"
            categories = self.visit(list(dtype.categories))
            return f"category {kind} {categories} #{bytes_digest(column.cat.codes.to_numpy())}"
        if dtype.kind == "M":  # with a time zone
            utc = column.dt.tz_convert("UTC").dt.tz_localize(None)
            return f"{dtype} #{bytes_digest(utc.to_numpy())}"
        return f"{dtype} #{self._items(column.tolist())}"

    def _polars(self, frame):
        if not hasattr(frame, "get_columns"):
            return f"polars Series ({frame.len()},) {self._polars_column(frame)}"
        columns = [f"{c.name!r}: {c.dtype}" for c in frame.get_columns()]
        contents = digest(" ".join(map(self._polars_column, frame.get_columns())))
        return f"polars DataFrame {frame.shape} #{contents} [{', '.join(columns)}]"

    def _polars_column(self, column):
        dtype = column.dtype
        column = column.to_physical() if dtype.is_temporal() else column
        if column.dtype.is_numeric():
            values, missing = column.fill_null(0).to_numpy(), column.is_null().to_numpy()
            return f"{dtype} #{bytes_digest(values)} {bytes_digest(missing)}"
        return f"{dtype} #{self._items(column.to_list())}"

    def _items(self, items):
        """Digest of a list that may be long: JSON is ten times as fast as a text of each item."""
        try:
            default, sort_keys = (lambda v: {"$": self.visit(v)}), not self._exact
            text = json.dumps(items, default=default, sort_keys=sort_keys)
        except (TypeError, ValueError):  # keys that are no strings, a list that holds itself
            text = "\n".join(map(self.visit, items))
        return digest(text)

    # ---- containers, distributions, estimators, and anything else

    def _container(self, value):
        """Describe containers, and subclasses of containers and scalars; None for all else."""
        kind = type(value)
        name = "" if kind in (list, tuple, dict, set, frozenset) else self.visit(kind)
        if isinstance(value, (list, tuple)):
            if len(value) > MANY:
                return f"{name or kind.__name__} of {len(value)} #{self._items(list(value))}"
            left, right = "[]" if isinstance(value, list) else "()"
            return f"{name}{left}{', '.join(map(self.visit, value))}{right}"
        if isinstance(value, (set, frozenset)):
            return f"{name}{{{', '.join(sorted(map(self.visit, value)))}}}"
        if isinstance(value, dict):
            if isinstance(value, collections.defaultdict):
                name = f"{name}({self.visit(value.default_factory)})"
            pairs = [f"{self.visit(k)}: {self.visit(v)}" for k, v in value.items()]
            # The order decides what a search draws first.
            return f"{name}{{{', '.join(pairs if self._exact else sorted(pairs))}}}"
        for base in (str, bytes, int, float, complex):
            if isinstance(value, base):
                return f"{name}({base.__repr__(value)})"
        return None

    def _distribution(self, value):
        """Describe a frozen distribution of SciPy; None for all else."""
        if not isinstance(value, rv_frozen):
            return None
        dist = value.dist
        args = [self.visit(arg) for arg in value.args]
        args += [f"{key}={self.visit(arg)}" for key, arg in sorted(value.kwds.items())]
        text = f"{dist.name}({', '.join(args)})"
        if type(getattr(stats, dist.name or "", None)) is type(dist):
            return text
        # A histogram, values with masses, a subclass: the rest is in its attributes.
        own = {
            key: item
            for key, item in vars(dist).items()
            if isinstance(item, (str, int, float, tuple, list, np.ndarray))
        }
        return f"{text} of {self._call(path_of(type(dist)), own)}"

    def _estimator(self, value):
        if not hasattr(type(value), "get_params"):
            return None
        if not self._deep:
            return self.visit(type(value))
        params = value.get_params(deep=False).items()
        fields = {name: param for name, param in params if not is_free(name, value)}
        if self._whole:  # what it has learnt
            fields |= {
                k: v for k, v in (_attributes(value) or {}).items() if k not in dict(params)
            }
        return self._call(self.visit(type(value)), fields)

    def _object(self, value):
        """Describe any other object by its attributes, else by its repr or its type."""
        if self._exact and not dataclasses.is_dataclass(value):
            return f"{self.visit(type(value))} {self.visit(_reduced(value))}"
        if isinstance(value, GENERATORS + OF_THREADS):
            return _opaque(value)
        if isinstance(value, contextvars.ContextVar):
            # What is set belongs to a training; without a default there is an error: opaque.
            fields = {"default": contextvars.Context().run(value.get)}
            return f"{self._call('ContextVar', fields)} {OPAQUE}"
        if self._whole and is_installed(type(value)) and (parts := _whole_of(value)):
            return f"{path_of(type(value))} {self.visit(parts)}"
        if isinstance(value, PurePath):  # its attributes come with its use, a hash among them
            return f"{self.visit(type(value))} {str(value)!r}"
        if attributes := _attributes(value):
            return self._call(self.visit(type(value)), attributes)
        text = repr(value)
        if not ADDRESS.search(text):
            return f"{self.visit(type(value))} {text}"
        return _opaque(value) if attributes is None else f"{self.visit(type(value))}()"


def _opaque(value):
    return f"{path_of(type(value))} {OPAQUE}"


def _reduced(value):
    """What a pickle holds of an object, without its cached properties."""
    parts = [part if n < 3 else list(part or ()) for n, part in enumerate(value.__reduce_ex__(4))]
    if len(parts) > 2 and isinstance(parts[2], dict):
        parts[2] = {k: v for k, v in parts[2].items() if not _is_cached(type(value), k)} or None
    return parts


def _whole_of(value):
    """What a pickle holds of an object, None if it cannot be pickled."""
    try:
        return _reduced(value)
    except Exception:  # whatever its own methods raise
        return None


def _is_cached(cls, name):
    return isinstance(inspect.getattr_static(cls, name, None), functools.cached_property)


def _attributes(value):
    """Return fields, slots or attributes of an object; None if it has no such thing."""
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    slots = [
        slot
        for cls in type(value).__mro__
        for slot in np.atleast_1d(cls.__dict__.get("__slots__", ())).tolist()
        if hasattr(value, slot) and slot not in ("__dict__", "__weakref__")
    ]
    if not hasattr(value, "__dict__") and not slots:
        return None
    fields = {slot: getattr(value, slot) for slot in slots} | getattr(value, "__dict__", {})
    return {name: field for name, field in fields.items() if not _is_cached(type(value), name)}
