"""Scores of candidates on each fold of real tables, recorded once, so that races cost nothing.

    python examples/benchmarks/_fold_scores.py

trains what the record lacks (25 processor minutes for all of it). The record is
``records/fold_scores.npz``: for each pair of table and model, an array of shape (n_candidates, 5).
"""

import time
import warnings
from pathlib import Path

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ParameterSampler, StratifiedKFold
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from sksearch.datasets import load

RECORD = Path(__file__).parent / "records" / "fold_scores.npz"
#: What the parameters of the race were chosen on, and what it was then tried on.
DEVELOPED_ON = ("breast_cancer", "magic", "churn", "california_housing", "pol")
HELD_OUT = ("digits", "phoneme", "satimage", "spambase", "house_16h")
TABLES = DEVELOPED_ON + HELD_OUT
REGRESSION = ("california_housing", "pol", "house_16h")
BINARY = ("breast_cancer", "magic", "churn", "phoneme", "spambase")
MODELS = ("forest", "boosting", "svm", "linear", "mlp")
N_ROWS, N_FOLDS, N_CANDIDATES = 800, 5, 48
MAX_SECONDS = 45  # processor seconds of one pair; candidates that were not begun are left out


def data_of(table):
    """Return X and y of a table."""
    if table == "breast_cancer":
        return load_breast_cancer(return_X_y=True)
    bunch = load(table, N_ROWS)
    return np.asarray(bunch.data, dtype=float), bunch.target


def model_of(model, table):
    """Return an estimator and its space."""
    regression = table in REGRESSION
    if model == "forest":
        cls = RandomForestRegressor if regression else RandomForestClassifier
        return cls(n_estimators=40, random_state=0), {
            "max_features": uniform(0.05, 0.95),
            "min_samples_leaf": randint(1, 20),
            "max_samples": uniform(0.3, 0.7),
        }
    if model == "boosting":
        cls = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
        return cls(max_iter=40, early_stopping=False, random_state=0), {
            "learning_rate": loguniform(0.02, 0.5),
            "max_leaf_nodes": randint(3, 32),
            "min_samples_leaf": randint(5, 60),
            "l2_regularization": loguniform(1e-3, 100),
        }
    if model == "svm":
        space = {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 1)}
        return _scaled(SVR() if regression else SVC(), space, regression)
    if model == "linear":
        if regression:
            return _scaled(Ridge(), {"alpha": loguniform(1e-3, 1e4)}, regression)
        estimator = LogisticRegression(solver="liblinear" if table in BINARY else "lbfgs")
        return _scaled(estimator, {"C": loguniform(1e-4, 1e3)}, regression)
    cls = MLPRegressor if regression else MLPClassifier
    space = {
        "hidden_layer_sizes": [(8,), (16,), (32,), (64,), (16, 16), (32, 32)],
        "alpha": loguniform(1e-6, 10),
        "learning_rate_init": loguniform(3e-4, 3e-2),
        "batch_size": [32, 64, 128],
    }
    return _scaled(cls(max_iter=25, random_state=0), space, regression)


def _scaled(estimator, space, regression):
    """Scale the features, and the target of a regression."""
    name = type(estimator).__name__.lower()
    return make_pipeline(StandardScaler(), estimator), {
        f"{name}__{key}": values for key, values in space.items()
    }


def scores_of(table, model, n_candidates=N_CANDIDATES, max_seconds=MAX_SECONDS):
    """Train candidates on each fold; return scores of shape (n_candidates, n_folds).

    Scores are accuracies, or coefficients of determination.
    """
    X, y = data_of(table)
    if table in REGRESSION:
        y = (y - y.mean()) / y.std()
    folds = KFold if table in REGRESSION else StratifiedKFold
    splits = list(folds(N_FOLDS, shuffle=True, random_state=0).split(X, y))
    estimator, space = model_of(model, table)
    scores, start = [], time.process_time()
    for params in ParameterSampler(space, n_candidates, random_state=0):
        row = []
        for train, test in splits:
            fitted = clone(estimator).set_params(**params).fit(X[train], y[train])
            row.append(fitted.score(X[test], y[test]))
        scores.append(row)
        if time.process_time() - start > max_seconds:
            break
    return np.array(scores, dtype=np.float32)


def read():
    """Return the record: arrays by table and model."""
    with np.load(RECORD) as arrays:
        return {tuple(name.split("/")): arrays[name].astype(float) for name in arrays.files}


def main():
    """Train what the record lacks, and write it after each pair."""
    warnings.simplefilter("ignore")
    record = read() if RECORD.exists() else {}
    for table in TABLES:
        for model in MODELS:
            if (table, model) in record:
                continue
            start = time.process_time()
            with threadpool_limits(1):
                record[table, model] = scores_of(table, model)
            arrays = {"/".join(key): a.astype(np.float32) for key, a in record.items()}
            RECORD.parent.mkdir(exist_ok=True)
            np.savez_compressed(RECORD, **arrays)
            seconds = time.process_time() - start
            n, best = len(record[table, model]), record[table, model].mean(axis=1).max()
            print(f"{table} {model}: {n} candidates, {seconds:.0f} s, best {best:.3f}", flush=True)


if __name__ == "__main__":
    main()
