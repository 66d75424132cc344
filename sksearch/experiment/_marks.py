"""What tells a changed search or problem from an unchanged one, in every process."""

import functools
import hashlib
import inspect
import types
from dataclasses import fields, is_dataclass

import joblib
import numpy as np


def mark(obj):
    """A few letters that tell a changed search or problem from an unchanged one."""
    return hashlib.sha256(repr(_description(obj)).encode()).hexdigest()[:16]


def _description(obj, above=()):
    """What an object is, in words that are the same in every process.

    Not its pickle, where frozen distributions have the state of the global generator, and not
    its repr, which shortens arrays and shows addresses.
    """
    if isinstance(obj, (type(None), bool, int, float, complex, str, bytes, range)):
        return repr(obj)
    if id(obj) in above:
        return "itself"
    inside = functools.partial(_description, above=(*above, id(obj)))
    kind = f"{type(obj).__module__}.{type(obj).__qualname__}"
    if isinstance(obj, np.ndarray) and obj.dtype != object:
        return kind, str(obj.dtype), obj.shape, hashlib.sha256(obj.tobytes()).hexdigest()
    if isinstance(obj, dict):  # in its order, which decides what is drawn first
        return kind, [(inside(name), inside(value)) for name, value in obj.items()]
    if isinstance(obj, (set, frozenset)):
        return kind, sorted(repr(inside(value)) for value in obj)
    if isinstance(obj, (list, tuple)):
        return kind, [inside(value) for value in obj]
    return kind, inside(_parts(obj))


def _parts(obj):
    """What makes an object what it is: its code, parameters, fields or attributes."""
    if isinstance(obj, types.FunctionType):
        cells = [cell.cell_contents for cell in obj.__closure__ or ()]
        defaults = (obj.__defaults__, obj.__kwdefaults__)
        return [obj.__module__, obj.__qualname__, obj.__code__, defaults, cells, vars(obj)]
    if isinstance(obj, types.CodeType):
        return [obj.co_code, obj.co_names, obj.co_consts]
    if isinstance(obj, types.MethodType):
        return [obj.__func__, obj.__self__]
    if isinstance(obj, functools.partial):
        return [obj.func, obj.args, obj.keywords]
    if inspect.isclass(obj) or hasattr(obj, "__name__"):
        return [getattr(obj, "__module__", ""), getattr(obj, "__qualname__", obj.__name__)]
    if hasattr(obj, "dist") and hasattr(obj, "kwds"):  # a frozen distribution
        return [type(obj.dist), obj.args, obj.kwds]
    if hasattr(obj, "get_params"):
        return obj.get_params(deep=False)
    if is_dataclass(obj):
        return {field.name: getattr(obj, field.name) for field in fields(obj)}
    if hasattr(obj, "__dict__") and not hasattr(obj, "__array__"):
        # As it would be pickled: without what an object only keeps to be faster.
        state = obj.__getstate__()
        if not isinstance(state, dict):
            return state
        cached = {n for n in state if isinstance(_of_class(obj, n), functools.cached_property)}
        return {name: value for name, value in state.items() if name not in cached}
    return joblib.hash(obj)  # arrays of objects, frames, generators with their state


def _of_class(obj, name):
    return inspect.getattr_static(type(obj), name, None)
