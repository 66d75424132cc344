"""Diagnosis of searches with only failures: cause and remedy in one line."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier

from sksearch._utils._terminal import counted
from sksearch._utils._typing import Samples, Targets
from sksearch.estimators._pipeline import compositions, last_step, trains_its_regressor
from sksearch.fitting.run._folds import one_class_folds
from sksearch.fitting.run._tasks import Context

MOST_NAMES = 8  # names of columns in a sentence
UNSET = re.compile(
    r"\[([^\]]*)\] are passed but are not explicitly set as requested or not requested for "
    r"(\w+)\.(\w+)"
)


#: The target of a TransformedTargetRegressor.
TRANSFORMED = (
    "y has no {0}, but the transformed target has: the transformer, or func, is not defined for "
    "all values of y. Use another one, such as func=numpy.log1p for values that may be 0."
)


def cause_of(context: Context, details: str) -> str:
    """Return why no candidate can be trained, and the remedy.

    Parameters
    ----------
    context : Context
        Context of the search; its data are examined if the error refers to them.
    details : str
        Text of the error, without the code that raised it.

    Returns
    -------
    str
        A line, "" if the cause is not known.
    """
    for pattern, rule in RULES:
        if re.search(pattern, details) and (found := rule(context, details)):
            return found
    return ""


def _text(context: Context, details: str) -> str:
    """Columns of text, or texts in place of a table."""
    if np.ndim(_array(context.X)) == 1 and _is_text(_array(context.X)):
        return (
            "X is a list of strings: put TfidfVectorizer() before the model, as in "
            "make_pipeline(TfidfVectorizer(), estimator)."
        )
    names = [name for name, column in _columns(context.X) if _is_text(column)]
    if not names:
        return ""
    holds, them = ("holds", "it") if len(names) == 1 else ("hold", "them")
    return (
        f"{_named(names)} of X {holds} text: encode {them}, as in "
        "make_pipeline(make_column_transformer((OneHotEncoder(handle_unknown='ignore'), "
        f"{names!r}), remainder='passthrough'), estimator); for many values use TargetEncoder() "
        "or OrdinalEncoder()."
    )


def _dates(context: Context, details: str) -> str:
    """Columns of dates, or of spans of time."""
    names = [name for name, column in _columns(context.X) if _kind(column) in "mM"]
    if not names:
        return ""
    holds = "holds" if len(names) == 1 else "hold"
    spans = [name for name, column in _columns(context.X) if _kind(column) == "m"]
    if spans == names:
        return (
            f"{_named(names)} of X {holds} durations: convert them to numbers, as in "
            f"X[{names[0]!r}].dt.total_seconds(), or leave them out."
        )
    return (
        f"{_named(names)} of X {holds} dates: convert them to numbers, as in "
        f"X[{names[0]!r}].dt.year and .dt.dayofyear, or leave them out."
    )


def _missing(context: Context, details: str) -> str:
    """Remedy for missing values, "" without missing values."""
    if "Input X" not in details and (n := _count(context.y, np.isnan)):
        return f"y is missing (NaN) in {counted(n, 'row')}: leave these rows out of X and y."
    names = [name for name, column in _columns(context.X) if _count(column, np.isnan)]
    if "Input y contains NaN" in details or (not names and _transforms_target(context)):
        return TRANSFORMED.format("missing values (NaN)")
    if not names:
        return ""
    return (
        f"{_named(names)} of X {'has' if len(names) == 1 else 'have'} missing values (NaN), which "
        f"{_name(context)} does not accept: put SimpleImputer() before it, as in "
        "make_pipeline(SimpleImputer(), estimator), or use a model that accepts them, such as "
        "HistGradientBoosting."
    )


def _infinite(context: Context, details: str) -> str:
    """Remedy for infinite values of y, or of columns of X."""
    if "Input X" not in details and (n := _count(context.y, np.isinf)):
        return f"y is infinite in {counted(n, 'row')}: leave these rows out of X and y."
    names = [name for name, column in _columns(context.X) if _count(column, np.isinf)]
    if "Input y" in details or (not names and _transforms_target(context)):
        return TRANSFORMED.format("infinite values")
    if not names:
        return ""
    return (
        f"{_named(names)} of X {'has' if len(names) == 1 else 'have'} infinite values. Replace "
        "them, as in X[np.isinf(X)] = np.nan with SimpleImputer(), or leave these rows out."
    )


def _metadata(context: Context, details: str) -> str:
    names, cls, method = UNSET.search(details).groups()  # type: ignore[union-attr]
    method = {"fit_transform": "fit", "fit_predict": "fit"}.get(method, method)
    asks = ", ".join(f"{name}=True" for name in names.split(", "))
    return (
        f"{cls}, inside the estimator, gets {names} without a request for it: pass "
        f"{cls}().set_{method}_request({asks}), or =False to ignore it."
    )


def _negative(context: Context, details: str) -> str:
    names = [name for name, column in _columns(context.X) if _count(column, lambda x: x < 0)]
    if not names:
        return ""
    return (
        f"{_named(names)} of X {'has' if len(names) == 1 else 'have'} negative values, which "
        f"{_name(context)} does not accept: put MinMaxScaler() before it, as in "
        "make_pipeline(MinMaxScaler(), estimator)."
    )


def _range_of_y(context: Context, details: str) -> str:
    low = np.min(_array(context.y))
    return (
        f"y has a minimum of {low:.4g}, which the loss of {_name(context)} does not accept "
        "(Poisson: at least 0; Gamma: above 0): use another loss or model, such as Ridge or "
        "HistGradientBoostingRegressor, or transform y."
    )


def _labels(context: Context, details: str) -> str:
    return (
        f"{_name(context)} needs the labels 0, 1, 2, ...: pass y=LabelEncoder().fit_transform(y), "
        "from sklearn.preprocessing."
    )


def _one_class(context: Context, details: str) -> str:
    if context.strata is not None and len(np.unique(context.strata)) == 1:
        return "y contains a single class. Pass rows of at least two classes."
    if notes := one_class_folds(context.splits, context.strata):
        return f"{notes}: use a stratified or shuffled cv."
    return ""


def _shape(context: Context, details: str) -> str:
    shape = np.shape(context.X)
    if len(shape) not in (1, 3, 4):
        return ""
    code = "X.reshape(-1, 1)" if len(shape) == 1 else "X.reshape(len(X), -1)"
    return f"X has shape {shape}, but {_name(context)} expects a table: pass {code}."


def _target_columns(context: Context, details: str) -> str:
    shape = () if context.y is None else np.shape(context.y)
    if len(shape) < 2:
        return ""
    kind = "Classifier" if is_classifier(context.estimator) else "Regressor"
    return (
        f"y has shape {shape}, but {_name(context)} expects one column: pass "
        f"MultiOutput{kind}(estimator), or one column of y."
    )


def _sparse(context: Context, details: str) -> str:
    if issparse(context.y) and not issparse(context.X):
        return f"y is sparse, but {_name(context)} expects dense arrays: pass y.toarray()."
    what = "X is sparse" if issparse(context.X) else "The output of the preceding steps is sparse"
    return (
        f"{what}, but {_name(context)} expects dense arrays: pass X.toarray(), or use a dense "
        "encoder (OneHotEncoder(sparse_output=False), ColumnTransformer(sparse_threshold=0))."
    )


def _names_of_columns(context: Context, details: str) -> str:
    return "X has column names of several types: use X.columns = X.columns.astype(str)."


def _repeated_columns(context: Context, details: str) -> str:
    names = [str(name) for name in getattr(context.X, "columns", ())]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if not repeated:
        return ""
    return (
        f"X has several columns named {', '.join(map(repr, repeated[:MOST_NAMES]))}: keep one of "
        "each, as in X.loc[:, ~X.columns.duplicated()]."
    )


def _empty_columns(context: Context, details: str) -> str:
    """Columns without a single value."""
    names = [n for n, column in _columns(context.X) if _count(column, np.isnan) == len(column)]
    return f"{_named(names)} of X: all values are missing. Leave it out." if names else ""


def _no_eval_set(context: Context, details: str) -> str:
    return (
        f"{_name(context)} uses early stopping, but has no validation rows: disable early "
        "stopping; the search finds the number of trees."
    )


def _two_classes(context: Context, details: str) -> str:
    n = len(context.classes) if isinstance(context.classes, np.ndarray) else 0
    if n < 3:
        return ""
    names = "'roc_auc_ovr'" if "multi_class" in details else "'f1_macro' or 'precision_macro'"
    return f"The metric of scoring is for two classes, but y has {n}: pass scoring={names}."


def _positive_label(context: Context, details: str) -> str:
    if not isinstance(context.classes, np.ndarray) or len(context.classes) != 2:
        return ""
    labels, counts = context.classes.tolist(), np.bincount(np.asarray(context.strata), minlength=2)
    rarer = labels[0] if counts[0] < counts[1] else labels[1]
    return (
        f"The metric of scoring needs to know which of the labels {labels} is positive: pass for "
        f"example make_scorer(f1_score, pos_label={rarer!r})."
    )


def _no_probabilities(context: Context, details: str) -> str:
    return (
        f"The metric of scoring needs probabilities, which {_name(context)} does not predict: "
        "pass CalibratedClassifierCV(estimator), or a metric of labels such as 'accuracy'."
    )


def untested_class(context: Context) -> str:
    """Name a class without a row in some test folds, where most rates are undefined."""
    if context.strata is None:
        return ""
    tests = [set(np.unique(context.strata[np.asarray(test)])) for _, test in context.splits]
    for i, label in enumerate(np.asarray(context.classes).tolist()):
        if n := sum(i not in each for each in tests):
            rows = int(np.count_nonzero(context.strata == i))
            return (
                f"Class {label!r} of y has {counted(rows, 'row')}, and none of "
                f"them in {n} of the {len(tests)} test folds, where metrics such as roc_auc are "
                "undefined: pass fewer folds as cv, or another metric, such as 'accuracy'."
            )
    return ""


#: Patterns in the text of an error, and their explanations; the first match counts.
RULES: tuple[tuple[str, Callable[[Context, str], str]], ...] = (
    (r"not explicitly set as requested or not requested for \w+\.\w+", _metadata),
    (r"(?i)DateTime64|datetime|timedelta", _dates),
    (
        r"(?i)convert str|cast str|to float|dtypes (must|for)|non-numeric|bytes/strings|"
        r"dtype='numeric'",
        _text,
    ),
    (r"(?i)contains? (NaN|missing)|missing values", _missing),
    (r"(?i)contains infinity|too large for dtype", _infinite),
    (r"(?i)negative values|must be non-negative", _negative),
    (r"out of the valid range of the loss", _range_of_y),
    (r"Invalid classes inferred from unique values of `y`", _labels),
    (r"(?i)number of classes|least (2|two) classes|(one|1|single) (unique )?class", _one_class),
    (r"(?i)array with dim|expected 2D array|expected <= 2", _shape),
    (r"(?i)y should be a 1d array|multi-?output(?!regressor|classifier)", _target_columns),
    (r"(?i)sparse (data|matrix|input|container).*(dense|support)", _sparse),
    (r"multi_class must be in|average='binary'", _two_classes),
    (r"pos_label=.* is not (a valid label|specified)", _positive_label),
    (r"none of the following attributes: [\w, ]*predict_proba", _no_probabilities),
    (r"Feature names are only supported if all", _names_of_columns),
    (r"(?i)unique column names", _repeated_columns),
    (r"window shape cannot be larger", _empty_columns),
    (r"(?i)for early stopping, at least one|must have at least 1 validation", _no_eval_set),
)


# ---- what the data show


def _name(context: Context) -> str:
    return type(last_step(context.estimator)).__name__


def _transforms_target(context: Context) -> bool:
    return any(map(trains_its_regressor, compositions(context.estimator)))


def _named(names: list[Any]) -> str:
    """Names of columns, only the first ones if there are many."""
    shown = ", ".join(map(repr, names[:MOST_NAMES])) + (", ..." if names[MOST_NAMES:] else "")
    return f"column {shown}" if len(names) == 1 else f"columns {shown}"


def _array(data: Targets) -> np.ndarray:
    """An array of any data, of dtype object without a common type."""
    if data is None or issparse(data):
        return np.empty((0, 0))
    try:
        return np.asarray(data)
    except Exception:  # a diagnosis must not replace the error it explains
        return np.empty((0, 0))


def _columns(X: Samples) -> Iterator[tuple[Any, np.ndarray]]:
    """Names, or numbers, of the columns of a table, and their values."""
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):
        for name in X.columns:
            yield name, _array(X[name])
        return
    array = X.data.reshape(-1, 1) if issparse(X) and hasattr(X, "data") else _array(X)
    if array.ndim == 2:
        yield from enumerate(array.T)


def _kind(column: np.ndarray) -> str:
    return column.dtype.kind


def _is_text(column: np.ndarray) -> bool:
    """True if the first non-missing value is a text."""
    if column.dtype.kind in "US":
        return len(column) > 0
    if column.dtype.kind not in ("O", "T"):
        return False
    first = next((v for v in column.ravel() if v is not None and v == v), None)
    return isinstance(first, str)


def _count(column: Targets, test: Callable[[Any], Any]) -> int:
    """Number of values of a numeric column that pass a test; 0 for other columns."""
    try:
        with np.errstate(invalid="ignore"):
            return int(np.count_nonzero(test(np.asarray(column, dtype=float))))
    except (TypeError, ValueError):  # dates and texts have no infinity
        return 0
