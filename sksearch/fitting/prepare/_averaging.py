"""Check before any training if candidates can be averaged."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sklearn.base import clone, is_classifier, is_regressor

from sksearch._utils._advice import glance
from sksearch._utils._compat import is_scorer, to_numpy
from sksearch._utils._typing import Estimator
from sksearch.estimators import OneOf, family_of
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
METHODS = ("predict", "decision_function", "predict_proba", "predict_log_proba")  # for scorers


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
    """Choose the rows with stored predictions, if candidates are averaged.

    Raises
    ------
    ValueError
        If the scorer needs more than predictions, or labels cannot be sorted.
    """
    if not options.ensemble:
        return context
    classes = as_classes(context.classes)
    if is_classifier(context.estimator) and not classes:
        raise ValueError(
            "ensemble averages by class, but the labels of y cannot be sorted together: convert "
            f"all of them to strings, or to numbers, or {CURE}."
        )
    context.kept = kept_rows(context.splits, classes, context.y)
    _check_scorer(options, context)
    if context.kept is not None and is_classifier(context.estimator):
        kinds = {"predict": ["predict"], "decision_function": ["predict", "decision_function"]}
        needy = (kind for kind, has in kinds.items() if glance(why_not_served, context, has))
        context.calibrates = frozenset(needy)
    return context


def servable(
    options: Options, context_of: Callable[[], Context]
) -> tuple[Options, tuple[str, ...]]:
    """Drop the models of a list that the scorer cannot score, and name them.

    Averages add calibrated probabilities to models without any, so all of them can be scored.

    Parameters
    ----------
    options : Options
        Options of the search.
    context_of : callable
        Returns the context in which scorers are called.

    Returns
    -------
    options : Options
        With the models left.
    notes : tuple of str
        A line for the plan, if any model is left out.
    """
    one_of: Any = options.estimator
    space = options.space
    models = named_of(one_of)
    is_by_name = isinstance(space, dict) and set(space) <= {name for name, _ in models}
    is_by_name = is_by_name and all(isinstance(each, dict) for each in space.values())
    if options.ensemble or not models or not is_classifier(one_of):
        return options, ()
    if not (space is None or is_by_name) or not options.knowledge.is_left:
        return options, ()  # a user who names candidates of a model wants it
    scoring = options.goal.scoring
    if any(map(_is_function, scoring.values() if isinstance(scoring, dict) else [scoring])):
        return options, ()  # of the user's, which may count its calls
    methods = {name: _methods_of(model, (space or {}).get(name)) for name, model in models}
    if all(len(each) == len(METHODS) for each in methods.values()):
        return options, ()
    context = context_of()
    gone = [name for name, each in methods.items() if glance(why_not_served, context, each)]
    if not gone or len(gone) == len(models):
        return options, ()  # errors of candidates say why none can be scored
    classes = (f"{n} ({type(last_step(model)).__name__})" for n, model in models if n in gone)
    note = (
        "models left out, since they lack the methods needed by "
        f"scoring={options.goal.scoring!r:.80}: {', '.join(classes)}; ensemble=True adds "
        "probabilities to them"
    )
    space = space if space is None else {k: v for k, v in space.items() if k not in gone}
    kept = [pair for pair in models if pair[0] not in gone]
    estimator = OneOf(kept, None if one_of.model in gone else one_of.model)
    return replace(options, estimator=estimator, space=space), (note,)


def _is_function(scoring: Any) -> bool:
    return callable(scoring) and not is_scorer(scoring)


def _methods_of(model: Any, space: dict | None) -> list[str]:
    """List the methods that a model has, or may have with values of its space."""
    found = {name for name in METHODS if hasattr(model, name)}
    if model.get_params().get("final_estimator", "") is None:  # of a stack, which is then linear
        found |= set(METHODS)
    for name, values in (space or {}).items():
        for value in values if isinstance(values, list | tuple) else ():
            with suppress(Exception):  # another check says what is wrong with a value
                other = clone(model).set_params(**{name: value})
                found |= {method for method in METHODS if hasattr(other, method)}
    return [name for name in METHODS if name in found]


def _check_scorer(options: Options, context: Context) -> None:
    """Have true values scored as predictions."""
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
        error = str(found)  # of one of several metrics, with its type
        if not error.startswith(("AttributeError", "TypeError", "KeyError", "IndexError")):
            return
    else:
        return
    raise ValueError(
        f"ensemble averages predictions, but scoring={options.goal.scoring!r:.80} cannot score "
        f"them without a model ({error}): pass a metric of predictions, or {CURE}."
    )
