"""scikit-learn's callbacks: what they see, and that they can stop a search."""

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from sksearch import HyperbandSearchCV, RandomSearchCV
from tests.fakes import Curve, Failing

pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

X, y = load_iris(return_X_y=True)


class Recorder:
    """Notes the tasks that begin and end; asks to stop when enough of a kind have ended."""

    def __init__(self, stop_at=None, stop_after=None):
        self.stop_at, self.stop_after = stop_at, stop_after
        self.begun, self.ended = [], []

    def setup(self, estimator, context):
        self.begun.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        return self.ended.count(self.stop_at) == self.stop_after

    def teardown(self, estimator, context):
        self.ended.append("teardown")


def hyperband(estimator=None, **kwargs):
    kwargs = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0} | kwargs
    return HyperbandSearchCV(estimator or Curve(), {"quality": uniform(0, 1)}, **kwargs)


@pytest.mark.few(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rungs_are_tasks_between_the_search_and_its_fits(n_jobs):
    recorder = Recorder()
    search = hyperband(n_jobs=n_jobs).set_callbacks(recorder).fit(X, y)
    expected = {"fit": 1, "search": 1, "rung": 6, "refit-with-best-params": 1}
    if n_jobs == 1:  # those of other processes are noted there
        expected["candidate-split-evaluation"] = search.plan_.n_fits - 1
    for tasks in (recorder.begun, recorder.ended):
        assert {name: tasks.count(name) for name in expected} == expected
    assert recorder.begun[0] == "setup"
    assert recorder.ended[-1] == "teardown"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_that_returns_true_after_a_rung_stops_the_search(n_jobs):
    recorder = Recorder("rung", 2)
    search = hyperband(n_jobs=n_jobs).set_callbacks(recorder).fit(X, y)
    assert len(search.cv_results_["params"]) < len(hyperband().fit(X, y).cv_results_["params"])
    best = search.best_index_  # with two workers others of higher rungs may have ended as well
    assert best == search.cv_results_["mean_test_score"].argmax()
    assert search.best_estimator_.n_epochs_ == search.cv_results_["n_resources"][best]


def test_a_callback_that_returns_true_after_a_fit_stops_the_search():
    recorder = Recorder("candidate-split-evaluation", 8)
    search = hyperband().set_callbacks(recorder).fit(X, y)
    assert len(search.cv_results_["params"]) == 4
    assert recorder.begun.count("refit-with-best-params") == 1


@pytest.mark.filterwarnings("ignore:.*non-finite", "ignore:(?s).*fits failed")
def test_tasks_of_failed_and_of_interrupted_rungs_end():
    recorder = Recorder()
    hyperband(Failing()).set_callbacks(recorder).fit(X, y)
    assert sorted(recorder.begun[1:]) == sorted(recorder.ended[:-1])
    recorder = Recorder()
    hyperband(stop={"score": -100}).set_callbacks(recorder).fit(X, y)
    assert sorted(recorder.begun[1:]) == sorted(recorder.ended[:-1])


def test_the_progress_bar_of_scikit_learn_shows_candidates_and_rungs(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    hyperband().set_callbacks(ProgressBar(max_propagation_depth=0)).fit(X, y)
    text = capsys.readouterr().out
    assert text.count("- rung #") >= 6
    assert "HyperbandSearchCV - search" in text


def test_callbacks_of_the_estimator_alone_are_called():
    recorder = Recorder()
    model = LogisticRegression(max_iter=1000).set_callbacks(recorder)
    search = RandomSearchCV(model, {"C": loguniform(1e-2, 1)}, n_iter=3, cv=2, random_state=0)
    search.fit(X, y)
    assert recorder.ended.count("teardown") == 3 * 2 + 1
    assert np.isfinite(search.best_score_)
