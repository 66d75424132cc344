"""Whether a search works with estimators that are tuned outside of scikit-learn's usual ones.

Each is searched by one line, `SearchCV(estimator, n_iter=4)`, without a space of the user's. Its
clone must find the same, its pickle predict the same, a second start on its `checkpoint_dir` train
nothing but the last model, and its report must have something to say. In an environment with some
of the packages, of which those that are not installed are left out:

    pip install ngboost interpret-core scikit-survival imbalanced-learn mlxtend lightgbm xgboost \
        catboost "pytabkit[models]"
    python examples/benchmarks/estimators.py [NAME ...]

Exit status 1 if one of them fails.
"""

import argparse
import importlib
import pickle
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

from sksearch import SearchCV

N_ROWS = 120


def table():
    """Six columns of numbers, of which three tell of the target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 6))
    return X, X[:, 0] + X[:, 1] ** 2 + 0.5 * X[:, 2] + 0.2 * rng.normal(size=N_ROWS)


def classes():
    """A rare class and a common one."""
    X, y = table()
    return X, (y > np.quantile(y, 0.7)).astype(int)


def events():
    """Times, of which a quarter are those of an event that has not come yet."""
    X, y = table()
    came = np.random.default_rng(1).random(N_ROWS) < 0.75
    times = np.exp(-y / 2)
    return X, np.array([*zip(came, times, strict=True)], dtype=[("came", bool), ("time", float)])


def outliers():
    """Rows alone; a few are far away."""
    X, _ = table()
    X[:6] *= 5
    return X, None


def share_inside(model, X, y=None):
    """A score of outlier detectors: nine rows of ten are no outliers."""
    return -abs(float((model.predict(X) == 1).mean()) - 0.9)


NUMBER, CLASS, EVENT, OUTLIER = table, classes, events, outliers
FEW = {"n_jobs": 1, "outer_bags": 2, "max_rounds": 300}
DETECTS = {"scoring": share_inside}
ALONE = {"error_score": np.nan}  # a row may have no neighbour, which costs one candidate
TREE = DecisionTreeClassifier(max_depth=3)
#: Of nets, on this processor.
NET = {"device": "cpu", "n_threads": 1, "n_epochs": 5, "random_state": 0}
#: Module and class, its params, its data, and arguments of the search.
ESTIMATORS = [
    ("sklearn.svm.OneClassSVM", {}, OUTLIER, DETECTS),
    ("sklearn.neighbors.LocalOutlierFactor", {"novelty": True}, OUTLIER, DETECTS),
    ("sklearn.covariance.EllipticEnvelope", {"random_state": 0}, OUTLIER, DETECTS),
    ("sklearn.ensemble.IsolationForest", {"random_state": 0}, OUTLIER, DETECTS),
    ("sklearn.neighbors.RadiusNeighborsClassifier", {}, CLASS, {}),
    ("sklearn.neighbors.RadiusNeighborsRegressor", {"radius": 3.0}, NUMBER, ALONE),
    ("sklearn.linear_model.TheilSenRegressor", {"random_state": 0}, NUMBER, {}),
    ("sklearn.linear_model.OrthogonalMatchingPursuit", {}, NUMBER, {}),
    ("ngboost.NGBClassifier", {"n_estimators": 50, "verbose": False}, CLASS, {}),
    ("ngboost.NGBRegressor", {"n_estimators": 50, "verbose": False}, NUMBER, {}),
    ("interpret.glassbox.ExplainableBoostingClassifier", FEW, CLASS, {}),
    ("interpret.glassbox.ExplainableBoostingRegressor", FEW, NUMBER, {}),
    ("sksurv.ensemble.RandomSurvivalForest", {"random_state": 0}, EVENT, {}),
    ("sksurv.ensemble.ExtraSurvivalTrees", {"random_state": 0}, EVENT, {}),
    ("sksurv.ensemble.GradientBoostingSurvivalAnalysis", {"random_state": 0}, EVENT, {}),
    ("sksurv.ensemble.ComponentwiseGradientBoostingSurvivalAnalysis", {}, EVENT, {}),
    ("sksurv.linear_model.CoxPHSurvivalAnalysis", {}, EVENT, {}),
    ("sksurv.linear_model.CoxnetSurvivalAnalysis", {}, EVENT, {}),
    ("sksurv.svm.FastSurvivalSVM", {"random_state": 0}, EVENT, {}),
    ("imblearn.ensemble.BalancedRandomForestClassifier", {"random_state": 0}, CLASS, {}),
    ("imblearn.ensemble.EasyEnsembleClassifier", {"random_state": 0}, CLASS, {}),
    ("imblearn.ensemble.RUSBoostClassifier", {"estimator": TREE, "random_state": 0}, CLASS, {}),
    ("imblearn.ensemble.BalancedBaggingClassifier", {"random_state": 0}, CLASS, {}),
    ("mlxtend.classifier.StackingClassifier", {"parts": "class"}, CLASS, {}),
    ("mlxtend.regressor.StackingRegressor", {"parts": "number"}, NUMBER, {}),
    ("lightgbm.LGBMClassifier", {"verbose": -1, "n_jobs": 1}, CLASS, {}),
    ("lightgbm.LGBMRegressor", {"verbose": -1, "n_jobs": 1}, NUMBER, {}),
    ("xgboost.XGBClassifier", {"n_jobs": 1}, CLASS, {}),
    ("xgboost.XGBRegressor", {"n_jobs": 1}, NUMBER, {}),
    ("catboost.CatBoostClassifier", {"verbose": 0, "allow_writing_files": False}, CLASS, {}),
    ("pytabkit.RealMLP_TD_Classifier", NET, CLASS, {}),
    ("pytabkit.RealMLP_TD_Regressor", NET, NUMBER, {}),
    ("pytabkit.TabM_D_Classifier", NET, CLASS, {}),
    ("pytabkit.TabM_D_Regressor", NET, NUMBER, {}),
]  # fmt: skip


def make(path, params):
    """Make an estimator; ImportError where its package is not installed."""
    module, _, name = path.rpartition(".")
    cls = getattr(importlib.import_module(module), name)
    parts = params.get("parts")
    if parts == "class":
        members = [LogisticRegression(C=c) for c in (0.1, 10)]
        params = {"classifiers": members, "meta_classifier": LogisticRegression()}
    elif parts == "number":
        params = {"regressors": [Ridge(a) for a in (0.1, 10)], "meta_regressor": Ridge()}
    return cls(**params)


def try_out(estimator, X, y, **kwargs):
    """Search, clone, pickle, start again, report; return what was found."""
    with tempfile.TemporaryDirectory() as folder:
        args = {"n_iter": 4, "cv": 3, "random_state": 0, "error_score": "raise"} | kwargs
        search = SearchCV(estimator, checkpoint_dir=folder, **args).fit(X, y)
        same = clone(search).set_params(checkpoint_dir=None).fit(X, y)
        again = clone(search).fit(X, y)
        loaded = pickle.loads(pickle.dumps(search))
    for other in (same, again):
        assert other.best_params_ == search.best_params_, "another start has another winner"
        assert other.best_score_ == search.best_score_, "another start has another score"
    expected = search.predict(X)
    for other in (loaded, again):
        np.testing.assert_array_equal(other.predict(X), expected)
    assert "Winner" in str(search.report())
    n = len(search.cv_results_["params"])
    assert n >= 3, f"{n} candidates: nothing is searched"
    names = {name for params in search.cv_results_["params"] for name in params}
    return f"{search.best_score_:8.3f}  {n} candidates of {', '.join(sorted(names))}"


def main():
    """Try all that can be imported."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="classes; all if none is named")
    args = parser.parse_args()
    n_ok = n_tried = 0
    for path, params, data, kwargs in ESTIMATORS:
        name = path.rpartition(".")[2]
        if args.names and name not in args.names:
            continue
        try:
            estimator = make(path, params)
        except ImportError as error:
            print(f"-     {name:46} {error}")
            continue
        n_tried += 1
        start = time.perf_counter()
        try:
            with (
                warnings.catch_warnings(),
                redirect_stdout(StringIO()),
                redirect_stderr(StringIO()),
            ):
                warnings.simplefilter("ignore")
                found = try_out(estimator, *data(), **kwargs)
        except Exception as error:
            text = (str(error).splitlines() or [""])[0][:150]
            print(f"FAIL  {name:46} {type(error).__name__}: {text}", flush=True)
        else:
            n_ok += 1
            print(f"ok    {name:46} {time.perf_counter() - start:5.1f} s {found}", flush=True)
    print(f"{n_ok} of {n_tried} work")
    return int(n_ok < n_tried)


if __name__ == "__main__":
    sys.exit(main())
