"""What an object is, in one line of text that is the same in every process.

Neither reprs nor pickles nor hashes are: they hold addresses, and the order of sets and the
place in memory of two equal objects change them. So this is a text of our own.
"""

import dataclasses
import enum
import functools
import hashlib
import json
import logging
import re
import sys
import sysconfig
import types
from pathlib import PurePath

import numpy as np
from scipy import sparse, stats
from scipy.stats.distributions import rv_frozen

LONGEST = 2000  # characters of a description; what is longer ends with a digest of all of it
MANY = 1000  # items from which on a list is described by a digest
DEEPEST = 60  # levels of objects within objects
BLOCK = 2**24  # bytes that are hashed at a time, so that no array is copied as a whole

# Parameters of estimators that change how fast they are, or what they print, and nothing else.
FREE = {"n_jobs", "verbose", "memory"}
SCALARS = (type(None), bool, int, float, complex, str, bytes)
GENERATORS = (np.random.RandomState, np.random.Generator)
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def digest(text):
    """The first 16 of the hexadecimal digits of a text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cut(text, limit=LONGEST):
    """A text of at most `limit` characters, unlike for unlike texts of any length."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 24]} ... #{digest(text)}"


def path_of(cls):
    """Module and name of a class or function."""
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", getattr(cls, "__name__", str(cls)))
    return name if module in (None, "builtins") else f"{module}.{name}"


class Describer:
    """Describe objects; one that occurs again and again is looked at once.

    Parameters
    ----------
    into_estimators : bool, default=True
        Whether estimators are described with their parameters, or by their class alone.
    """

    def __init__(self, into_estimators=True):
        self._into_estimators = into_estimators
        self._known = {}  # texts by id, with the object so that no other gets its id
        self._depth = 0

    def text(self, value):
        """Describe any object.

        Functions are told by their name, code, defaults and closure, those of installed
        packages by their name alone, so that a new version of scikit-learn is not another
        scorer. What a function finds in its module is not looked at. A generator of random
        numbers, and whatever cannot be looked into, is told by its type: "(opaque)".

        Parameters
        ----------
        value : object
            Anything.

        Returns
        -------
        str
            At most 2000 characters.
        """
        if type(value) in SCALARS:
            return cut(repr(value))
        if issubclass(type(value), np.generic):
            return _numpy_scalar(value)
        if id(value) in self._known:
            return self._known[id(value)][1]
        if self._depth >= DEEPEST:
            return f"{path_of(type(value))} (too deep)"
        self._known[id(value)] = (value, "(itself)")
        self._depth += 1
        try:
            text = cut(self._describe(value))
        except Exception:  # whatever its own methods raise: it cannot be looked into
            text = _opaque(value)
        self._depth -= 1
        self._known[id(value)] = (value, text)
        return text

    def _describe(self, value):
        for describe in (
            self._named,
            self._function,
            self._data,
            self._container,
            self._distribution,
            self._estimator,
        ):
            if (text := describe(value)) is not None:
                return text
        return self._object(value)

    def call(self, name, fields):
        """``name(key=text, ...)``, sorted by key."""
        inside = ", ".join(f"{key}={self.text(fields[key])}" for key in sorted(fields))
        return f"{name}({inside})"

    # ---- what has a name, and functions

    def _named(self, value):
        if isinstance(value, enum.Enum):
            return f"{path_of(type(value))}.{value.name}"
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, logging.Logger):
            return f"logger {value.name}"
        if isinstance(value, np.ufunc):
            return f"numpy.{value.__name__}"
        if isinstance(value, type) or _is_installed(value):
            return path_of(value)
        return None

    def _function(self, value):
        if isinstance(value, functools.partial):
            fields = {"function": value.func, "args": value.args, "keywords": value.keywords}
            return self.call("partial", fields)
        if isinstance(value, types.MethodType):
            return f"{self.text(value.__func__)} of {self.text(value.__self__)}"
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            of = "" if owner is None else f" of {self.text(owner)}"
            return f"{value.__qualname__}{of}"
        if isinstance(value, types.FunctionType):
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            fields = {"closure": cells} if cells else {}
            if value.__defaults__ or value.__kwdefaults__:
                fields["defaults"] = (value.__defaults__, value.__kwdefaults__)
            return self.call(f"{path_of(value)}#{self._code(value.__code__)}", fields)
        if hasattr(value, "__wrapped__") and callable(value):
            return f"{path_of(type(value))}({self.text(value.__wrapped__)})"
        return None

    def _code(self, code):
        consts = [
            self._code(const) if isinstance(const, types.CodeType) else self.text(const)
            for const in code.co_consts
        ]
        return digest(f"{code.co_code.hex()} {code.co_names} {consts}")

    # ---- data

    def _data(self, value):
        if isinstance(value, np.ma.MaskedArray):
            return f"masked {self._array(value.filled())} {self._array(value.mask)}"
        if isinstance(value, np.ndarray):
            return self._array(value)
        if sparse.issparse(value):
            return self._sparse(value)
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

    def _sparse(self, matrix):
        # The other formats become CSR, COO included: their entries are in no particular order.
        csr = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
        parts = [_bytes_digest(part) for part in (csr.data, csr.indices, csr.indptr)]
        head = f"sparse {matrix.format} {matrix.shape} {matrix.dtype}"
        return f"{head} #{digest(' '.join(parts))}"

    def _pandas(self, frame):
        if frame.ndim == 1:
            return f"Series {frame.shape} {self._pandas_column(frame)} name={frame.name!r}"
        kinds = set(frame.dtypes)
        columns = [
            f"{self.text(name)}: {dtype}"
            for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        ]
        if len(kinds) == 1 and _is_plain(next(iter(kinds))):
            contents = _bytes_digest(frame.to_numpy())
        else:
            parts = [self._pandas_column(frame.iloc[:, j]) for j in range(frame.shape[1])]
            contents = digest(" ".join(parts))
        return f"DataFrame {frame.shape} #{contents} [{', '.join(columns)}]"

    def _pandas_column(self, column):
        """Type and contents of a column; the index is not looked at."""
        dtype = column.dtype
        if _is_plain(dtype):
            return f"{dtype} #{_bytes_digest(column.to_numpy())}"
        if hasattr(dtype, "categories"):
            kind = "ordered" if dtype.ordered else "unordered"
            categories = self.text(list(dtype.categories))
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
        """Digest of a list that may be long: JSON is ten times faster than a text of each."""
        try:
            text = json.dumps(items, default=lambda v: {"$": self.text(v)}, sort_keys=True)
        except (TypeError, ValueError):  # keys that are no strings, a list that holds itself
            text = "\n".join(map(self.text, items))
        return digest(text)

    # ---- containers, distributions, estimators, and anything else

    def _container(self, value):
        kind = type(value)
        name = "" if kind in (list, tuple, dict, set, frozenset) else path_of(kind)
        if isinstance(value, (list, tuple)):
            if len(value) > MANY:
                return f"{name or kind.__name__} of {len(value)} #{self._items(list(value))}"
            left, right = "[]" if isinstance(value, list) else "()"
            return f"{name}{left}{', '.join(map(self.text, value))}{right}"
        if isinstance(value, (set, frozenset)):
            return f"{name}{{{', '.join(sorted(map(self.text, value)))}}}"
        if isinstance(value, dict):
            pairs = sorted(f"{self.text(k)}: {self.text(v)}" for k, v in value.items())
            return f"{name}{{{', '.join(pairs)}}}"
        for base in (str, bytes, int, float, complex):
            if isinstance(value, base):
                return f"{name}({base.__repr__(value)})"
        return None

    def _distribution(self, value):
        """A frozen distribution of SciPy."""
        if not isinstance(value, rv_frozen):
            return None
        dist = value.dist
        args = [self.text(arg) for arg in value.args]
        args += [f"{key}={self.text(arg)}" for key, arg in sorted(value.kwds.items())]
        text = f"{dist.name}({', '.join(args)})"
        if type(getattr(stats, dist.name or "", None)) is type(dist):
            return text
        # A histogram, values with masses, a subclass: the rest is in its attributes.
        own = {
            key: item
            for key, item in vars(dist).items()
            if isinstance(item, (str, int, float, tuple, list, np.ndarray))
        }
        return f"{text} of {self.call(path_of(type(dist)), own)}"

    def _estimator(self, value):
        if not hasattr(value, "get_params"):
            return None
        if not self._into_estimators:
            return path_of(type(value))
        params = value.get_params(deep=False)
        return self.call(path_of(type(value)), {k: v for k, v in params.items() if k not in FREE})

    def _object(self, value):
        if isinstance(value, GENERATORS):
            return _opaque(value)
        attributes = _attributes(value)
        if attributes is not None:
            return self.call(path_of(type(value)), attributes)
        text = str(value) if isinstance(value, PurePath) else repr(value)
        return _opaque(value) if ADDRESS.search(text) else f"{path_of(type(value))} {text}"


def _opaque(value):
    return f"{path_of(type(value))} (opaque)"


def _numpy_scalar(value):
    """As Python's own, which is what a candidate gets."""
    if value.dtype.kind in "biufcSU" and type(value.item()) in SCALARS:
        return cut(repr(value.item()))
    return f"{value.dtype} {value}"


def _is_plain(dtype):
    """Whether the bytes of a column are its contents."""
    return isinstance(dtype, np.dtype) and not dtype.hasobject


def _bytes_digest(array):
    """Digest of an array's values in C order, whatever their order in memory."""
    sha = hashlib.sha256()
    array = np.atleast_1d(array)
    n_rows = max(1, BLOCK // max(1, array.nbytes // max(1, len(array))))
    for start in range(0, len(array), n_rows):
        block = np.ascontiguousarray(array[start : start + n_rows])
        sha.update(block.reshape(-1).view(np.uint8).data)
    return sha.hexdigest()[:16]


def _attributes(value):
    """What an object is made of; None where Python cannot see it."""
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
    return {slot: getattr(value, slot) for slot in slots} | getattr(value, "__dict__", {})


def _is_installed(value):
    """Whether a name is enough: it leads to this very object in an installed package."""
    name, module_name = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
    module = sys.modules.get(module_name) if isinstance(module_name, str) else None
    if module is None or not isinstance(name, str) or module_name == "__main__":
        return False
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    file = getattr(module, "__file__", None)
    if found is not value or file is None:
        return found is value and module_name in sys.builtin_module_names
    parts = PurePath(file).parts
    standard = PurePath(sysconfig.get_path("stdlib")).parts
    return (
        "site-packages" in parts or "dist-packages" in parts or parts[: len(standard)] == standard
    )
