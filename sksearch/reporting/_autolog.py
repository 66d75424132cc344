"""Support for ``mlflow.sklearn.autolog()``: logs the same as for scikit-learn's searches."""

import copy
import functools
import inspect
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np

from sksearch._utils._compat import BaseSearchCV
from sksearch.history import Params
from sksearch.reader._read import read
from sksearch.reader._row import Candidate
from sksearch.reader._search_table import SearchTable
from sksearch.reporting._mlflow import name_of, times_of

Fit = TypeVar("Fit", bound=Callable)

FLAVOR = "sklearn"  # MLflow's name of the integration with the switches
LINEAGE = ("mlflow.user", "mlflow.source")  # tags that candidates share with the search
MEASURED = ("mean_", "std_", "rank_", "violation")  # columns with results of a candidate
N_CANDIDATES = N_EXAMPLES = 5  # MLflow's own
LOGGER = logging.getLogger("mlflow.sklearn")  # the user's ``silent=True`` silences it


def autologged(fit: Fit) -> Fit:
    """Let MLflow log this ``fit``, if the user has called ``mlflow.sklearn.autolog()``.

    MLflow wraps scikit-learn's classes itself, so it would log each fit on a fold as a separate
    run, but not the search. Here it gets the search's ``fit`` to wrap with the same function. It
    respects all of autolog's switches, starts and ends the run, and never lets an error of logging
    end a fit. MLflow is not imported for this.
    """

    class Place:  # place of MLflow's wrapper, removed when autologging changes
        pass

    place: Any = Place
    place.fit = fit

    @functools.wraps(fit)
    def logged(self, *args, **kwargs):
        mlflow = sys.modules.get("mlflow.utils.autologging_utils")
        if mlflow and place.fit is fit and not mlflow.autologging_is_disabled(FLAVOR):
            tags = mlflow.get_autologging_config(FLAVOR, "extra_tags")
            mlflow.safe_patch(FLAVOR, Place, "fit", _log, manage_run=True, extra_tags=tags)
        return place.fit(self, *args, **kwargs)

    return cast(Fit, logged)


def _log(original: Callable, search: BaseSearchCV, /, X: Any, y: Any = None, **params: Any) -> Any:
    """Fit, and log to the active run; inside a fit already logged, only fit."""
    import mlflow
    from mlflow.sklearn import _SklearnTrainingSession as Session
    from mlflow.utils.autologging_utils import disable_autologging

    with Session(search, allow_children=False) as session:
        run = mlflow.active_run()
        if run is None or not session.should_log():
            return original(search, X, y, **params)
        log = _Log(search, run)
        with _warned("params"):
            log.given(X, y)
        with disable_autologging():  # of folds and scores
            original(search, X, y, **params)
        log.found(X, y, params.get("sample_weight"))
        return search


class _Log:
    """Writes a search to a run, with MLflow's names for ``RandomizedSearchCV``."""

    def __init__(self, search: BaseSearchCV, run: Any):
        from mlflow.utils.autologging_utils import (
            MlflowAutologgingQueueingClient,
            get_autologging_config,
        )

        self.search, self.run, self.run_id = search, run, run.info.run_id
        self.option = functools.partial(get_autologging_config, FLAVOR)
        self.client = MlflowAutologgingQueueingClient()

    def given(self, X: Any, y: Any) -> None:
        """Log the facts known before the search: parameters, class, data."""
        self.client.log_params(self.run_id, self.search.get_params(deep=False))
        self.client.set_tags(self.run_id, _tags_of(self.search))
        if self.option("log_datasets", True):
            with _warned("data"):
                _log_data(X, y)
        self.client.flush(synchronous=True)

    def found(self, X: Any, y: Any, weights: Any) -> None:
        """Log the results; warn if one cannot be logged."""
        import mlflow
        import pandas as pd  # as MLflow does, wherever it logs scikit-learn

        best = {f"best_{k}": v for k, v in getattr(self.search, "best_params_", {}).items()}
        of_model: dict[str, Any] = {}
        with _warned("models"):
            of_model = self.models(X, best)
        with _warned("training metrics"):
            self.training(X, y, weights, of_model)
        with _warned("best candidate"):
            self.client.log_params(self.run_id, best)
            if hasattr(self.search, "best_score_"):
                score = {"best_cv_score": self.search.best_score_}
                self.client.log_metrics(self.run_id, score, **of_model)
        with _warned("candidates"):
            self.candidates(read(self.search))
        with _warned("table"):
            table = pd.DataFrame(self.search.cv_results_)
            mlflow.log_text(table.to_csv(index=False), "cv_results.csv")
        with _warned("results"):
            self.client.flush(synchronous=True)

    def models(self, X: Any, best: Params) -> dict[str, Any]:
        """Log the search and its best estimator; return the model id that MLflow 3 needs."""
        from mlflow.models import infer_signature
        from mlflow.utils.autologging_utils import resolve_input_example_and_signature as resolve

        search, option = self.search, self.option
        if not (option("log_models", True) and hasattr(search, "best_estimator_")):
            return {}
        example, signature = resolve(
            lambda: copy.deepcopy(X[:N_EXAMPLES]),
            lambda example: infer_signature(example, search.predict(copy.deepcopy(example))),
            option("log_input_examples", False),
            option("log_model_signatures", True),
            LOGGER,
        )
        given = {"signature": signature, "input_example": example}
        if option("serialization_format"):
            given["serialization_format"] = option("serialization_format")
        own = {"registered_model_name": option("registered_model_name")}
        info = _log_model(search, "model", search.get_params(deep=False) | best, given | own)
        estimator = search.best_estimator_
        _log_model(estimator, "best_estimator", estimator.get_params(), given)
        return {"model_id": info.model_id} if getattr(info, "model_id", None) else {}

    def training(self, X: Any, y: Any, weights: Any, of_model: dict[str, Any]) -> None:
        """Log scores on the training data, as MLflow does it for any estimator."""
        from mlflow import sklearn
        from mlflow.sklearn.utils import _log_estimator_content

        if not hasattr(self.search, "best_estimator_"):
            return
        args = self.client, self.search, self.run_id, "training_", X, y, weights
        _log_estimator_content(*args, self.option("pos_label"), **of_model)
        if self.option("log_post_training_metrics", True):
            # Later predictions and scores are logged to this run.
            manager = sklearn._AUTOLOGGING_METRICS_MANAGER
            manager.register_model(self.search.best_estimator_, self.run_id)

    def candidates(self, table: SearchTable) -> None:
        """Log a run inside the run for each of the best candidates, the winner first."""
        times = times_of(table)
        for i in table.order[: self.option("max_tuning_runs", N_CANDIDATES)]:
            self.candidate(f"candidate {i}", table, table.candidates[i], *times[i])

    def candidate(
        self,
        name: str,
        table: SearchTable,
        candidate: Candidate,
        start: int | None,
        end: int | None,
    ) -> None:
        """Log one candidate: all parameters, including the estimator's, and all of its results."""
        info, results, client = self.run.info, table.results, self.client
        tags = {k: v for k, v in self.run.data.tags.items() if k.startswith(LINEAGE)}
        tags |= {"mlflow.parentRunId": self.run_id, "mlflow.autologging": FLAVOR}
        tags |= {"mlflow.runName": name}
        tags |= {"error": candidate.error} if candidate.error else {}
        tags |= _tags_of(self.search.estimator)
        run_id = client.create_run(info.experiment_id, start or info.start_time, tags)
        params = self.search.estimator.get_params() | candidate.row.shown
        client.log_params(run_id, params)
        columns = [name for name in results if name.startswith(MEASURED)]
        for row in candidate.rows:
            measured = {name_of(name): float(results[name][row.index]) for name in columns}
            finite = {name: value for name, value in measured.items() if np.isfinite(value)}
            client.log_metrics(run_id, finite, step=row.resource if table.has_resources else 0)
        client.set_terminated(run_id, "FINISHED" if candidate.status == "ok" else "FAILED", end)


@contextmanager
def _warned(what: str) -> Iterator[None]:
    """Turn an error into a warning of MLflow's log: the rest can still be logged."""
    try:
        yield
    except Exception as error:
        LOGGER.warning("The %s of the search could not be logged: %s", what, error)


def _tags_of(estimator: Any) -> dict[str, str]:
    """Name an estimator's class."""
    cls = type(estimator)
    return {
        "estimator_name": cls.__name__,
        "estimator_class": f"{cls.__module__}.{cls.__name__}",
    }


def _log_data(X: Any, y: Any) -> None:
    """Log the training data, if MLflow supports their type."""
    import mlflow
    from mlflow.data.numpy_dataset import from_numpy
    from mlflow.data.pandas_dataset import from_pandas

    targets: Any = y if y is None else np.asarray(y)
    data: Any
    if hasattr(X, "iloc"):
        data = from_pandas(X)
    elif isinstance(X, np.ndarray):
        data = from_numpy(X, targets=targets)
    else:
        return
    mlflow.log_input(data, context="train")


def _log_model(model: Any, name: str, params: Params, given: dict[str, Any]) -> Any:
    """Log a fitted estimator to the active run."""
    import mlflow

    if "name" in inspect.signature(mlflow.sklearn.log_model).parameters:  # from MLflow 3 on
        given = given | {"name": name, "params": params}
    else:
        given = given | {"artifact_path": name}
    return mlflow.sklearn.log_model(model, **given)
