"""Searches in files of skops, which holds no tuple as a key and no object without attributes."""

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from sksearch import (
    BOHBSearchCV,
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
    When,
)
from sksearch.resources._epochs import EpochsResource
from sksearch.samplers import TPESampler
from sksearch.schedulers import ASHA

skops_io = pytest.importorskip("skops.io", reason="skops is not installed")
X, y = load_iris(return_X_y=True)
SGD = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
CONDITIONAL = {
    "sgdclassifier__alpha": loguniform(1e-5, 1),
    "sgdclassifier__penalty": ["l2", "elasticnet"],
    "sgdclassifier__l1_ratio": When(uniform(), "sgdclassifier__penalty", "==", "elasticnet"),
    "standardscaler": [StandardScaler(), MinMaxScaler(), "passthrough"],
    "sgdclassifier__max_iter": range(1000, 1010),
}
UNION = [{"sgdclassifier__alpha": [0.1, 0.2]}, {"sgdclassifier__penalty": ["l1", "l2"]}]
LISTED = [{"sgdclassifier__alpha": [0.1]}, {"sgdclassifier__penalty": ["l1"]}]
EPOCHS = {"resource": "epochs", "max_resources": 3, "cv": 2, "random_state": 0}
SEARCHES = {
    "conditions": HyperbandSearchCV(SGD, CONDITIONAL, **EPOCHS),
    "union": HyperbandSearchCV(SGD, UNION, **EPOCHS),
    "listed": RandomSearchCV(SGD, LISTED, n_iter=2, cv=2),
    "learning": BOHBSearchCV(SGD, CONDITIONAL, **EPOCHS),
    "several metrics": GPBayesSearchCV(
        SGD, CONDITIONAL, n_iter=3, cv=2, scoring=["accuracy", "f1_macro"], refit="accuracy",
        random_state=0,
    ),
    "ensemble": HyperbandSearchCV(SGD, CONDITIONAL, ensemble=2, **EPOCHS),
    "objects": SearchCV(
        SGD, UNION, sampler=TPESampler(), scheduler=ASHA(), resource=EpochsResource(),
        max_resources=3, cv=2, random_state=0,
    ),
}  # fmt: skip


def through_skops(search):
    """Write and read a search."""
    content = skops_io.dumps(search)
    return skops_io.loads(content, trusted=skops_io.get_untrusted_types(data=content))


@pytest.mark.few(3)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_fitted_search_is_read_back(name):
    search = SEARCHES[name].fit(X, y)
    again = through_skops(search)
    assert vars(again).keys() == vars(search).keys()
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    assert again.best_index_ == search.best_index_
    for column, values in search.cv_results_.items():
        if "_test_" in column:
            np.testing.assert_array_equal(again.cv_results_[column], values)
    assert again.plan_ == search.plan_
    assert again.progress_ == search.progress_
    assert again.history_.log == search.history_.log
    assert again.history_.keys == search.history_.keys
    assert [t.results for t in again.history_.trials] == [
        t.results for t in search.history_.trials
    ]
    for trial in again.history_.trials:
        assert again.history_.knows(trial.params)
        space = again.history_.problem.space
        np.testing.assert_array_equal(
            space.to_unit(trial.params), search.history_.problem.space.to_unit(trial.params)
        )


@pytest.mark.parametrize("name", ["conditions", "objects"])
def test_a_search_that_is_not_fitted_is_read_back_and_fitted(name):
    again = through_skops(type(SEARCHES[name])(**SEARCHES[name].get_params(deep=False)))
    np.testing.assert_array_equal(again.fit(X, y).predict(X), SEARCHES[name].fit(X, y).predict(X))
