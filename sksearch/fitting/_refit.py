"""The best candidate, trained on all rows."""

from typing import Any

import numpy as np
from sklearn.base import clone

from sksearch._clock import now
from sksearch._compat import check_method_params, safe_split, to_namespace_of
from sksearch.base import State, fit
from sksearch.fitting._evaluation import Context
from sksearch.fitting._results import Row
from sksearch.resources import growth_of


def refit(context: Context, best: Any, row: Row, found: str | None) -> Any:
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

    Returns
    -------
    estimator : estimator object
        Fitted on all rows.
    """
    rows, state = (context.X, context.y), State(best)
    args = context.classes, context.fit_params
    if found is not None and found in row.params:
        return growth_of(best, found).refit(state, rows, row.params[found], *args).estimator
    n_steps = int(np.median([output.n_steps for output in row.outputs]))
    return context.resource.refit(state, *rows, row.n_resources, n_steps, *args).estimator


def seconds_of_one_fit(context: Context) -> float:
    """Measure one training of the estimator as it is, on the first fold."""
    train, _ = to_namespace_of(context.X, context.splits[0])
    estimator = clone(context.estimator)
    X, y = safe_split(estimator, context.X, context.y, train)
    params = check_method_params(context.X, params=context.fit_params, indices=train)
    start = now()
    fit(estimator, X, y, params)
    return now() - start
