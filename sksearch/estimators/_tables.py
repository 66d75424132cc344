"""Columns of a table: the kind of each, and the pipeline step that reads them."""

import datetime
import decimal
import itertools
import numbers as number_types
import re
import uuid
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sksearch._utils._advice import ID, MANY_ROWS, glance, is_id, is_missing, number_in
from sksearch._utils._terminal import warn
from sksearch._utils._typing import Samples
from sksearch.estimators._dates import date_format, in_zone, learn_dates, parse_dates, zone_of

FEW_VALUES = 40  # number of values up to which texts are categories
MOST_VALUES = 255  # categories that scikit-learn's boosting supports
ROWS_A_VALUE = 10  # rows per value, from which on many values are categories, not texts
LARGEST = float(np.finfo(np.float32).max)  # scikit-learn's trees accept no larger number
TOO_LARGE = "its values are larger than float32 allows"
#: Texts of a missing value.
GAPS = {"", "?", "-", "na", "n/a", "nan", "none", "null", "<na>", "nat"}
SURE_ID = re.compile(r"(?i)^(id|uuid|guid|index|unnamed: \d+)$")
MICROSECONDS = 20  # characters of the shortest text with more digits
NANOSECONDS = re.compile(r"(?<=:\d\d\.\d{6})\d+")
AMOUNTS = (number_types.Real, decimal.Decimal, np.bool_, datetime.timedelta, datetime.time)
WORDS = (str, bytes, uuid.UUID, *AMOUNTS, datetime.date)
KINDS = ("numbers", "categories", "dates", "texts")


class TableColumns(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore
    """Read the columns of a table as plain numbers, categories, dates and texts.

    `sksearch.default_models` creates it from the data. It accepts a pandas or polars
    DataFrame, a PyArrow table or an array, and any dtype of a column, even one not seen in
    training.

    Parameters
    ----------
    numbers : sequence, default=()
        Names of columns, or positions in an array; the second column "a" is "a.1". Booleans become
        0 and 1, durations seconds, amounts such as "$1,200" numbers, and non-finite numbers NaN.
    categories : sequence, default=()
        Likewise. Values are texts.
    dates : mapping or sequence, default=()
        Likewise. A mapping has the format of each column of text, "" for the others and for a
        format to be found in training. Dates in another form are read if they are written as in
        ISO 8601. Dates get the time zone of training, or UTC if it differs between rows;
        those without a zone are local times.
    texts : sequence, default=()
        Likewise. A missing text is empty.
    left_out : mapping or None, default=None
        Reason for omitting each other column.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
        Names of all columns, if they are strings.
    n_features_in_ : int
        Number of all columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from sksearch.estimators._tables import TableColumns
    >>> frame = pd.DataFrame({"age": pd.array([31, None], dtype="Int64"), "id": ["a7", "b2"]})
    >>> TableColumns(numbers=["age"], left_out={"id": "names the rows"}).fit_transform(frame)
        age
    0  31.0
    1   NaN
    """

    def __init__(
        self,
        numbers: Sequence = (),
        categories: Sequence = (),
        dates: Mapping | Sequence = (),
        texts: Sequence = (),
        left_out: Mapping | None = None,
    ) -> None:
        self.numbers = numbers
        self.categories = categories
        self.dates = dates
        self.texts = texts
        self.left_out = left_out

    def fit(self, X: Samples, y: object = None) -> Self:
        """Store the names of the columns, and the forms of dates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.
        y : object
            Not used.

        Returns
        -------
        self : TableColumns
            Itself.
        """
        self._learn(as_table(X))
        return self

    def fit_transform(self, X: Samples, y: object = None) -> Any:
        """Fit, and return the columns as `transform` does; each date is parsed once."""
        X = as_table(X)
        return self._frame(X, self._learn(X))

    def _learn(self, X: Any) -> dict:
        """Store the names of the columns and the forms of dates; return the dates."""
        places = {name: i for i, name in enumerate(labels(X))}
        self.n_features_in_ = len(places)
        formats = self.dates if isinstance(self.dates, Mapping) else {}
        self._dates, parsed = {}, {}
        for name in places.keys() & set(self.dates):
            column = column_at(X, places[name])
            cells = _date_cells(column)
            form, parsed[name] = learn_dates(cells, formats.get(name, ""))
            self._dates[name] = form, zone_of(cells, form, *parsed[name])
        names = list(getattr(X, "column_names", getattr(X, "columns", ())))
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        return parsed

    def transform(self, X: Samples) -> Any:
        """Return a pandas DataFrame, or one of X's library if pandas is not installed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The table.

        Returns
        -------
        frame : DataFrame
            The columns used, with names that any library accepts.

        Raises
        ------
        ValueError
            If a column is missing.

        Warns
        -----
        UserWarning
            If some values cannot be read as dates or numbers. They become missing.
        """
        check_is_fitted(self, "n_features_in_")
        return self._frame(as_table(X), {})

    def _frame(self, X: Any, parsed: dict) -> Any:
        """Return the columns used; `parsed` has dates that need not be parsed again."""
        places = {name: i for i, name in enumerate(labels(X))}
        if missing := [name for name in self.used if name not in places]:
            raise ValueError(
                f"X has no column {', '.join(map(repr, missing))}, which it had during training: "
                "pass the same columns."
            )
        found, names = {}, iter(self.get_feature_names_out())
        unread: list[str] = []
        for kind in KINDS:
            for name in getattr(self, kind):
                column = column_at(X, places[name])
                rest = (*self._dates[name], parsed.get(name)) if kind == "dates" else ()
                values = READ[kind](column, *rest)
                if n := _n_unread(kind, column, values):
                    unread.append(f"{100 * n / len(column):.3g} % of column {name!r} as {kind}")
                found[next(names)] = values
        if unread:
            warn(
                f"X has values that cannot be read and become missing: {', '.join(unread)}. Pass "
                "numbers as numbers, and dates as datetimes, as texts in the form of training, or "
                "as ISO texts such as '2024-08-31'."
            )
        if find_spec("pandas") is None:
            library: Any = type(X)
            return library(found)
        import pandas as pd

        return pd.DataFrame(found, index=getattr(X, "index", None))

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the columns of the result.

        Parameters
        ----------
        input_features : object
            Not used.

        Returns
        -------
        names : ndarray of str
            The names, with "_" for all characters except letters and digits.
        """
        return np.array(plain_names(self.used), dtype=object)

    @property
    def used(self) -> list:
        """Names of the columns used, in the order of the result."""
        return [name for kind in KINDS for name in getattr(self, kind)]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")


class OfKind:
    """The columns of a kind in the result of a `TableColumns`, for a ColumnTransformer.

    Parameters
    ----------
    kind : {"numbers", "categories", "dates", "texts"}
        The kind.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, X: Any) -> list[str]:
        """Return the names of the columns."""
        return [name for i, name in enumerate(X.columns) if self._has(column_at(X, i))]

    def _has(self, column: Any) -> bool:
        known = {"f": "numbers", "M": "dates"}.get(_dtype_kind(column), "")
        is_text = find_spec("pandas") is not None and not hasattr(column.dtype, "categories")
        return self.kind == (known or ("texts" if is_text else "categories"))

    def __repr__(self) -> str:
        return f"OfKind({self.kind!r})"


# ---- columns of any library


def labels(X: Any) -> list:
    """Return unique names of the columns, as pandas.read_csv makes them, or their positions."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None:
        return list(range(X.shape[1]))
    found: dict[Any, None] = {}
    for name in names:
        made, n = str(name) if is_missing(name) else name, 0
        while made in found:
            n += 1
            made = f"{name}.{n}"
        found[made] = None
    return list(found)


def as_table(X: Any) -> Any:
    """Return a list of rows as an array, in which numbers stay numbers; other tables unchanged.

    Raises
    ------
    ValueError
        If X is not a table.
    """
    table = X
    if isinstance(X, list | tuple):
        table = np.array(X)
        table = np.array(X, dtype=object) if table.dtype.kind in "US" else table
    shape = getattr(table, "shape", ())
    if len(shape) != 2:
        raise ValueError(
            f"X must be a table with columns, got {type(X).__name__} of shape {shape}: pass a "
            "DataFrame, a matrix or an array of two dimensions, such as X.to_frame() of a Series, "
            "X.reshape(-1, 1) of an array with one column, frame.iloc[[0]] for one row, or "
            "pandas.DataFrame(X) of dicts."
        )
    return table


def column_at(X: Any, place: int) -> Any:
    """Return a column: a Series, or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, place]
    if hasattr(X, "to_series"):
        return X.to_series(place)
    if hasattr(X, "column_names"):
        return X.column(place).to_pandas()
    return np.asarray(X)[:, place]


def plain_names(names: Sequence) -> list[str]:
    """Return unique names without characters that some library refuses."""
    found: list[str] = []
    for name in names:
        text = "_".join(map(str, name)) if isinstance(name, tuple) else str(name)
        plain = made = re.sub(r"\W", "_", text) or "_"
        n = 1
        while made in found:
            n += 1
            made = f"{plain}_{n}"
        found.append(made)
    return found


def _cells(column: Any) -> list:
    """The values of a column, as Python objects."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "mM":
        column = column.astype("datetime64[us]" if column.dtype.kind == "M" else "m8[us]")
    cells = (getattr(column, "to_list", None) or column.tolist)()
    return [each.to_timestamp() if type(each).__name__ == "Period" else each for each in cells]


def _dtype_kind(column: Any) -> str:
    """NumPy's letter for a dtype, "O" if the values have to be inspected."""
    dtype = column.dtype
    if not hasattr(dtype, "is_numeric"):
        return dtype.kind
    if dtype.is_numeric():
        return "f"
    return {"Boolean": "b", "Date": "M", "Datetime": "M", "Duration": "m"}.get(
        dtype.base_type().__name__, "O"
    )


# ---- reading


def _numbers(column: Any) -> np.ndarray:
    """Numbers, with NaN for all other values."""
    found = _floats(column)
    return np.where(np.abs(found) <= LARGEST, found, np.nan)


def _floats(column: Any) -> np.ndarray:
    """Numbers, even infinite ones, with NaN for all other values."""
    kind = _dtype_kind(column)
    found = None
    if kind in "biuf":
        found = glance(_numbers_of_dtype, column)
    elif kind == "m" and isinstance(column, np.ndarray):
        found = np.where(np.isnat(column), np.nan, column / np.timedelta64(1, "s"))
    if found is None:
        found = np.array([number_of(cell) for cell in _cells(column)], dtype=float)
    return found


def n_too_large(column: Any) -> int:
    """Return the number of finite values too large for scikit-learn's trees."""
    found = np.abs(_floats(column))
    return int(np.count_nonzero((found > LARGEST) & (found < np.inf)))


def _numbers_of_dtype(column: Any) -> np.ndarray:
    if hasattr(column, "isna"):
        return column.to_numpy(dtype=float, na_value=np.nan)
    return np.ma.filled(np.ma.asarray(column).astype(float), np.nan)


def number_of(cell: Any) -> float:
    """Return the number that a cell is or contains as text, NaN for any other."""
    if isinstance(cell, datetime.time):
        return 3600.0 * cell.hour + 60 * cell.minute + cell.second
    try:
        seconds = getattr(cell, "total_seconds", None)
        return float(cell) if seconds is None else float(seconds())
    except (TypeError, ValueError, OverflowError):
        return number_in(cell)


def _text(cell: Any) -> str | None:
    """A value as text; 1 and 1.0 are equal, since missing values turn integers into floats."""
    if is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    text = cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)
    return None if text.strip().lower() in GAPS else text


def _categories(column: Any) -> Any:
    texts = [_text(cell) for cell in _cells(column)]
    if find_spec("pandas") is None:
        return texts
    import pandas as pd

    return pd.Categorical(texts, sorted({text for text in texts if text is not None}))


def _dates(column: Any, form: str, zone: Any, parsed: Any) -> Any:
    """Dates in a time zone, or without one in UTC; `parsed` has the dates if known."""
    dates, has_zone = parsed or parse_dates(_date_cells(column), form)
    return in_zone(dates, has_zone, zone)


def _date_cells(column: Any) -> Any:
    """The dates and texts of a column; numbers are missing, since their unit is unknown."""
    import pandas as pd

    is_plain = isinstance(column, pd.Series) and _dtype_kind(column) == "M"
    if is_plain and isinstance(column.dtype, np.dtype | pd.DatetimeTZDtype):
        return column.reset_index(drop=True)
    cells = _cells(column)
    for i, cell in enumerate(cells):
        if isinstance(cell, str | bytes):
            text = (cell if isinstance(cell, str) else cell.decode(errors="replace")).strip()
            text = NANOSECONDS.sub("", text) if len(text) > MICROSECONDS else text
            cells[i] = None if len(text) < 7 and text.lower() in GAPS else text
        elif is_missing(cell) or not isinstance(cell, datetime.date | np.datetime64):
            cells[i] = None
        elif isinstance(cell, pd.Timestamp | np.datetime64):  # nanoseconds end in 2262
            cells[i] = pd.Timestamp(cell).as_unit("us")
    return pd.Series(cells, dtype=object)


def _texts(column: Any) -> Any:
    return np.array([_text(cell) or "" for cell in _cells(column)], dtype=object)


READ: dict[str, Any] = {
    "numbers": _numbers, "categories": _categories, "dates": _dates, "texts": _texts,
}  # fmt: skip


def _n_unread(kind: str, column: Any, values: Any) -> int:
    """Number of values present but unreadable as numbers or dates."""
    as_given = {"numbers": "biufm", "dates": "M"}
    if kind not in as_given or _dtype_kind(column) in as_given[kind]:
        return 0
    gone = np.flatnonzero(np.asarray(values != values))
    if len(gone) == 0:
        return 0
    cells = _cells(column)
    lost = [cells[i] for i in gone if _text(cells[i]) is not None]
    return len(lost) if kind == "dates" else sum(np.isnan([*map(number_of, lost)]).tolist())


# ---- kind of a column


def look_at(name: object, column: Any) -> tuple[str, Any]:
    """Return a kind of `KINDS` with the number of values, or "" with the reason for omission.

    For dates, return the format instead of the number.
    """
    kind = _dtype_kind(column)
    if kind == "c":
        return "", "complex numbers"
    if kind in "biufm":
        return _of_numbers(name, column, kind)
    if kind == "M":
        return _of_dates(_cells(column), "")
    cells = [cell for cell in _cells(column) if not is_missing(cell)]
    given = getattr(column.dtype, "categories", None) is not None
    if not given and cells and all(isinstance(cell, AMOUNTS) for cell in cells):
        return _of_numbers(name, column, "O")
    if cells and all(isinstance(cell, datetime.date) for cell in cells):
        return _of_dates(_cells(column), "")
    odd = next((c for c in cells if not isinstance(c, WORDS) and not hasattr(c, "closed")), None)
    if odd is not None:
        return "", f"its values are of type {type(odd).__name__}"
    return _of_texts(name, [_text(cell) for cell in _cells(column)], given)


def _of_numbers(name: object, column: Any, kind: str) -> tuple[str, Any]:
    """Kind of a column of numbers, which may be IDs."""
    values = _numbers(column)
    known = values[~np.isnan(values)]
    n, n_values = len(values), len(np.unique(known))
    if why := _empty(n_values, n - len(known)):
        large = n_values == 0 and n_too_large(column)
        return "", TOO_LARGE if large else why.replace("values", "finite values")
    whole = kind in "iu" or (kind != "m" and bool((known == np.floor(known)).all()))
    if whole and n_values > 2:
        if _names_rows(name, n_values, n):
            return "", "its values identify the rows, like an ID"
        if ID.search(str(name)) and n_values <= MOST_VALUES:
            return "categories", n_values
    return "numbers", n_values


def _names_rows(name: object, n_values: int, n: int) -> bool:
    """Return True if a column's name suggests an ID, and its values do not contradict it."""
    if SURE_ID.match(str(name)):
        return True
    return n >= MANY_ROWS and n_values > n / 2 and bool(ID.search(str(name)))


def _of_dates(cells: list, form: str) -> tuple[str, Any]:
    known = [cell for cell in cells if not is_missing(cell)]
    if why := _empty(len(set(map(str, known))), len(cells) - len(known)):
        return "", why
    return "dates", form


def _of_texts(name: object, texts: list, given: bool) -> tuple[str, Any]:
    """Kind of a text column, which may contain dates, numbers or IDs."""
    known = [text for text in texts if text is not None]
    n, n_values = len(texts), len(set(known))
    if why := _empty(n_values, n - len(known)):
        return "", why
    if not given and (form := glance(date_format, known, otherwise="")):
        return "dates", form
    numbers = [] if given else _all_numbers(known)
    is_key = n >= MANY_ROWS and is_id(name, known) and not (numbers and len(known) < n)
    if is_key or _names_rows(name, n_values, n):
        return "", "its values identify the rows, like an ID"
    if numbers and (n_values > min(FEW_VALUES, n / 2) or any(each % 1 for each in numbers)):
        return "numbers", n_values
    if n_values <= FEW_VALUES or (n_values <= MOST_VALUES and n_values * ROWS_A_VALUE <= n):
        return "categories", n_values
    return "texts", n_values


def _all_numbers(texts: list[str]) -> list[float]:
    """The numbers in texts; none if any text is not a number."""
    found = [*itertools.takewhile(lambda number: number == number, map(number_of, texts))]
    return found if len(found) == len(texts) else []


def _empty(n_values: int, n_missing: int) -> str:
    if n_values == 0:
        return "it has no values"
    return "it is constant" if n_values == 1 and not n_missing else ""


# ---- description


def notes_on_columns(models: Sequence[tuple[str, Any]]) -> list[str]:
    """Describe how the models' steps treat each column that a `TableColumns` reads.

    Parameters
    ----------
    models : sequence of tuple (str, estimator)
        Models with their names.

    Returns
    -------
    notes : list of str
        A line for columns treated alike, and one for omitted columns; empty if no model has such a
        step.
    """
    ways: dict[tuple, dict[str, list[str]]] = {}
    out: dict[tuple, None] = {}
    for model_name, model in models:
        steps = [step for _, step in getattr(model, "steps", ())]
        for table in (step for step in steps if isinstance(step, TableColumns)):
            why = table.left_out or {}
            out |= dict.fromkeys((k, why[k]) for k in why if k not in table.used)
            for own, way in _ways(table, steps):
                ways.setdefault(tuple(own), {}).setdefault(way, []).append(model_name)
    lines = []
    for names, found in ways.items():
        texts = [
            f"{way} in {', '.join(who)}" if len(found) > 1 else way for way, who in found.items()
        ]
        lines.append(f"{', '.join(map(_shown, names))}: {'; '.join(texts)}")
    lines += [f"{_shown(name)} is left out: {why}" for name, why in out]
    return lines


def _shown(name: object) -> str:
    return str(name) if str(name).strip() else repr(name)


def _ways(table: TableColumns, steps: list) -> list[tuple[list, str]]:
    """Names of the columns of each part, and their treatment."""
    given = dict(zip(table.get_feature_names_out(), table.used, strict=True))
    kinds = {name: kind for kind in KINDS for name in getattr(table, kind)}
    parts: Any = next((step.transformers for step in steps if hasattr(step, "transformers")), None)
    if parts is None:
        parts = [(kind, "passthrough", [n for n in given if kinds[given[n]] == kind])
                 for kind in KINDS]  # fmt: skip
    found = []
    for _, step, names in parts:
        inner = [each for _, each in getattr(step, "steps", [("", step)])]
        while any(hasattr(each, "transformer") for each in inner):
            inner = [getattr(each, "transformer", each) for each in inner]
        if isinstance(names, OfKind):
            names = [name for name in given if kinds[given[name]] == names.kind]
        own = [given.pop(name) for name in names if name in given]
        if not own:
            continue
        kind = kinds[own[0]]
        text = ", ".join(type(each).__name__ for each in inner)
        if step == "passthrough":
            text = "unchanged" if kind == "numbers" else "native"
        text = "left out" if step == "drop" else text
        found.append((own, f"{kind}, {text}"))
    return [*found, ([*given.values()], "left out, as no step takes them")] if given else found
