"""The best candidate, trained on all rows."""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from sksearch._typing import Estimator, Samples, Targets
from sksearch.base import Resource, State
from sksearch.estimators import Labels, growth_of
from sksearch.fitting import Context, Row, change_to


def train_on_all(
    context: Context, best: Estimator, row: Row, found: str | None, schedule: list[dict[str, Any]]
) -> Any:
    """Train a clone with the params of a row by the path that it was scored on.

    Parameters
    ----------
    context : Context
        Of the search.
    best : estimator object
        Unfitted, with the params of the row.
    row : Row
        Of ``cv_results_``.
    found : str or None
        The parameter that training has found, if there is one.
    schedule : list of dict
        Which params held from which count of units on.

    Returns
    -------
    estimator : estimator object
        Fitted on all rows.
    """
    rows, state = (context.X, context.y), State(best)
    args = context.classes, context.fit_params
    if found is not None and found in row.params:
        return growth_of(best, found).refit(state, rows, row.params[found], *args).estimator
    if len(schedule) > 1:
        way = schedule, row.n_resources, context.changing
        return follow(context.resource, best, *way, *rows, *args)
    n_steps = int(np.median([output.n_steps for output in row.outputs]))
    return context.resource.refit(state, *rows, row.n_resources, n_steps, *args).estimator


def follow(
    resource: Resource,
    estimator: Estimator,
    schedule: list[dict[str, Any]],
    amount: int,
    changing: tuple[str, ...] | None,
    X: Samples,
    y: Targets,
    classes: Labels,
    fit_params: dict[str, Any],
) -> Any:
    """Train an estimator by a schedule.

    Parameters
    ----------
    resource : Resource
        One that goes on from a fitted model.
    estimator : estimator object
        Unfitted.
    schedule : list of dict
        Which params held from which count of units on.
    amount : int
        Count of units at the end.
    changing : tuple of str or None
        Names of the params that may change on the way; None: all.
    X, y : array-like
        The training rows.
    classes : ndarray, list of ndarray or None
        Labels, for ``partial_fit`` of classifiers.
    fit_params : dict
        Further arguments of ``fit``.

    Returns
    -------
    estimator : estimator object
        Fitted.
    """
    state = State(estimator.set_params(**clone(schedule[0]["params"], safe=False)))
    ends = [entry["n_resources"] for entry in schedule] + [amount]
    for entry, (spent, end) in zip(schedule, pairwise(ends), strict=True):
        change_to(state, entry["params"], changing)
        rows = state, X, y, end
        if end < amount:
            state = resource.train(*rows, spent, classes, fit_params)
        else:
            state = resource.refit(*rows, end, classes, fit_params)
    return state.estimator
