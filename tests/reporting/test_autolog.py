"""``mlflow.sklearn.autolog()``: a search is logged as one of scikit-learn, in one run."""

from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV, SearchCV, SuccessiveHalvingSearchCV, tune

mlflow = pytest.importorskip("mlflow", reason="of the extra mlflow")
pytest.importorskip("mlflow.sklearn", reason="in mlflow, not in the extra")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::PendingDeprecationWarning"),
    pytest.mark.xdist_group("autolog"),  # one database for all
]
X, y = load_iris(return_X_y=True)
TREE, SPACE = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4]}
PARENT = "mlflow.parentRunId"


def search_of(cls=RandomSearchCV, **kwargs):
    return cls(TREE, SPACE, **{"n_iter": 3, "cv": 3, "random_state": 0, **kwargs})


class FailsAtTwo(DecisionTreeClassifier):
    def fit(self, X, y):
        if self.max_depth == 2:
            raise RuntimeError("not two")
        return super().fit(X, y)


class Logged:
    """Autologging with some switches, and what it has written."""

    def __init__(self, artifacts):
        self.names, self.artifacts = count(), artifacts

    def begin(self, **switches):
        name = f"experiment {next(self.names)}"
        made = mlflow.create_experiment(name, artifact_location=self.artifacts)
        self.experiment = mlflow.set_experiment(experiment_id=made).experiment_id
        mlflow.sklearn.autolog(**{"log_models": False, **switches})

    def runs(self):
        """All runs outside of others, and all inside, by name."""
        assert mlflow.active_run() is None
        runs = mlflow.MlflowClient().search_runs([self.experiment])
        outer = [run for run in runs if PARENT not in run.data.tags]
        return outer, {run.info.run_name: run for run in runs if PARENT in run.data.tags}

    def one(self):
        """The only run outside of others, and those inside of it."""
        (run,), inside = self.runs()
        assert {r.data.tags[PARENT] for r in inside.values()} <= {run.info.run_id}
        return run, inside


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A database of runs, which takes seconds to make."""
    folder = tmp_path_factory.mktemp("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    yield Logged(f"file://{folder}/artifacts")
    mlflow.set_tracking_uri(before)


@pytest.fixture
def logged(database):
    database.begin()
    yield database
    mlflow.sklearn.autolog(disable=True)


def files(run):
    return {file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)}


def table(run):
    path = f"{run.info.artifact_uri}/cv_results.csv"
    return pd.read_csv(mlflow.artifacts.download_artifacts(path))


def test_a_search_has_the_attributes_of_scikit_learns(logged):
    search_of(RandomizedSearchCV).fit(X, y)
    theirs, their_candidates = logged.one()
    logged.begin()
    search = search_of().fit(X, y)
    ours, candidates = logged.one()
    assert ours.data.metrics.keys() == theirs.data.metrics.keys()
    assert ours.data.metrics["best_cv_score"] == search.best_score_
    assert ours.data.params.keys() >= theirs.data.params.keys()
    assert ours.data.params["best_max_depth"] == str(search.best_params_["max_depth"])
    assert ours.data.tags.keys() == theirs.data.tags.keys()
    assert ours.data.tags["estimator_name"] == "RandomSearchCV"
    assert files(ours) == files(theirs)
    assert len(ours.inputs.dataset_inputs) == 1
    pd.testing.assert_frame_equal(
        table(ours)[["params", "mean_test_score"]],
        pd.DataFrame(search.cv_results_)[["params", "mean_test_score"]].astype({"params": str}),
    )
    their = next(iter(their_candidates.values()))
    for i, params in enumerate(search.cv_results_["params"]):
        run = candidates[f"candidate {i}"]
        assert run.data.params.keys() == their.data.params.keys()
        assert run.data.params["max_depth"] == str(params["max_depth"])
        assert run.data.metrics.keys() == their.data.metrics.keys()
        assert run.data.metrics["mean_test_score"] == search.cv_results_["mean_test_score"][i]
        assert run.data.tags.keys() == their.data.tags.keys()
        assert run.info.status == "FINISHED"
        assert ours.info.start_time <= run.info.start_time <= run.info.end_time


SEARCHES = {
    "two workers": lambda _: search_of(n_jobs=2).fit(X, y),
    "checkpoint": lambda path: search_of(checkpoint_dir=path).fit(X, y),
    "a race": lambda _: search_of(SearchCV, cv=None).fit(X, y),
    "tune": lambda _: tune(TREE, X, y, timeout=1, stop={"patience": 2}, random_state=0, verbose=0),
    "a frame": lambda _: search_of().fit(*load_iris(return_X_y=True, as_frame=True)),
    "a search inside": lambda _: RandomSearchCV(
        search_of(), {"refit": [True]}, cv=2, n_iter=1
    ).fit(X, y),
    "a rule": lambda _: search_of(refit=lambda results: 2).fit(X, y),
    "two metrics": lambda _: search_of(scoring=["accuracy", "f1_macro"], refit=False).fit(X, y),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SEARCHES)
def test_each_search_is_one_run(name, logged, tmp_path):
    search = SEARCHES[name](tmp_path)
    run, candidates = logged.one()
    assert run.info.status == "FINISHED"
    assert run.data.metrics.get("best_cv_score") == getattr(search, "best_score_", None)
    assert len(candidates) == min(5, len(search.history_.trials))
    assert len(table(run)) == len(search.cv_results_["params"])


def test_a_search_within_a_run_is_logged_to_this_run(logged):
    with mlflow.start_run(run_name="mine"):
        search = search_of().fit(X, y)
    run, candidates = logged.one()
    assert run.info.run_name == "mine"
    assert run.data.metrics["best_cv_score"] == search.best_score_
    assert len(candidates) == 3


@pytest.mark.few(1)
@pytest.mark.parametrize("within", [False, True])
def test_a_search_in_a_pipeline_is_a_part_of_the_run_of_the_pipeline(within, logged):
    pipeline = make_pipeline(StandardScaler(), search_of())
    if within:
        with mlflow.start_run():
            pipeline.fit(X, y)
    else:
        pipeline.fit(X, y)
    run, candidates = logged.one()
    assert run.data.tags["estimator_name"] == "Pipeline"
    assert not candidates


@pytest.mark.whole
def test_nothing_is_logged_in_a_cross_validation(logged):
    model_selection.cross_val_score(search_of(), X, y, cv=2)
    assert logged.runs() == ([], {})


@pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:(?s).*fits failed")
def test_a_failed_candidate_has_its_error(logged):
    search = search_of().set_params(estimator=FailsAtTwo(), n_iter=4).fit(X, y)
    _, candidates = logged.one()
    failed = search.cv_results_["params"].index({"max_depth": 2})
    statuses = {int(name.split()[1]): run.info.status for name, run in candidates.items()}
    assert statuses == {i: "FAILED" if i == failed else "FINISHED" for i in range(4)}
    run = candidates[f"candidate {failed}"]
    assert run.data.tags["error"] == search.errors_[failed]
    assert "mean_test_score" not in run.data.metrics


def test_after_an_error_the_next_search_is_logged(logged):
    bad = search_of(error_score="raise").set_params(estimator=FailsAtTwo(), n_iter=4)
    with pytest.raises(RuntimeError, match="not two"):
        bad.fit(X, y)
    with pytest.raises(ValueError, match="n_iter"):
        search_of(n_iter=-1).fit(X, y)
    search_of().fit(X, y)
    runs, candidates = logged.runs()
    assert [run.info.status for run in runs] == ["FINISHED", "FAILED", "FAILED"]
    assert {run.data.tags[PARENT] for run in candidates.values()} == {runs[0].info.run_id}


@pytest.mark.whole
def test_a_second_search_in_a_run_loses_its_params_alone(logged, capfd):
    with mlflow.start_run():
        search_of().fit(X, y)
        search_of(n_iter=4).fit(X, y)
    run, candidates = logged.one()
    assert run.data.params["n_iter"] == "3"
    assert len(candidates) == 4, "which have the same names"
    assert "params of the search could not be logged" in capfd.readouterr().err


def test_switches(logged, capfd):
    logged.begin(max_tuning_runs=1, extra_tags={"team": "trees"})
    search_of(n_iter=4, refit=lambda results: 3).fit(X, y)
    run, candidates = logged.one()
    assert [*candidates] == ["candidate 3"], "the winner, which is not the first by score"
    assert run.data.tags["team"] == "trees"
    logged.begin(max_tuning_runs=None)
    search_of().set_params(param_distributions={"max_depth": [*range(1, 8)]}, n_iter=7).fit(X, y)
    assert len(logged.one()[1]) == 7
    logged.begin(exclusive=True)
    with mlflow.start_run(run_name="mine"):
        search_of().fit(X, y)
    run, candidates = logged.one()
    assert (run.data.params, candidates) == ({}, {})
    logged.begin(disable=True)
    search_of().fit(X, y)
    assert logged.runs() == ([], {})
    logged.begin(silent=True)
    capfd.readouterr()
    search_of().fit(X, y)
    assert len(logged.one()[1]) == 3
    assert capfd.readouterr().err == ""


def test_rungs_are_steps(logged):
    search = SuccessiveHalvingSearchCV(
        TREE, SPACE, resource="n_samples", min_resources=50, cv=3, n_candidates=3, random_state=0
    ).fit(X, y)
    _, candidates = logged.one()
    assert len(candidates) == 3
    results = search.cv_results_
    winner = candidates[f"candidate {results['trial_id'][search.best_index_]}"]
    steps = mlflow.MlflowClient().get_metric_history(winner.info.run_id, "mean_test_score")
    own = results["trial_id"] == results["trial_id"][search.best_index_]
    assert {m.step: m.value for m in steps} == dict(
        zip(results["n_resources"][own], results["mean_test_score"][own], strict=True)
    )


def test_later_scores_are_told_to_the_run(logged):
    search = search_of().fit(X, y)
    X_test, y_test = X[::2], y[::2]
    score = search.score(X_test, y_test)
    assert score == accuracy_score(y_test, search.predict(X_test))
    assert logged.one()[0].data.metrics["DecisionTreeClassifier_score_X_test"] == score


def test_models_are_the_search_and_its_best_estimator(logged, monkeypatch):
    models = {}

    def log_model(model, name=None, artifact_path=None, **kwargs):
        models[name or artifact_path] = model, kwargs
        return SimpleNamespace(model_id=None)

    monkeypatch.setattr(mlflow.sklearn, "log_model", log_model)
    logged.begin(log_models=True, registered_model_name="trees", log_input_examples=True)
    search = search_of().fit(X, y)
    assert {name: model for name, (model, _) in models.items()} == {
        "model": search,
        "best_estimator": search.best_estimator_,
    }
    _, kwargs = models["model"]
    assert kwargs["registered_model_name"] == "trees"
    np.testing.assert_array_equal(kwargs["input_example"], X[:5])
    assert kwargs["signature"].outputs is not None
    assert "registered_model_name" not in models["best_estimator"][1]


def test_what_cannot_be_logged_leaves_a_warning(logged, monkeypatch, capfd):
    monkeypatch.setattr(mlflow.sklearn, "log_model", lambda *args, **kwargs: 1 / 0)
    logged.begin(log_models=True)
    search = search_of().fit(X, y)
    assert "models of the search could not be logged: division by zero" in capfd.readouterr().err
    assert logged.one()[0].data.metrics["best_cv_score"] == search.best_score_


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_logged_model_predicts(logged):
    logged.begin(log_models=True)
    search = search_of().fit(X, y)
    run, _ = logged.one()
    for name in ("model", "best_estimator"):
        model = mlflow.pyfunc.load_model(f"runs:/{run.info.run_id}/{name}")
        np.testing.assert_array_equal(model.predict(X), search.predict(X))


def test_autologging_changes_no_result(logged, tmp_path):
    logged_search = search_of(checkpoint_dir=tmp_path).fit(X, y)
    mlflow.sklearn.autolog(disable=True)
    plain = search_of().fit(X, y)
    resumed = clone(logged_search).fit(X, y)
    assert len(logged.runs()[0]) == 1
    for search in (plain, resumed):
        for column in ("params", "split0_test_score", "rank_test_score"):
            assert list(search.cv_results_[column]) == list(logged_search.cv_results_[column])
    assert list(resumed.cv_results_["mean_fit_time"]) == list(
        logged_search.cv_results_["mean_fit_time"]
    )
