"""Changes that must change nothing: forms of X and y, the order of a space, names, units.

Each kind of search is fitted as it is and with a change: candidates, scores, the winner, its
predictions and the text of the report are the same.
"""

import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import randint, uniform
from sklearn.base import is_classifier
from sklearn.datasets import make_classification
from sklearn.metrics import make_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sksearch
from sksearch import report

pytestmark = pytest.mark.filterwarnings("ignore:A column-vector y was passed")

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=0)
X = np.round(X * 64) / 64  # the same in single precision
NUMBERS = np.round(64 * (X @ [1.0, -2.0, 0.5, 0.0] + np.sin(9 * X[:, 0]))) / 64
DRAWN = {"max_depth": randint(1, 6), "max_features": uniform(0.2, 0.8)}
GRID = {"max_depth": [1, 3, 5], "max_features": [0.5, 1.0]}
COMMON = {"cv": 3, "random_state": 0}
ROWS = COMMON | {"factor": 2, "min_resources": 24, "resource": "n_samples"}
RUNGS = COMMON | {"factor": 2, "min_resources": 10, "resource": "n_samples"}

CONSTANTS = ("min_samples_split", "ccp_alpha")

#: Class, its space, arguments.
KINDS = {
    "random": ("RandomSearchCV", DRAWN, COMMON | {"n_iter": 5}),
    "densities": ("TPESearchCV", DRAWN, COMMON | {"n_iter": 6, "n_initial": 3}),
    "Gaussian process": ("GPBayesSearchCV", DRAWN, COMMON | {"n_iter": 5, "n_initial": 3}),
    "Hyperband": ("HyperbandSearchCV", DRAWN, RUNGS | {"max_resources": 20}),
    "halving": ("SuccessiveHalvingSearchCV", DRAWN, RUNGS | {"n_candidates": 4}),
    "grid": ("GridSearchCV", GRID, {"cv": 3}),
    "randomized": ("RandomizedSearchCV", DRAWN, COMMON | {"n_iter": 5}),
    "halving grid": ("HalvingGridSearchCV", GRID, ROWS),
    "halving random": ("HalvingRandomSearchCV", DRAWN, ROWS | {"n_candidates": 4}),
    "ensemble": ("RandomSearchCV", DRAWN, COMMON | {"n_iter": 5, "ensemble": True}),
    "models": ("SearchCV", DRAWN, COMMON | {"n_iter": 6}),
}


def task(kind, metric):
    """Everything that a change may change."""
    _, space, options = KINDS[kind]
    if metric == "r2":
        estimator, y = DecisionTreeRegressor(random_state=0), NUMBERS
    else:
        estimator, y = DecisionTreeClassifier(random_state=0), Y
    options = options | {"scoring": metric}
    return {"X": X, "y": y, "estimator": estimator, "space": space, "kind": kind} | options


def fitted(task):
    task = dict(task)
    kind, estimator, X, y, space = map(task.pop, ("kind", "estimator", "X", "y", "space"))
    if kind == "models":
        other = GaussianNB() if isinstance(estimator, DecisionTreeClassifier) else estimator
        estimator, space = [("tree", estimator), ("other", other)], {"tree": space, "other": {}}
    search = getattr(sksearch.search, KINDS[kind][0])(estimator, space, **task)
    return search.fit(X, y)


def seen(search, X):
    """What a user sees of a search, but for seconds."""
    found = {
        "params": [
            {k: v for k, v in sorted(params.items()) if not k.endswith(CONSTANTS)}
            for params in search.cv_results_["params"]
        ]
    }
    found |= {name: v for name, v in search.cv_results_.items() if "test" in name}
    predicted = np.ravel(search.predict(X))
    if is_classifier(search):
        predicted = np.searchsorted(search.classes_, predicted)
    found |= {"best": search.best_index_, "predictions": predicted}
    text = re.sub(r"\nData .*(\n {10}.*)*", "", str(report(search)))  # names, units, the time
    text = re.sub(r"\n {12}", " ", text)  # broken lines
    text = re.sub(r"(tree__)?ccp_alpha=0, |, (tree__)?min_samples_split=2", "", text)
    text = re.sub(r"[\d.]+ (m?s|minutes) of training|\n.*fastest:.*", "", text)
    return {**{name: str(np.asarray(v).tolist()) for name, v in found.items()}, "report": text}


@cache
def plain(kind, metric):
    each = task(kind, metric)
    return seen(fitted(each), each["X"])


def frame(X, names="abcd"):
    return pd.DataFrame(X, columns=list(names))


FORMS = {
    "y is one column": lambda t: t | {"y": t["y"].reshape(-1, 1)},
    "y is a frame of one column": lambda t: t | {"y": pd.DataFrame({"target": t["y"]})},
    "y is a Series in another order of its index": lambda t: (
        t | {"y": pd.Series(t["y"], index=np.arange(60)[::-1], name="target")}
    ),
    "y is a list": lambda t: t | {"y": t["y"].tolist()},
    "y is in single precision": lambda t: t | {"y": t["y"].astype(np.float32)},
    "X is a list": lambda t: t | {"X": t["X"].tolist()},
    "X is in single precision": lambda t: t | {"X": t["X"].astype(np.float32)},
    "X is by columns": lambda t: t | {"X": np.asfortranarray(t["X"])},
    "X is a frame": lambda t: t | {"X": frame(t["X"])},
    "X is a frame with other names": lambda t: (
        t | {"X": frame(t["X"], ["score", "fold", "y", "a b"]).set_index(np.arange(60) % 7)}
    ),
    "the space in another order": lambda t: t | {"space": dict(reversed(t["space"].items()))},
    "a parameter with one value": lambda t: t | {"space": t["space"] | {"min_samples_split": [2]}},
    "a number with one value": lambda t: t | {"space": t["space"] | {"ccp_alpha": [0.0]}},
}


@pytest.mark.few(7)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_forms_and_orders_change_nothing(form, kind):
    metric = ("neg_log_loss", "r2")[([*FORMS].index(form) + [*KINDS].index(kind)) % 2]
    changed = FORMS[form](task(kind, metric))
    found = seen(fitted(changed), changed["X"])
    for name, value in plain(kind, metric).items():
        assert found[name] == value, name


def squared(y, predicted, unit=1.0):
    """A metric that the search does not know."""
    return -float(np.mean(((np.ravel(y) - np.ravel(predicted)) / unit) ** 2))


@pytest.mark.few(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["r2", "squared"])
def test_the_unit_of_the_target_changes_nothing(metric, kind):
    metrics = {"r2": ("r2", "r2"), "squared": (make_scorer(squared), make_scorer(squared, unit=4))}
    each = task(kind, "r2")
    one, four = (
        seen(fitted(each | {"y": unit * each["y"], "scoring": scoring}), X)
        if unit == 4 or metric != "r2"
        else plain(kind, "r2")
        for unit, scoring in zip((1, 4), metrics[metric], strict=True)
    )
    assert four | {"predictions": ""} == one | {"predictions": ""}


@pytest.mark.few(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("ham", "spam"), ("yes", "no"), (7, -1), (False, True)])
def test_names_of_classes_change_nothing(names, kind):
    found = seen(fitted(task(kind, "neg_log_loss") | {"y": np.array(names)[Y]}), X)
    expected = plain(kind, "neg_log_loss")
    if names[0] > names[1]:  # of two classes that are as likely the first is predicted
        expected = {name: expected[name] for name in ("params", "best", "report")}
        found = {name: found[name] for name in expected}
    assert found == expected
