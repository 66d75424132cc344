"""A function that chooses the winner is asked of the first results, not after all training."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from sksearch import HyperbandSearchCV, RandomSearchCV
from sksearch.model_selection import GridSearchCV

X, Y = np.zeros((20, 2)), np.arange(20) % 2
FITTED = []


class Model(ClassifierMixin, BaseEstimator):
    def __init__(self, level=0, epochs=1):
        self.level, self.epochs = level, epochs

    def fit(self, X, y):
        FITTED.append(self.level)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def score(self, X, y):
        return self.level / 10


def both(estimator, X, y):
    return {"gain": estimator.level, "price": -estimator.level}


BAD = {
    "no index": (lambda results: None, "returned None"),
    "a text": (lambda results: "0", "returned '0'"),
    "a float": (lambda results: float(np.argmin(results["rank_test_score"])), "returned 0.0"),
    "params": (lambda results: results["params"][0], "returned {"),
    "below 0": (lambda results: -1, "returned -1"),
    "a metric that is not there": (lambda results: results["mean_test_nope"][0], "mean_test_nope"),
    "a name that is not there": (lambda results: nowhere, "nowhere"),  # noqa: F821
    "a method that is not there": (lambda results: results.argmin(), "argmin"),
}


@pytest.mark.parametrize("search", [RandomSearchCV, GridSearchCV, HyperbandSearchCV])
@pytest.mark.parametrize("fault", BAD)
def test_a_bad_rule_is_found_on_the_first_results(search, fault):
    rule, words = BAD[fault]
    options = {"resource": "n_samples"} if search is HyperbandSearchCV else {}
    options |= {} if search is GridSearchCV else {"random_state": 0}
    FITTED.clear()
    made = search(Model(), {"level": list(range(50))}, cv=2, refit=rule, **options)
    with pytest.raises((ValueError, TypeError, IndexError), match=words):
        made.fit(X, Y)
    assert len(FITTED) <= 4


def test_a_rule_that_needs_more_rows_is_asked_at_the_end():
    asked = []

    def third(results):
        asked.append(len(results["params"]))
        return int(np.argsort(results["rank_test_score"])[2])

    space = {"level": [1, 2, 3, 4]}
    search = RandomSearchCV(Model(), space, n_iter=4, cv=2, refit=third, random_state=0)
    assert search.fit(X, Y).best_params_ == {"level": 2}
    assert asked == [1, 4]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_metric_that_is_not_there_is_found_on_the_first_results():
    FITTED.clear()
    space = {"level": list(range(50))}
    search = RandomSearchCV(Model(), space, n_iter=50, cv=2, scoring=both, refit="nope")
    with pytest.raises(ValueError, match="nope"):
        search.fit(X, Y)
    assert len(FITTED) <= 20


def test_what_a_bad_rule_has_let_train_is_kept(tmp_path):
    space = {"level": [1, 2, 3, 4]}

    def search(rule):
        options = {"refit": rule, "checkpoint_dir": tmp_path / "c", "random_state": 0}
        return RandomSearchCV(Model(), space, n_iter=4, cv=2, **options)

    def late(results):
        return 0 if len(results["params"]) < 4 else None

    with pytest.raises(TypeError, match="are kept in cv_results_"):
        search(late).fit(X, Y)
    before = len(FITTED)
    assert search(True).fit(X, Y).best_params_ == {"level": 4}
    assert FITTED[before:] == [4]  # the refit alone
