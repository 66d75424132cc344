"""What the searches train: an estimator, its data and metrics, and data of the module itself."""

import uuid

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

N_ROWS = 12
X = np.arange(2.0 * N_ROWS).reshape(N_ROWS, 2)
Y = np.arange(float(N_ROWS))


RUN = uuid.uuid4().hex  # another one at each start of a script
NOTE = "first"  # what a user edits, and what changes no result
LEVEL = 0.0  # what changes results


class Learner(RegressorMixin, BaseEstimator):
    """Its scores depend on params, rows, epochs, and on every random number on its way."""

    def __init__(self, quality=0.5, other=0, kind="a", fails_above=2.0, diverges_below=-1.0):
        self.quality = quality
        self.other = other
        self.kind = kind
        self.fails_above = fails_above
        self.diverges_below = diverges_below

    def fit(self, X, y=None):
        self.made_by_ = RUN, NOTE
        self.n_, self.noise_, self.n_rows_ = 0, 0.0, 0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y=None):
        if self.quality > self.fails_above:
            raise RuntimeError(f"quality {self.quality:.2f} is too good to be true")
        self.n_features_in_ = np.shape(X)[1]
        self.n_ = getattr(self, "n_", 0) + 1
        self.noise_ = 0.7 * getattr(self, "noise_", 0.0) + 0.3 * np.random.rand()
        self.n_rows_ = len(X)
        return self

    def predict(self, X):
        return np.full(len(X), self.quality + 0.1 * self.noise_)

    def score(self, X, y=None):
        if self.quality < self.diverges_below:
            return np.nan
        value = self.quality * (1 - 0.5 / self.n_) + 0.01 * self.other + 0.1 * (self.kind == "b")
        return LEVEL + value + 0.2 * self.noise_ + 1e-3 * self.n_rows_ + 1e-4 * float(np.sum(X))


def by_score(estimator, X, y):
    """One metric."""
    return estimator.score(X, y)


def by_noise(estimator, X, y):
    """Another one."""
    return -estimator.noise_


def by_both(estimator, X, y):
    """Several from one function."""
    return {"score": estimator.score(X, y), "noise": -estimator.noise_}
