"""Estimators of other libraries as scikit-learn's; with the libraries: benchmarks/bridges.py."""

import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit

from sksearch import SearchCV
from sksearch.bridges import (
    SeriesClassifier,
    SeriesRegressor,
    SktimeForecaster,
    from_skforecast,
    from_sktime,
)
from sksearch.space import Space
from sksearch.testing import check_search

INDEX = pd.period_range("2001-01", periods=63, freq="M")
Y = pd.Series(10.0 + np.arange(63) + 5 * np.sin(np.arange(63)), INDEX)
PAST, FUTURE = pd.DataFrame(index=INDEX[:60]), pd.DataFrame(index=INDEX[60:])
FOLDS = {"cv": TimeSeriesSplit(3, test_size=6), "n_iter": 5, "random_state": 0}


class Tagged:
    """As skbase's objects: a kind, params, and no tags of scikit-learn."""

    kind = "forecaster"

    def get_tag(self, name, default=None, raise_error=True):
        return self.kind if name == "object_type" else default

    def get_params(self, deep=True):
        return dict(vars(self)) if not hasattr(self, "fitted") else {"drift": self.drift}

    def set_params(self, **params):
        vars(self).update(params)
        return self


class Drift(Tagged):
    """The last value, and so much more at each step; or what X has."""

    def __init__(self, drift=0.0):
        self.drift = drift

    def fit(self, y, X=None):
        self.last, self.fitted = y.iloc[-1], X is not None
        return self

    def predict(self, fh, X=None):
        own = self.last + self.drift * np.asarray(fh)
        return pd.Series(own if X is None else np.asarray(X)[:, 0])


class Mean(Tagged):
    kind = "classifier"

    def __init__(self, drift=0.0):
        self.drift = drift

    def fit(self, X, y):
        self.fitted = True
        return self

    def predict(self, X):
        return (X.mean(axis=(1, 2)) > self.drift).astype(int)

    def predict_proba(self, X):
        return np.column_stack([1 - self.predict(X), self.predict(X)])


class Number(Mean):
    kind = "regressor"

    def predict(self, X):
        return X.mean(axis=(1, 2))[:, np.newaxis] + self.drift


class Recursive:
    """As skforecast's: no get_params; lags and the estimator's parameters are set by methods."""

    def __init__(self, estimator, lags=2):
        self.estimator = estimator
        self.set_lags(lags)

    def set_lags(self, lags):
        self.lags = np.arange(1, lags + 1)

    def set_params(self, params):
        self.estimator = clone(self.estimator).set_params(**params)

    def fit(self, y, exog=None):
        assert exog is None
        values, n = y.to_numpy(), len(self.lags)
        rows = np.lib.stride_tricks.sliding_window_view(values, n)[:-1]
        self.estimator.fit(rows, values[n:])
        self.window = values[-n:]

    def predict(self, steps, exog=None):
        window = list(self.window)
        for _ in range(steps):
            window.append(self.estimator.predict([window[-len(self.lags) :]])[0])
        return pd.Series(window[-steps:])


def test_a_forecaster_of_sktime_is_searched_and_continues_the_series():
    search = SearchCV(from_sktime(Drift()), {"forecaster__drift": [0.0, 1.0, 5.0]}, **FOLDS)
    search.fit(PAST, Y[:60])
    assert search.best_params_ == {"forecaster__drift": 1.0}
    assert isinstance(search.best_estimator_, SktimeForecaster)
    kept = pickle.loads(pickle.dumps(search))
    np.testing.assert_allclose(kept.predict(FUTURE), Y.iloc[59] + np.arange(1, 4))


def test_columns_are_what_is_known_of_the_points():
    known = pd.DataFrame({"holiday": np.arange(63.0)}, index=INDEX)
    fitted = from_sktime(Drift()).fit(known[:60], Y[:60])
    assert fitted.forecaster_.fitted
    np.testing.assert_array_equal(fitted.predict(known[60:]), [60, 61, 62])


def test_points_that_are_known_are_not_forecast():
    fitted = from_sktime(Drift()).fit(PAST, Y[:60])
    with pytest.raises(ValueError, match=r"begins at 2005-10.*TimeSeriesSplit"):
        fitted.predict(PAST[-3:])
    with pytest.raises(ValueError, match="X has 59 points, but y has 60"):
        from_sktime(Drift()).fit(PAST[1:], Y[:60])


def test_lags_and_the_estimator_of_skforecast_are_searched_and_its_owner_keeps_it():
    theirs = Recursive(Ridge(alpha=7.0), lags=2)
    space = {"lags": [1, 4, 12], "estimator__alpha": loguniform(1e-3, 10)}
    search = SearchCV(from_skforecast(theirs), space, **FOLDS)
    search.fit(PAST, Y[:60])
    assert len(theirs.lags) == 2
    assert theirs.estimator.get_params()["alpha"] == 7.0
    assert not hasattr(theirs.estimator, "coef_")
    best = search.best_estimator_
    assert len(best.forecaster_.lags) == search.best_params_["lags"] == 12
    assert best.get_params()["estimator__alpha"] == search.best_params_["estimator__alpha"]
    assert np.abs(search.predict(FUTURE) - Y[60:]).max() < 1
    with pytest.raises(ValueError, match=r"'depth'.*lags and estimator__"):
        from_skforecast(theirs).set_params(depth=3)
    check_search(search.set_params(refit=False), PAST, Y[:60])


def test_classifiers_and_regressors_of_series():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 1, 8)), np.repeat([0, 1], 20)
    X[y == 1] += 2
    classifier = from_sktime(Mean())
    assert isinstance(classifier, SeriesClassifier)
    space = {"estimator__drift": [-5.0, 1.0, 5.0]}
    search = SearchCV(classifier, space, n_iter=3, cv=2, random_state=0).fit(X, y)
    assert search.best_params_ == {"estimator__drift": 1.0}
    assert search.predict_proba(X).shape == (40, 2)
    regressor = from_sktime(Number())
    assert isinstance(regressor, SeriesRegressor)
    search = SearchCV(regressor, {"estimator__drift": [0.0, 3.0]}, n_iter=2, cv=2).fit(X, y)
    assert search.predict(X).shape == (40,)


@pytest.mark.parametrize("wrap", [from_sktime, from_skforecast])
def test_what_is_none_of_them_is_refused(wrap):
    with pytest.raises(TypeError, match="Ridge is not"):
        wrap(Ridge())


# ---- skrub


@dataclass
class NumericChoice:
    """As skrub's: a range with a scale, and draws."""

    low: float
    high: float
    log: bool = False
    to_int: bool = False

    def rvs(self, size=None, random_state=None):
        raise AssertionError("a range is read, not drawn")


@dataclass
class DiscretizedNumericChoice:
    grid: np.ndarray

    def rvs(self, size=None, random_state=None):
        raise AssertionError("a grid is read, not drawn")


def test_ranges_of_skrub_have_their_scale():
    space = Space(
        {
            "a": NumericChoice(1e-3, 10.0, log=True),
            "b": NumericChoice(-1.0, 1.0),
            "c": NumericChoice(2, 5, to_int=True),
            "d": DiscretizedNumericChoice(np.array([1, 10, 100])),
        }
    )
    assert space.from_unit([0.5, 0.5, 0.01, 0.1]) == {
        "a": pytest.approx(0.1),
        "b": pytest.approx(0.0),
        "c": 2,
        "d": 1,
    }
    assert space.from_unit([1.0, 1.0, 0.99, 0.99]) == {"a": 10, "b": 1, "c": 5, "d": 100}
    assert not space.categorical[3], "numbers in order"


def test_a_plan_of_skrub_among_the_parameters_is_left_alone():
    class Deferred:
        """Whatever it is asked for is done later, and none of it is true or false."""

        def __getattr__(self, name):
            if name.startswith("__") or name in ("fit", "get_params", "transform", "predict"):
                raise AttributeError(name)
            return Deferred()

        def __bool__(self):
            raise TypeError("it is not possible to use its truth value now")

        def __reduce__(self):
            return Deferred, ()

        def __sklearn_clone__(self):
            return self

    class XyPipeline(BaseEstimator):
        def __init__(self, data_op=None, rate=1.0):
            self.data_op, self.rate = data_op, rate

        def fit(self, X, y):
            return self

        def score(self, X, y):
            return self.rate

    search = SearchCV(XyPipeline(Deferred()), {"rate": [0.1, 0.5]}, n_iter=2, cv=2)
    search.fit(np.zeros((20, 1)), np.arange(20.0))
    assert search.best_params_ == {"rate": 0.5}
