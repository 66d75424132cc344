"""Short texts that stand for long texts and for arrays, the same in every process."""

import hashlib
from typing import Any

import numpy as np

SCALARS = (type(None), bool, int, float, complex, str, bytes)
LONGEST = 2000  # characters of a description; what is longer ends with a digest of all of it
BLOCK = 2**24  # bytes that are hashed at a time, so that no array is copied as a whole


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of a text's sha256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def cut(text: str, limit: int = LONGEST) -> str:
    """Shorten a text to `limit` characters, so that different texts stay different."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 24]} ... #{digest(text)}"


def numpy_scalar(value: Any) -> str:
    """Describe a scalar of NumPy like the one of Python, which is what a candidate gets."""
    if value.dtype.kind in "biufcSU" and type(value.item()) in SCALARS:
        return cut(repr(value.item()))
    return f"{value.dtype} {value}"


def sparse_digest(matrix: Any) -> str:
    """Describe a sparse matrix or array."""
    # The other formats become CSR, COO included: their entries are in no particular order.
    csr = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    parts = [bytes_digest(part) for part in (csr.data, csr.indices, csr.indptr)]
    head = f"sparse {matrix.format} {matrix.shape} {matrix.dtype}"
    return f"{head} #{digest(' '.join(parts))}"


def is_plain(dtype: Any) -> bool:
    """Whether the bytes of a column are its values."""
    return isinstance(dtype, np.dtype) and not dtype.hasobject


def bytes_digest(array: np.ndarray) -> str:
    """Digest of an array's values in C order, whatever their order in memory is."""
    sha = hashlib.sha256()
    array = np.atleast_1d(array)
    n_rows = max(1, BLOCK // max(1, array.nbytes // max(1, len(array))))
    for start in range(0, len(array), n_rows):
        block = np.ascontiguousarray(array[start : start + n_rows])
        sha.update(block.reshape(-1).view(np.uint8).data)
    return sha.hexdigest()[:16]
