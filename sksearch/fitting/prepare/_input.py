"""Input errors of a search and of ``fit``, raised before any training."""

import copy
import difflib
import inspect
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.multiclass import type_of_target

from sksearch._utils._advice import advice, doubt_of_gaps, doubt_of_infinity, glance, missing
from sksearch._utils._compat import (
    GroupsConsumerMixin,
    num_samples,
    pre_dispatch_count,
    routing_enabled,
    to_numpy,
)
from sksearch._utils._overrides import overridden
from sksearch._utils._typing import Estimator, Folding, Samples, Targets
from sksearch.estimators._family import family_of
from sksearch.estimators._model_choice import OneOf, each_of, named_of
from sksearch.estimators._pipeline import last_step
from sksearch.fitting.run._keywords import meant_by

T = TypeVar("T")
ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:/|[\w.-]+@[\w.-]+:")  # pathlib makes one slash of two
VARIABLE = re.compile(r"\$\w|\$\{\w+\}")
DISK = re.compile(r"[A-Za-z]:[\\/]")

# ---- parameters of the search


def check_folder(path: object) -> None:
    """Raise ValueError for an invalid folder name."""
    if path == "":
        raise ValueError(
            "checkpoint_dir='' is not a folder: pass a path, or None for no checkpoint."
        )
    if path is not None and "\0" in str(path):
        raise ValueError(
            f"checkpoint_dir={path!r} contains a NUL character, not allowed in a path: pass "
            "another folder."
        )
    if path is not None and ADDRESS.match(str(path)):
        raise ValueError(
            f"checkpoint_dir={str(path)!r} is a URL, but must be a folder: pass the path of a "
            "local or mounted folder (s3fs, gcsfuse and rclone mount buckets), and copy it "
            "afterwards."
        )
    if path is not None and VARIABLE.search(str(path)) and not Path(str(path)).exists():
        raise ValueError(
            f"checkpoint_dir={str(path)!r} contains a variable, which only a shell expands: pass "
            "os.path.expandvars(...), or the path itself."
        )
    if path is not None and os.name != "nt" and DISK.match(str(path)):
        raise ValueError(
            f"checkpoint_dir={str(path)!r} is a Windows path, but this is another system: pass a "
            "path on this machine, such as one below '/' or '~'."
        )


def check_n_jobs(n_jobs: int | None) -> None:
    """Raise ValueError for an invalid number of workers."""
    if n_jobs == 0:
        raise ValueError(
            "n_jobs=0 leaves no worker: pass None or 1 for one fit at a time, or -1 for all cores."
        )


def check_cv(cv: Folding, params: dict[str, Any]) -> None:
    """Raise TypeError for a class instead of a splitter, ValueError if groups are missing."""
    if isinstance(cv, type):
        raise TypeError(f"cv={cv.__name__} is a class: pass an instance, {cv.__name__}().")
    # Splitters of other packages may not need groups, or may request them by an alias.
    is_known = type(cv).__module__.startswith("sklearn.model_selection.")
    needs_groups = is_known and isinstance(cv, GroupsConsumerMixin) and not routing_enabled()
    if needs_groups and params.get("groups") is None:
        raise ValueError(
            f"The 'groups' parameter should not be None. cv={cv} splits by groups, but groups is "
            "missing: call fit(X, y, groups=...), with one group for each row."
        )


def check_pre_dispatch(pre_dispatch: object) -> None:
    """Raise ValueError for an invalid number of fits."""
    try:
        enough = pre_dispatch is None or pre_dispatch_count(pre_dispatch, 1, least=-1) >= 1
    except Exception:  # joblib evaluates the text, which may raise anything
        enough = False
    if not enough or isinstance(pre_dispatch, bool):
        raise ValueError(
            f"pre_dispatch={pre_dispatch!r} must be a number of fits of at least 1, 'all', or an "
            "expression such as '2*n_jobs'."
        )


def check_overtime(timeout: float | None, overtime: float | None) -> None:
    """Raise ValueError for an invalid overtime."""
    if overtime is not None and timeout is None:
        raise ValueError(
            f'stop["overtime"]={overtime} begins at the end of the timeout, but timeout is '
            "missing: pass timeout=."
        )


def with_plain_numbers(options: T) -> T:
    """Return options, or a search, with Python integers, because NumPy integers may overflow."""
    found = {name: n.item() for name, n in vars(options).items() if isinstance(n, np.integer)}
    if not found:
        return options
    plain = copy.copy(options)
    vars(plain).update(found)
    return plain


def check_refit(refit: object) -> None:
    """Raise ValueError for a function that cannot be called with ``cv_results_``."""
    if not callable(refit):
        return
    try:
        inspect.signature(refit).bind({})
    except TypeError as error:
        raise ValueError(
            f"refit={refit} cannot be called with cv_results_ as its only argument ({error}): "
            "pass a function of one argument that returns the index of a row."
        ) from None
    except ValueError:  # of a builtin
        return


# ---- the data


def check_containers(X: Samples, y: Targets) -> None:
    """Raise TypeError for data without rows."""
    if isinstance(X, Mapping) and not hasattr(X, "shape"):
        raise TypeError("X is a dict without rows: pass pandas.DataFrame(X).")
    for name, data in (("X", X), ("y", y)):
        if data is None and name == "y":
            continue
        may_be_names = name == "y" and (isinstance(data, list) or not _has_rows(data))
        is_named = may_be_names and glance(_are_names, X, data, otherwise=False)
        if _has_rows(data) and not is_named:
            continue
        if is_named:
            raise TypeError(
                f"y={data!r} is the name of a column: pass its values, as in "
                f"fit(X.drop(columns={data!r}), X[{data!r}])."
            )
        raise TypeError(
            f"{name}={data!r:.80} has no rows: pass an array, a table, or a list of samples."
        )


def _are_names(X: Any, y: Any) -> bool:
    """True if a target is the name of a column of X, or a list of some."""
    names, columns = [y] if isinstance(y, str) else y, list(X.columns)
    return len(names) not in (0, len(X)) and all(name in columns for name in names)


def _has_rows(data: object) -> bool:
    if isinstance(data, str | bytes | Set | Iterator):  # rows cannot be selected by their index
        return False
    shape = getattr(data, "shape", None)
    if isinstance(shape, tuple):
        return len(shape) > 0
    return hasattr(data, "__len__") or hasattr(data, "__array__") or isinstance(data, Iterable)


def doubt_of_rows(X: Any, y: Any) -> str:
    """Return why rows are likely to fail (dicts, or the target itself), otherwise ""."""
    if np.ndim(X) == 1 and np.ndim(y) == 2 and np.shape(y)[1] > 1 and len(X) == len(y):
        return "X has one dimension and y has two, so they may be swapped: write fit(X, y)."
    first = X[0] if isinstance(X, list | tuple) and len(X) else None
    if not isinstance(first, Mapping):
        return ""
    return (
        f"X is a {type(X).__name__} of dicts, which the estimator does not accept: pass "
        "pandas.DataFrame(X), or make sklearn.feature_extraction.DictVectorizer() the first step "
        "of a Pipeline."
    )


def doubt_of_target(estimator: Estimator, y: Targets) -> str:
    """Return why fits to a target are likely to fail, otherwise ""."""
    name = type(each_of(estimator)[0]).__name__
    if y is None:
        supervised = is_classifier(estimator) or is_regressor(estimator)
        if supervised and get_tags(estimator).target_tags.required:
            return f"{name} requires y to be passed, but the target y is None."
        return ""
    if is_classifier(estimator):
        doubt: str = glance(_doubt_of_labels, y, otherwise="")
        if not doubt and glance(type_of_target, y, otherwise="").startswith("continuous"):
            doubt = (
                f"Unknown label type: {name} is a classifier, but y contains continuous values. "
                "Pass class labels, or search over a regressor."
            )
        return (
            doubt
            or glance(_doubt_of_classes, to_numpy(y), otherwise="")
            or glance(_doubt_of_threshold, last_step(each_of(estimator)[0]), y, otherwise="")
        )
    return _doubt_of_numbers(name, to_numpy(y)) if is_regressor(estimator) else ""


def _doubt_of_classes(labels: np.ndarray) -> str:
    """Name classes with a single row, which cannot be in both parts of a fold."""
    n = len(labels)
    if labels.ndim > 1 or n < 3 or len(np.unique(labels)) < n:
        return ""
    return (
        f"y has {n} classes in {n} rows, so no class occurs in two folds: pass the column that "
        "you want to predict, or search over a regressor if y is a quantity."
    )


def _doubt_of_threshold(model: Estimator, y: Targets) -> str:
    """Name classes between which a model with a threshold cannot decide."""
    kinds = FixedThresholdClassifier, TunedThresholdClassifierCV
    if not isinstance(model, kinds) or type_of_target(y) == "binary":
        return ""
    return (
        f"{type(model).__name__} has a threshold between two classes, but y has "
        f"{len(np.unique(to_numpy(y)))}: search over its estimator, "
        f"{type(model.estimator).__name__}, instead."
    )


def _doubt_of_numbers(name: str, values: np.ndarray) -> str:
    """Name missing or infinite values and texts in a regression target."""
    if doubt := doubt_of_gaps(values, "value") or doubt_of_infinity(values):
        return doubt
    if values.dtype.kind not in "OUS":
        return ""
    try:
        values.astype(float)
    except (TypeError, ValueError) as error:
        if any(isinstance(value, str) for value in values.ravel()):
            return (
                f"{name} is a regressor, but y contains strings ({error}): pass numbers, or "
                "search over a classifier."
            )
    return ""


def _doubt_of_labels(y: Targets) -> str:
    """Name missing labels, or labels that cannot be sorted together."""
    labels = to_numpy(y)
    if doubt := doubt_of_gaps(labels):
        return doubt
    kinds = sorted({type(label).__name__ for label in labels.ravel()}) if labels.size else []
    if "str" in kinds and len(kinds) > 1:
        return (
            f"y mixes labels of the types {' and '.join(kinds)}, which cannot be sorted together: "
            "convert all of them to strings, or to numbers."
        )
    return ""


def check_labels(estimator: Estimator, y: Targets) -> None:
    """Raise ValueError for missing dates, or for labels on which a known library fails."""
    labels = None if y is None else glance(to_numpy, y)
    if labels is not None and labels.dtype.kind in "mM" and missing(labels).any():
        # scikit-learn converts them to -9.2e18
        raise ValueError(doubt_of_gaps(labels, "value"))
    if not is_classifier(estimator):
        return
    if labels is not None:
        for last in map(last_step, each_of(estimator)):
            family_of(last).check_labels(last, labels)


def check_groups(groups: Targets, X: Samples) -> int:
    """Count the groups; raise ValueError if a row has no group."""
    if num_samples(groups) != num_samples(X):
        raise ValueError(
            f"groups has {num_samples(groups)} entries, but X has {num_samples(X)} rows: pass one "
            "group for each row."
        )
    values = to_numpy(groups)
    gaps = missing(values)
    if gaps.any():
        raise ValueError(
            f"groups is missing in {np.count_nonzero(gaps)} rows, first in row "
            f"{np.argwhere(gaps)[0][0]}: pass a group for each row, for example a separate one."
        )
    return len(set(values.ravel().tolist()))


@advice
def warn_of_index(X: Samples, y: Targets) -> Iterator[str]:
    """Warn if two tables have the same row labels in a different order."""
    own: Any = getattr(X, "index", None)
    other: Any = getattr(y, "index", None)
    if not (hasattr(own, "equals") and hasattr(other, "equals")) or own.equals(other):
        return
    if own.is_unique and len(own) == len(other) and own.isin(other).all():
        yield (
            "X and y have the same index in a different order, but rows are matched by position: "
            "pass y.loc[X.index]."
        )


def check_columns(estimator: Estimator, params: dict[str, Any]) -> None:
    """Raise TypeError for the name of a column in place of its values.

    A class with its own ``fit`` may take a string as weights.
    """
    for name in ("groups",) if _has_own_fit(estimator) else ("groups", "sample_weight"):
        if isinstance(column := params.get(name), str):
            raise TypeError(
                f"{name}={column!r} is the name of a column: pass the column, X[{column!r}]."
            )


def _has_own_fit(estimator: Estimator) -> bool:
    return any(overridden(last_step(each), ("fit",)) for each in each_of(estimator))


def check_sample_weight(estimator: Estimator, X: Samples, params: dict[str, Any]) -> None:
    """Raise ValueError if there is not one finite weight for each row.

    A class with its own ``fit`` may take any entry per row.
    """
    for name, weight in params.items():
        if weight is None or name.rpartition("__")[2] != "sample_weight":
            continue
        if isinstance(weight, str) or not (hasattr(weight, "shape") or hasattr(weight, "__len__")):
            continue  # a str or a function: the estimator checks it
        if num_samples(weight) != num_samples(X):
            raise ValueError(
                f"{name} has {num_samples(weight)} entries, but X has {num_samples(X)} rows: "
                "pass one weight for each row."
            )
        if _has_own_fit(estimator):
            continue
        values = to_numpy(weight)
        if values.dtype.kind not in "biufO":
            first = values.tolist()[0]
            raise ValueError(f"{name} contains {first!r:.80}: pass a finite number for each row.")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = int(np.argwhere(~np.isfinite(values))[0][0])
            raise ValueError(
                f"{name} is {values[row]} in row {row}: pass a finite number for each row."
            )


def check_fit_params(
    estimator: Estimator, params: dict[str, Any], searched: Iterable[str], by_epochs: bool
) -> None:
    """Raise ValueError for a ``fit`` parameter that the estimator does not take.

    Parameters
    ----------
    estimator : estimator object
        Unfitted.
    params : dict
        Arguments of ``fit`` of the estimator.
    searched : iterable of str
        Names of the searched parameters; a step among them is not checked.
    by_epochs : bool
        Whether ``partial_fit`` of the last step gets them.
    """
    if routing_enabled():
        return  # and it has already raised an error for them
    named, searched = (*params,), set(searched)
    try:
        _check_fit_params(estimator, params, searched, by_epochs)
    except ValueError as error:
        for name in named:
            if (code := meant_by(name, params[name])) and f"fit got {name}," in str(error):
                raise ValueError(
                    f"fit got {name}, a parameter of the search: pass {code} to its constructor."
                ) from None
        raise


def _check_fit_params(
    estimator: Estimator, params: dict[str, Any], searched: set[str], by_epochs: bool
) -> None:
    """Raise ValueError for a parameter that the ``fit`` of a step does not take."""
    if isinstance(estimator, OneOf):
        for name in params:
            if "__" in name and any(isinstance(each, Pipeline) for each in each_of(estimator)):
                raise ValueError(
                    f"fit got {name}, which contains the name of a step, but for a list of models "
                    f"the last step of each gets such arguments: write {name.rpartition('__')[2]}."
                )
        _check_of_models(estimator, params, by_epochs)
        return
    prefix = ""
    while isinstance(estimator, Pipeline) and not overridden(estimator, ("fit",)):
        steps = dict(estimator.steps)
        for name in params:
            step = name.partition("__")[0]
            if "__" not in name or step not in steps:
                raise ValueError(
                    f"fit got {prefix}{name}, which does not belong to a step of the pipeline: "
                    "prefix it with the name of a step, such as "
                    f"{prefix}{estimator.steps[-1][0]}__{name}."
                )
        last, inner = estimator.steps[-1]
        path = f"{prefix}{last}"
        params = {n.partition("__")[2]: v for n, v in params.items() if n.startswith(f"{last}__")}
        prefix, estimator = f"{path}__", inner
        if path in searched:
            return
    is_step = by_epochs and hasattr(estimator, "partial_fit")
    method = "partial_fit" if is_step else "fit"
    try:
        taken = inspect.signature(getattr(estimator, method)).parameters
    # Compiled functions have no signature; they raise their own error
    except (AttributeError, TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return
    for name in params:
        if name not in taken:
            close = difflib.get_close_matches(name, [*taken, "groups"], n=1)
            cure = f"did you mean {close[0]}?" if close else "leave it out."
            raise ValueError(
                f"fit got {prefix}{name}, which {method} of {type(estimator).__name__} does not "
                f"accept: {cure} Valid names are {', '.join(n for n in taken if n != 'self')}."
            )


def _check_of_models(estimator: OneOf, params: dict[str, Any], by_epochs: bool) -> None:
    """Raise ValueError for a parameter that the ``fit`` of some models does not take."""
    errors: dict[str, dict[str, ValueError]] = {name: {} for name in params}
    for model_name, model in named_of(estimator):
        for name, value in params.items():
            try:
                check_fit_params(last_step(model), {name: value}, (), by_epochs)
            except ValueError as error:
                errors[name][model_name] = error
    for name, refusals in errors.items():
        if len(refusals) == len(named_of(estimator)):
            raise next(iter(refusals.values()))
        if refusals:
            raise ValueError(
                f"fit got {name}, which fit of these models of the list does not accept: "
                f"{', '.join(refusals)}. Remove the models from the list, or leave {name} out."
            )
