"""One search on one problem with one seed."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeGuard, cast

import numpy as np
from sklearn.base import clone

from sksearch._utils._numerics import one_blas_thread
from sksearch._utils._seeds import seeded
from sksearch.base import Sampler, Scheduler
from sksearch.executors import VirtualClock
from sksearch.history import History
from sksearch.reader._read import chosen_metric, read
from sksearch.reader._sources import FittedSearch
from sksearch.simulators import SimulatedEstimator
from sksearch.simulators._play import play
from sksearch.simulators._problem import CurveProblem

CURVES = ("resource", "seconds", "loss", "incumbent")  # columns with one entry per evaluation
SPACES = ("param_distributions", "search_spaces", "param_grid")  # searches' names of their space


class SearchEstimator(Protocol):
    """A search with scikit-learn's interface, from this or another package."""

    def fit(self, X: Any, y: Any, /) -> Any:
        """Search."""

    def get_params(self, deep: bool = ...) -> dict[str, Any]:
        """Return the parameters of the search."""

    def set_params(self, **params: Any) -> Any:
        """Set some of the parameters."""


Maker: TypeAlias = Callable[..., SearchEstimator]  # takes estimator and space
Contender: TypeAlias = SearchEstimator | Maker | tuple[Sampler, Scheduler]


def is_search(search: object) -> TypeGuard[SearchEstimator]:
    """Return whether an object is a search estimator, not a pair, a class or a function."""
    return (
        not isinstance(search, type) and hasattr(search, "fit") and hasattr(search, "get_params")
    )


def has_only_data(problem: Any) -> bool:
    """Return whether a problem leaves estimator and space to the search."""
    return isinstance(problem, tuple) and len(problem) == 2


def space_name(search: SearchEstimator) -> str | None:
    """Return the name of a search estimator's space parameter, None if unknown."""
    params = search.get_params(deep=False)
    return next((name for name in SPACES if name in params), None)


def attempt(key: Any, search: Contender, problem: Any, seed: int) -> tuple[Any, dict | None, str]:
    """Return the key, with the curves of its run or None, and the error that ended it or ""."""
    try:
        # Results that depend on threads or on global generators would depend on n_jobs.
        with one_blas_thread(), seeded(seed):
            if isinstance(search, tuple):
                sampler, scheduler = search
                history = play(sampler, scheduler, problem, random_state=seed)
                events = _events_of_history(history)
            else:
                events = _fitted_events(search, problem, seed)
            return key, _curves(events), ""
    except Exception as error:
        return key, None, f"{type(error).__name__}: {error}"


class _Event(NamedTuple):
    """One evaluation of a candidate."""

    level: int  # the candidate's resource
    resource: int  # units paid for this evaluation
    seconds: float
    loss: float


def _fitted_events(search: SearchEstimator | Maker, problem: Any, seed: int) -> list[_Event]:
    """Fit a search estimator, on a virtual clock if the problem has simulated curves."""
    if not isinstance(problem, CurveProblem):
        *given, X, y = problem
        return _events_of_search(_made(search, given, seed).fit(X, y))
    X, y = np.zeros((10, 1)), np.arange(10) % 2
    given = (SimulatedEstimator(problem, random_state=seed), problem.space)
    made = _made(search, given, seed)
    params = made.get_params(deep=False)
    if params.get("resource") == "epochs" and params.get("max_resources") == "auto":
        made.set_params(max_resources=problem.max_resources)
    with VirtualClock():
        fitted = made.fit(X, y)
    return _events_of_search(fitted, problem)


def _made(search: SearchEstimator | Maker, given: Any, seed: int) -> SearchEstimator:
    """Create the search estimator of a run; `given` are the problem's estimator and space."""
    if not is_search(search):
        return cast(Maker, search)(*given, random_state=seed)
    made = clone(search)
    params = made.get_params(deep=False)
    new: Any = {"random_state": seed} if "random_state" in params else {}
    if given:
        new |= {"estimator": given[0], space_name(made): given[1]}
    return made.set_params(**new)


def _events_of_search(search: FittedSearch, problem: CurveProblem | None = None) -> list[_Event]:
    """List the evaluations of a fitted search; `problem` is given if it has simulated curves."""
    whole = 1 if problem is None else problem.max_resources
    history = getattr(search, "history_", None)
    if isinstance(history, History) and hasattr(search, "plan_"):
        rungs = search.plan_.rungs
        scale = whole if history.problem.max_resources == 1 else 1
        units = {(r.bracket, r.n_resources): scale * r.resources // r.n_candidates for r in rungs}
        return _events_of_history(history, units)
    if not hasattr(search, "cv_results_"):
        raise TypeError(f"{type(search).__name__} has no cv_results_ after fit.")
    return _events_of_rows(search, problem, whole)


def _events_of_history(history: History, units: dict | None = None) -> list[_Event]:
    """List the evaluations of a history in the order in which they ended.

    `units` is the cost of an evaluation, by (bracket, resource). None: each candidate continues
    from its last resource, as in `play`.
    """
    events = []
    for kind, trial_id, resource in history.log:
        if kind == "tell":
            trial = history.trials[trial_id]
            result = trial.results[resource]
            before = trial.spent(resource)
            paid = units[trial.bracket, resource] if units else resource - before
            events.append(_Event(resource, paid, result.cost, -float(result.score)))
    return events


def _events_of_rows(
    search: FittedSearch, problem: CurveProblem | None, whole: int
) -> list[_Event]:
    """List the rows of ``cv_results_`` of a search from another package.

    Each is a fit of `whole` units, unless the search or its candidate specifies less.
    """
    found = read(search)
    if chosen_metric(search, found.results) is None:
        raise ValueError(f"{type(search).__name__} has several metrics: choose one with refit=.")
    rows = found.rows
    levels = [row.resource if found.has_resources else whole for row in rows]
    if problem is None:
        paid, seconds = levels, [row.fit_seconds + row.score_seconds for row in rows]
    else:  # the times of another package's search are real, not simulated
        paid = [int(row.shown.get("n_epochs", whole)) for row in rows]
        params = [{n: row.shown[n] for n in problem.names if n in row.shown} for row in rows]
        curves = problem.seconds(params)
        seconds = [float(curve[n - 1]) for curve, n in zip(curves, paid, strict=True)]
    costs = [found.n_folds * each for each in seconds]
    return list(map(_Event, levels, paid, costs, [-row.score for row in rows]))


def _curves(events: list[_Event]) -> dict[str, list]:
    """Make the columns of the table that have one entry for each evaluation."""
    incumbents, top, best = [], 0, math.nan
    for event in events:
        better = event.level > top or (event.level == top and event.loss < best)
        if math.isfinite(event.loss) and better:
            top, best = event.level, event.loss
        incumbents.append(best)
    return {
        "resource": np.cumsum([event.resource for event in events]).tolist(),
        "seconds": np.cumsum([event.seconds for event in events]).tolist(),
        "loss": [event.loss for event in events],
        "incumbent": incumbents,
    }
