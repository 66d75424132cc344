"""Reads a finished search: ours, scikit-learn's, a history, a folder, Optuna's study, a table."""

import math
import os
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from sksearch.history import History, Params, Result, Trial, best_first
from sksearch.reader._columns import INDEX, MEAN, from_frame, parameters_of
from sksearch.reader._row import Row
from sksearch.reader._search_table import SearchTable
from sksearch.reader._sources import FinishedSearch
from sksearch.reader._values import key_of_params, metric_that_counts, rank

KINDS = (
    "a fitted search, a result of load_history or minimize, a History, cv_results_, a DataFrame "
    "of it, a checkpoint_dir or an Optuna study"
)


def read(source: FinishedSearch, name: str = "search") -> SearchTable:
    """Read a finished search.

    Parameters
    ----------
    source : object
        A fitted search of this library, of scikit-learn or of any other with ``cv_results_``; the
        result of `load_history` or `minimize`; a `History`; ``cv_results_`` as a dict or a
        DataFrame, even if read from a text file; a DataFrame of `to_frame`, or another one with a
        column for each parameter and one named "score"; a ``checkpoint_dir``; an Optuna study; or
        a `SearchTable`. If a parameter has the name of another column of `to_frame`, all
        parameters need the prefix ``"param_"``.
    name : str, default="search"
        Name of the argument, for errors.

    Returns
    -------
    found : SearchTable
        The candidates and the winner.

    Raises
    ------
    TypeError
        If it is not one of these.
    ValueError
        If it is not fitted, or has no scores.
    FileNotFoundError
        If it is a path to nothing.
    """
    if isinstance(source, SearchTable):
        return source
    if isinstance(source, str | os.PathLike):
        source = _saved(source, name)
    if hasattr(source, "trials") and hasattr(source, "directions"):
        return _of_optuna(source, name)
    if hasattr(source, "cv_results_"):
        return _of_results(source, source.cv_results_)
    history = getattr(source, "history_", getattr(source, "history", source))
    if isinstance(history, History):
        return _of_history(source, history)
    if hasattr(source, "columns") and hasattr(source, "to_dict"):
        frame: Any = source
        is_numbered = getattr(getattr(frame, "index", None), "name", None) == INDEX
        source = (frame.reset_index() if is_numbered else frame).to_dict("list")
    if isinstance(source, Mapping):
        return _of_table(source, name)
    if hasattr(source, "fit") and hasattr(source, "estimator"):
        raise ValueError(f"This {type(source).__name__} is not fitted: call fit first.")
    raise TypeError(f"{name}: a {type(source).__name__} is not {KINDS}: pass a fitted search.")


def chosen_metric(source: object, results: Mapping[str, Any]) -> str | None:
    """Return the deciding metric: named by the search, or the only one."""
    named = [getattr(source, "metric_", None), getattr(source, "refit", None)]
    metrics = [name.removeprefix("mean_test_") for name in results if name[:10] == "mean_test_"]
    known = [
        *(name for name in named if isinstance(name, str)),
        "score",
        *metrics[: len(metrics) == 1],
    ]
    return next((name for name in known if name in metrics), None)


def fold_scores(results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the columns ``split<k>_test_<metric>``, shape (n_rows, n_folds); NaN: no score."""
    n = 0
    while f"split{n}_test_{metric}" in results:
        n += 1
    scores = np.column_stack([results[f"split{k}_test_{metric}"] for k in range(n)])
    return np.where(np.isfinite(scores), scores, np.nan).astype(float)


# ---- cv_results_


def _of_results(
    search: object, results: Mapping[str, Any], best: int | None = None
) -> SearchTable:
    """Read ``cv_results_``; `search` is None if only they are given.

    `best` is the winning row, if the search does not name it.
    """
    told = getattr(search, "history_", None)
    if not results["params"]:
        return SearchTable(search, (), None, told=told)
    metric = metric_that_counts(results, chosen_metric(search, results))
    finite = np.isfinite(np.array(results[f"mean_test_{metric}"], dtype=float))
    statuses = getattr(search, "statuses_", None) or list(results.get("status", ()))
    statuses = statuses or np.where(finite, "ok", "error").tolist()
    errors = getattr(search, "errors_", None) or list(results.get("error", ()))
    scores, means = _scores(results, metric, [status != "ok" for status in statuses])
    own = getattr(search, "resource", None)
    params = [{k: v for k, v in each.items() if k != own} for each in results["params"]]
    resources = [int(r) for r in results.get("n_resources", [1] * len(means))]
    zeros = np.zeros(len(means))
    columns: dict[str, Iterable[Any]] = {
        "trial_id": map(int, _trial_ids(search, results, params, resources)),
        "params": params,
        "shown": results["params"],
        "resource": resources,
        "scores": scores,
        "score": means.tolist(),
        "rank": map(int, _ranks(results, metric, means, resources)),
        "violation": map(float, results.get("violation", zeros)),
        "status": statuses,
        "error": errors or [""] * len(means),
        "fit_seconds": map(float, results.get("mean_fit_time", zeros)),
        "score_seconds": map(float, results.get("mean_score_time", zeros)),
    }
    rows = tuple(
        Row(index=i, **dict(zip(columns, values, strict=True)))
        for i, values in enumerate(zip(*columns.values(), strict=True))
    )
    best = getattr(search, "best_index_", best)
    winner = min(rows, key=lambda row: row.rank) if best is None else rows[best]
    return SearchTable(search, rows, winner if winner.n_folds else None, metric, results, told)


def _scores(
    results: Mapping[str, Any], metric: str, failed: list[bool]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores on the folds and their means; NaN of rows that failed."""
    means = np.array(results[f"mean_test_{metric}"], dtype=float)
    if f"split0_test_{metric}" in results:
        scores = fold_scores(results, metric)
    else:
        scores = np.where(np.isfinite(means), means, np.nan)[:, np.newaxis]
    scores[failed] = np.nan  # whatever error_score is
    n_folds = np.isfinite(scores).sum(axis=1)
    # ``cv_results_`` has no mean over a part of the folds.
    partial = ~np.isfinite(means) & (n_folds > 0)
    means[partial] = np.nansum(scores[partial], axis=1) / n_folds[partial]
    means[failed] = np.nan
    return scores, means


def _ranks(
    results: Mapping[str, Any], metric: str, means: np.ndarray, resources: list[int]
) -> Iterable[int]:
    """Return the ranks of all rows, which tables and studies lack."""
    if f"rank_test_{metric}" in results:
        return results[f"rank_test_{metric}"]
    return rank(means, resources, violations=results.get("violation"))


def _trial_ids(
    search: object, results: Mapping[str, Any], params: list[Params], resources: list[int]
) -> Sequence[int]:
    """Number the candidate of each row."""
    own = getattr(search, "_trial_ids", None)
    if own is not None:
        return results.get("trial_id", own)
    if "n_resources" not in results:
        return range(len(params))
    keys: list[Hashable] = []
    seen: dict[Hashable, int] = {}
    for i, (each, resource) in enumerate(zip(params, resources, strict=True)):
        key = results["trial_id"][i] if "trial_id" in results else key_of_params(each)
        # A list may name a candidate twice: then it has two rows at one resource.
        seen[key, resource] = seen.get((key, resource), 0) + 1
        keys.append((key, seen[key, resource]))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return [numbers[key] for key in keys]


# ---- other sources


def _saved(path: str | os.PathLike, name: str) -> Any:
    """Read a ``checkpoint_dir``."""
    if not os.path.isdir(path):
        exists = os.path.exists(path)
        raise (ValueError if exists else FileNotFoundError)(
            f"{name}={os.fspath(path)!r} {'is a file' if exists else 'does not exist'}, but a "
            "path must lead to a checkpoint_dir: load the file, for example with joblib.load or "
            "pandas.read_csv, and pass the loaded object."
        )
    package: Any = sys.modules[__name__.partition(".")[0]]  # a higher layer, which reads journals
    try:
        return package.load_history(path)
    except ValueError as error:
        raise ValueError(f"{name}={os.fspath(path)!r}: {error}") from error


def _of_history(source: Any, history: History) -> SearchTable:
    """Read a history, or the result of `minimize` with its winner `x`."""
    told = [(trial, r, result) for trial in history.trials for r, result in trial.results.items()]
    results = [result for *_, result in told]
    violations = [result.violation for result in results] if history.problem.bounds else None
    ranks = rank([each.score for each in results], [r for _, r, _ in told], violations=violations)
    n_folds = max((len(each.fold_scores) for each in results), default=0) or 1
    rows = tuple(_row_of(i, *told[i], int(place), n_folds) for i, place in enumerate(ranks))
    top = max((row.resource for row in rows if math.isfinite(row.score)), default=0)
    at_top = [row for row in rows if row.resource == top]
    leaders = [at_top[i] for i in best_first([results[row.index] for row in at_top])]
    x = getattr(source, "x", None)
    if isinstance(x, Mapping):
        key = key_of_params(dict(x))
        leaders.sort(key=lambda row: key_of_params(row.params) != key)
    return SearchTable(source, rows, leaders[0] if leaders else None, told=history)


def _row_of(i: int, trial: Trial, resource: int, result: Result, place: int, n_folds: int) -> Row:
    """A result of a history as a row."""
    scores = np.full(n_folds, np.nan)
    known = result.fold_scores or (result.score,)
    scores[: len(known)] = known
    return Row(
        index=i,
        trial_id=trial.id,
        params=trial.params,
        shown=trial.params,
        resource=resource,
        scores=scores,
        score=result.score,
        rank=place,
        violation=result.violation,
        status=result.status,
        error=result.error,
        fit_seconds=result.cost / (len(result.spans) or 1),
    )


def _of_optuna(study: Any, name: str) -> SearchTable:
    """Read the finished trials of an Optuna study with one objective."""
    if len(study.directions) > 1:
        raise ValueError(f"{name}: an Optuna study must have one objective, not several.")
    sign = -1.0 if study.directions[0].name == "MINIMIZE" else 1.0
    done = [trial for trial in study.trials if trial.state.name == "COMPLETE"]
    seconds = [trial.duration.total_seconds() if trial.duration else 0.0 for trial in done]
    scores = [sign * float(trial.value) for trial in done]
    params = [dict(trial.params) for trial in done]
    results = {"params": params, "mean_test_score": scores, "mean_fit_time": seconds}
    best = None
    with suppress(ValueError):  # no winner
        best = [trial.number for trial in done].index(study.best_trial.number)
    return _of_results(study, results, best)


def _of_table(given: Mapping[str, Any], name: str) -> SearchTable:
    """Read ``cv_results_``, or a table with a column for each parameter and one of scores."""
    if not all(isinstance(values, Iterable) for values in given.values()):
        of = ", ".join(map(str, given))
        raise TypeError(f"{name}: a dict of {of} is not {KINDS}: pass a fitted search.")
    columns: dict[str, Any] = {str(key): list(values) for key, values in given.items()}
    names = parameters_of(columns)
    if "score" in columns and "mean_test_score" not in columns:
        columns = from_frame(columns)
    if not any(key.startswith(MEAN) for key in columns):
        raise ValueError(
            f"{name}: a table needs a column of scores (greater is better), 'mean_test_score' "
            f"as in cv_results_, or 'score'. Its columns are {', '.join(columns)}."
        )
    if not all(isinstance(each, Mapping) for each in columns.get("params", [None])):
        rows = zip(*(columns[key] for key in names), strict=True)  # a text file has no dicts
        columns["params"] = [_without_gaps(names.values(), row) for row in rows]
    return _of_results(None, columns)


def _without_gaps(names: Iterable[str], values: Iterable[Any]) -> Params:
    """Parameters of a row; inactive ones are missing."""
    found = {}
    for name, value in zip(names, values, strict=True):
        is_gap = value is np.ma.masked or (isinstance(value, float) and math.isnan(value))
        if not is_gap:
            found[name] = value.item() if isinstance(value, np.generic) else value
    return found
