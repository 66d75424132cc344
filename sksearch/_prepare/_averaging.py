"""Whether candidates can be averaged, seen before anything is trained."""

import warnings

import numpy as np
from sklearn.base import is_classifier, is_regressor

from sksearch._compat import to_numpy
from sksearch._prepare._options import Goal, Options
from sksearch._typing import Estimator
from sksearch.estimators import family_of, last_step
from sksearch.fitting import (
    Context,
    NotOfPredictionsError,
    ScoredRows,
    as_classes,
    kept_rows,
    known_model,
    warn_of_no_average,
)
from sksearch.reporting import rule_of

CURE = "leave ensemble out"


def check_ensemble(ensemble: int, estimator: Estimator, goal: Goal) -> None:
    """Raise ValueError if models of this kind cannot be averaged, or an average has no use."""
    if not ensemble:
        return
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(
            f"ensemble averages predictions, but {type(estimator).__name__} is neither a "
            f"classifier nor a regressor: {CURE}."
        )
    if "threshold" in family_of(last_step(estimator)).counts:
        raise ValueError(
            "ensemble averages probabilities, which know no threshold: search without the "
            f"{type(last_step(estimator)).__name__}, or {CURE}."
        )
    if goal.refit is False:
        raise ValueError(
            "ensemble trains models on all rows, and refit=False trains none: leave one of them "
            "out."
        )
    if goal.objectives:
        raise ValueError(
            f"ensemble is chosen by one score, and objectives={goal.objectives!r} has several: "
            "leave one of them out."
        )
    if callable(rule_of(goal.refit, goal.scoring)):
        raise ValueError(
            f"refit={goal.refit!r} chooses one candidate, and ensemble averages several: leave "
            "one of them out."
        )


def with_kept_rows(options: Options, context: Context) -> Context:
    """Choose the rows whose predictions are kept, if candidates are averaged.

    Raises
    ------
    ValueError
        If the scorer needs more than predictions.
    """
    if not options.ensemble:
        return context
    classes = as_classes(context.classes)
    context.kept = kept_rows(context.splits, classes, context.y)
    _check_scorer(options, context)
    return context


def _check_scorer(options: Options, context: Context) -> None:
    """Have true values scored as predictions."""
    rows = ScoredRows(context, 0, (context.kept or [])[0])
    truth, classes = to_numpy(rows.y).reshape(len(rows.indices), -1), as_classes(context.classes)
    if is_classifier(context.estimator):
        pairs = zip(classes, truth.T, strict=True)
        truth = np.hstack([np.eye(len(k))[np.searchsorted(k, column)] for k, column in pairs])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.score(context, known_model(context, rows.known, truth))
    except NotOfPredictionsError as found:
        context.kept = None
        warn_of_no_average(str(found))
        return
    except (AttributeError, TypeError, LookupError) as found:
        error = f"{type(found).__name__}: {found}"
    except Exception as found:  # this fold alone may have no score, such as an AUC of one class
        error = str(found)  # of one of several metrics, with its type
        if not error.startswith(("AttributeError", "TypeError", "KeyError", "IndexError")):
            return
    else:
        return
    raise ValueError(
        f"ensemble averages predictions, and scoring={options.goal.scoring!r:.80} cannot score "
        f"them without a model ({error}): pass a metric of predictions, or {CURE}."
    )
