"""Models of a list that are too slow for the time limit are left out, by a small fit of each."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from sksearch import SearchCV
from sksearch._utils._time_limit import TimeLimit
from sksearch.executors import VirtualClock, spend
from sksearch.fitting.run._row_sample import Pace, paces_of

N = 40_000
X = np.zeros((N, 1))
Y = np.arange(N) % 2


class Timed(ClassifierMixin, BaseEstimator):
    """Takes simulated seconds: some at once, and others by the number of rows."""

    def __init__(self, at_once=0.0, a_row=1e-6, growth=1.0, predicting=0.0, fails=False):
        self.at_once, self.a_row, self.growth = at_once, a_row, growth
        self.predicting, self.fails = predicting, fails

    def fit(self, X, y):
        spend(self.at_once + self.a_row * len(X) ** self.growth)
        if self.fails:
            raise ValueError("it fails")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        spend(self.predicting * len(X))
        return np.zeros(len(X), int)


MODELS = {
    "fast": Timed(),
    "fixed": Timed(at_once=1.0),
    "slow": Timed(a_row=1e-3),
    "square": Timed(a_row=1e-7, growth=2.0),
    "lazy": Timed(predicting=0.01),
    "failing": Timed(fails=True),
}


def left_out(models, timeout, n=N):
    with VirtualClock():
        return paces_of(list(models.items()), X[:n], Y[:n], TimeLimit(timeout))


@pytest.mark.parametrize(
    ("timeout", "n", "expected"),
    [
        (60, N, ["slow", "square", "lazy"]),  # 40, 160 and 80 s on all rows
        (200, N, ["square"]),
        (1000, N, []),
        (60, 3000, []),
        (4, 3000, ["fixed", "slow", "square", "lazy", "failing"]),  # no time to measure most
    ],
)
def test_models_too_slow_for_the_time_are_named(timeout, n, expected):
    paces, out = left_out(MODELS, timeout, n)
    assert out == expected
    assert set(paces) == set(MODELS) - set(expected) - {"failing"}


@pytest.mark.parametrize("name", ["fast", "fixed", "slow", "square"])
def test_time_on_more_rows_is_predicted_from_few(name):
    model = MODELS[name]
    with VirtualClock():
        pace = Pace.of(model, X, Y, 60.0)
    expected = model.at_once + model.a_row * N**model.growth
    assert pace.on(N)[0] == pytest.approx(expected, rel=0.01)


def test_the_fastest_stays_if_all_are_too_slow():
    models = {"slow": Timed(a_row=1e-3), "slower": Timed(a_row=1e-2)}
    assert left_out(models, 1)[1] == ["slower"]


def test_models_without_time_to_measure_are_left_out():
    models = {"first": Timed(at_once=20), "second": Timed(at_once=20), "third": Timed()}
    assert left_out(models, 60)[1] == ["second", "third"]


def search(timeout=60.0, **options):
    models = [(name, MODELS[name]) for name in ("fast", "slow", "square")]
    options = {"cv": 3, "random_state": 0, "stop": {"patience": 3}} | options
    return SearchCV(models, timeout=timeout, **options)


def fitted(made):
    with VirtualClock() as clock:
        made.fit(X, Y)
    return made, clock.seconds


def test_a_search_says_which_models_it_left_out_and_never_trains_them(tmp_path):
    first, seconds = fitted(search(checkpoint_dir=tmp_path))
    line = "models left out, too slow for timeout=60 by a small fit: slow, square"
    assert {params["model"] for params in first.cv_results_["params"]} == {"fast"}
    assert seconds < 60
    assert line in str(first.plan_)
    assert line.split(":")[0] in str(first.report())
    again, _ = fitted(search(checkpoint_dir=tmp_path))
    assert line in str(again.plan_)
    assert again.cv_results_["params"] == first.cv_results_["params"]
    again.set_params(timeout=1e6)
    assert "left out" not in str(again.plan(X, Y))


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": None, "n_iter": 3},
        {"n_iter": 3},
        {"param_distributions": {"slow": {}, "fast": {}, "square": {}}},
        {"known": {"params": [{"model": "fast"}]}},
        {"timeout": 1000.0},
    ],
)
def test_models_stay_if_the_user_names_them_or_time_is_no_limit(options):
    assert "left out" not in str(search(**options).plan(X[:3000], Y[:3000], measure=False))
    with VirtualClock():
        made = search(**options)
        made._measured(X, Y, {}, np.random.RandomState(0))
    assert made._left_out == ()


@pytest.mark.parametrize(
    ("options", "n_folds"),
    [
        ({}, 3),
        ({"n_jobs": 8}, 5),  # eight times as much time
        ({"timeout": 20.0}, 5),
        ({"timeout": None, "n_iter": 3}, 5),
        ({"cv": 5}, 5),
        ({"estimator": DecisionTreeClassifier()}, 5),
        ({"checkpoint_dir": "{data}"}, 5),  # might be resumed with more time
    ],
)
def test_a_list_has_three_folds_if_time_is_short(options, n_folds, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    estimator = options.pop("estimator", [(name, MODELS[name]) for name in ("fast", "fixed")])
    search = SearchCV(estimator, random_state=0, **{"timeout": 10.0} | options)
    with VirtualClock():
        plan = search.plan(X[:3000], Y[:3000], measure=False)
        setup = search._measured(X[:3000], Y[:3000], {}, np.random.RandomState(0))
    assert len(setup.context.splits) == n_folds
    assert ("folds: 3, since timeout=10 is short" in str(plan)) == (n_folds == 3)
