"""One search on one problem with one seed."""

import math
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from sksearch._threads import one_blas_thread
from sksearch.executors import VirtualClock
from sksearch.fitting._evaluation import seeded
from sksearch.history import History
from sksearch.simulators import CurveProblem, SimulatedEstimator, play

CURVES = ("resource", "seconds", "loss", "incumbent")  # columns with one entry an evaluation
SPACES = ("param_distributions", "search_spaces", "param_grid")  # as searches call it


def is_search(search):
    """Whether it is a search estimator, and not a pair, a class or another function."""
    return (
        not isinstance(search, type) and hasattr(search, "fit") and hasattr(search, "get_params")
    )


def has_only_data(problem):
    """Whether a problem leaves estimator and space to the search."""
    return isinstance(problem, tuple) and len(problem) == 2


def space_name(search):
    """What a search estimator calls its space, None if there is no name that we know."""
    params = search.get_params(deep=False)
    return next((name for name in SPACES if name in params), None)


def attempt(key, search, problem, seed):
    """The curves of a run, or the error that ended it."""
    try:
        # As in a search's own tasks: what depends on threads or on global generators would
        # depend on n_jobs.
        with one_blas_thread(), seeded(seed):
            if isinstance(search, tuple):
                events = _events_of_history(play(*search, problem, random_state=seed))
            else:
                events = _fitted_events(search, problem, seed)
            return key, _curves(events), ""
    except Exception as error:
        return key, None, f"{type(error).__name__}: {error}"


class _Event(NamedTuple):
    """One evaluation: the candidate's resource, units and seconds paid now, and the loss."""

    level: int
    resource: int
    seconds: float
    loss: float


def _fitted_events(search, problem, seed):
    """Fit a search estimator; on curves, on a clock of simulated seconds."""
    if not isinstance(problem, CurveProblem):
        *given, X, y = problem
        return _events_of_search(_made(search, given, seed).fit(X, y))
    X, y = np.zeros((10, 1)), np.arange(10) % 2
    given = (SimulatedEstimator(problem, random_state=seed), problem.space)
    search = _made(search, given, seed)
    params = search.get_params(deep=False)
    if params.get("resource") == "epochs" and params.get("max_resources") == "auto":
        search.set_params(max_resources=problem.max_resources)
    with VirtualClock():
        fitted = search.fit(X, y)
    return _events_of_search(fitted, problem)


def _made(search, given, seed):
    """The search estimator of a run."""
    if not is_search(search):
        return search(*given, random_state=seed)
    search = clone(search)
    params = search.get_params(deep=False)
    new = {"random_state": seed} if "random_state" in params else {}
    if given:
        new |= {"estimator": given[0], space_name(search): given[1]}
    return search.set_params(**new)


def _events_of_search(search, problem=None):
    """Evaluations of a fitted search, `problem` given if it has simulated curves."""
    whole = 1 if problem is None else problem.max_resources
    if isinstance(getattr(search, "history_", None), History):
        rungs = search.plan_.rungs
        scale = whole if search.history_.problem.max_resources == 1 else 1
        units = {(r.bracket, r.n_resources): scale * r.resources // r.n_candidates for r in rungs}
        return _events_of_history(search.history_, units)
    if not hasattr(search, "cv_results_"):
        raise TypeError(f"{type(search).__name__} has no cv_results_ after fit.")
    return _events_of_rows(search, problem, whole)


def _events_of_history(history, units=None):
    """Evaluations in the order of telling; `units` paid by (bracket, resource), None: played."""
    events = []
    spent = [0] * len(history.trials)
    for kind, trial_id, resource in history.log:
        if kind == "tell":
            trial = history.trials[trial_id]
            result = trial.results[resource]
            paid = units[trial.bracket, resource] if units else resource - spent[trial_id]
            spent[trial_id] = resource
            events.append(_Event(resource, paid, result.cost, -float(result.score)))
    return events


def _events_of_rows(search, problem, whole):
    """Rows of a foreign search's ``cv_results_``, each a whole training unless it says less."""
    results, n_splits = search.cv_results_, getattr(search, "n_splits_", 1)
    metric = search.refit if isinstance(getattr(search, "refit", None), str) else "score"
    if f"mean_test_{metric}" not in results:
        raise ValueError(f"{type(search).__name__} has several metrics: name one by refit=.")
    losses = -np.asarray(results[f"mean_test_{metric}"], dtype=float)
    levels = np.asarray(results.get("n_resources", np.full(len(losses), whole)), dtype=int)
    if problem is None:
        paid, seconds = levels, results["mean_fit_time"] + results["mean_score_time"]
    else:  # others' columns of times are not simulated
        paid = np.array([params.get("n_epochs", whole) for params in results["params"]], dtype=int)
        params = [
            {name: p[name] for name in problem.names if name in p} for p in results["params"]
        ]
        seconds = problem.seconds(params)[np.arange(len(params)), paid - 1]
    costs = (seconds * n_splits).tolist()
    return list(map(_Event, levels.tolist(), paid.tolist(), costs, losses.tolist()))


def _curves(events):
    """The columns of the table that grow with the evaluations."""
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
