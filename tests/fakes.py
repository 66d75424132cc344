"""Estimators that imitate training: their scores are functions of their parameters."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class Curve(RegressorMixin, BaseEstimator):
    """Its score after k epochs is ``quality - (1 - quality) / k``; it counts its calls."""

    n_calls = 0  # of partial_fit, by all instances in this process

    def __init__(self, quality=0.5, other=0):
        self.quality = quality
        self.other = other

    def fit(self, X, y=None):
        self.n_epochs_ = 0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        self.n_epochs_ = getattr(self, "n_epochs_", 0) + 1
        Curve.n_calls += 1
        return self

    def predict(self, X):
        return np.full(len(X), self.quality)

    def score(self, X, y=None):
        return self.quality - (1 - self.quality) / self.n_epochs_


class Sized(ClassifierMixin, BaseEstimator):
    """Its score grows with the rows it was trained on, and with its parameter."""

    def __init__(self, quality=0.5, n_units=10):
        self.quality = quality
        self.n_units = n_units

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_rows_ = len(X)
        self.rows_ = set(np.asarray(X)[:, 0].tolist())
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return self.quality + self.n_rows_ / 1e4 + self.n_units / 1e3


def fails_above(threshold):
    """A parameter's value above which `Failing` fails."""
    return Failing(threshold=threshold)


class Failing(Curve):
    """Raises in training when its quality is above a threshold."""

    def __init__(self, quality=0.5, other=0, threshold=0.5):
        super().__init__(quality, other)
        self.threshold = threshold

    def partial_fit(self, X, y=None):
        if self.quality > self.threshold:
            raise RuntimeError(f"quality {self.quality:.2f} is too good to be true")
        return super().partial_fit(X, y)


class Pair(ClassifierMixin, BaseEstimator):
    """Has two numbers, of which scorers make metrics."""

    def __init__(self, x=0.1, y=0.1):
        self.x, self.y = x, y

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def partial_fit(self, X, y, classes=None):
        return self.fit(X, y)

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))
