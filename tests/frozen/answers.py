"""What is kept of a search, of a result of `minimize`, and of an error."""

import re

import numpy as np
from sklearn.base import BaseEstimator

OWN = (  # attributes that only some searches have
    "best_n_resources_", "min_resources_", "max_resources_", "n_resources_", "n_candidates_",
    "n_iterations_", "audited_", "metric_", "multimetric_", "n_splits_", "n_features_in_",
    "feature_names_in_", "classes_", "interrupted_",
)  # fmt: skip


def found(search, X=None, times=False, **others):
    """All that a search has found, without times unless they are simulated."""
    parts = {"rows": rows_of(search, times), "best": best_of(search), "log": log_of(search)}
    parts["has"] = {name: getattr(search, name) for name in OWN if hasattr(search, name)}
    parts["plan"] = str(search.plan_)
    if X is not None and hasattr(search, "best_estimator_"):
        parts["predictions"] = [float(np.mean(search.predict(X))), search.predict(X)[:8]]
    if times:
        parts["seconds"] = costs_of(search)
    return parts | others


def rows_of(search, times=False):
    """Rows of ``cv_results_``, and their statuses; the names of the columns come first."""
    results = search.cv_results_
    names = [name for name in results if times or not name.endswith("_time")]
    names = [name for name in names if not name.startswith("param_")]
    rows = [[results[name][i] for name in names] for i in range(len(results["params"]))]
    if hasattr(search, "statuses_"):
        names += ["status", "error"]
        both = zip(rows, search.statuses_, search.errors_, strict=True)
        rows = [[*row, status, error] for row, status, error in both]
    return [names, *rows]


def best_of(search):
    """The winner."""
    names = "best_params_", "best_score_", "best_index_"
    return {name: getattr(search, name) for name in names if hasattr(search, name)}


def log_of(search):
    """The order of asking and telling, sixteen events to a line."""
    events = [f"{kind[0]}{trial}:{n}" for kind, trial, n in search.history_.log]
    return [" ".join(events[i : i + 16]) for i in range(0, len(events), 16)]


def costs_of(search):
    """Simulated seconds of each result, and of the last training."""
    each = [
        [trial.id, {n: result.cost for n, result in trial.results.items()}]
        for trial in search.history_.trials
    ]
    return [["refit", getattr(search, "refit_time_", None)], *each]


def of_function(result):
    """What `minimize` returns."""
    trials = [
        [trial.params, {n: [r.score, r.status, r.error] for n, r in trial.results.items()}]
        for trial in result.history.trials
    ]
    names = ("x", "fun", "nfev", "nit", "success", "message")
    parts = {"result": {name: result[name] for name in names}, "trials": trials}
    if "pareto" in result:
        parts["front"] = front_of(result.pareto)
    return parts


def front_of(front):
    """Names, rows and values of a front, and its knee."""
    return [front.names, front.index, front.values, front.knee()]


def errors_of(calls):
    """What each of some calls raises."""
    return {name: error_of(call) for name, call in calls.items()}


def error_of(call):
    """The class and the message of an error."""
    try:
        call()
    except Exception as error:
        text = f"{type(error).__name__}: {' / '.join(str(error).splitlines())}"
        return re.sub("(number of iterations of the last step): .*", r"\1.", text)
    return "nothing is raised"


def model_of(estimator: BaseEstimator):
    """The params of a fitted model that are not as by default."""
    own = type(estimator)().get_params()
    return {k: v for k, v in sorted(estimator.get_params().items()) if v != own.get(k)}
