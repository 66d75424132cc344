"""Which models to take where none are given."""

import math
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils.multiclass import type_of_target

from sksearch._utils._compat import num_samples, to_numpy
from sksearch._utils._typing import Samples, Targets

MOST_FOR_KERNELS = 5_000  # rows: training takes as their square
MOST_CATEGORIES = 20  # of a column, rare ones become one
FEW_CLASSES = 20


def default_models(
    X: Samples, y: Targets, *, task: Literal["classification", "regression"] | None = None
) -> list[tuple[str, Any]]:
    """Return models that are worth a try on a table, as pairs of name and estimator.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table. Of a DataFrame of pandas or polars columns of categories, texts and truth values
        are one-hot encoded, rare values as one, and columns of times are left out; an array has
        numbers alone. Missing numbers become the median where a model does not take them.
    y : array-like of shape (n_samples,)
        Target.
    task : {"classification", "regression"} or None, default=None
        Kind of y. None: classes if it has no numbers, or so few different whole ones that they
        are no more than 20 or the square root of the count of rows.

    Returns
    -------
    models : list of tuple (str, estimator)
        The quickest first, all untuned: a linear model, a forest, gradient boosting (LightGBM
        where it is installed), a net, and up to 5,000 rows a support vector machine. It can be
        printed, edited, and passed to `SearchCV`.

    Raises
    ------
    ValueError
        If X and y are no table with one target, or `task` is none.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sksearch.space import default_models
    >>> X, y = load_wine(return_X_y=True)
    >>> [name for name, _ in default_models(X, y)]
    ['linear', 'forest', 'boosting', 'net', 'kernel']
    """
    if task not in (None, "classification", "regression"):
        raise ValueError(f"task={task!r} must be 'classification', 'regression' or None.")
    target = to_numpy(y)
    shape: Any = getattr(X, "shape", ())
    if target.ndim == 2 and target.shape[1] == 1:
        target = target.ravel()
    if target.ndim == 2:
        raise ValueError(
            f"y has {target.shape[1]} columns, and these models are for one target: pass one "
            "column, or list models of your own that take several, such as "
            "SearchCV([Ridge(), RandomForestRegressor()])."
        )
    if len(shape) != 2 or target.ndim != 1 or len(target) != shape[0]:
        raise ValueError(
            f"X must be a table, and y one target for each of its rows, got X of shape {shape} "
            f"and y of shape {target.shape}: pass an array, a sparse matrix or a DataFrame as X."
        )
    classifies = _has_classes(target) if task is None else task == "classification"
    models = _classifiers() if classifies else _regressors()
    if num_samples(X) > MOST_FOR_KERNELS:
        models.pop("kernel")
    return [
        (name, _prepared(model, X, scaled=name in ("linear", "net", "kernel")))
        for name, model in models.items()
    ]


def _has_classes(target: np.ndarray) -> bool:
    if type_of_target(target) not in ("binary", "multiclass"):
        return False
    if target.dtype.kind not in "iuf":
        return True
    return len(np.unique(target)) <= max(FEW_CLASSES, math.isqrt(len(target)))


def _classifiers() -> dict[str, Any]:
    return {
        "linear": LogisticRegression(max_iter=1000),
        "forest": RandomForestClassifier(),
        "boosting": _boosting("LGBMClassifier") or HistGradientBoostingClassifier(),
        "net": MLPClassifier(),
        "kernel": SVC(),
    }


def _regressors() -> dict[str, Any]:
    return {
        "linear": Ridge(),
        "forest": RandomForestRegressor(),
        "boosting": _boosting("LGBMRegressor") or HistGradientBoostingRegressor(),
        "net": MLPRegressor(),
        "kernel": SVR(),
    }


def _boosting(name: str) -> Any:
    """LightGBM's booster, None where it is not installed."""
    if find_spec("lightgbm") is None:
        return None
    import lightgbm

    return getattr(lightgbm, name)(verbose=-1)


def _prepared(model: Any, X: Samples, scaled: bool) -> Any:
    """A pipeline that makes the numbers of a table that a model takes, or the model itself."""
    numbers = [SimpleImputer(strategy="median"), StandardScaler()] if scaled else []
    if not hasattr(X, "columns"):
        return make_pipeline(*numbers, model) if numbers else model
    frame: Any = X
    texts = OneHotEncoder(
        max_categories=MOST_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    kinds = {name: _kind(frame[name].dtype) for name in frame.columns}
    parts = [
        (make_pipeline(*numbers) if numbers else "passthrough", "number"),
        (texts, "category"),
    ]
    columns = [[name for name in kinds if kinds[name] == kind] for _, kind in parts]
    table = make_column_transformer(
        *((part, names) for (part, _), names in zip(parts, columns, strict=True) if names),
        verbose_feature_names_out=False,
    )
    return make_pipeline(table, model)


def _kind(dtype: Any) -> str:
    """What a column of pandas or polars is."""
    if hasattr(dtype, "is_numeric"):
        return "number" if dtype.is_numeric() else "time" if dtype.is_temporal() else "category"
    return {**dict.fromkeys("iuf", "number"), "M": "time", "m": "time"}.get(dtype.kind, "category")
