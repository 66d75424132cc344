"""Estimators that nothing is known of: what is not searched is said."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import RandomSearchCV, SearchCV, tune
from sksearch.space import default_space

X, y = load_iris(return_X_y=True)


class Mine(ClassifierMixin, BaseEstimator):
    """A classifier that no list names."""

    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


class Shift(TransformerMixin, BaseEstimator):
    """A transformer that no list names."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X + 1


def sktime_like():
    """As of sktime: ``fit`` and params, and no tags of scikit-learn."""
    made = {"get_params": lambda self, deep=True: {}, "set_params": lambda self, **_: self}
    return type("NaiveForecaster", (), {"fit": lambda self, X, y=None: self, **made})()


def skrub_like():
    """As of skrub: its plan is its only parameter."""

    class SkrubLearner(BaseEstimator):
        def __init__(self, data_op=None):
            self.data_op = data_op

        def fit(self, environment):
            return self

    SkrubLearner.__module__ = "skrub"
    return SkrubLearner()


@pytest.mark.parametrize(
    ("estimator", "named"),
    [
        (make_pipeline(PCA(), Mine()), "mine (Mine)"),
        (make_pipeline(PCA(), make_pipeline(PCA(), Mine())), "pipeline__mine (Mine)"),
        (
            make_pipeline(PCA(), OneVsRestClassifier(Mine())),
            "estimator (Mine)",
        ),
        (VotingClassifier([("a", SVC()), ("b", Mine())]), "b (Mine)"),
        (BaggingClassifier(Mine()), "estimator (Mine)"),
    ],
)
def test_a_model_that_is_not_searched_is_named(estimator, named):
    search = SearchCV(estimator, n_iter=2, cv=2, random_state=0)
    with pytest.warns(UserWarning, match="has no default space") as caught:
        plan = search.plan(X, y)
    assert named in str(caught[0].message)
    assert named in plan.notes[0].partition("no default space for ")[2]


def test_the_code_of_the_warning_makes_a_space():
    estimator = make_pipeline(PCA(), Mine())
    with pytest.warns(UserWarning, match="mine__power") as caught:
        default_space(estimator, n_features=4)
    code = str(caught[0].message).rpartition("parameters: ")[2].rstrip(".")
    with pytest.warns(UserWarning, match="has no default space"):
        space = eval(code.replace("[...]", "[1, 2]"), {**globals(), "estimator": estimator})
    search = RandomSearchCV(estimator, space, n_iter=2, cv=2, random_state=0).fit(X, y)
    assert {"mine__power", "pca__n_components"} == search.best_params_.keys()


@pytest.mark.parametrize(
    "estimator", [make_pipeline(StandardScaler(), Mine()), OneVsRestClassifier(Mine())]
)
def test_where_nothing_is_left_to_search_the_unknown_part_is_named(estimator):
    with pytest.raises(ValueError, match=r"\(Mine\) has no default space"):
        SearchCV(estimator, timeout=1).fit(X, y)


def test_a_transformer_that_is_not_known_is_in_the_plan_alone():
    columns = ColumnTransformer([("shift", Shift(), [0, 1])])
    search = SearchCV(make_pipeline(columns, LogisticRegression()), n_iter=2, cv=2)
    assert "no default space for columntransformer__shift (Shift)" in search.plan(X, y).notes[0]


def test_with_a_space_of_the_user_nothing_is_said():
    search = SearchCV(make_pipeline(PCA(), Mine()), {"mine__power": [1, 2]}, n_iter=2, cv=2)
    assert not any("known" in note for note in search.plan(X, y).notes)


@pytest.mark.parametrize("space", [None, {"sp": [1, 2]}])
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (sktime_like, "NaiveForecaster, which does not have scikit-learn's tags.*BaseEstimator"),
        (skrub_like, "skrub SkrubLearner.*make_randomized_search"),
    ],
)
def test_estimators_of_other_libraries_are_refused_with_one_sentence(make, says, space):
    with pytest.raises(TypeError, match=says):
        SearchCV(make(), space, n_iter=2).fit(X, y)
    if space is not None:
        with pytest.raises(TypeError, match=says):
            RandomSearchCV(make(), space, n_iter=2).fit(X, y)
    else:
        with pytest.raises(TypeError, match=says):
            tune(make(), X, y, timeout=1)
