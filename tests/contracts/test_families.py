"""What our own families say of their estimators is so: one row each."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch.estimators._family import families, family_of
from sksearch.testing import check_family

X, y = make_classification(60, 4, random_state=0)


def lightgbm():
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=20, min_child_samples=5, verbose=-1, n_jobs=1)


def xgboost():
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=20, n_jobs=1)


def xgboost_forest():
    from xgboost import XGBRFClassifier

    return XGBRFClassifier(n_estimators=20, n_jobs=1, random_state=0)


def catboost():
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=20, learning_rate=0.1, leaf_estimation_iterations=1, random_strength=0,
        bootstrap_type="No", verbose=0, thread_count=1, allow_writing_files=False,
    )  # fmt: skip


ROWS = {
    "Nothing": LinearRegression,
    "Transformers": PCA,
    "Linear": LogisticRegression,
    "StochasticGradient": lambda: SGDClassifier(random_state=0),
    "Kernels": SVC,
    "Neighbours": KNeighborsClassifier,
    "Bayes": GaussianNB,
    "Projections": PLSRegression,
    "Clusters": lambda: KMeans(n_init=1, random_state=0),
    "Trees": lambda: DecisionTreeClassifier(random_state=0),
    "Forests": lambda: RandomForestClassifier(20, random_state=0),
    "AdaBoost": lambda: AdaBoostRegressor(n_estimators=30, random_state=0),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(
        max_iter=20, min_samples_leaf=2, random_state=0
    ),
    "MLP": lambda: MLPClassifier((5,), max_iter=20, random_state=0),
    "GradientBoosting": lambda: GradientBoostingClassifier(n_estimators=20, random_state=0),
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "XGBoostForest": xgboost_forest,
    "CatBoost": catboost,
    "Thresholds": lambda: FixedThresholdClassifier(LogisticRegression()),
}
SLOW = (
    *("Forests", "AdaBoost", "HistGradientBoosting", "MLP", "GradientBoosting", "LightGBM"),
    *("CatBoost", "XGBoostForest"),
)
#: Of libraries that the tests do without, and nets, which tests/neural trains.
ELSEWHERE = {"Skorch", "ImageNets", "Keras", "Probabilistic", "Survival", "TableNets"}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.whole] if name in SLOW else []) for name in ROWS],
)
def test_a_family_keeps_its_promises(name):
    estimator = ROWS[name]()
    family = family_of(estimator)
    assert type(family).__name__ == name
    check_family(family, X, y, estimator=estimator)


@pytest.mark.parametrize(
    "rows",
    [(pd.DataFrame(X), pd.Series(np.where(y, "yes", "no"))), (X.tolist(), y.tolist())],
    ids=["table", "lists"],
)
def test_rows_may_be_of_any_kind(rows):
    model = SGDClassifier(random_state=0)
    check_family(family_of(model), *rows, estimator=model)


def test_an_estimator_without_a_target_is_checked():
    model = KMeans(n_init=1, random_state=0)
    check_family(family_of(model), X, estimator=model)


def test_each_family_has_a_row():
    ours = {type(family).__name__ for family in families() if _is_ours(family)}
    assert ours == ROWS.keys() | ELSEWHERE


def _is_ours(family):
    return type(family).__module__.startswith("sksearch.")
