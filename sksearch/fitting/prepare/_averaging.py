"""Checks before any training whether candidates can be averaged or calibrated."""

import warnings
from typing import Any

from sklearn.base import is_classifier, is_regressor

from sksearch._utils._advice import glance
from sksearch._utils._compat import is_scorer, to_numpy
from sksearch._utils._typing import Estimator
from sksearch.estimators._family import family_of
from sksearch.estimators._model_choice import named_of
from sksearch.estimators._pipeline import last_step
from sksearch.fitting.finish._choose import rule_of
from sksearch.fitting.finish._fixed_predictors import (
    NotOfPredictionsError,
    ScoredRows,
    known_model,
    true_shares,
    warn_of_no_average,
    why_not_served,
)
from sksearch.fitting.prepare._options import Goal, Options
from sksearch.fitting.run._predictions import as_classes, kept_rows
from sksearch.fitting.run._tasks import Context

CURE = "leave ensemble out"


def check_ensemble(ensemble: int, estimator: Estimator, goal: Goal) -> None:
    """Raise ValueError if models of this kind cannot be averaged, or an average is useless."""
    if not ensemble:
        return
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(
            f"ensemble averages predictions, but {type(estimator).__name__} is neither a "
            f"classifier nor a regressor: {CURE}."
        )
    if "threshold" in family_of(last_step(estimator)).counts:
        raise ValueError(
            "ensemble averages probabilities, which ignore the threshold: search without the "
            f"{type(last_step(estimator)).__name__}, or {CURE}."
        )
    if goal.refit is False:
        raise ValueError(
            "ensemble trains models on all rows, but refit=False trains none: leave one of them "
            "out."
        )
    if goal.objectives:
        raise ValueError(
            f"ensemble is chosen by one score, but objectives={goal.objectives!r} has several: "
            "leave one of them out."
        )
    if callable(rule_of(goal.refit, goal.scoring)):
        raise ValueError(
            f"refit={goal.refit!r} chooses one candidate, but ensemble averages several: leave "
            "one of them out."
        )


def with_kept_rows(options: Options, context: Context) -> Context:
    """Choose the rows with stored predictions, if these are needed.

    Candidates are averaged, and the classifiers of a list calibrated, by these predictions.

    Raises
    ------
    ValueError
        If candidates are averaged, and the scorer needs more than predictions, or labels cannot be
        sorted.
    """
    classes, classifies = as_classes(context.classes), is_classifier(context.estimator)
    calibrates = classifies and bool(classes) and bool(named_of(context.estimator))
    if not (options.ensemble or calibrates):
        return context
    if classifies and not classes:
        raise ValueError(
            "ensemble averages by class, but the labels of y cannot be sorted together: convert "
            f"all of them to strings, or to numbers, or {CURE}."
        )
    context.kept = kept_rows(context.splits, classes, context.y)
    scoring, is_of_predictions = options.goal.scoring, True
    if options.ensemble:
        _check_scorer(options, context)
        is_of_predictions = context.kept is not None
    elif any(map(_is_function, scoring.values() if isinstance(scoring, dict) else [scoring])):
        is_of_predictions = False  # a user's function may count its calls
    if is_of_predictions and classifies:
        kinds = {"predict": ["predict"], "decision_function": ["predict", "decision_function"]}
        needy = (kind for kind, has in kinds.items() if glance(why_not_served, context, has))
        context.calibrates = frozenset(needy)
    return context


def _is_function(scoring: Any) -> bool:
    return callable(scoring) and not is_scorer(scoring)


def _check_scorer(options: Options, context: Context) -> None:
    """Score the true values as predictions, as a test of the scorer."""
    rows = ScoredRows(context, 0, (context.kept or [])[0])
    truth = to_numpy(rows.y).reshape(len(rows.indices), -1)
    if is_classifier(context.estimator):
        truth = true_shares(context, truth)
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
        error = str(found)  # error of one of several metrics, with its type
        if not error.startswith(("AttributeError", "TypeError", "KeyError", "IndexError")):
            return
    else:
        return
    raise ValueError(
        f"ensemble averages predictions, but scoring={options.goal.scoring!r:.80} cannot score "
        f"them without a model ({error}): pass a metric of predictions, or {CURE}."
    )
