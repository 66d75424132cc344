"""Whether libraries that are given a search work with it, as they do with scikit-learn's.

In an environment with some of them, of which those that are not installed are left out:

    pip install econml mlflow skl2onnx onnxruntime mapie imbalanced-learn skore sktime \
        category_encoders feature-engine skrub
    python examples/benchmarks/clients.py [NAME ...]

Exit status 1 if one of them fails.
"""

import argparse
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from importlib.util import find_spec
from io import StringIO

import numpy as np
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import RandomSearchCV, SearchCV
from sksearch.model_selection import GridSearchCV

SECONDS = 2  # of a search that chooses everything itself


def regression():
    """A search of each kind for a number."""
    alphas = {"alpha": [0.1, 1, 10]}
    return [
        GridSearchCV(Ridge(), alphas),
        RandomSearchCV(Ridge(), alphas, n_iter=2),
        SearchCV(RandomForestRegressor(10, random_state=0), timeout=SECONDS),
    ]


def classification():
    """A search of each kind for a class."""
    model = make_pipeline(StandardScaler(), LogisticRegression())
    return [
        GridSearchCV(model, {"logisticregression__C": [0.1, 1]}),
        SearchCV(model, timeout=SECONDS),
    ]


def mixed_table(n=200):
    """A column of text, one of numbers with gaps, and a class that both tell of."""
    import pandas as pd

    rng = np.random.default_rng(0)
    color, number = rng.choice(["red", "green", "blue"], n), rng.normal(size=n)
    y = ((color == "red") | (number > 1)) ^ (rng.random(n) < 0.05)
    return pd.DataFrame({"color": color, "number": np.where(number < -1, np.nan, number)}), y * 1


def econml():
    """Searches as models of the first stage, with and without weights of rows."""
    from econml.dml import LinearDML

    rng = np.random.default_rng(0)
    W, noise = rng.normal(size=(300, 3)), rng.normal(size=(2, 300))
    T = W[:, 0] + noise[0]
    Y = 2 * T + W[:, 0] + 0.1 * noise[1]
    effects = []
    for y_search, t_search in zip(regression(), regression(), strict=True):
        for weights in (None, np.ones(300)):
            model = LinearDML(model_y=y_search, model_t=t_search, random_state=0)
            model.fit(Y, T, X=None, W=W, sample_weight=weights)
            effects.append(float(model.ate()))
    np.testing.assert_allclose(effects, 2, atol=0.3)
    return f"effects {np.round(effects, 2).tolist()} of 2, every second with weights"


def mlflow():
    """Autologging: one run for each search, and in it its candidates."""
    import mlflow

    X, y = load_iris(return_X_y=True)
    with tempfile.TemporaryDirectory() as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
        mlflow.create_experiment("clients", artifact_location=f"file://{folder}/artifacts")
        where = mlflow.set_experiment("clients").experiment_id
        mlflow.sklearn.autolog(log_models=False, silent=True)
        try:
            searches = [search.fit(X, y) for search in classification()]
        finally:
            mlflow.sklearn.autolog(disable=True)
        runs = mlflow.MlflowClient().search_runs([where])
    own = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    scores = {run.data.metrics["best_cv_score"] for run in own}
    assert (len(own), scores) == (len(searches), {search.best_score_ for search in searches})
    return f"{len(own)} searches are {len(own)} runs with {len(runs) - len(own)} candidates"


def skl2onnx():
    """The best estimator, and a search itself by one line that names a parser."""
    from onnxruntime import InferenceSession
    from skl2onnx import to_onnx, update_registered_parser
    from skl2onnx._parse import parse_sklearn

    def best(scope, search, inputs, custom_parsers=None):
        return parse_sklearn(scope, search.best_estimator_, inputs, custom_parsers)

    X, y = load_iris(return_X_y=True)
    X = X.astype(np.float32)
    searches = classification()
    for search in searches:
        search.fit(X, y)
        update_registered_parser(type(search), best)
        for model in (search.best_estimator_, search):
            session = InferenceSession(to_onnx(model, X[:1]).SerializeToString())
            np.testing.assert_array_equal(session.run(None, {"X": X})[0], search.predict(X))
    return f"{len(searches)} best estimators, and the searches by a parser, predict the same"


def mapie():
    """Conformal intervals around a fitted search, and around one that is fitted on folds."""
    from mapie.regression import CrossConformalRegressor, SplitConformalRegressor

    X, y = load_diabetes(return_X_y=True)
    covered = []
    for search in regression():
        search.fit(X[:200], y[:200])
        split = SplitConformalRegressor(search, confidence_level=0.9, prefit=True)
        _, intervals = split.conformalize(X[200:350], y[200:350]).predict_interval(X[350:])
        low, high = intervals[..., 0].T
        covered.append(np.mean((low <= y[350:]) & (y[350:] <= high)))
    CrossConformalRegressor(regression()[0], cv=3).fit_conformalize(X, y).predict_interval(X)
    assert min(covered) > 0.75
    return f"90 % intervals cover {np.round(covered, 2).tolist()}"


def imblearn():
    """A pipeline with a sampler, with and without a space."""
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline

    X, y = make_classification(300, weights=[0.9], random_state=0)
    model = make_pipeline(SMOTE(random_state=0), StandardScaler(), LogisticRegression())
    space = {"smote__k_neighbors": [3, 5], "logisticregression__C": [0.01, 1]}
    kwargs = {"scoring": "balanced_accuracy", "error_score": "raise"}
    grid = GridSearchCV(model, space, **kwargs).fit(X, y)
    own = SearchCV(model, timeout=SECONDS, random_state=0, **kwargs).fit(X, y)
    assert len(grid.cv_results_["params"]) == 4
    return f"balanced accuracy {grid.best_score_:.2f}, without a space {own.best_score_:.2f}"


def skore():
    """Reports of a search on a test set and by cross-validation."""
    from skore import CrossValidationReport, EstimatorReport

    X, y = load_iris(return_X_y=True)
    scores = []
    for search in classification():
        report = EstimatorReport(
            search, X_train=X[::2], y_train=y[::2], X_test=X[1::2], y_test=y[1::2]
        )
        scores.append(float(report.metrics.accuracy()))
    CrossValidationReport(classification()[0], X, y, splitter=3).metrics.summarize()
    assert min(scores) > 0.9
    return f"accuracies {np.round(scores, 2).tolist()}"


def sktime():
    """Forecasts by reduction to tables, whose regressor is a search."""
    from sktime.datasets import load_airline
    from sktime.forecasting.compose import make_reduction

    passengers, forecasts = load_airline(), []
    for strategy in ("recursive", "direct"):
        for search in regression():
            reduced = make_reduction(search, window_length=12, strategy=strategy)
            forecasts.append(reduced.fit(passengers[:-1], fh=[1]).predict().iloc[0])
    np.testing.assert_allclose(forecasts, passengers.iloc[-1], rtol=0.2)
    return f"forecasts {np.round(forecasts).astype(int).tolist()} of {passengers.iloc[-1]:.0f}"


def category_encoders():
    """A pipeline with an encoder, which is chosen, and one that is searched without a space."""
    from category_encoders import OneHotEncoder, OrdinalEncoder, TargetEncoder
    from sklearn.impute import SimpleImputer

    model = make_pipeline(TargetEncoder(cols=["color"]), SimpleImputer(), LogisticRegression())
    space = {
        "targetencoder": [TargetEncoder(), OneHotEncoder(), OrdinalEncoder()],
        "logisticregression__C": [0.1, 1],
    }
    return searched(model, space)


def feature_engine():
    """A pipeline with an imputer and an encoder, with and without a space."""
    from feature_engine.encoding import OneHotEncoder
    from feature_engine.imputation import MeanMedianImputer

    model = make_pipeline(MeanMedianImputer(), OneHotEncoder(), LogisticRegression())
    space = {
        "meanmedianimputer__imputation_method": ["mean", "median"],
        "logisticregression__C": [0.1, 1],
    }
    return searched(model, space)


def skrub():
    """`tabular_pipeline`, with and without a space."""
    from skrub import tabular_pipeline

    return searched(tabular_pipeline(LogisticRegression()), {"logisticregression__C": [0.1, 1]})


def searched(model, space):
    """Search a pipeline on a mixed table, in a given space and in that which is chosen."""
    X, y = mixed_table()
    grid = GridSearchCV(model, space, error_score="raise").fit(X, y)
    own = SearchCV(model, timeout=SECONDS, random_state=0, error_score="raise").fit(X, y)
    assert min(grid.best_score_, own.best_score_) > 0.8
    return f"accuracy {grid.best_score_:.2f}, without a space {own.best_score_:.2f}"


#: What is tried, named as the package that is imported, and the name it is installed under.
CLIENTS = {
    econml: "econml",
    mlflow: "mlflow",
    skl2onnx: "skl2onnx",
    mapie: "mapie",
    imblearn: "imbalanced-learn",
    skore: "skore",
    sktime: "sktime",
    category_encoders: "category_encoders",
    feature_engine: "feature-engine",
    skrub: "skrub",
}


def outcome_of(client):
    """Whether a client works, and what was seen or why not."""
    if find_spec(client.__name__) is None:
        return "not installed", ""
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            return "ok", client()
    except Exception as error:  # whatever goes wrong in a client is its line
        return "failed", f"{type(error).__name__}: {str(error).strip()}".splitlines()[0]


def main():
    """Try the clients, print a line for each, and return the exit status."""
    names = [client.__name__ for client in CLIENTS]
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    wanted = parser.parse_args().names or names
    if unknown := {*wanted} - {*names}:
        parser.error(f"no client {', '.join(unknown)}: there are {', '.join(names)}")
    outcomes = []
    for client, package in CLIENTS.items():
        if client.__name__ in wanted:
            outcome, text = outcome_of(client)
            number = "" if outcome == "not installed" else version(package)
            print(f"{package:18s}{number:10s}{outcome:14s}{text}", flush=True)
            outcomes.append(outcome)
    return int("failed" in outcomes)


if __name__ == "__main__":
    sys.exit(main())
