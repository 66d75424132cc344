"""Describe any object in one line of text that is the same in every process.

No repr, pickle or hash is the same in every process: they depend on addresses in memory and on
the order of sets. So the text is made here.
"""

import dataclasses
import enum
import functools
import hashlib
import inspect
import json
import logging
import re
import sys
import types
from pathlib import PurePath
from typing import Any

import numpy as np
from scipy import sparse, stats
from scipy.stats.distributions import rv_frozen

from sksearch._code import SCALARS, is_installed, members_of, parts_of

LONGEST = 2000  # characters of a description; what is longer ends with a digest of all of it
MANY = 1000  # items from which on a list is described by a digest
DEEPEST = 60  # levels of objects within objects
BLOCK = 2**24  # bytes that are hashed at a time, so that no array is copied as a whole

# Parameters of estimators that change how fast they are, or what they print, and nothing else.
FREE_PARAMS = {"n_jobs", "verbose", "memory"}
FREE_PARAMS_OF_ALL = {"n_jobs"}  # whoever has written the estimator
GENERATORS = (np.random.RandomState, np.random.Generator)
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def describe(
    value: Any,
    memo: dict | None = None,
    deep: bool = True,
    exact: bool = False,
    code: bool = True,
) -> str:
    """Describe any object.

    A function is described by its name, code, defaults and closure, and by the functions, classes
    and constants of its module that it uses; a class by its name and the code of its methods,
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

    Returns
    -------
    str
        At most 2000 characters.
    """
    return _Visitor({} if memo is None else memo, deep, exact, code).visit(value)


def fingerprint(value: Any) -> str:
    """Return 16 hexadecimal digits that change with whatever makes an object what it is."""
    return digest(describe(value, exact=True))


def short_repr(value: Any, limit: int) -> str:
    """Return a repr on one line of at most `limit` characters, without addresses in memory."""
    try:
        text = " ".join(ADDRESS.sub("", repr(value)).split())
    except Exception:  # an object whose repr fails has a text, too
        text = ""
    text = text or type(value).__name__
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of a text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cut(text: str, limit: int = LONGEST) -> str:
    """Shorten a text to `limit` characters, so that different texts stay different."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 24]} ... #{digest(text)}"


def path_of(cls: Any) -> str:
    """Return module and name of a class or function."""
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", getattr(cls, "__name__", str(cls)))
    return name if module in (None, "builtins") else f"{module}.{name}"


def is_free(name: str, estimator: Any) -> bool:
    """Whether a parameter of an estimator, by its own name, has no effect on results."""
    return name in (FREE_PARAMS if is_installed(type(estimator)) else FREE_PARAMS_OF_ALL)


class _Visitor:
    """Visits an object and all that it is made of, and returns their texts."""

    def __init__(self, memo, deep, exact, code):
        self._memo = memo  # texts by id, with the object so that no other gets its id
        self._deep, self._exact, self._code = deep, exact, code
        self._depth = 0

    def visit(self, value: Any) -> str:
        """Return the text of a value; parts that were visited before are not visited again."""
        if type(value) in SCALARS:
            return cut(repr(value))
        if issubclass(type(value), np.generic):
            return _numpy_scalar(value)
        if id(value) in self._memo:
            return self._memo[id(value)][1]
        if self._depth >= DEEPEST:
            return f"{path_of(type(value))} (too deep)"
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
            return f"{path_of(type(value))}.{value.name}"
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, logging.Logger):
            return f"logger {value.name}"
        if isinstance(value, np.ufunc):
            return f"numpy.{value.__name__}"
        if is_installed(value):
            return path_of(value)
        if isinstance(value, type):
            return f"{path_of(value)}{self._own_code(value)}"
        return None

    def _own_code(self, value):
        """Digest of the code of a class or function, and of what it uses."""
        if not self._code:
            return ""
        own = members_of(value) if isinstance(value, type) else parts_of(value)
        return f"#{digest(self.visit(own))}"

    def _function(self, value):
        """Describe functions, methods and partial functions; None for all else."""
        if isinstance(value, functools.partial):
            fields = {"function": value.func, "args": value.args, "keywords": value.keywords}
            return self._call("partial", fields)
        if isinstance(value, types.MethodType):
            return f"{self.visit(value.__func__)} of {self.visit(value.__self__)}"
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            of = "" if owner is None else f" of {self.visit(owner)}"
            return f"{value.__qualname__}{of}"
        if isinstance(value, types.FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            fields = {"closure": cells} if cells else {}
            if value.__defaults__ or value.__kwdefaults__:
                fields["defaults"] = (value.__defaults__, value.__kwdefaults__)
            if self._exact and vars(value):
                fields["attributes"] = vars(value)
            return self._call(f"{path_of(value)}{self._own_code(value)}", fields)
        if hasattr(value, "__wrapped__") and callable(value):
            return f"{self.visit(type(value))}({self.visit(value.__wrapped__)})"
        return None

    # ---- data

    def _data(self, value):
        """Describe arrays and frames of any library; None for all else."""
        if isinstance(value, np.ma.MaskedArray):
            return f"masked {self._array(value.filled())} {self._array(value.mask)}"
        if isinstance(value, np.ndarray):
            return self._array(value)
        if sparse.issparse(value):
            return _sparse(value)
        pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
        if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
            return self._pandas(value)
        if pandas is not None and isinstance(value, pandas.Index):
            return self._pandas(value.to_series())
        if polars is not None and isinstance(value, (polars.DataFrame, polars.Series)):
            return self._polars(value)
        if hasattr(value, "__array__") and hasattr(value, "shape"):
            # A tensor of torch may be on a GPU, or part of a graph.
            array = value.detach().cpu() if hasattr(value, "detach") else value
            return f"{path_of(type(value))} {self._array(np.asarray(array))}"
        return None

    def _array(self, array):
        head = f"ndarray {array.shape} {array.dtype}"
        if array.dtype.hasobject:
            return f"{head} #{self._items(array.reshape(-1).tolist())}"
        return f"{head} #{_bytes_digest(array)}"

    def _pandas(self, frame):
        """Describe a DataFrame or Series without its index."""
        if frame.ndim == 1:
            return f"Series {frame.shape} {self._pandas_column(frame)} name={frame.name!r}"
        kinds = set(frame.dtypes)
        columns = [
            f"{self.visit(name)}: {dtype}"
            for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        ]
        if len(kinds) == 1 and _is_plain(next(iter(kinds))):
            contents = _bytes_digest(frame.to_numpy())
        else:
            parts = [self._pandas_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
            contents = digest(" ".join(parts))
        return f"DataFrame {frame.shape} #{contents} [{', '.join(columns)}]"

    def _pandas_column(self, column):
        """Describe type and contents of a column."""
        dtype = column.dtype
        if _is_plain(dtype):
            return f"{dtype} #{_bytes_digest(column.to_numpy())}"
        if hasattr(dtype, "categories"):
            kind = "ordered" if dtype.ordered else "unordered"
            categories = self.visit(list(dtype.categories))
            return f"category {kind} {categories} #{_bytes_digest(column.cat.codes.to_numpy())}"
        if dtype.kind == "M":  # with a time zone
            utc = column.dt.tz_convert("UTC").dt.tz_localize(None)
            return f"{dtype} #{_bytes_digest(utc.to_numpy())}"
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
            return f"{dtype} #{_bytes_digest(values)} {_bytes_digest(missing)}"
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
        if not hasattr(value, "get_params"):
            return None
        if not self._deep:
            return self.visit(type(value))
        params = value.get_params(deep=False).items()
        fields = {name: param for name, param in params if not is_free(name, value)}
        return self._call(self.visit(type(value)), fields)

    def _object(self, value):
        """Describe any other object by its attributes, else by its repr or its type."""
        if self._exact and not dataclasses.is_dataclass(value):
            return f"{self.visit(type(value))} {self.visit(_reduced(value))}"
        if isinstance(value, GENERATORS):
            return _opaque(value)
        if isinstance(value, PurePath):  # its attributes come with its use, a hash among them
            return f"{self.visit(type(value))} {str(value)!r}"
        if attributes := _attributes(value):
            return self._call(self.visit(type(value)), attributes)
        text = repr(value)
        if not ADDRESS.search(text):
            return f"{self.visit(type(value))} {text}"
        return _opaque(value) if attributes is None else f"{self.visit(type(value))}()"


def _opaque(value):
    return f"{path_of(type(value))} (opaque)"


def _numpy_scalar(value):
    """Describe a scalar of NumPy like the one of Python, which is what a candidate gets."""
    if value.dtype.kind in "biufcSU" and type(value.item()) in SCALARS:
        return cut(repr(value.item()))
    return f"{value.dtype} {value}"


def _sparse(matrix):
    """Describe a sparse matrix or array."""
    # The other formats become CSR, COO included: their entries are in no particular order.
    csr = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    parts = [_bytes_digest(part) for part in (csr.data, csr.indices, csr.indptr)]
    head = f"sparse {matrix.format} {matrix.shape} {matrix.dtype}"
    return f"{head} #{digest(' '.join(parts))}"


def _is_plain(dtype):
    """Whether the bytes of a column are its values."""
    return isinstance(dtype, np.dtype) and not dtype.hasobject


def _bytes_digest(array):
    """Digest of an array's values in C order, whatever their order in memory is."""
    sha = hashlib.sha256()
    array = np.atleast_1d(array)
    n_rows = max(1, BLOCK // max(1, array.nbytes // max(1, len(array))))
    for start in range(0, len(array), n_rows):
        block = np.ascontiguousarray(array[start : start + n_rows])
        sha.update(block.reshape(-1).view(np.uint8).data)
    return sha.hexdigest()[:16]


def _reduced(value):
    """What a pickle holds of an object, without its cached properties."""
    parts = [part if n < 3 else list(part or ()) for n, part in enumerate(value.__reduce_ex__(4))]
    if len(parts) > 2 and isinstance(parts[2], dict):
        parts[2] = {k: v for k, v in parts[2].items() if not _is_cached(type(value), k)} or None
    return parts


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
