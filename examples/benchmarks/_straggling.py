"""Small searches whose first candidate takes as long as twenty others, for paid_once.py."""

import time
import warnings

import numpy as np
from scipy.stats import loguniform, uniform
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import sksearch as sks
from sksearch.space import Outcome

QUICK, SLOW = 0.02, 0.4  # seconds that it takes to score a candidate, and the first one
X, Y = make_classification(150, 5, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)

ALPHA = ("alpha", loguniform(1e-5, 1))
PRUNING = ("ccp_alpha", uniform(0, 0.1))
RATE = ("learning_rate", uniform(0.01, 0.9))
COUNT = {"n_estimators": Outcome(30)}
EPOCHS = {"resource": "epochs", "max_resources": 9, "cv": 2}
TREES = {"resource": "n_estimators", "min_resources": 1, "max_resources": 9, "cv": 2}
FITS = {"n_iter": 16, "cv": 2}
BOOSTING = GradientBoostingClassifier(subsample=0.5)
#: Class, estimator, the parameter that is searched for with its values, other arguments, of which
#: "and" is the rest of the space.
KINDS = {
    "epochs": (sks.HyperbandSearchCV, SGDClassifier(), *ALPHA, EPOCHS),
    "epochs, an ensemble": (
        sks.BOHBSearchCV, MLPClassifier((5,)), *ALPHA, EPOCHS | {"ensemble": True},
    ),
    "iterations": (sks.SuccessiveHalvingSearchCV, BOOSTING, *RATE, TREES | {"n_candidates": 18}),
    "rows": (
        sks.BOHBSearchCV, DecisionTreeClassifier(splitter="random"), *PRUNING,
        {"resource": "n_samples", "cv": 2},
    ),
    "rows, an ensemble": (
        sks.HyperbandSearchCV, DecisionTreeClassifier(splitter="random"), *PRUNING,
        {"resource": "n_samples", "cv": 2, "ensemble": True},
    ),
    "folds": (
        sks.HyperbandSearchCV, DecisionTreeClassifier(splitter="random"), *PRUNING,
        {"resource": "folds", "cv": 9},
    ),
    "outcome curves": (
        sks.SearchCV, BOOSTING, *RATE, {"n_iter": 10, "cv": 3, "and": COUNT},
    ),
    "whole fits": (sks.TPESearchCV, DecisionTreeClassifier(splitter="random"), *PRUNING, FITS),
    "whole fits, an ensemble": (
        sks.RandomSearchCV, MLPClassifier((5,), max_iter=5), *ALPHA, FITS | {"ensemble": True},
    ),
}  # fmt: skip


def run(kind, n_jobs):
    """Fit a search of `KINDS`."""
    warnings.simplefilter("ignore")
    cls, estimator, name, values, kwargs = KINDS[kind]
    space = {name: values} | kwargs.get("and", {})
    kwargs = {key: value for key, value in kwargs.items() if key != "and"}
    first = values.ppf(0.5)

    def scorer(fitted, X, y):
        time.sleep(SLOW if np.isclose(fitted.get_params()[name], first) else QUICK)
        return fitted.score(X, y)

    cls(
        estimator, space, scoring=scorer, n_jobs=n_jobs, random_state=0,
        known={"params": [{name: first}]}, **kwargs,
    ).fit(X, Y)  # fmt: skip
