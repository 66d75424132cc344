"""Epochs of an estimator: calls of ``partial_fit``."""

import inspect
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sksearch._utils._terminal import warn
from sksearch.base._resource import fit
from sksearch.base._state import Labels, State

from ._epoch_training import EpochTraining
from ._family import family_of, own_methods
from ._pipeline import enter, last_step, replace_last_step

WAYS = (
    "Give resource= one of: 'epochs' or 'seconds' for estimators with partial_fit (SGD, MLP, "
    "naive Bayes, skorch nets; also as last step of a Pipeline, or in a "
    "TransformedTargetRegressor), the name of an integer parameter "
    "such as 'n_estimators' or 'clf__max_iter' for an estimator with this parameter, or "
    "'n_samples' or 'folds' for any estimator."
)


def refuse_early_stopping(estimator: Any) -> None:
    if getattr(estimator, "early_stopping", False) is True and hasattr(
        type(estimator), "partial_fit"
    ):
        raise ValueError(
            f"{type(estimator).__name__}(early_stopping=True) cannot be trained epoch by epoch: "
            "set early_stopping=False, since the search itself stops early."
        )


def warn_of_own_fit(last: Any, resource: str) -> None:
    """Warn of a class with a custom ``fit`` and the ``partial_fit`` of its library."""
    if own_methods(last, ("fit",)) and not own_methods(last, ("partial_fit",)):
        name = type(last).__name__
        warn(
            f"resource={resource!r} trains by partial_fit, so the custom fit of {name} is not "
            "called: define an equivalent partial_fit, or search with another resource.",
        )


def train_calls(
    state: State,
    X: Any,
    y: Any,
    n_steps: int,
    classes: Labels,
    fit_params: dict[str, Any],
    ends: bool = False,
) -> State:
    """Train an estimator or Pipeline up to `n_steps` calls of ``partial_fit``.

    `ends` is True if no other rung continues from there.
    """
    Xt, yt, last_params = enter(state, X, y, fit_params)
    advance(state, Xt, yt, n_steps, classes, last_params, ends)
    return state


def advance(
    state: State,
    Xt: Any,
    yt: Any,
    n_steps: int,
    classes: Labels,
    last_params: dict[str, Any],
    ends: bool = False,
) -> None:
    """Train the last step up to `n_steps` calls, on the rows that `enter` returned."""
    last = last_step(state.estimator)
    refuse_early_stopping(last)
    if hasattr(last, "partial_fit"):
        kwargs = _arguments(last, state.n_steps == 0, classes, last_params)
        n_epochs = n_steps - state.n_steps
        _epochs_of(last).train(state, last, Xt, yt, n_epochs, kwargs, ends)
    else:
        last = _fit_anew(last, Xt, yt, n_steps, last_params)
        state.estimator = replace_last_step(state.estimator, last)
    state.n_steps = n_steps


def has_ended(estimator: Any) -> bool:
    """Return whether more epochs would change nothing."""
    last = last_step(estimator)
    return _epochs_of(last).has_ended(last)


def _epochs_of(last: Any) -> EpochTraining:
    """Training by the family, or by plain calls of methods that the class overrides."""
    epochs = family_of(last).epochs
    return EpochTraining() if own_methods(last, epochs.replaced) else epochs


def _arguments(
    last: Any, begins: bool, classes: Labels, fit_params: dict[str, Any]
) -> dict[str, Any]:
    """Return other arguments of ``partial_fit``; raise ValueError for unsupported ones."""
    accepted = inspect.signature(last.partial_fit).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
    unknown = [name for name in fit_params if name not in accepted]
    if unknown and not takes_all:
        raise ValueError(
            f"partial_fit of {type(last).__name__} does not take {', '.join(unknown)}: leave it "
            "out, or search with another resource."
        )
    kwargs = dict(fit_params)
    if begins and classes is not None and ("classes" in accepted or takes_all):
        kwargs["classes"] = _classes_for(last, classes)
    return kwargs


def _classes_for(last: Any, classes: Labels) -> Labels:
    """Labels in the form that `last` accepts: a list if it has one estimator per output."""
    if isinstance(classes, list) and not hasattr(last, "estimator"):
        return np.arange(len(classes))  # multilabel indicators of a net
    return classes


def _fit_anew(last: Any, X: Any, y: Any, amount: int, fit_params: dict[str, Any]) -> Any:
    """Fit a clone with ``max_iter`` set to the amount."""
    if "max_iter" not in last.get_params(deep=False):
        raise ValueError(f"{type(last).__name__} has neither partial_fit nor max_iter. {WAYS}")
    last = clone(last).set_params(max_iter=amount)
    with warnings.catch_warnings():
        # A low rung ends before convergence on purpose.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(last, X, y, fit_params)
