"""What is tuned in `tables.py`: a table, an estimator, frozen folds, and a space for peers.

Rows to search with, rows to test on, folds and the seed of the tool follow from the table, the
estimator and the index of the seed alone. The target of a regression is standardised on the rows
to search with, for all tools alike.
"""

import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR

from sksearch.datasets import load
from sksearch.space import LogRandInt

N_SEARCH, N_TEST, N_FOLDS = 2_000, 10_000, 3  # rows at most
#: Those to develop on; the others are only reported.
DEVELOPMENT = ("adult", "california_housing", "letter", "magic", "churn", "house_16h")
REPORTED = ("phoneme", "satimage", "diamonds", "spambase", "nursery", "pol")
TABLES = (*DEVELOPMENT, *REPORTED)
REGRESSION = ("california_housing", "house_16h", "diamonds", "pol")
#: Whose numbers are categories in all columns.
CODED = ("nursery",)
#: Those of the bars; the others run with one seed.
ESTIMATORS = ("histgb", "lightgbm", "mlp", "svm")
MORE_ESTIMATORS = ("forest", "linear", "xgboost")
BOOSTERS = ("histgb", "lightgbm", "xgboost")


@dataclass(frozen=True)
class Case:
    """One task of a tool.

    Parameters
    ----------
    table, name : str
        Names of the table and of the estimator.
    seed : int
        Of the tool and of the estimator.
    X, X_test : ndarray or DataFrame of shape (n_samples, n_features)
        Rows to search with, and to test on.
    y, y_test : ndarray of shape (n_samples,)
        Their targets.
    model : estimator
        Untuned.
    folds : list of (ndarray, ndarray)
        Rows to train and to score on.
    """

    table: str
    name: str
    seed: int
    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    model: Any
    folds: list

    @property
    def is_classifier(self):
        """Whether classes are predicted."""
        return self.table not in REGRESSION


def make_case(table, name, seed_index):
    """Make a task.

    Parameters
    ----------
    table : str
        One of `TABLES`.
    name : str
        One of `ESTIMATORS` or `MORE_ESTIMATORS`.
    seed_index : int
        Seeds differ by table and estimator.

    Returns
    -------
    case : Case
        The same in every process.
    """
    X, y = whole_table(table)
    of_table, of_pair = seed_of(table, seed_index), seed_of(table, name, seed_index)
    classes = None if table in REGRESSION else y
    n_search = min(N_SEARCH, int(0.6 * len(y)))  # bundled data have fewer
    train, test = train_test_split(
        np.arange(len(y)),
        train_size=n_search,
        test_size=min(N_TEST, len(y) - n_search),
        stratify=classes,
        random_state=of_table,
    )
    X, X_test, y, y_test = take(X, train), take(X, test), y[train], y[test]
    if classes is None:
        mean, scale = y.mean(), y.std()
        y, y_test = (y - mean) / scale, (y_test - mean) / scale
    kind = KFold if classes is None else StratifiedKFold
    folds = list(kind(N_FOLDS, shuffle=True, random_state=of_table).split(X, y))
    if name in (*BOOSTERS, "forest"):
        X, X_test = as_numbers(X, X_test, keep_gaps=name != "forest")
    model = make_model(name, columns_of(table, X), classes is not None, of_pair)
    return Case(table, name, of_pair, X, y, X_test, y_test, model, folds)


def seed_of(*what):
    """A seed that follows from names and numbers, the same everywhere."""
    return zlib.crc32("/".join(map(str, what)).encode()) % 2**31


@lru_cache
def whole_table(table):
    """All rows; classes are 0, 1, ... ."""
    bunch = load(table)
    y = bunch.target
    return bunch.data, y if table in REGRESSION else np.unique(y, return_inverse=True)[1]


def take(X, rows):
    """Rows of an array or a DataFrame."""
    return X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]


def columns_of(table, X):
    """Split columns into those with categories and those with numbers."""
    if hasattr(X, "select_dtypes"):
        numbers = list(X.select_dtypes("number"))
        return [column for column in X if column not in numbers], numbers
    columns = list(range(X.shape[1]))
    return (columns, []) if table in CODED else ([], columns)


def as_numbers(X, X_test, keep_gaps):
    """Replace text by codes, for trees; gaps stay, or become medians."""
    if hasattr(X, "select_dtypes"):
        text = list(X.select_dtypes(exclude="number"))
        coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        steps = ColumnTransformer([("text", coder, text)], remainder="passthrough").fit(X)
        X, X_test = steps.transform(X).astype(float), steps.transform(X_test).astype(float)
    if not keep_gaps:
        imputer = SimpleImputer(strategy="median").fit(X)
        X, X_test = imputer.transform(X), imputer.transform(X_test)
    return X, X_test


def make_model(name, columns, is_classifier, seed):
    """Make an untuned estimator that uses one thread."""
    if name == "histgb":
        kind = HistGradientBoostingClassifier if is_classifier else HistGradientBoostingRegressor
        return kind(random_state=seed)
    if name == "lightgbm":
        import lightgbm

        kind = lightgbm.LGBMClassifier if is_classifier else lightgbm.LGBMRegressor
        return kind(random_state=seed, n_jobs=1, verbose=-1)
    if name == "xgboost":
        import xgboost

        kind = xgboost.XGBClassifier if is_classifier else xgboost.XGBRegressor
        return kind(random_state=seed, n_jobs=1)
    if name == "forest":
        kind = RandomForestClassifier if is_classifier else RandomForestRegressor
        return kind(random_state=seed, n_jobs=1)
    if name == "mlp":
        model = (MLPClassifier if is_classifier else MLPRegressor)(random_state=seed)
    elif name == "svm":
        model = SVC() if is_classifier else SVR()
    else:
        model = LogisticRegression() if is_classifier else Ridge()
    return make_pipeline(preparation(*columns), model)


def preparation(categories, numbers):
    """What comes before a model that needs scaled numbers without gaps."""
    if not categories:
        return StandardScaler()
    coder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    scaled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    steps = [("categories", coder, categories), ("numbers", scaled, numbers)]
    return ColumnTransformer([step for step in steps if step[2]])


def untuned(case):
    """Variants of a model that a person might use without a search, by name.

    Parameters
    ----------
    case : Case
        What to tune.

    Returns
    -------
    variants : dict of str to estimator
        "as is" first. For boosting also 300 iterations, and early stopping within them by a tenth
        of the rows; for networks early stopping.
    """
    variants = {"as is": case.model}
    if case.name in BOOSTERS:
        name = "max_iter" if case.name == "histgb" else "n_estimators"
        variants["300 iterations"] = clone_with(case.model, **{name: 300})
        if case.name == "histgb":
            early = clone_with(case.model, max_iter=300, early_stopping=True)
        else:
            early = stopped_early(case.model, case.name, case.seed)
        variants["early stopping"] = early
    elif case.name == "mlp":
        last = case.model.steps[-1][0]
        variants["early stopping"] = clone_with(case.model, **{f"{last}__early_stopping": True})
    return variants


def clone_with(model, **params):
    """A clone with other params."""
    from sklearn.base import clone

    return clone(model).set_params(**params)


def stopped_early(model, name, seed):
    """An estimator of LightGBM or XGBoost that stops itself by a tenth of its rows."""
    kind = type(model)

    def fit(self, X, y):
        strata = y if hasattr(self, "predict_proba") else None
        X, X_held, y, y_held = train_test_split(
            X, y, test_size=0.1, stratify=strata, random_state=seed
        )
        if name == "lightgbm":
            import lightgbm

            stop = [lightgbm.early_stopping(10, verbose=False)]
            return kind.fit(self, X, y, eval_set=[(X_held, y_held)], callbacks=stop)
        self.set_params(early_stopping_rounds=10)
        return kind.fit(self, X, y, eval_set=[(X_held, y_held)], verbose=False)

    return type(kind.__name__, (kind,), {"fit": fit, "__init__": kind.__init__})(
        **model.get_params() | {"n_estimators": 300}
    )


def space_of(case):
    """The space of tools that have none of their own.

    It is ours of the day on which the records were begun (`sksearch.space.default_space` of
    2026-11-23), and stays as it is, so that peers have searched the same one. The count of
    iterations of boosting, which our searches find, is between 25 and 500, and that of epochs
    is as it is.

    Parameters
    ----------
    case : Case
        What to tune.

    Returns
    -------
    space : dict of str to list or distribution
        As for ``RandomizedSearchCV``.
    """
    if case.name in SPACES and case.name != "mlp":
        return SPACES[case.name]
    rows, columns = case.X.shape
    if case.name == "forest":
        space = {
            "max_features": loguniform(round(0.5 / columns**0.5, 2), 1.0),
            "min_samples_leaf": LogRandInt(1, 51),
            "max_samples": uniform(0.4, 0.6),
        }
        return space | ({"criterion": ["gini", "entropy"]} if case.is_classifier else {})
    if case.name == "mlp":
        space = SPACES["mlp"]
    elif case.name == "svm":
        space = {"C": loguniform(0.1, 1e3), "gamma": loguniform(0.01 / columns, 10 / columns)}
        if not case.is_classifier:
            space["epsilon"] = loguniform(1e-3, 1)
    elif case.is_classifier:
        space = {"C": loguniform(1e-4, 1e3)}
    else:
        space = {"alpha": loguniform(1e-3, 10 * rows)}
    last = case.model.steps[-1][0]
    space = {f"{last}__{name}": values for name, values in space.items()}
    known = case.model.get_params()
    return space | {name: values for name, values in PREPARATION.items() if name in known}


SPACES = {
    "histgb": {
        "learning_rate": loguniform(0.02, 0.3),
        "max_iter": LogRandInt(25, 501),
        "max_leaf_nodes": LogRandInt(4, 128),
        "min_samples_leaf": LogRandInt(2, 51),
        "l2_regularization": loguniform(1e-3, 10),
        "max_features": uniform(0.3, 0.7),
    },
    "lightgbm": {
        "learning_rate": loguniform(0.02, 0.3),
        "n_estimators": LogRandInt(25, 501),
        "num_leaves": LogRandInt(4, 128),
        "min_child_samples": LogRandInt(2, 51),
        "colsample_bytree": uniform(0.4, 0.6),
        "reg_lambda": loguniform(1e-3, 10),
        "extra_trees": [False, True],
    },
    "xgboost": {
        "learning_rate": loguniform(0.02, 0.3),
        "n_estimators": LogRandInt(25, 501),
        "max_depth": randint(2, 11),
        "min_child_weight": loguniform(0.3, 30),
        "colsample_bytree": uniform(0.4, 0.6),
        "subsample": uniform(0.5, 0.5),
        "reg_lambda": loguniform(0.01, 20),
    },
    "mlp": {
        "learning_rate_init": loguniform(3e-4, 0.02),
        "alpha": loguniform(1e-6, 0.5),
        "hidden_layer_sizes": [
            *[(50,), (100,), (200,), (50, 50)],
            *[(100, 100), (200, 100), (200, 200), (100, 100, 100)],
        ],
        "activation": ["relu", "tanh"],
        "batch_size": [32, 64, 128, 256],
    },
}
PREPARATION = {
    "columntransformer__categories__min_frequency": [None, 10, 40],
    "columntransformer__numbers__simpleimputer__strategy": ["mean", "median"],
}
