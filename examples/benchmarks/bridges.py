"""Whether forecasters, estimators of series and plans of skrub are searched as their page says.

Each is searched, cloned, pickled, and predicts. In an environment of its own, since sktime holds
pandas back; what is not installed is left out:

    pip install sktime statsmodels skforecast skrub
    python examples/benchmarks/bridges.py

Exit status 1 if one of them fails.
"""

import logging
import pickle
import sys
import time
import warnings
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
import pandas as pd
from scipy.stats import loguniform, randint
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit

from sksearch import GPBayesSearchCV, HyperbandSearchCV, SearchCV
from sksearch.bridges import from_skforecast, from_sktime
from sksearch.testing import check_search

FOLDS = {"cv": TimeSeriesSplit(4, test_size=12), "random_state": 0, "n_iter": 6}
ERROR = "neg_mean_absolute_percentage_error"


def series():
    """Ten years of months with a trend and a season, and the index of the next three."""
    index = pd.date_range("2001-01", periods=123, freq="MS")
    months = np.arange(123)
    rng = np.random.default_rng(0)
    values = 100 + months + 20 * np.sin(months * np.pi / 6) + rng.normal(0, 3, 123)
    return pd.Series(values[:120], index[:120]), pd.DataFrame(index=index[120:])


def waves():
    """Forty series of two classes, which have different frequencies."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = np.sin(np.linspace(0, 6, 30) * (1 + 0.5 * y[:, None]) + rng.normal(0, 0.3, (40, 1)))
    return (X + rng.normal(0, 0.3, X.shape))[:, None, :], y


def forecast(search):
    """Fit on a series, keep the contract, and continue the series."""
    y, later = series()
    known = pd.DataFrame(index=y.index)
    check_search(search.set_params(scoring=ERROR, refit=False), known, y)
    search.set_params(refit=True).fit(known, y)
    kept = pickle.loads(pickle.dumps(search))
    values = kept.predict(later)
    assert values.shape == (3,)
    assert np.isfinite(values).all()
    return f"error {-search.best_score_:.3f}"


def sktime_forecaster():
    """Exponential smoothing."""
    from sktime.forecasting.exp_smoothing import ExponentialSmoothing

    space = {
        "forecaster__trend": ["add", None],
        "forecaster__seasonal": ["add", "mul", None],
    }
    return forecast(SearchCV(from_sktime(ExponentialSmoothing(sp=12)), space, **FOLDS))


def skforecast_forecaster():
    """Ridge regression on lags; what was passed stays as it is."""
    from skforecast.recursive import ForecasterRecursive

    wrapped = from_skforecast(ForecasterRecursive(Ridge(), lags=12))
    space = {"lags": [3, 12, 24], "estimator__alpha": loguniform(1e-3, 1e3)}
    found = forecast(SearchCV(wrapped, space, **FOLDS))
    assert len(wrapped.forecaster.lags) == 12
    return found


def sktime_classifier():
    """Neighbours of series."""
    from sktime.classification.distance_based import KNeighborsTimeSeriesClassifier

    X, y = waves()
    space = {
        "estimator__n_neighbors": randint(1, 9),
        "estimator__distance": ["euclidean", "dtw"],
    }
    wrapped = from_sktime(KNeighborsTimeSeriesClassifier())
    search = SearchCV(wrapped, space, n_iter=5, cv=3, random_state=0)
    check_search(search, X, y)
    search.fit(X, y)
    assert search.predict_proba(X).shape == (40, 2)
    return f"accuracy {search.best_score_:.3f}"


def skrub_plan():
    """A choice of two models, each with numbers of its own, by three searches."""
    import skrub

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    boosting = HistGradientBoostingRegressor(
        learning_rate=skrub.choose_float(0.01, 0.3, log=True, name="rate"),
        max_leaf_nodes=skrub.choose_int(4, 30, n_steps=5, name="leaves"),
        max_iter=skrub.choose_int(10, 60, name="trees"),
    )
    ridge = Ridge(alpha=skrub.choose_float(0.01, 100, log=True, name="alpha"))
    model = skrub.choose_from({"ridge": ridge, "boosting": boosting}, name="model")
    cleaned = skrub.X(X).skb.apply(skrub.TableVectorizer())
    plan = cleaned.skb.apply(model, y=skrub.y(y))
    scores = []
    for ours in (
        SearchCV(None, n_iter=8, cv=3, random_state=0),
        GPBayesSearchCV(None, {}, n_iter=8, cv=3, random_state=0, n_jobs=2),
        HyperbandSearchCV(None, {}, resource="n_samples", max_resources=300, random_state=0),
    ):
        search = plan.skb.make_randomized_search().set_params(search=ours)
        search.fit({"X": X, "y": y})
        assert search.predict({"X": X[:3]}).shape == (3,)
        assert len(search.results_) >= 8
        scores.append(search.best_score_)
    return f"R2 {min(scores):.3f} to {max(scores):.3f}"


CASES = {
    "sktime": [sktime_forecaster, sktime_classifier],
    "skforecast": [skforecast_forecaster],
    "skrub": [skrub_plan],
}


def main():
    """Run and print."""
    logging.disable(logging.WARNING)
    n_failed = 0
    for package, cases in CASES.items():
        if find_spec(package) is None:
            print(f"{package}: not installed")
            continue
        for case in cases:
            start = time.perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = case()
            except Exception as error:
                n_failed += 1
                found = f"FAILED: {type(error).__name__}: {error}"
            seconds = time.perf_counter() - start
            print(f"{package} {version(package):8} {case.__name__:22} {seconds:4.0f} s  {found}")
    return int(n_failed > 0)


if __name__ == "__main__":
    sys.exit(main())
