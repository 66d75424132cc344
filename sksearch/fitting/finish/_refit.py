"""The last training of a candidate, on all rows."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from sksearch._utils._seeds import seeded
from sksearch._utils._typing import Estimator, Samples, Targets
from sksearch.base import Resource
from sksearch.base._state import Labels, State
from sksearch.estimators._growth import growth_of
from sksearch.estimators._model_choice import model_of
from sksearch.estimators._pipeline import own_rows
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._evaluation import change_to
from sksearch.fitting.run._results import ResultRow
from sksearch.fitting.run._tasks import Context


@dataclass(frozen=True)
class LastTraining:
    """The training of a candidate on all rows, by the path that it was scored on.

    Parameters
    ----------
    row : ResultRow
        Row of ``cv_results_``, without the parts only needed for its scores.
    found : str or None
        The parameter that training has found, if there is one.
    schedule : list of dict
        Parameters by the number of units from which they held.
    """

    row: ResultRow
    found: str | None
    schedule: list[dict[str, Any]]

    def seeds(self, context: Context) -> AbstractContextManager[None]:
        """Return a context with the global generators seeded for this fit."""
        row = self.row
        return seeded(context.seed, row.trial_id, len(context.splits), row.n_resources)

    def untrained(self, context: Context) -> Any:
        """Return the estimator with the candidate's parameters."""
        return clone(context.estimator).set_params(**clone(self.row.params, safe=False))

    def run(self, context: Context, estimator: Estimator) -> Any:
        """Train an estimator.

        Parameters
        ----------
        context : Context
            Context of the search.
        estimator : estimator object
            The return value of `untrained`.

        Returns
        -------
        estimator : estimator object
            Fitted.
        """
        with Interrupts.heeded():
            return self._train(context, estimator)

    def _train(self, context: Context, estimator: Estimator) -> Any:
        """Train it as it was scored: to its count, by its schedule, or with all of a resource."""
        row, found = self.row, self.found
        # Other members of an average are trained on the same rows
        X = context.X if context.kept is None else own_rows(model_of(estimator), context.X)
        rows, state = (X, context.y), State(estimator)
        args = context.classes, context.fit_params
        if found is not None and found in row.params:
            growth = growth_of(estimator, found)
            return growth.refit(state, rows, row.params[found], *args).estimator
        if len(self.schedule) > 1:
            way = self.schedule, row.n_resources, context.changing
            return follow(context.resource, estimator, *way, *rows, *args)
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
        One that continues from a fitted model.
    estimator : estimator object
        Unfitted.
    schedule : list of dict
        Parameters by the number of units from which they held.
    amount : int
        Number of units at the end.
    changing : tuple of str or None
        Names of the parameters that may change on the way; None: all.
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
