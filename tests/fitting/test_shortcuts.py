"""A shortcut is taken only where the class has not overridden what the shortcut stands for."""

import warnings

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn import model_selection
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.metrics._scorer import _Scorer
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import sksearch
from sksearch import SuccessiveHalvingSearchCV
from sksearch._utils._overrides import PREDICTION, TRAINING, overridden
from sksearch.base._state import State
from sksearch.estimators._continuation import can_grow
from sksearch.estimators._growth import growth_of
from sksearch.estimators._pipeline import last_step
from sksearch.resources._epochs import EpochsResource
from sksearch.search import HypergradientSearchCV
from sksearch.space import Outcome, default_space

X, y = make_classification(150, 5, n_informative=4, n_redundant=0, flip_y=0.3, random_state=0)
CS = {"m__C": [1e-4, 1e-2, 1]}


def same_as_scikit_learn(estimator, space, **options):
    """Both searches, random and over a grid, give equal scores; return the last of ours."""
    for name, more in (("GridSearchCV", {}), ("RandomizedSearchCV", {"n_iter": 2})):
        if name == "GridSearchCV" and any(hasattr(v, "rvs") for v in space.values()):
            continue
        if more:
            more["random_state"] = 0
        ours, theirs = (
            getattr(module, name)(clone(estimator), space, cv=3, **more, **options).fit(X, y)
            for module in (sksearch.model_selection, model_selection)
        )
        for column, values in theirs.cv_results_.items():
            if "time" not in column:
                np.testing.assert_array_equal(ours.cv_results_[column], values, err_msg=column)
        assert ours.best_params_ == theirs.best_params_
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    return ours


def scaled(kind=Pipeline, model=None):
    return kind([("s", StandardScaler()), ("m", model or LogisticRegression())])


class OwnPredict(Pipeline):
    def predict(self, X, **params):
        return 1 - super().predict(X, **params)


class OwnScore(Pipeline):
    def score(self, X, y=None, **params):
        return -super().score(X, y, **params)


class OwnFit(Pipeline):
    def fit(self, X, y=None, **params):
        return super().fit(np.asarray(X)[:, :2].repeat(2, axis=1), y, **params)

    def predict(self, X, **params):
        return super().predict(np.asarray(X)[:, :2].repeat(2, axis=1), **params)

    def score(self, X, y=None, **params):
        return accuracy_score(y, self.predict(X))


class OwnInnerFit(Pipeline):
    def _fit(self, X, y=None, *args, **kwargs):
        return super()._fit(np.abs(X), y, *args, **kwargs)


class OwnIteration(Pipeline):
    def _iter(self, *args, **kwargs):
        return iter([*super()._iter(*args, **kwargs)])


class OwnNames(Pipeline):
    """Knows a parameter by another name, too."""

    def set_params(self, **params):
        if "strength" in params:
            params["m__C"] = params.pop("strength")
        return super().set_params(**params)

    def get_params(self, deep=True):
        return super().get_params(deep) | ({"strength": 1} if deep else {})


class InverseLast(LogisticRegression):
    def predict(self, X):
        return 1 - super().predict(X)


class ScoresLast(LogisticRegression):
    def score(self, X, y, sample_weight=None):
        return float(np.abs(self.coef_).sum())


class SetsItsScore(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        self.score = self._other_score
        return super().fit(X, y)

    def _other_score(self, X, y):
        return -float(np.abs(self.coef_).sum())


class Mixed(ClassifierMixin):
    def score(self, X, y, sample_weight=None):
        return 1 - super().score(X, y)


class MixedIn(KNeighborsClassifier, Mixed):
    pass


class Cloned(LogisticRegression):
    def __sklearn_clone__(self):
        new = type(self)(**self.get_params())
        new.times_ = getattr(self, "times_", 0) + 1
        return new


class Delegates(ClassifierMixin, BaseEstimator):
    def __init__(self, inner=None, C=1.0):
        self.inner, self.C = inner, C

    def fit(self, X, y):
        self.inner_ = clone(self.inner).set_params(C=self.C).fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(-np.asarray(X))


class Searches(model_selection.GridSearchCV):
    def score(self, X, y=None, **params):
        return self.best_score_


@pytest.mark.few(10)
@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        *(
            (scaled(kind), CS)
            for kind in (OwnPredict, OwnScore, OwnFit, OwnInnerFit, OwnIteration)
        ),
        (scaled(Pipeline, scaled(OwnPredict)), {"m__m__C": CS["m__C"]}),
        (scaled(OwnNames), {"strength": CS["m__C"]}),
        *((scaled(model=kind()), CS) for kind in (InverseLast, ScoresLast, SetsItsScore, Cloned)),
        *((kind(), {"C": CS["m__C"]}) for kind in (InverseLast, ScoresLast, SetsItsScore, Cloned)),
        (MixedIn(), {"n_neighbors": [1, 3, 9]}),
        (Delegates(LogisticRegression()), {"C": [1e-3, 1, 100]}),
        (CalibratedClassifierCV(scaled(OwnPredict), cv=2), {"estimator__m__C": [1e-3, 1]}),
        (
            TransformedTargetRegressor(Ridge(), func=np.exp, inverse_func=np.log),
            {"regressor__alpha": [0.1, 10, 1000]},
        ),
        (Searches(LogisticRegression(), {"C": [0.1, 1]}, cv=2), {"estimator__tol": [1e-4, 0.1]}),
    ],
    ids=lambda value: f"{value:.60}" if isinstance(value, str) else type(value).__name__,
)
def test_scores_match_scikit_learn(estimator, space):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # logarithms in the made-up target
        same_as_scikit_learn(estimator, space)


class Doubled(_Scorer):
    def _score(self, *args, **kwargs):
        return 2 * super()._score(*args, **kwargs)


class TwoMetrics(_Scorer):
    def __call__(self, estimator, X, y_true=None, **kwargs):
        score = super().__call__(estimator, X, y_true, **kwargs)
        return {"one": score, "two": -score}


class KnowsItsMetric(_Scorer):
    def _score(self, *args, **kwargs):
        return super()._score(*args, **kwargs) * (self._score_func is accuracy_score)


def scorer(kind):
    return kind(accuracy_score, 1, {}, "predict")


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": scorer(Doubled)},
        {"scoring": scorer(KnowsItsMetric)},
        {"scoring": scorer(TwoMetrics), "refit": "two"},
        {"scoring": {"a": scorer(KnowsItsMetric), "b": "accuracy"}, "refit": "a"},
        {"scoring": make_scorer(accuracy_score, greater_is_better=False)},
    ],
)
def test_custom_scorers_score_as_they_do_in_scikit_learn(options):
    same_as_scikit_learn(scaled(), CS, **options)


# ---- training


def shrunk(kind):
    """A class whose ``fit`` sees half of the columns, and what predicts with them."""

    def half(X):
        X = np.array(X)
        X[:, ::2] = 0
        return X

    class Shrunk(kind):
        def fit(self, X, y, sample_weight=None):
            return super().fit(half(X), y)

    return Shrunk


TREES = [
    (RandomForestClassifier, "n_estimators"),
    (ExtraTreesClassifier, "n_estimators"),
    (GradientBoostingClassifier, "n_estimators"),
    (HistGradientBoostingClassifier, "max_iter"),
]


class ForgetsItsTrees(RandomForestClassifier):
    """Its warm start is none: a fit that goes on has other trees."""

    def fit(self, X, y, sample_weight=None):
        if hasattr(self, "estimators_"):
            del self.estimators_[::2]
        return super().fit(X, y)


class OwnEnsemble(ClassifierMixin, BaseEstimator):
    """Has both words, and means something else by them."""

    def __init__(self, n_estimators=9, warm_start=False):
        self.n_estimators, self.warm_start = n_estimators, warm_start

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.n_calls_ % 2])


@pytest.mark.parametrize(("kind", "name"), TREES)
def test_trees_are_added_only_to_a_model_with_a_known_fit(kind, name):
    assert can_grow(kind(), name, 100, {})
    assert not can_grow(shrunk(kind)(), name, 100, {})

    class Predicts(kind):
        def predict(self, X):
            return 1 - super().predict(X)

    assert can_grow(Predicts(), name, 100, {})  # what is trained is the same


@pytest.mark.parametrize("kind", [ForgetsItsTrees, OwnEnsemble])
def test_what_a_search_by_trees_returns_is_one_fit(kind):
    assert not can_grow(kind(), "n_estimators", 100, {})
    space = {"max_depth": [1, 3, 5]} if kind is ForgetsItsTrees else {"warm_start": [False, True]}
    search = SuccessiveHalvingSearchCV(
        kind(), space, resource="n_estimators", max_resources=9, cv=2, random_state=0
    ).fit(X, y)
    assert getattr(search.best_estimator_, "n_calls_", 1) == 1


@pytest.mark.parametrize(
    ("kind", "name"), [*TREES[2:], (MLPClassifier, "max_iter")], ids=lambda v: str(v)[-40:]
)
@pytest.mark.parametrize("method", ["fit", "predict", "predict_proba", "score", "_validate_y"])
def test_a_count_is_found_in_training_only_where_all_methods_are_known(kind, name, method):
    def own(self, *args, **kwargs):
        return getattr(super(Own, self), method)(*args, **kwargs)

    Own = type("Own", (kind,), {method: own, "__module__": __name__})
    if method == "_validate_y" and not hasattr(kind, method):
        Own = type("Own", (kind,), {"_validate_data_of_mine": own})
        assert growth_of(Own(), name)  # nothing is overridden
        return
    with pytest.raises(ValueError, match=f"Own overrides {method}: pass a list or a"):
        growth_of(Own(), name)
    assert growth_of(kind(), name)
    assert not isinstance(default_space(Own()).get(name), Outcome)
    if kind is not MLPClassifier:
        assert name in default_space(Own())


@pytest.mark.parametrize("kind", [OwnPredict, OwnScore, OwnFit, OwnInnerFit])
def test_a_count_of_a_last_step_is_found_only_in_a_known_pipeline(kind):
    boosting = HistGradientBoostingClassifier()
    assert isinstance(default_space(scaled(model=boosting))["m__max_iter"], Outcome)
    assert not isinstance(default_space(scaled(kind, boosting))["m__max_iter"], Outcome)
    for outer in (scaled(kind, boosting), Pipeline([("p", scaled(kind, boosting))])):
        name = "p__m__max_iter" if outer.steps[0][0] == "p" else "m__max_iter"
        with pytest.raises(ValueError, match="Outcome"):
            growth_of(outer, name)


def test_thresholds_are_not_found_past_a_custom_predict():
    class Decides(FixedThresholdClassifier):
        def predict(self, X):
            return 1 - super().predict(X)

    with pytest.raises(ValueError, match="Decides overrides predict"):
        growth_of(Decides(LogisticRegression()), "threshold")


def test_a_pipeline_that_trains_in_its_own_way_is_not_a_pipeline_to_a_resource():
    for kind in (OwnFit, OwnInnerFit):
        pipeline = scaled(kind, SGDClassifier())
        assert last_step(pipeline) is pipeline
        with pytest.raises(ValueError, match="needs an estimator with partial_fit"):
            EpochsResource().check(pipeline, [])
    assert last_step(scaled(OwnScore)) is not scaled(OwnScore)


@pytest.mark.parametrize("kind", [SGDClassifier, MLPClassifier])
def test_epochs_are_calls_of_a_partial_fit_of_one_s_own(kind):
    seen = []

    class Noted(kind):
        def partial_fit(self, X, y, classes=None):
            seen.append(self.random_state)
            return super().partial_fit(X, y, classes=classes)

    EpochsResource().train(State(Noted(random_state=7)), X, y, 4, 0, np.unique(y), {})
    assert seen == [7, 7, 7, 7]  # and not a generator of ours


def test_epochs_that_leave_out_a_custom_fit_are_warned_about():
    with pytest.warns(
        UserWarning, match="trains by partial_fit, so the custom fit of Shrunk is not"
    ):
        EpochsResource().check(shrunk(SGDClassifier)(), [])

    class Both(shrunk(SGDClassifier)):
        def partial_fit(self, X, y, classes=None):
            return super().partial_fit(X, y, classes=classes)

    EpochsResource().check(Both(), [])


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_a_model_with_its_own_methods_is_not_differentiated(method):
    own = {method: lambda self, *args: getattr(Ridge, method)(self, *args)}
    search = HypergradientSearchCV(type("Own", (Ridge,), own)(), {"alpha": loguniform(0.1, 9)})
    with pytest.raises(ValueError, match="cannot be differentiated"):
        search.fit(X, y)


# ---- what counts as overridden


def test_only_methods_that_stand_in_the_place_of_known_ones_count(monkeypatch):
    class Adds(RandomForestClassifier):
        def __init__(self, n_estimators=7):
            super().__init__(n_estimators)

        def _helper(self):
            return 1

        def report(self):
            return 2

    every = (*TRAINING, *PREDICTION)
    assert overridden(Adds(), every) == []
    assert overridden(RandomForestClassifier(), every) == []
    one = RandomForestClassifier()
    one.predict = len
    assert overridden(one, every) == ["predict"]
    monkeypatch.setattr(RandomForestClassifier, "fit", lambda self, X, y: self)
    assert overridden(RandomForestClassifier(), every) == ["fit"]
    assert overridden(OwnEnsemble(), ("fit", "score")) == ["fit"]
