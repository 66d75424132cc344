"""Estimators with faults, small searches of them, and how to compare what they found.

What the tests' files define travels by value, as what a user has defined in a notebook does.
"""

import os
import re
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rv_discrete, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import HyperbandSearchCV, RandomSearchCV, SuccessiveHalvingSearchCV
from sksearch._utils._compat import cloudpickle
from tests.comparisons import assert_same_results

cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
QUALITIES = {"quality": (np.arange(1, 10) / 10).tolist()}
FEW = {"quality": [0.1, 0.2, 0.3, 0.4]}
TRIPLE = {"quality": [0.1, 0.2, 0.3]}
jobs = pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
#: Values of a parameter.
STRANGE = [
    "ünïcode ☃ \U0001f600",
    "spaces and\nlines\tand \x00 zero",
    "long" * 5000,
    "",
    None,
    np.array([0.3, 0.7]),
    np.zeros((2, 2)),
    len,
    lambda x: x,
    SVC(C=2),
    StandardScaler,
    {"a": [1, {2}]},
    (1, (2, 3)),
    True,
    1,
    1.0,
    rv_discrete(values=([1, 2], [0.5, 0.5])),
]


def note(log, X, value):
    """Add a line to a log, if there is one."""
    if log is not None:
        with open(log, "a") as file:
            file.write(f"{os.getpid()} {np.shape(X)[0]} {value}\n")


class Everywhere:
    """Holds each value there is."""

    def __contains__(self, value):
        return True


class Fake(ClassifierMixin, BaseEstimator):
    """Scores its quality. If its quality is in `at` it calls `act` first; it may keep a log."""

    def __init__(self, quality=0.5, act=None, at=(), n_units=9, ballast=None, log=None):
        self.quality = quality
        self.act = act
        self.at = at
        self.n_units = n_units
        self.ballast = ballast
        self.log = log

    def partial_fit(self, X, y, classes=None):
        note(self.log, X, self.quality)
        if self.act is not None and self.quality in self.at:
            self.act()
        self.n_calls_ = getattr(self, "n_calls_", 0) + 1
        self.classes_ = np.unique(y) if classes is None else classes
        return self

    def fit(self, X, y):
        self.n_calls_ = 0
        return self.partial_fit(X, y)

    def predict(self, X):
        return np.repeat(self.classes_[:1], np.shape(X)[0])

    def score(self, X, y):
        return float(self.quality) - 0.01 / self.n_calls_


def random_search(estimator=None, space=FEW, **kwargs):
    """All of four candidates on two folds."""
    kwargs = {"n_iter": 4, "cv": 2, "random_state": 0} | kwargs
    return RandomSearchCV(Fake() if estimator is None else estimator, space, **kwargs)


def halving(estimator=None, space=QUALITIES, **kwargs):
    """Nine candidates at 1 epoch, 3 at 3, 1 at 9, on two folds."""
    kwargs = {"resource": "epochs", "max_resources": 9, "cv": 2, "random_state": 0} | kwargs
    return SuccessiveHalvingSearchCV(Fake() if estimator is None else estimator, space, **kwargs)


def hyperband(estimator, space=None, resource="epochs", **kwargs):
    """A small search: 9 candidates at 1, 3 at 3, 1 at 9 and two more brackets."""
    limits = {"n_samples": {"min_resources": 6}, "folds": {}}.get(resource, {"max_resources": 9})
    space = {"quality": uniform()} if space is None else space
    kwargs = {"cv": 9 if resource == "folds" else 2, "random_state": 0} | limits | kwargs
    return HyperbandSearchCV(estimator, space, resource=resource, **kwargs)


class NotTwiceError(Exception):
    """Can be pickled, but not read back."""

    def __init__(self, first, second):
        super().__init__("of two arguments")


class NeverError(Exception):
    """Cannot be pickled."""

    def __reduce__(self):
        raise TypeError("not this one")


class SlowSGD(SGDClassifier):
    """Takes a while for each epoch, and notes it in a log."""

    def __init__(self, alpha=0.0001, random_state=0, log=None, seconds=0.01):
        super().__init__(alpha=alpha, random_state=random_state)
        self.log = log
        self.seconds = seconds

    def partial_fit(self, X, y, classes=None):
        note(self.log, X, self.alpha)
        time.sleep(self.seconds)
        return super().partial_fit(X, y, classes)


def slow_halving(folder, **kwargs):
    """A search of 42 epochs, with its checkpoint and its log in a folder."""
    estimator = SlowSGD(log=str(Path(folder, "log")), seconds=0.05)
    space = {"alpha": (np.arange(1, 10) / 100).tolist()}
    kwargs = {"checkpoint_dir": Path(folder, "checkpoint")} | kwargs
    return halving(estimator, space, **kwargs)


@cache
def slow_halving_undisturbed():
    """What it finds if nothing happens."""
    search = slow_halving("nowhere", checkpoint_dir=None, n_jobs=1)
    return search.set_params(estimator=SlowSGD(seconds=0)).fit(X, Y)


def statuses(search, name="quality"):
    """Set of statuses by value of a parameter."""
    found = {}
    for params, status in zip(search.cv_results_["params"], search.statuses_, strict=True):
        found.setdefault(params[name], set()).add(status)
    return found


def fit_with_one_warning(search, match, category=FitFailedWarning):
    """Fit, and see that there is one warning of this kind that says this."""
    with pytest.warns(category, match=match) as record:
        search.fit(X, Y)
    texts = [str(w.message) for w in record if issubclass(w.category, category)]
    assert len([text for text in texts if re.search(match, text)]) == 1
    return search


def assert_same(search, other):
    """See that two searches found the same, times apart."""
    assert_same_results(search, other)
    assert search.statuses_ == other.statuses_


def trainings(log):
    """Pids and qualities of the calls of fit or partial_fit on a fold, in their order."""
    if not Path(log).exists():
        return []
    lines = [line.split() for line in Path(log).read_text().splitlines()]
    return [(int(pid), float(quality)) for pid, n_rows, quality in lines if int(n_rows) < len(X)]


def pids(log):
    """Processes that have trained on a fold."""
    return {pid for pid, _ in trainings(log)}


def wait_until(holds, seconds=30):
    """Wait until something holds; return whether it does."""
    end = time.monotonic() + seconds
    while not (found := holds()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(found)
