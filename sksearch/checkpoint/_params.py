"""Candidates as JSON values, which are decoded to the user's own objects.

Nothing is pickled. A plain scalar represents itself; other values are dicts with the key "is":

=========  ====================================================================
choice     the i-th choice of the k-th dimension of this name, and its text
numpy      a NumPy scalar: type and value
float      NaN or an infinity, which JSON does not have
tuple      its items
dict       its keys and values
bytes      hexadecimal digits
complex    real and imaginary part
text       a short repr of a value that cannot be stored
=========  ====================================================================
"""

import math
from collections import defaultdict
from typing import Any

import numpy as np

from sksearch._utils._terminal import short_repr
from sksearch.space import Space

PLAIN = (str, int, float, bool, type(None))
NUMPY_KINDS = "biuf"  # booleans and real numbers
LONGEST = 200  # characters of a text


def encode_params(space: Space, params: dict[str, Any]) -> dict[str, Any]:
    """Encode a candidate as JSON values, one for each parameter.

    A value that cannot be stored, such as an array drawn by a custom distribution, is replaced by
    its text.
    """
    listed = _categorical(space)
    return {name: _encode(listed[name], value) for name, value in params.items()}


def decode_params(space: Space, encoded: dict[str, Any]) -> dict[str, Any] | None:
    """Return the encoded candidate, even in another process with an equal space.

    Choices are the user's own objects. None if a value could not be stored, or is not a choice of
    this space: the candidate is proposed again.
    """
    listed = _categorical(space)
    try:
        return {name: _decode(listed[name], value) for name, value in encoded.items()}
    except _NotStoredError:
        return None


def contradicts(space: Space, encoded: dict[str, Any], params: dict[str, Any]) -> bool:
    """Return whether newly proposed parameters differ from the stored candidate."""
    if encoded.keys() != params.keys():
        return True
    again = encode_params(space, params)
    return any(_differs(value, again[name]) for name, value in encoded.items())


def readable(encoded: object) -> Any:
    """Return the table entry of an encoded value, without the space.

    Scalars, and tuples and lists of them, are returned themselves, other values as a text.
    """
    if not isinstance(encoded, dict):
        return [readable(item) for item in encoded] if isinstance(encoded, list) else encoded
    if encoded["is"] in ("choice", "text"):
        return encoded["t"]
    if encoded["is"] == "tuple":
        return tuple(readable(item) for item in encoded["v"])
    if encoded["is"] == "dict":
        return {readable(key): readable(item) for key, item in encoded["v"]}
    return encoded["v"] if encoded["is"] == "numpy" else _undo(encoded)


class _NotStoredError(ValueError):
    """A value is missing in the record or in the space."""


def _differs(encoded: object, again: object) -> bool:
    """Return whether a stored value has changed; the text of a choice may change."""
    if isinstance(encoded, dict) and encoded["is"] == "choice":
        return not isinstance(again, dict) or {**again, "t": ""} != {**encoded, "t": ""}
    try:
        _undo(encoded)
    except _NotStoredError:
        return False
    return again != encoded


def _categorical(space: Space) -> dict[str, list]:
    """List categorical dimensions by name: several if the dicts of a union differ."""
    listed: dict[str, list] = defaultdict(list)
    for dimension in space.all_dimensions:
        if dimension.kind == "categorical":
            listed[dimension.name].append(dimension)
    return listed


def _encode(dimensions: list, value: object) -> Any:
    """Encode a value as a choice of one of the dimensions, otherwise as itself."""
    if type(value) in PLAIN:
        return _store(value)
    place = _place(dimensions, value)
    if place is None:
        return _store(value)
    choice = dimensions[place[0]].choices[place[1]]
    if type(choice) in PLAIN:  # a NumPy scalar in the user's initial_params
        return _store(choice)
    return {"is": "choice", "k": place[0], "i": place[1], "t": short_repr(choice, LONGEST)}


def _place(dimensions: list, value: object) -> tuple[int, int] | None:
    """Return the numbers of dimension and choice, by identity first, then by equality."""
    for k, dimension in enumerate(dimensions):
        for i, choice in enumerate(dimension.choices):
            if choice is value:
                return k, i
    for k, dimension in enumerate(dimensions):
        if (i := dimension.index(value)) is not None:
            return k, i
    return None


def _store(value: Any) -> Any:
    """Encode a value that is not a choice."""
    kind = type(value)
    if kind is float and not math.isfinite(value):
        return {"is": "float", "v": repr(value)}
    if kind in PLAIN:
        return value
    if isinstance(value, np.generic) and value.dtype.kind in NUMPY_KINDS and value.itemsize <= 8:
        return {"is": "numpy", "t": value.dtype.name, "v": value.item()}
    if kind is list:
        return [_store(item) for item in value]
    if kind is tuple:
        return {"is": "tuple", "v": [_store(item) for item in value]}
    if kind is dict:
        return {"is": "dict", "v": [[_store(key), _store(item)] for key, item in value.items()]}
    if kind is bytes:
        return {"is": "bytes", "v": value.hex()}
    if kind is complex:
        return {"is": "complex", "v": [value.real, value.imag]}
    return {"is": "text", "t": short_repr(value, LONGEST)}


def _decode(dimensions: list, encoded: object) -> Any:
    """Decode a value, as an equal object of the space if possible."""
    if isinstance(encoded, dict) and encoded["is"] == "choice":
        k, i = encoded["k"], encoded["i"]
        if k < len(dimensions) and i < dimensions[k].size:
            choice = dimensions[k].choices[i]
            if short_repr(choice, LONGEST) == encoded["t"]:
                return choice
        raise _NotStoredError
    value = _undo(encoded)
    for dimension in dimensions:
        if (i := dimension.index(value)) is not None:
            return dimension.choices[i]
    return value


def _undo(encoded: object) -> Any:
    """Invert `_store`."""
    if isinstance(encoded, list):
        return [_undo(item) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    kind = encoded["is"]
    value: Any = encoded.get("v")
    if kind == "float":
        return float(value)
    if kind == "numpy":
        dtype = np.dtype(encoded["t"])
        if dtype.kind not in NUMPY_KINDS:
            raise ValueError(f"{dtype} is not a type of numbers")
        return dtype.type(value)
    if kind == "tuple":
        return tuple(_undo(item) for item in value)
    if kind == "dict":
        return {_undo(key): _undo(item) for key, item in value}
    if kind == "bytes":
        return bytes.fromhex(value)
    if kind == "complex":
        return complex(*value)
    raise _NotStoredError
