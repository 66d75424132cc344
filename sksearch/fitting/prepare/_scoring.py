"""Errors about metrics: unknown names, metrics in place of scorers, unreachable targets."""

import copy
import difflib
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import get_scorer_names, log_loss
from sklearn.utils.multiclass import type_of_target

from sksearch._utils._advice import advice
from sksearch._utils._compat import (
    InvalidParameterError,
    MultimetricScorer,
    metric_of_scorer,
    task_of_metric,
    to_numpy,
)
from sksearch._utils._typing import Estimator, Scorer, Scoring, Targets
from sksearch.estimators._model_choice import model_of

#: Short names of metrics from other libraries.
SHORT = {
    "mse": "neg_mean_squared_error", "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error", "mape": "neg_mean_absolute_percentage_error",
    "msle": "neg_mean_squared_log_error", "rmsle": "neg_root_mean_squared_log_error",
    "r_squared": "r2", "acc": "accuracy", "auc": "roc_auc", "roc": "roc_auc",
    "logloss": "neg_log_loss", "cross_entropy": "neg_log_loss", "brier": "neg_brier_score",
    "aucpr": "average_precision", "pr_auc": "average_precision", "mcc": "matthews_corrcoef",
}  # fmt: skip
#: Metrics for two classes alone, and their counterparts for more.
MACRO = {
    **{name: f"{name}_macro" for name in ("f1", "precision", "recall", "jaccard")},
    "roc_auc": "roc_auc_ovr",
}
LOG_LOSS = "neg_log_loss"
PROBABILITIES = re.compile("neg_log_loss|roc_auc_ov[ro]")  # of more than two classes
METRIC_ARGUMENTS = ("y_true", "y_pred")  # first arguments of scikit-learn's metrics
#: scikit-learn's metrics without a largest value.
UNBOUNDED = {"mutual_info_score", "calinski_harabasz_score", "dcg_score", "davies_bouldin_score"}
METRICS = "sklearn.metrics."
LOSSES = ("_error", "_loss", "_deviance")  # endings of metrics to be minimised


def check_scoring(scoring: Scoring, n_arguments: int) -> None:
    """Raise ValueError for metrics in place of scorers, and for unknown names.

    Parameters
    ----------
    scoring : object
        As passed by the user.
    n_arguments : int
        Number of arguments of a scorer: estimator, X, and y if there is one.
    """
    if isinstance(scoring, list | tuple | dict) and not scoring:
        raise ValueError(
            f"scoring={scoring!r} contains no metric: pass a name such as 'accuracy', a list or "
            "dict of metrics, or leave it out to use the estimator's score."
        )
    if scoring is not None and not (
        callable(scoring) or isinstance(scoring, str | list | tuple | set | dict)
    ):
        raise InvalidParameterError(
            f"scoring={scoring!r:.80} is a {type(scoring).__name__}: pass the name of a scorer, "
            "such as 'accuracy', a function of (estimator, X, y), or a list or dict of them."
        )
    for each in names_of_scorers(scoring):
        if each not in get_scorer_names():
            raise InvalidParameterError(
                f"scoring={each!r} is not a scorer{_nearest_scorer(each)}."
            )
    named = scoring.items() if isinstance(scoring, dict) else [(None, scoring)]
    for name, scorer in named:
        if callable(scorer) and _is_metric(scorer, n_arguments):
            at = "scoring" if name is None else f"scoring[{name!r}]"
            text = getattr(scorer, "__name__", scorer)
            raise ValueError(
                f"{at}={text} looks like a metric of y_true and y_pred, but a scorer is called "
                f"with an estimator, X and y: pass sklearn.metrics.make_scorer({text}), or the "
                "name of a scorer such as 'accuracy'."
            )


def names_of_scorers(scoring: Scoring) -> list[str]:
    """Return the names of scorers in the user's `scoring`."""
    if isinstance(scoring, dict):
        scoring = list(scoring.values())
    listed = scoring if isinstance(scoring, list | tuple | set) else [scoring]
    return [name for name in listed if isinstance(name, str)]


def _nearest_scorer(name: str) -> str:
    """Scorers with similar names."""
    low = name.lower().replace(" ", "_").replace("-", "_")
    known = get_scorer_names()
    meant = [SHORT[low]] if low in SHORT else difflib.get_close_matches(low, known, n=3)
    if not meant:
        return ": sklearn.metrics.get_scorer_names() lists all of them"
    return f": did you mean {' or '.join(map(repr, meant))}"


def doubt_of_task(scoring: Scoring, estimator: Estimator, y: Targets) -> str:
    """Name a metric that fails on the estimator's predictions, otherwise ""."""
    names, model = names_of_scorers(scoring), type(model_of(estimator)).__name__
    if y is None or not names or not (is_classifier(estimator) or is_regressor(estimator)):
        return ""
    kind = type_of_target(y)
    for name in names:
        task = task_of_metric(name)
        if is_classifier(estimator) and task == "regression" and to_numpy(y).dtype.kind in "OUS":
            return _metric_of_numbers(name, model)
        if is_classifier(estimator) and kind == "multiclass" and name in MACRO:
            return f"scoring={name!r} is for two classes, but y has more: pass {MACRO[name]!r}."
        if is_regressor(estimator) and task == "classification" and kind.startswith("continuous"):
            return (
                f"scoring={name!r} is a classification metric, but {model} predicts numbers: pass "
                "a regression metric, such as 'r2' or 'neg_root_mean_squared_error'."
            )
    return ""


def doubt_of_folds(scoring: Scoring, classes: Any, strata: Any, splits: Sequence) -> str:
    """Name a class that a metric of probabilities needs in a fold that lacks it, otherwise ""."""
    names = [name for name in names_of_scorers(scoring) if PROBABILITIES.match(name)]
    if strata is None or not names or len(classes) < 3:
        return ""
    every = set(range(len(classes)))
    for i, (train, test) in enumerate(splits):
        seen, tested = classes_in(strata, train), classes_in(strata, test)
        for name in names:
            need = tested if name == LOG_LOSS else every
            at = {"training": need - seen, "test": set() if name == LOG_LOSS else every - tested}
            for part, absent in at.items():
                if absent:
                    k = min(absent)
                    return (
                        f"The {part} rows of fold {i} lack the class {str(classes[k])!r} of y, so "
                        f"scoring={name!r} is not defined there: merge this class with another, "
                        "leave out its rows, or pass other folds. Its number of rows: "
                        f"{np.count_nonzero(strata == k)}."
                    )
    return ""


def classes_in(strata: Any, rows: Any) -> set[int]:
    """Return the indices of the classes in some rows."""
    return set(np.unique(strata[rows]).tolist())


def with_classes(scorer: Any, classes: Any, strata: Any, splits: Sequence) -> Any:
    """Return a scorer that knows all classes, as log loss must if a fold's test rows lack some."""
    if isinstance(scorer, MultimetricScorer):
        scorers = {n: with_classes(s, classes, strata, splits) for n, s in scorer._scorers.items()}
        return MultimetricScorer(scorers=scorers, raise_exc=scorer._raise_exc)
    if getattr(scorer, "_score_func", None) is not log_loss or "labels" in scorer._kwargs:
        return scorer
    if strata is None or all(len(classes_in(strata, t)) == len(classes) for _, t in splits):
        return scorer
    scorer = copy.copy(scorer)
    scorer._kwargs = scorer._kwargs | {"labels": classes}
    return scorer


@advice
def warn_of_task(scoring: Scoring, estimator: Estimator, y: Targets) -> Iterator[str]:
    """Warn of a metric that compares class labels as if they were numbers."""
    if y is not None and is_classifier(estimator) and to_numpy(y).dtype.kind not in "OUS":
        for name in names_of_scorers(scoring):
            if task_of_metric(name) == "regression":
                yield _metric_of_numbers(name, type(estimator).__name__)


def _metric_of_numbers(name: str, model: str) -> str:
    return (
        f"scoring={name!r} is a regression metric, but {model} predicts classes: pass a "
        "classification metric, such as 'accuracy', 'balanced_accuracy' or 'roc_auc_ovr'."
    )


def _is_metric(scorer: Scorer, n_arguments: int) -> bool:
    """True if a function cannot be called as a scorer, or is named like a metric."""
    try:
        signature = inspect.signature(scorer)
    except (TypeError, ValueError):  # of a builtin
        return False
    if tuple(signature.parameters)[:2] == METRIC_ARGUMENTS:
        return True
    try:
        signature.bind(*[None] * n_arguments)
    except TypeError:
        return True
    return False


@advice
def warn_of_losses(scorers: Scorer, metric: str | None) -> Iterator[str]:
    """Warn if the deciding scorer is large for a bad model.

    Parameters
    ----------
    scorers : callable
        Scorer made of `scoring` by scikit-learn.
    metric : object
        Name of the deciding metric, if there are several.
    """
    function, sign = _metric_that_decides(scorers, metric)
    name = getattr(function, "__name__", "")
    if sign > 0 and name.endswith(LOSSES) and function.__module__.startswith(METRICS):
        yield (
            f"scoring=make_scorer({name}) maximizes {name}, so the worst model wins: pass "
            f"make_scorer({name}, greater_is_better=False)."
        )


def check_target_score(target: float | None, scorers: Scorer, metric: str | None) -> None:
    """Raise ValueError for a score that no candidate can have.

    Parameters
    ----------
    target : float or None
        Target of the search.
    scorers : callable
        Scorer made of `scoring` by scikit-learn.
    metric : object
        Name of the deciding metric, if there are several.
    """
    if target is None:
        return
    function, sign = _metric_that_decides(scorers, metric)
    name = getattr(function, "__name__", "")
    if sign < 0 and target > 0:
        raise ValueError(
            f'stop["score"]={target:g} cannot be reached: scores are minus {name}, so they are at '
            f"most 0. Pass {-target:g}."
        )
    is_known = getattr(function, "__module__", "").startswith(METRICS)
    if target > 1 and is_known and name.endswith("_score") and name not in UNBOUNDED:
        raise ValueError(
            f'stop["score"]={target:g} cannot be reached: the score is at most 1. Pass a value on '
            "the scale of cv_results_, such as 0.95."
        )


def _metric_that_decides(scorers: Scorer, metric: str | None) -> tuple[Any, int]:
    """The function of the deciding scorer, None if unknown, and its sign."""
    return metric_of_scorer(getattr(scorers, "_scorers", {metric: scorers}).get(metric))
