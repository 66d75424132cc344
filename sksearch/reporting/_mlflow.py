"""The candidates of a search as runs of MLflow."""

import io
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from sksearch._description import short_repr
from sksearch.reporting._table import Table, read

N_PARAMS, LONGEST = 100, 500  # of one request, and characters of a value: what servers accept


def to_mlflow(
    search: Any,
    *,
    experiment: str = "sksearch",
    tracking_uri: str | None = None,
    run_name: str | None = None,
) -> str:
    """Log a fitted search to MLflow: a run for the search, and in it one for each candidate.

    A candidate's run has its params, its metrics by resource as steps, its status and, where they
    are known, its times. The run of the search has the params and the score of the best one.

    Parameters
    ----------
    search : estimator
        A fitted search of this library or of scikit-learn, or the result of `load_history`, also
        of a search that is running.
    experiment : str, default="sksearch"
        Name of the experiment; it is made where it is missing.
    tracking_uri : str or None, default=None
        A server that speaks MLflow's protocol, such as ``"http://localhost:5000"``, or a store.
        None: what MLflow itself takes, by ``MLFLOW_TRACKING_URI``.
    run_name : str or None, default=None
        Name of the run of the search. None: the search's class.

    Returns
    -------
    run_id : str
        The run of the search.

    Raises
    ------
    ImportError
        If MLflow is not installed.
    TypeError
        If `search` is no search.
    ValueError
        If it is not fitted.

    Notes
    -----
    Nothing but the numbers and texts of ``cv_results_`` is sent: no data and no models. Each call
    makes new runs.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.reporting import to_mlflow
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomSearchCV(SVC(), {"C": [0.1, 1, 10]}, n_iter=3, random_state=0).fit(X, y)
    >>> to_mlflow(search, tracking_uri="http://localhost:5000")  # doctest: +SKIP
    """
    try:
        from mlflow.entities import Metric, Param
        from mlflow.tracking import MlflowClient
    except ImportError as error:
        raise ImportError(
            'to_mlflow needs MLflow, which is not installed: pip install "sksearch[mlflow]".'
        ) from error
    table = read(search)
    client = MlflowClient(tracking_uri=tracking_uri)
    found = client.get_experiment_by_name(experiment)
    experiment_id = found.experiment_id if found else client.create_experiment(experiment)
    times = _times(table)
    known = [time for both in times for time in both if time is not None]
    name = run_name or getattr(search, "header", {}).get("class", type(search).__name__)
    best = table.candidates[table.best] if table.best is not None else None
    begin, end = (min(known), max(known)) if known else (None, None)
    search_id = client.create_run(experiment_id, begin, None, name).info.run_id

    def end_run(run_id, status, time):
        """End a run, unless the search goes on."""
        if status is not None:
            with redirect_stdout(io.StringIO()):  # it prints two lines for each run
                client.set_terminated(run_id, status, time)

    def log(run_id, candidate, rows, status, time):
        """Write params and metrics of a candidate, and end its run."""
        params = [Param(k, short_repr(v, LONGEST)) for k, v in candidate.params.items()]
        metrics = [Metric(*metric[:2], time or 0, metric[2]) for metric in _metrics(table, rows)]
        for i in range(0, max(len(params), len(metrics)), N_PARAMS):
            part = slice(i, i + N_PARAMS)
            client.log_batch(run_id, params=params[part], metrics=metrics[part])
        end_run(run_id, status, time)

    for i, (candidate, (start, stop)) in enumerate(zip(table.candidates, times, strict=True)):
        tags = {"mlflow.parentRunId": search_id, "status": candidate.status}
        tags |= {"error": candidate.error} if candidate.error else {}
        run = client.create_run(experiment_id, start, tags, f"candidate {i}")
        status = "FINISHED" if candidate.status == "ok" else "FAILED"
        log(run.info.run_id, candidate, candidate.rows, status, stop)
    state = "FINISHED" if getattr(search, "finished", True) else None
    if best is not None:
        log(search_id, best, [best.row], state, end)
    else:
        end_run(search_id, state and "FAILED", end)
    return search_id


def _metrics(table: Table, rows: Sequence[int]) -> Iterator[tuple[str, float, int]]:
    """Yield name, value and step of all that was measured in these rows."""
    resources = table.results.get("n_resources")
    for column, values in table.results.items():
        if column.startswith("mean_"):
            name = column.removeprefix("mean_").removeprefix("test_")
            for row in rows:
                if np.isfinite(values[row]):
                    step = 1 if resources is None else int(resources[row])
                    yield name, float(values[row]), step


def _times(table: Table) -> list[tuple[int | None, int | None]]:
    """Milliseconds at which each candidate began and ended; None where they are not known."""
    history = getattr(table.search, "history_", None)
    times: list[tuple[int | None, int | None]] = []
    for candidate in table.candidates:
        own = None if history is None else history.trials[table.trial_ids[candidate.row]]
        spans = [span for result in own.results.values() for span in result.spans] if own else []
        began = max(0, int(1000 * min(s.began for s in spans))) if spans else None
        ended = max(0, int(1000 * max(s.ended for s in spans))) if spans else None
        times.append((began, ended))
    return times
