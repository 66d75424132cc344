"""Estimators and data of the cases: scores are functions of params, and time is simulated."""

import math

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sksearch import When
from sksearch.executors import spend
from sksearch.space import LogRandInt

X, y = make_classification(90, 5, n_informative=4, n_redundant=0, flip_y=0.2, random_state=0)
XR, yr = make_regression(80, 4, noise=20, random_state=0)


class Hill(RegressorMixin, BaseEstimator):
    """Its score is the height of a hill at its params, a bit another one on each fold.

    It grows with the epochs that it was trained for, and an epoch takes more simulated seconds
    the larger its width is.
    """

    def __init__(self, x=0.9, y=0.1, width=4, kind="a", depth=1, trees=4, fails_above=2.0):
        self.x, self.y, self.width, self.kind = x, y, width, kind
        self.depth, self.trees, self.fails_above = depth, trees, fails_above

    def fit(self, X, y=None, sample_weight=None):
        self.n_epochs_ = 0
        self.partial_fit(X, y, sample_weight)
        self.n_epochs_ = 9
        return self

    def partial_fit(self, X, y=None, sample_weight=None):
        if self.x > self.fails_above:
            raise RuntimeError(f"x={self.x:.2f} is above {self.fails_above}")
        spend(0.01 * self.width + 0.25 * (self.kind == "b") + 0.001 * len(X))
        self.n_features_in_ = np.shape(X)[1]
        self.n_rows_ = len(X)
        self.weight_ = 1.0 if sample_weight is None else float(np.mean(sample_weight))
        self.n_epochs_ = getattr(self, "n_epochs_", 0) + 1
        return self

    def predict(self, X):
        return self.x + self.y * np.asarray(X)[:, 0]

    def score(self, X, y=None):
        spend(0.0625)
        height = 1 - (self.x - 0.3) ** 2 - 2 * (self.y - 0.6) ** 2 - 0.1 * (self.kind == "b")
        height -= 0.02 * abs(math.log(self.width / 10)) + 0.05 * (self.depth - 3) ** 2
        place = float(np.sum(np.asarray(X, dtype=float)[:, 0]))
        luck = 0.03 * math.sin(place) + 0.02 * math.sin(37 * self.x + 5 * place)
        return height + luck - 0.4 / self.n_epochs_ + 0.1 * self.weight_ - 1 / self.n_rows_


SPACE = {
    "x": uniform(0, 1),
    "y": uniform(0, 1),
    "width": LogRandInt(1, 64),
    "kind": ["a", "b"],
    "depth": When(randint(1, 6), "kind", "==", "a"),
}
PLANE = {"x": uniform(0, 1), "y": uniform(0, 1)}
WIDTHS = {"x": uniform(0, 1), "width": LogRandInt(1, 64)}
ALPHAS = {"alpha": loguniform(1e-3, 1e3)}


def timed(cls, seconds):
    """A class of scikit-learn whose training takes simulated seconds, for each row of X."""

    class Timed(cls):
        def fit(self, X, y, **params):
            spend(seconds * len(X))
            return super().fit(X, y, **params)

    Timed.__name__ = Timed.__qualname__ = f"Timed{cls.__name__}"
    return Timed


TimedKNeighborsClassifier = timed(KNeighborsClassifier, 0.01)
TimedDecisionTreeClassifier = timed(DecisionTreeClassifier, 0.005)
TimedRidge = timed(Ridge, 0.02)
TimedGaussianNB = timed(GaussianNB, 0.001)
