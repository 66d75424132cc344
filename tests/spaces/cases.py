"""An estimator for each space, and the small table that it is fitted on."""

import importlib
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

N_SAMPLES, N_FEATURES = 120, 6
_rng = np.random.default_rng(0)
_signal = _rng.standard_normal(N_SAMPLES)
_words = ["a cat sat here", "the dog ran far", "one cat and one dog", "far from here"]

NUMBERS, CLASSES = _signal, (_signal > 0.3).astype(int)
X = _rng.standard_normal((N_SAMPLES, N_FEATURES)) + _signal[:, None] * [1, 1, 0.5, 0, 0, 0]
COUNTS = _rng.integers(0, 4, (N_SAMPLES, N_FEATURES))
COUNTS[:4] = np.arange(4)[:, None]  # every category is in every column
TEXT = [_words[i % 4] + (" indeed" if c else " never") for i, c in enumerate(CLASSES)]

CAT = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
_few = {"n_estimators": 5}
ARGUMENTS = {
    "RandomForestClassifier": _few,
    "RandomForestRegressor": _few,
    "ExtraTreesClassifier": _few,
    "ExtraTreesRegressor": _few,
    "IsolationForest": _few,
    "BaggingClassifier": {"estimator": DecisionTreeClassifier(), "n_estimators": 3},
    "KMeans": {"n_init": 1},
    "MiniBatchKMeans": {"n_init": 1},
    "SVR": {"max_iter": 1000},
    "Birch": {"threshold": 0.01},
    "KernelRidge": {"kernel": "rbf"},
    "KernelPCA": {"kernel": "rbf"},
    "LatentDirichletAllocation": {"max_iter": 2},
    "SelectFromModel": {"estimator": DecisionTreeClassifier()},
    "RFE": {"estimator": DecisionTreeClassifier()},
    "KBinsDiscretizer": {"quantile_method": "averaged_inverted_cdf"},
    "FixedThresholdClassifier": {"estimator": LogisticRegression()},
    "LocalOutlierFactor": {"novelty": True},
    "RadiusNeighborsRegressor": {"radius": 3.0},
    "SMOTENC": {"categorical_features": [5]},
}
DATA = (
    dict.fromkeys(["PoissonRegressor", "GammaRegressor"], (X, np.exp(NUMBERS)))
    | dict.fromkeys(["MultiTaskLasso", "MultiTaskElasticNet"], (X, np.c_[NUMBERS, -NUMBERS]))
    | dict.fromkeys(["MultinomialNB", "ComplementNB", "CategoricalNB"], (COUNTS, CLASSES))
    | dict.fromkeys(["NMF", "MiniBatchNMF", "LatentDirichletAllocation"], (COUNTS, CLASSES))
    | dict.fromkeys(["TfidfTransformer", "OneHotEncoder", "SMOTEN"], (COUNTS, CLASSES))
    | dict.fromkeys(["CountVectorizer", "TfidfVectorizer", "HashingVectorizer"], (TEXT, CLASSES))
    | {"PLSCanonical": (X, X[:, ::-1])}
)
# Classes of other libraries, their params, and whether they predict numbers.
_forest = {"n_jobs": 1, "n_estimators": 5}
LIBRARIES = [
    ("lightgbm.LGBMClassifier", {"n_jobs": 1}, False),
    ("lightgbm.LGBMRegressor", {"n_jobs": 1}, True),
    (
        "lightgbm.LGBMClassifier",
        {"n_jobs": 1, "boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1},
        False,
    ),
    ("lightgbm.LGBMClassifier", {"n_jobs": 1, "boosting_type": "dart"}, False),
    ("xgboost.XGBClassifier", {"n_jobs": 1}, False),
    ("xgboost.XGBRegressor", {"n_jobs": 1}, True),
    ("xgboost.XGBRegressor", {"booster": "gblinear", **_forest}, True),
    ("xgboost.XGBRFClassifier", _forest, False),
    ("xgboost.XGBRFRegressor", _forest, True),
    ("catboost.CatBoostClassifier", CAT, False),
    ("catboost.CatBoostRegressor", {"n_estimators": 9, "max_depth": 3, "eta": 0.1, **CAT}, True),
    ("imblearn.ensemble.BalancedRandomForestClassifier", _few, False),
    ("imblearn.ensemble.RUSBoostClassifier", _few, False),
]
# Params that change what is searched.
VARIANTS = [
    (LogisticRegression(solver="saga"), X, CLASSES),
    (LogisticRegression(solver="liblinear"), X, CLASSES),
    (SGDClassifier(loss="log_loss"), X, CLASSES),
    (SVC(kernel="poly"), X, CLASSES),
    (SVR(kernel="linear"), X, NUMBERS),
    (ExtraTreesClassifier(5, bootstrap=True), X, CLASSES),
    (MLPClassifier(solver="lbfgs", max_iter=5), X, CLASSES),
    (MLPClassifier(solver="sgd"), X, CLASSES),
    (TfidfVectorizer(analyzer="char_wb"), TEXT, CLASSES),
]
REGRESSIONS = [
    *["Ridge", "Lasso", "LassoLars", "ElasticNet", "LinearSVR", "SVR", "NuSVR", "KernelRidge"],
    *[
        "OrthogonalMatchingPursuit",
        "PLSRegression",
        "KernelDensity",
        "GaussianMixture",
        "BayesianGaussianMixture",
    ],
]


def made(names):
    """Return an estimator and its table for each "package.Class" of the two packages."""
    classes = dict(all_estimators())
    found = []
    for path in sorted(names):
        package, name = path.split(".")
        if "PassiveAggressive" in name:  # these leave scikit-learn
            continue
        if package == "sklearn":
            cls = classes[name]
        elif package == "imblearn" and find_spec("imblearn"):
            cls = _sampler(name)
        else:
            continue
        y = NUMBERS if "Regressor" in name or name in REGRESSIONS else CLASSES
        found.append((cls(**ARGUMENTS.get(name, {})), *DATA.get(name, (X, y))))
    return found


def of_libraries():
    """Return an estimator and its table for each class of the libraries that are installed."""
    found = []
    for path, params, is_regression in LIBRARIES:
        module, name = path.rsplit(".", 1)
        if find_spec(module.split(".")[0]):
            cls = getattr(importlib.import_module(module), name)
            found.append((cls(**params), X, NUMBERS if is_regression else CLASSES))
    return found


def _sampler(name):
    for module in ("imblearn.over_sampling", "imblearn.under_sampling", "imblearn.ensemble"):
        cls = getattr(importlib.import_module(module), name, None)
        if cls is not None:
            return cls
    raise LookupError(name)
