"""The candidates of a search as MLflow runs."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout

import numpy as np

from sksearch._utils._on_demand import missing
from sksearch._utils._terminal import short_repr
from sksearch.history import Params
from sksearch.reader._row import Row
from sksearch.reader._search_table import SearchTable
from sksearch.reader._sources import FinishedSearch
from sksearch.reporting._rivals import read_results

Metric = tuple[str, float, int]  # name, value and step

NOT_IN_NAMES = re.compile(r"[^\w\-. :/]", re.ASCII)  # characters refused by servers
LONGEST_NAME = 250  # characters that servers accept
N_PARAMS, LONGEST = 100, 500  # limits of servers: of one request, and characters of a value


def to_mlflow(
    search: FinishedSearch,
    *,
    experiment: str = "sksearch",
    tracking_uri: str | None = None,
    run_name: str | None = None,
) -> str:
    """Log a fitted search to MLflow: a run for the search, with a nested run for each candidate.

    The run of a candidate contains its parameters, its metrics with the resource as the step, its
    status and, if known, its times. The run of the search contains the parameters and the score of
    the best candidate.

    Parameters
    ----------
    search : object
        A fitted search of this library or scikit-learn, or any other input that
        `sksearch.stats.importance` accepts; `load_history` also reads a running search.
    experiment : str, default="sksearch"
        Name of the experiment; created if missing.
    tracking_uri : str or None, default=None
        Address of an MLflow server, such as ``"http://localhost:5000"``, or of a store. None:
        MLflow's own default, set by ``MLFLOW_TRACKING_URI``.
    run_name : str or None, default=None
        Name of the run of the search. None: the name of the class.

    Returns
    -------
    run_id : str
        ID of the run of the search.

    Raises
    ------
    ImportError
        If MLflow is not installed.
    TypeError
        If `search` is not a search.
    ValueError
        If it is not fitted.

    Notes
    -----
    Only the numbers and texts of ``cv_results_`` are sent, not the data or models. Each call
    creates new runs. In names of parameters and metrics, characters that MLflow does not accept,
    such as parentheses, are replaced by an underscore.

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
    table = read_results(search)
    source = table.source
    times = times_of(table)
    known = [time for both in times for time in both if time is not None]
    begin, end = (min(known), max(known)) if known else (None, None)
    name = run_name or getattr(source, "header", {}).get("class", type(search).__name__)
    runs = _Runs(tracking_uri, experiment)
    search_id = runs.begin(name, {}, begin)
    for i, (candidate, (start, stop)) in enumerate(zip(table.candidates, times, strict=True)):
        tags = {"mlflow.parentRunId": search_id, "status": candidate.status}
        tags |= {"error": candidate.error} if candidate.error else {}
        run_id = runs.begin(f"candidate {i}", tags, start)
        runs.log(run_id, candidate.params, _metrics(table, candidate.rows), stop)
        runs.end(run_id, "FINISHED" if candidate.status == "ok" else "FAILED", stop)
    if table.winner is not None:
        runs.log(search_id, table.winner.params, _metrics(table, [table.winner]), end)
    if getattr(source, "interrupted_", False):
        runs.end(search_id, "KILLED", end)
    elif getattr(source, "finished", True):
        runs.end(search_id, "FAILED" if table.winner is None else "FINISHED", end)
    return search_id


class _Runs:
    """The runs of one experiment; times are milliseconds since 1970, None for now."""

    def __init__(self, tracking_uri: str | None, experiment: str):
        try:
            from mlflow import entities
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise missing("to_mlflow needs MLflow", "mlflow") from error
        self._entities, self._client = entities, MlflowClient(tracking_uri=tracking_uri)
        known = self._client.get_experiment_by_name(experiment)
        self._id = known.experiment_id if known else self._client.create_experiment(experiment)

    def begin(self, name: str, tags: dict[str, str], time: int | None) -> str:
        """Begin a run, and return its id."""
        return self._client.create_run(self._id, time, tags, name).info.run_id

    def log(
        self, run_id: str, params: Params, metrics: Iterable[Metric], time: int | None
    ) -> None:
        """Write parameters and metrics in requests of the size that servers accept."""
        param, metric = self._entities.Param, self._entities.Metric
        given = [param(name_of(k), short_repr(v, LONGEST)) for k, v in params.items()]
        made = [metric(name_of(k), x, time or 0, step) for k, x, step in metrics]
        for i in range(0, max(len(given), len(made)), N_PARAMS):
            part = slice(i, i + N_PARAMS)
            self._client.log_batch(run_id, params=given[part], metrics=made[part])

    def end(self, run_id: str, status: str, time: int | None) -> None:
        """End a run."""
        with redirect_stdout(io.StringIO()):  # two lines for each run
            self._client.set_terminated(run_id, status, time)


def name_of(text: str) -> str:
    """Return a name that servers accept."""
    return NOT_IN_NAMES.sub("_", text)[-LONGEST_NAME:]


def _metrics(table: SearchTable, rows: Sequence[Row]) -> Iterator[Metric]:
    """Yield name, value and step of all measurements in these rows."""
    if not table.results:
        yield from (("score", row.score, row.resource) for row in rows if np.isfinite(row.score))
    for column, values in table.results.items():
        if column.startswith("mean_"):
            what = column.removeprefix("mean_")
            name = what.removeprefix("test_")
            for row in rows:
                if table.races and f"split0_{what}" in table.results:
                    yield from _by_folds(table, name, what, row.index)
                elif np.isfinite(values[row.index]):
                    yield name, float(values[row.index]), row.resource


def _by_folds(table: SearchTable, name: str, what: str, row: int) -> Iterator[Metric]:
    """Yield the means over the first folds, from the row with all folds of a candidate."""
    scores = [table.results[f"split{k}_{what}"][row] for k in range(table.n_folds)]
    means = np.cumsum(scores) / np.arange(1, len(scores) + 1)
    if np.isfinite(means[-1]):
        means[-1] = table.results[f"mean_{what}"][row]  # to the last bit
    for n, mean in enumerate(means, 1):
        if np.isfinite(mean):
            yield name, float(mean), n


def times_of(table: SearchTable) -> list[tuple[int | None, int | None]]:
    """Milliseconds at which each candidate began and ended; None if unknown."""
    times: list[tuple[int | None, int | None]] = []
    for candidate in table.candidates:
        results = table.history.trials[candidate.row.trial_id].results.values()
        spans = [span for result in results for span in result.spans]
        began = max(0, int(1000 * min(s.began for s in spans))) if spans else None
        ended = max(0, int(1000 * max(s.ended for s in spans))) if spans else None
        times.append((began, ended))
    return times
