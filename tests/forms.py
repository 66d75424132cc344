"""Forms of X and y that scikit-learn's searches pass on to the estimator."""

import datetime
import decimal
from array import array
from collections import UserList

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.utils._param_validation import Interval  # noqa: F401

N = 40
rng = np.random.RandomState(0)
NUMBERS = rng.rand(N, 3).round(3)
LABELS = (NUMBERS[:, 0] > 0.5).astype(int)
WORDS = np.where(LABELS, "yes", "no")
TARGET = NUMBERS @ [1.0, 2.0, 3.0]
MANY = np.column_stack([LABELS, 1 - LABELS, NUMBERS[:, 1] > 0.4]).astype(int)
DAYS = pd.date_range("2020-01-01", periods=N, freq="D")


def gap(values, row, dtype=None, missing=pd.NA):
    """A column with a gap in one row."""
    values = list(values)
    values[row] = missing
    return pd.Series(values, dtype=dtype)


def objects(values):
    """A one-dimensional array of any objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def of_cells(values):
    """A table with a column of any objects."""
    return pd.DataFrame({"a": NUMBERS[:, 0], "cell": objects(values)})


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def table(**columns):
    return pd.DataFrame({"a": NUMBERS[:, 0], **columns})


def frame():
    return pd.DataFrame(NUMBERS, columns=["a", "b", "c"])


def memory_map(folder):
    made = np.memmap(folder / "X.dat", dtype=float, mode="w+", shape=(N, 3))
    made[:] = NUMBERS
    return np.memmap(folder / "X.dat", dtype=float, mode="r", shape=(N, 3))


BOOLS = [bool(b) for b in LABELS]
TEXTS = [f"word {i % 5}" for i in range(N)]

#: Forms of X; a function gets a folder.
XS = {
    "floats": NUMBERS,
    "integers": (NUMBERS * 9).astype(int),
    "float16": NUMBERS.astype(np.float16),
    "float32, by columns": np.asfortranarray(NUMBERS, dtype=np.float32),
    "longdouble": NUMBERS.astype(np.longdouble),
    "complex": NUMBERS + 1j,
    "big-endian": NUMBERS.astype(">f8"),
    "booleans": NUMBERS > 0.5,
    "objects": NUMBERS.astype(object),
    "objects with None": np.where(NUMBERS > 0.9, None, NUMBERS.astype(object)),
    "objects with NA": np.where(NUMBERS > 0.9, pd.NA, NUMBERS.astype(object)),
    "objects and texts": np.column_stack([objects(TEXTS), objects(LABELS)]),
    "fixed texts": np.array(TEXTS)[:, None],
    "string dtype of numpy": np.array(TEXTS, dtype=np.dtypes.StringDType())[:, None],
    "strings with NA of numpy": np.array(
        [None, *TEXTS[1:]], dtype=np.dtypes.StringDType(na_object=None)
    )[:, None],
    "bytes": np.array(TEXTS, dtype="S")[:, None],
    "days": DAYS.to_numpy()[:, None],
    "spans": (DAYS - DAYS[0]).to_numpy()[:, None],
    "gaps": np.where(NUMBERS > 0.9, np.nan, NUMBERS),
    "infinite": np.where(NUMBERS > 0.9, np.inf, NUMBERS),
    "masked": np.ma.masked_greater(NUMBERS, 0.9),
    "read-only": read_only(NUMBERS),
    "memory map": memory_map,
    "one column": NUMBERS[:, 0],
    "no columns": np.empty((N, 0)),
    "images": rng.rand(N, 2, 3, 1),
    "records": np.rec.fromarrays(NUMBERS.T, names="a,b,c"),
    "structured": np.array(
        [tuple(r) for r in NUMBERS], dtype=[("a", float), ("b", float), ("c", float)]
    ),
    "nested records": np.array(
        [((r[0], r[1]), r[2]) for r in NUMBERS],
        dtype=[("a", [("x", float), ("y", float)]), ("c", float)],
    ),
    "arrays as cells": of_cells([np.arange(i % 3 + 1) for i in range(N)]),
    "equal arrays as cells": of_cells([np.arange(3) for i in range(N)]),
    "lists as cells": of_cells([[i, i + 1] for i in range(N)]),
    "dicts as cells": of_cells([{"n": i} for i in range(N)]),
    "frames as cells": of_cells([frame().iloc[:2] for i in range(N)]),
    "Series as cells": of_cells([pd.Series([i, 2]) for i in range(N)]),
    "sparse as cells": of_cells([sparse.csr_matrix([[i, 0]]) for i in range(N)]),
    "objects as cells": of_cells([object() for i in range(N)]),
    "decimals": of_cells([decimal.Decimal(i) for i in range(N)]),
    "dates as cells": of_cells([datetime.date(2020, 1, i % 28 + 1) for i in range(N)]),
    "list of lists": NUMBERS.tolist(),
    "list of tuples": [tuple(row) for row in NUMBERS],
    "list of arrays": list(NUMBERS),
    "list of arrays of different lengths": [np.arange(i % 3 + 1) for i in range(N)],
    "list of lists of different lengths": [list(range(i % 3 + 1)) for i in range(N)],
    "list of dicts": [{"a": a, "word": w} for a, w in zip(NUMBERS[:, 0], TEXTS, strict=True)],
    "list of texts": TEXTS,
    "list of frames": [frame().iloc[:2] for i in range(N)],
    "list of sparse rows": [sparse.csr_matrix(row) for row in NUMBERS],
    "list of objects": [object() for i in range(N)],
    "list of None": [None] * N,
    "tuple": tuple(map(tuple, NUMBERS)),
    "range": range(N),
    "array.array": array("d", NUMBERS[:, 0]),
    "UserList": UserList(NUMBERS.tolist()),
    "deep object array": objects([np.zeros((2, i % 3)) for i in range(N)]),
    "Series": pd.Series(NUMBERS[:, 0]),
    "Series of texts": pd.Series(TEXTS),
    "frame": frame(),
    "frame of texts": table(b=TEXTS),
    "frame of categories": table(b=pd.Categorical(TEXTS)),
    "frame of categories, gap": table(b=pd.Categorical([None, *TEXTS[1:]])),
    "frame of ordered categories": table(b=pd.Categorical(TEXTS, ordered=True)),
    "frame of NaN": table(b=np.nan),
    "frame, numbers as names": pd.DataFrame(NUMBERS),
    "frame, mixed names": pd.DataFrame(NUMBERS, columns=["a", 1, None]),
    "frame, repeated names": pd.DataFrame(NUMBERS, columns=["a", "a", "b"]),
    "frame, levels of names": pd.DataFrame(
        NUMBERS, columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    ),
    "frame, odd index": frame().set_axis(TEXTS),
    "frame, index of times": frame().set_axis(DAYS),
    "frame, unsorted times": frame().set_axis(DAYS[::-1]),
    "frame, times with a zone": frame().set_axis(DAYS.tz_localize("UTC")),
    "frame, times with gaps": frame().set_axis([pd.NaT, *DAYS[1:]]),
    "frame, periods": frame().set_axis(DAYS.to_period("D")),
    "frame, levels of rows": frame().set_axis(pd.MultiIndex.from_arrays([TEXTS, range(N)])),
    "frame, intervals": frame().set_axis(pd.interval_range(0, N)),
    "frame of dates": table(b=DAYS),
    "frame of dates with a zone, gap": table(b=gap(DAYS.tz_localize("UTC"), 1, missing=pd.NaT)),
    "frame of spans": table(b=DAYS - DAYS[0]),
    "frame of periods": table(b=DAYS.to_period("D")),
    "frame of intervals": table(b=pd.interval_range(0, N)),
    "frame of complex": table(b=NUMBERS[:, 0] + 1j),
    "frame of sparse columns": pd.DataFrame.sparse.from_spmatrix(
        sparse.csr_matrix(NUMBERS), columns=list("abc")
    ),
    **{f"boolean, gap in {row}": table(b=gap(BOOLS, row, "boolean")) for row in (0, 5, 25, N - 1)},
    **{f"string, gap in {row}": table(b=gap(TEXTS, row, "string")) for row in (0, 25)},
    **{f"object, gap in {row}": table(b=gap(TEXTS, row, object)) for row in (0, 25)},
    **{f"Int64, gap in {row}": table(b=gap(LABELS, row, "Int64")) for row in (0, 25)},
    "Float64, gap": table(b=gap(TARGET, 3, "Float64")),
    "UInt8": table(b=pd.Series(LABELS, dtype="UInt8")),
    **{
        f"arrow {d}, gap in {row}": table(b=gap(v, row, pd.ArrowDtype(t)))
        for row in (0, 25)
        for d, v, t in [
            ("bool", BOOLS, pa.bool_()),
            ("text", TEXTS, pa.string()),
            ("int", LABELS.tolist(), pa.int64()),
            ("double", TARGET.tolist(), pa.float64()),
        ]
    },
    "arrow list": table(b=pd.Series([[1, 2]] * N, dtype=pd.ArrowDtype(pa.list_(pa.int64())))),
    "arrow struct": table(
        b=pd.Series([{"x": 1}] * N, dtype=pd.ArrowDtype(pa.struct([("x", pa.int64())])))
    ),
    "arrow dates": table(b=pd.Series(DAYS, dtype=pd.ArrowDtype(pa.timestamp("ns")))),
    "arrow decimals": table(
        b=pd.Series([decimal.Decimal(1)] * N, dtype=pd.ArrowDtype(pa.decimal128(5)))
    ),
    "arrow categories": table(
        b=pd.Series(TEXTS).astype(pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())))
    ),
    "polars": pl.DataFrame({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1]}),
    "polars, gap": pl.DataFrame({"a": NUMBERS[:, 0], "b": [None, *BOOLS[1:]]}),
    "polars of texts": pl.DataFrame({"a": NUMBERS[:, 0], "b": TEXTS}),
    "polars of categories": pl.DataFrame(
        {"a": NUMBERS[:, 0], "b": pl.Series(TEXTS, dtype=pl.Categorical)}
    ),
    "polars of lists": pl.DataFrame({"a": NUMBERS[:, 0], "b": [[1, 2]] * N}),
    "polars of structs": pl.DataFrame({"a": NUMBERS[:, 0], "b": [{"x": 1}] * N}),
    "polars of objects": pl.DataFrame(
        {"a": NUMBERS[:, 0], "b": pl.Series([object() for _ in range(N)], dtype=pl.Object)}
    ),
    "polars of dates": pl.DataFrame({"a": NUMBERS[:, 0], "b": pl.Series(DAYS.to_pydatetime())}),
    "polars Series": pl.Series(NUMBERS[:, 0]),
    "arrow table": pa.table({"a": NUMBERS[:, 0], "b": NUMBERS[:, 1]}),
    **{
        f"sparse {kind.__name__}": kind(NUMBERS)
        for kind in (
            sparse.csr_matrix,
            sparse.csc_matrix,
            sparse.lil_matrix,
            sparse.coo_matrix,
            sparse.dok_matrix,
            sparse.bsr_matrix,
            sparse.dia_matrix,
            sparse.csr_array,
            sparse.csc_array,
            sparse.coo_array,
            sparse.lil_array,
            sparse.dok_array,
        )
    },
}

#: Forms of y for classifiers.
YS = {
    "none": None,
    "integers": LABELS,
    "booleans": LABELS == 1,
    "floats": LABELS.astype(float),
    "float16": LABELS.astype(np.float16),
    "int8": LABELS.astype(np.int8),
    "objects": LABELS.astype(object),
    "words": WORDS,
    "object words": WORDS.astype(object),
    "numpy strings": WORDS.astype(np.dtypes.StringDType()),
    "bytes": WORDS.astype("S"),
    "one word": np.full(N, "yes"),
    "many words": np.array([f"w{i}" for i in range(N)]),
    "days": DAYS.to_numpy(),
    "dates": objects([datetime.date(2020, 1, i % 3 + 1) for i in range(N)]),
    "list": LABELS.tolist(),
    "list of words": WORDS.tolist(),
    "list of booleans": BOOLS,
    "tuple": tuple(LABELS.tolist()),
    "range": range(N),
    "read-only": read_only(LABELS),
    "masked": np.ma.array(LABELS, mask=False),
    "column": LABELS[:, None],
    "frame of one column": pd.DataFrame({"y": LABELS}),
    "frame of one column of words": pd.DataFrame({"y": WORDS}),
    "frame of many columns": pd.DataFrame(MANY),
    "Series": pd.Series(LABELS, name="y"),
    "Series of words": pd.Series(WORDS),
    "Series of strings": pd.Series(WORDS, dtype="string"),
    "Series of categories": pd.Series(WORDS, dtype="category"),
    "Series of ordered categories": pd.Series(
        pd.Categorical(WORDS, ["no", "yes", "never"], ordered=True)
    ),
    "Series of boolean": pd.Series(BOOLS, dtype="boolean"),
    "Series of Int64": pd.Series(LABELS, dtype="Int64"),
    "Series of arrow": pd.Series(LABELS).astype(pd.ArrowDtype(pa.int64())),
    "Series of arrow words": pd.Series(WORDS).astype(pd.ArrowDtype(pa.string())),
    "Series of dates": pd.Series(DAYS),
    "Index": pd.Index(LABELS),
    "Categorical": pd.Categorical(WORDS),
    "odd index": pd.Series(LABELS, index=TEXTS),
    "other order": pd.Series(LABELS, index=range(N, 0, -1)),
    "polars Series": pl.Series(LABELS),
    "polars Series of words": pl.Series(WORDS.tolist()),
    "polars Series of enum": pl.Series(WORDS.tolist(), dtype=pl.Enum(["no", "yes"])),
    "polars frame": pl.DataFrame({"y": LABELS}),
    "arrow array": pa.array(LABELS),
    "multi-label": MANY,
    "multi-label booleans": MANY.astype(bool),
    "multi-label lists": MANY.tolist(),
    "multi-output": np.column_stack([LABELS, np.arange(N) % 3]),
    "multi-output words": np.column_stack([WORDS, TEXTS]),
    "three dimensions": rng.randint(2, size=(N, 2, 2)),
    **{
        f"sparse {kind.__name__}": kind(MANY)
        for kind in (
            sparse.csr_matrix,
            sparse.csc_matrix,
            sparse.lil_matrix,
            sparse.coo_matrix,
            sparse.dok_matrix,
            sparse.csr_array,
            sparse.csc_array,
            sparse.coo_array,
            sparse.lil_array,
            sparse.dok_array,
        )
    },
    "sparse column": sparse.csr_matrix(LABELS[:, None]),
    "sequences": objects([WORDS[: i % 3 + 1].tolist() for i in range(N)]),
    "list of sequences": [WORDS[: i % 3 + 1].tolist() for i in range(N)],
    "list of arrays": [np.arange(i % 3 + 1) for i in range(N)],
    "equal sequences": objects([[0, 1] for i in range(N)]),
    "tuples": objects([(i % 2, 1) for i in range(N)]),
    "sets": objects([{i % 2} for i in range(N)]),
    "dicts": objects([{"label": i % 2} for i in range(N)]),
    "list of dicts": [{"label": i % 2} for i in range(N)],
    "None as labels": objects([None, 1] * (N // 2)),
    "only None": objects([None] * N),
    "mixed labels": objects([1, "a"] * (N // 2)),
    "missing floats": np.where(np.arange(N) == 3, np.nan, LABELS),
    "missing boolean": gap(BOOLS, 3, "boolean"),
    "missing string": gap(WORDS, 3, "string"),
    "missing string, first": gap(WORDS, 0, "string"),
    "missing Int64": gap(LABELS, 3, "Int64"),
    "missing objects": gap(WORDS, 3, object),
    "missing arrow": gap(LABELS.tolist(), 3, pd.ArrowDtype(pa.int64())),
    "missing polars": pl.Series([None, *LABELS[1:].tolist()]),
    "missing categories": pd.Series([None, *WORDS[1:]], dtype="category"),
    "continuous": TARGET,
    "infinite": np.where(np.arange(N) == 3, np.inf, TARGET),
    "complex": TARGET + 1j,
    "structured": np.array(
        list(zip(LABELS == 1, TARGET, strict=True)), dtype=[("event", "?"), ("time", "<f8")]
    ),
    "records": np.rec.fromarrays([LABELS == 1, TARGET], names="event,time"),
    "intervals": pd.Series(pd.interval_range(0, N)),
    "objects without order": objects([object() for i in range(N)]),
    "frames": objects([frame().iloc[:2] for i in range(N)]),
    "decimals": objects([decimal.Decimal(i % 2) for i in range(N)]),
}
