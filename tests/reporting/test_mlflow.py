"""A search as runs of MLflow: in a database, and on a real server of this machine."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from sksearch import HyperbandSearchCV, RandomSearchCV, load_history
from sksearch.reporting import to_mlflow
from tests.fakes import Curve, Failing

X, Y = np.zeros((12, 1)), np.zeros(12)
SPACE = {"quality": uniform(0, 1)}
NEEDS_MLFLOW = pytest.mark.skipif(not find_spec("mlflow"), reason="of the extra mlflow")
NEEDS_SERVER = pytest.mark.skipif(
    not (find_spec("mlflow") and find_spec("flask")), reason="a server is in mlflow, not the extra"
)
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::PendingDeprecationWarning"),
]


def runs_of(uri, run_id):
    """The run of the search and those of its candidates, by name."""
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=uri)
    parent = client.get_run(run_id)
    children = client.search_runs(
        [parent.info.experiment_id], f"tags.mlflow.parentRunId = '{run_id}'", max_results=500
    )
    return client, parent, {child.info.run_name: child for child in children}


def check(search, uri):
    """Log a search, and compare what is there with what it found."""
    client, parent, children = runs_of(uri, to_mlflow(search, tracking_uri=uri))
    trials = search.history_.trials
    assert len(children) == len(trials)
    assert parent.info.status == "FINISHED"
    assert parent.info.run_name == type(search).__name__
    assert parent.data.params == {"quality": repr(search.best_params_["quality"])}
    assert parent.data.metrics["score"] == search.best_score_
    for run in children.values():
        (trial,) = [t for t in trials if repr(t.params["quality"]) == run.data.params["quality"]]
        steps = client.get_metric_history(run.info.run_id, "score")
        assert {m.step: m.value for m in steps} == {r: t.score for r, t in trial.results.items()}
        spans = [span for result in trial.results.values() for span in result.spans]
        assert run.info.start_time == int(1000 * min(span.began for span in spans))
        assert run.info.end_time == int(1000 * max(span.ended for span in spans))


@NEEDS_MLFLOW
def test_each_candidate_is_a_run_inside_the_run_of_its_search(tmp_path, capsys):
    args = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0}
    search = HyperbandSearchCV(Curve(), SPACE, **args).fit(X, Y)
    check(search, f"sqlite:///{tmp_path}/runs.db")
    assert capsys.readouterr().out == "", "not two lines for each candidate"


@NEEDS_MLFLOW
def test_names_that_mlflow_refuses_are_changed(tmp_path):
    uri, name = f"sqlite:///{tmp_path}/runs.db", f"{'a' * 260} F1 (macro) %"
    search = RandomSearchCV(
        DecisionTreeClassifier(), {"max_depth": [1]}, n_iter=1, cv=2, scoring={name: "f1_macro"},
        refit=name,
    ).fit(*load_iris(return_X_y=True))  # fmt: skip
    search.interrupted_ = True  # as after Ctrl-C
    _, parent, _ = runs_of(uri, to_mlflow(search, tracking_uri=uri))
    assert parent.data.metrics[f"{'a' * 237} F1 _macro_ _"] == search.best_score_
    assert parent.info.status == "KILLED"


@NEEDS_MLFLOW
@pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:(?s).*fits failed")
def test_failures_and_unfinished_searches_are_distinguished(tmp_path):
    uri = f"sqlite:///{tmp_path}/runs.db"
    search = RandomSearchCV(
        Failing(), SPACE, n_iter=6, cv=2, random_state=0, checkpoint_dir=tmp_path / "run"
    ).fit(X, Y)
    _, parent, children = runs_of(uri, to_mlflow(search, tracking_uri=uri, run_name="mine"))
    assert parent.info.run_name == "mine"
    statuses = [children[f"candidate {i}"].info.status for i in range(6)]
    assert statuses == ["FINISHED" if s == "ok" else "FAILED" for s in search.statuses_]
    failed = children[f"candidate {search.statuses_.index('error')}"]
    assert failed.data.tags["error"] == search.errors_[search.statuses_.index("error")]
    assert "score" not in failed.data.metrics
    saved = load_history(tmp_path / "run")
    saved.finished = False
    _, parent, again = runs_of(uri, to_mlflow(saved, tracking_uri=uri))
    assert parent.info.status == "RUNNING"
    assert parent.info.run_name == "RandomSearchCV"
    assert len(again) == 6
    assert {r.data.params["quality"] for r in again.values()} == {
        r.data.params["quality"] for r in children.values()
    }


def test_a_search_that_has_no_result_yet_is_reported():
    search = RandomSearchCV(Curve(), SPACE)
    search.cv_results_ = {"params": []}
    with pytest.raises(ValueError, match="no result yet"):
        to_mlflow(search)


@pytest.mark.whole
@NEEDS_MLFLOW
def test_a_search_of_scikit_learn_with_two_metrics(tmp_path):
    uri = f"sqlite:///{tmp_path}/runs.db"
    search = GridSearchCV(
        DecisionTreeClassifier(), {"max_depth": [1, 2, None]}, refit="f1_macro",
        scoring=["accuracy", "f1_macro"],
    ).fit(*load_iris(return_X_y=True))  # fmt: skip
    _, parent, children = runs_of(uri, to_mlflow(search, tracking_uri=uri, experiment="trees"))
    assert {r.data.params["max_depth"] for r in children.values()} == {"1", "2", "None"}
    assert parent.data.metrics["f1_macro"] == search.best_score_
    assert {"accuracy", "f1_macro", "fit_time", "score_time"} == {*parent.data.metrics}


@pytest.fixture
def server(tmp_path):
    """The address of MLflow's own server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path}/server.db"]
    command += ["--default-artifact-root", str(tmp_path / "artifacts")]
    uri = f"http://127.0.0.1:{port}"
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=tmp_path, start_new_session=True
        )
        try:
            deadline = time.monotonic() + 120
            while process.poll() is None and time.monotonic() < deadline:
                try:
                    urllib.request.urlopen(f"{uri}/health", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.2)
            yield uri
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # its workers outlive it otherwise
            process.wait()


@pytest.mark.whole
@NEEDS_SERVER
@pytest.mark.slow
def test_a_real_server_has_the_runs(server):
    check(RandomSearchCV(Curve(), SPACE, n_iter=4, cv=2, random_state=0).fit(X, Y), server)


def test_without_mlflow_it_names_the_package_to_install(monkeypatch):
    for name in ("mlflow", "mlflow.entities", "mlflow.tracking"):
        monkeypatch.setitem(sys.modules, name, None)
    search = RandomSearchCV(Curve(), SPACE, n_iter=2, cv=2, random_state=0).fit(X, Y)
    with pytest.raises(ImportError, match=r'pip install "\.\[mlflow\]"'):
        to_mlflow(search)
