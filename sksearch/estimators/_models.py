"""Default models for a table."""

import copy
import datetime
import math
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any, Literal, Self

import joblib
import numpy as np
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.multiclass import type_of_target

from sksearch._utils._advice import advice, doubt_of_gaps, doubt_of_infinity, glance
from sksearch._utils._compat import num_samples, to_numpy
from sksearch._utils._numerics import needs_no_threads
from sksearch._utils._terminal import counted
from sksearch._utils._typing import Samples, Targets

from ._tables import (
    FEW_VALUES,
    KINDS,
    OfKind,
    TableColumns,
    as_table,
    column_at,
    labels,
    look_at,
    n_too_large,
    number_of,
)  # fmt: skip

MOST_FOR_DISTANCES = 5_000  # rows: time of kernels and neighbours grows as their square
MOST_CATEGORIES = 20  # per column; rare ones are merged
UNREADABLE = "", "its values cannot be read"
N_COMPONENTS = 30  # per text column
FEW_CLASSES = 20
MOMENTS = (datetime.date, datetime.timedelta)


def default_models(
    X: Samples, y: Targets, *, task: Literal["classification", "regression"] | None = None
) -> list[tuple[str, Any]]:
    """Return models that suit a table, as pairs of name and estimator.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table. If it is a DataFrame or a non-numeric array, the first step of each model is a
        `TableColumns`, which prepares the columns and lists the omitted ones: IDs and constants,
        and without skrub also dates and texts with many values. Categories are one-hot encoded,
        with rare values merged; boosting uses them natively. skrub converts dates to numbers, such
        as year, month and seconds, and texts to numeric components. Missing numbers become the
        median if a model does not support them.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Target or targets: binary labels, classes or numbers.
    task : {"classification", "regression"} or None, default=None
        Kind of y. None: classification if y is categorical or not numeric, or has only whole
        numbers with at most 20 different values, or at most the square root of the number of rows.

    Returns
    -------
    models : list of tuple (str, estimator)
        Untuned models: a linear model, gradient boosting (LightGBM if installed), a forest, extra
        trees, a neural net, and, for up to 5,000 rows, a support vector machine and nearest
        neighbours. A regression's net and support vector machine have a standardized target. If
        there are several targets, a model that supports only one is fitted for each. You can print
        the list, edit it, and pass it to `SearchCV`.

    Raises
    ------
    ValueError If X and y are not a table and its targets, `task` is invalid, or y has dates,
        infinite values, a single value, or numbers as texts.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sksearch import default_models
    >>> X, y = load_wine(return_X_y=True)
    >>> [name for name, _ in default_models(X, y)]
    ['linear', 'boosting', 'forest', 'extra', 'net', 'kernel', 'nearest']
    """
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task={task!r} must be 'classification', 'regression' or None.")
    if issparse(y):
        raise ValueError("y is sparse, but most models expect a dense array: pass y.toarray().")
    target = to_numpy(y)
    X = as_table(X)
    shape = np.shape(X)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target.ravel()
    if target.ndim not in (1, 2) or len(target) != shape[0]:
        raise ValueError(
            "y must have one or several targets for each row of X, got X of shape "
            f"{shape} and y of shape {target.shape}: pass the targets of the same rows."
        )
    if doubt := doubt_of_gaps(target) or glance(_doubt_of_values, target, otherwise=""):
        raise ValueError(doubt)
    if task is None and not _are_categories(y) and (n := glance(_count_of_numbers, target)):
        raise ValueError(
            f"y has {n} different numbers as texts: pass numbers for a regression, such as "
            "pandas.to_numeric(y), or task='classification' to default_models if they are classes."
        )
    columns = [np.array(column.tolist()) for column in np.atleast_2d(target.T)]
    has_classes = _are_categories(y) or all(map(_has_classes, columns))
    classifies = has_classes if task is None else task == "classification"
    if classifies and target.dtype == object and columns[0].dtype.kind in "biuf":
        kind = {"b": "bool", "f": "float"}.get(columns[0].dtype.kind, "int")
        raise ValueError(
            f"y has the dtype object, but its values are of type {kind}, which scikit-learn's "
            f"classifiers do not accept: pass y.astype({kind})."
        )
    n_threads = 1 if needs_no_threads(X) else None
    models = _classifiers(n_threads) if classifies else _regressors(n_threads, y)
    if target.ndim == 2:
        models = _for_several(models, target, classifies)
    if num_samples(X) > MOST_FOR_DISTANCES:
        del models["kernel"], models["nearest"]
    table, many = _table_of(X)
    rest = table, many, issparse(X)
    return [(name, _prepared(name, model, *rest)) for name, model in models.items()]


def _doubt_of_values(target: np.ndarray) -> str:
    """Name values from which no model of scikit-learn learns, otherwise ""."""
    cells = target.ravel().tolist() if target.dtype == object else []
    are_periods = any(type(cell).__name__ == "Period" for cell in cells)
    if target.dtype.kind in "mM" or are_periods or any(isinstance(c, MOMENTS) for c in cells):
        first = "y = y.dt.to_timestamp(); " * are_periods
        return (
            "y contains dates or durations: pass numbers, such as days, "
            f"{first}(y - y.min()) / pandas.Timedelta(days=1)."
        )
    if doubt := doubt_of_infinity(target):
        return doubt
    if target.ndim == 1 and len(target) > 1 and len(set(target.tolist())) == 1:
        return (
            f"y has a single class or value, {target.tolist()[0]!r:.80}, in all {len(target)} "
            "rows, so there is nothing to predict: pass another column."
        )
    return ""


def _count_of_numbers(target: np.ndarray) -> int:
    """Number of values of a target of numbers written as texts; 0 if they may be classes."""
    values = set(target.tolist()) if target.ndim == 1 and target.dtype.kind in "OU" else set()
    if not _are_many(len(values), len(target)):
        return 0
    are_texts = all(isinstance(value, str) for value in values)
    return len(values) if are_texts and all(number_of(v) == number_of(v) for v in values) else 0


def _are_many(n_values: int, n: int) -> bool:
    return n_values > max(FEW_CLASSES, math.isqrt(n))


def _are_categories(y: Any) -> bool:
    dtypes = [*y.dtypes] if hasattr(y, "columns") else [getattr(y, "dtype", None)]
    return all(getattr(dtype, "categories", None) is not None for dtype in dtypes)


def _has_classes(target: np.ndarray) -> bool:
    if type_of_target(target) not in ("binary", "multiclass"):
        return False
    if target.dtype.kind not in "iuf":
        return True
    return not _are_many(len(np.unique(target)), len(target))


def _classifiers(n_threads: int | None) -> dict[str, Any]:
    return {
        "linear": LogisticRegression(max_iter=1000),
        "boosting": _boosting("LGBMClassifier", n_threads) or HistGradientBoostingClassifier(),
        "forest": RandomForestClassifier(),
        "extra": ExtraTreesClassifier(),
        "net": MLPClassifier(),
        "kernel": SVC(),
        "nearest": KNeighborsClassifier(),
    }


def _regressors(n_threads: int | None, y: Any) -> dict[str, Any]:
    """Return models of numbers.

    Of pandas, LightGBM takes tables and a Series, except a Series of dtypes such as PyArrow's.
    """
    dtypes = getattr(y, "dtypes", np.dtype(object))
    is_plain = not hasattr(y, "isna") or issubclass(
        getattr(dtypes, "type", float), np.number | np.bool_
    )
    boosting = _boosting("LGBMRegressor", n_threads) if is_plain else None
    return {
        "linear": Ridge(),
        "boosting": boosting or HistGradientBoostingRegressor(),
        "forest": RandomForestRegressor(),
        "extra": ExtraTreesRegressor(),
        "net": _of_scaled_target(MLPRegressor()),
        "kernel": _of_scaled_target(SVR()),
        "nearest": KNeighborsRegressor(),
    }


def _of_scaled_target(model: Any) -> TransformedTargetRegressor:
    """Return a regressor of the standardized target: rates and penalties have its units."""
    return TransformedTargetRegressor(model, transformer=StandardScaler())


def _for_several(models: dict[str, Any], target: np.ndarray, classifies: bool) -> dict[str, Any]:
    """Return the models for several targets: models of a single target are fitted for each."""
    wrap: Any = MultiOutputClassifier if classifies else MultiOutputRegressor
    one = {"boosting", "kernel"} | ({"linear"} if classifies else set())
    if classifies and type_of_target(target) != "multilabel-indicator":
        one = {*models}  # scikit-learn's accuracy does not support multiclass-multioutput
    return {
        name: _wrapped(wrap, model) if name in one else model for name, model in models.items()
    }


def _wrapped(wrap: Callable[[Any], Any], model: Any) -> Any:
    """Wrap a model, or the regressor of a scaled target."""
    if isinstance(model, TransformedTargetRegressor):
        return clone(model).set_params(regressor=wrap(model.regressor))
    return wrap(model)


def _boosting(name: str, n_threads: int | None) -> Any:
    """Return a LightGBM booster, None if LightGBM is not installed."""
    if find_spec("lightgbm") is None:
        return None
    import lightgbm

    return getattr(lightgbm, name)(n_jobs=n_threads, verbose=-1)


def _prepared(
    name: str, model: Any, table: TableColumns | None, many: set, is_sparse: bool
) -> Any:
    """Return a pipeline that prepares a table for a model, or the model itself.

    `many` has the categories with many values, which are read as texts unless they are native.
    """
    scaled = name in ("linear", "net", "kernel", "nearest")
    fill: dict = {"strategy": "median"} | ({"keep_empty_features": True} if table else {})
    scaler = StandardScaler(with_mean=not is_sparse)
    numbers = [SimpleImputer(**fill), scaler] if scaled else []
    if table is None:
        return make_pipeline(*numbers, model) if numbers else model
    is_native = name == "boosting" and find_spec("pandas") is not None
    as_texts = [] if is_native else [each for each in table.categories if each in many]
    table = clone(table).set_params(
        categories=[each for each in table.categories if each not in as_texts],
        texts=[*as_texts, *table.texts],
    )
    if is_native and not (table.dates or table.texts):
        return make_pipeline(table, model)
    one_hot = OneHotEncoder(
        max_categories=MOST_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    parts: dict[str, Any] = {
        "numbers": make_pipeline(*map(clone, numbers)) if numbers else "passthrough",
        "categories": "passthrough" if is_native else one_hot,
    }
    if table.dates:
        gaps = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
        rest = [gaps, StandardScaler()] if scaled else []
        parts["dates"] = _by_skrub(
            "DatetimeEncoder", *rest, add_weekday=True, add_day_of_year=True
        )
    if table.texts:
        parts["texts"] = _by_skrub("StringEncoder", n_components=N_COMPONENTS, random_state=0)
    found = [kind for kind in KINDS if getattr(table, kind)]
    made = ColumnTransformer([(kind, parts[kind], OfKind(kind)) for kind in found])
    return make_pipeline(table, made.set_output(transform="pandas") if is_native else made, model)


def _by_skrub(name: str, *rest: Any, **params: Any) -> Any:
    """Return a pipeline that begins with a skrub encoder for each column."""
    import skrub

    encoder = skrub.ApplyToCols(getattr(skrub, name)(**params))
    return make_pipeline(EncodedOnce(encoder), *rest)


class EncodedOnce(TransformerMixin, BaseEstimator):
    """A transformer that encodes the same rows once for all candidates of a process.

    To encode texts takes longer than to fit most models on them, and each candidate of a list has
    the same texts in a fold. The last outputs are kept, up to 64 MB per process.

    The steps of the transformer ignore ``set_config(transform_output=...)``: skrub's StringEncoder
    computes with the output of scikit-learn transformers, which it expects to be arrays.

    Parameters
    ----------
    transformer : transformer object
        Returns a DataFrame.
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Samples, y: object = None) -> Self:
        """Fit the transformer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The columns.
        y : object
            Not used.

        Returns
        -------
        self : EncodedOnce
            Itself.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Samples, y: object = None) -> Any:
        """Fit the transformer, and return its output.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The columns.
        y : object
            Not used.

        Returns
        -------
        frame : DataFrame
            Output of the transformer.
        """
        self._key = joblib.hash((self.transformer, X))
        self.transformer_, encoded = _kept.once(self._key, lambda: self._fit(X))
        return encoded

    def _fit(self, X: Samples) -> tuple[Any, Any]:
        """Return a fitted transformer and its output."""
        fitted = clone(self.transformer)
        with config_context(transform_output="default"):
            return fitted, fitted.fit_transform(X)

    def transform(self, X: Samples) -> Any:
        """Return the output of the transformer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The columns.

        Returns
        -------
        frame : DataFrame
            Output of the transformer.
        """
        key = self._key + joblib.hash(X)
        return _kept.once(key, lambda: self._transform(X))[1]

    def _transform(self, X: Samples) -> tuple[None, Any]:
        with config_context(transform_output="default"):
            return None, self.transformer_.transform(X)

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """Return the names of the columns of the output.

        Parameters
        ----------
        input_features : object
            Not used.

        Returns
        -------
        names : ndarray of str
            Names.
        """
        return self.transformer_.get_feature_names_out()


class _Kept:
    """The last results of a function of rows, by a digest of its inputs."""

    MOST = 64e6  # bytes of all outputs

    def __init__(self) -> None:
        self._results: dict[str, tuple[Any, Any]] = {}  # the most recently used one is last
        self._lock = threading.Lock()

    def once(self, key: str, make: Callable[[], tuple[Any, Any]]) -> tuple[Any, Any]:
        """Return the result kept under a key, or make it."""
        with self._lock:
            result = self._results.pop(key, None)
        if result is None:
            result = make()
        with self._lock:
            self._results[key] = result
            sizes = {each: 8 * math.prod(out.shape) for each, (_, out) in self._results.items()}
            while sum(sizes.values()) > self.MOST:
                oldest = next(iter(sizes))
                del sizes[oldest], self._results[oldest]
        transformer, encoded = result
        return transformer, copy.copy(encoded)  # scikit-learn renames columns in place


_kept = _Kept()


def _table_of(X: Samples) -> tuple[TableColumns | None, set[str]]:
    """Return the kinds of a table's columns, and the categories with many values.

    None for a numeric array without infinite values, and a sparse matrix.
    """
    is_plain = not hasattr(X, "columns") and getattr(X, "dtype", np.dtype(float)).kind in "biuf"
    if is_plain and (issparse(X) or not np.isinf(to_numpy(X)).any()):
        return None, set()
    found: dict[str, dict] = {kind: {} for kind in ("", *KINDS)}
    for place, name in enumerate(labels(X)):
        kind, of = glance(look_at, name, column_at(X, place), otherwise=UNREADABLE)
        if kind in ("dates", "texts") and find_spec("skrub") is None:
            kind, of = "", f"{kind} need skrub: pip install skrub"
        found[kind][name] = of
    out = found.pop("")
    if not any(found.values()):
        why = "; ".join(f"{name}: {each}" for name, each in out.items())
        raise ValueError(
            f"X has no column that a model can learn from ({why}): pass other columns."
        )
    dates = found["dates"] if any(found["dates"].values()) else list(found["dates"])
    rest = {kind: list(found[kind]) for kind in KINDS if kind != "dates"}
    _warn_of_large(X, found["numbers"])
    table = TableColumns(**rest, dates=dates, left_out=out)
    many = {name for name, n in found["categories"].items() if n > FEW_VALUES}
    return table, many if find_spec("skrub") is not None else set()


@advice
def _warn_of_large(X: Samples, numbers: dict) -> Iterator[str]:
    """Warn of numbers read as missing."""
    for place, name in enumerate(labels(X)):
        if name in numbers and (n := n_too_large(column_at(X, place))):
            yield (
                f"Column {name!r} of X has {counted(n, 'value')} larger than float32 allows, "
                "read as missing: rescale the column, or leave these rows out."
            )
