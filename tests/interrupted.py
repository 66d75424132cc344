"""Estimators and a scorer for searches that are interrupted; workers import them from here."""

import os
import signal
import weakref
from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Hidden(SimpleNamespace):
    """What tests do between two starts is no setting of their searches."""

    def __reduce__(self):
        return Hidden, ()


X = np.random.default_rng(0).normal(size=(36, 3))
Y = np.tile([0, 1], 18)


class Noisy(ClassifierMixin, BaseEstimator):
    """Its score is made of all random numbers that it has drawn; each step is a line in a log."""

    def __init__(self, quality=0.5, log=None, n_units=9, random_state=None):
        self.quality = quality
        self.log = log
        self.n_units = n_units
        self.random_state = random_state

    def fit(self, X, y):
        self.n_steps_ = 0
        self.total_ = 0.0
        return self.partial_fit(X, y)

    def partial_fit(self, X, y, classes=None):
        if self.log is not None:
            with open(self.log, "a") as file:
                file.write(f"{self.quality} {getattr(self, 'n_steps_', 0)} {len(X)}\n")
        self.classes_ = np.unique(y)
        self.n_steps_ = getattr(self, "n_steps_", 0) + 1
        seeds = None if self.random_state is None else [self.random_state, self.n_steps_]
        rng = np.random if seeds is None else np.random.RandomState(seeds)
        self.total_ = getattr(self, "total_", 0.0) + rng.random_sample()
        return self

    def score(self, X, y):
        return self.quality + self.total_ / self.n_steps_ + np.abs(X).mean() / 1e3


# What happens in this process, and when: after so many scores from now on. An object's attributes
# are no part of the code that a checkpoint compares.
Trouble = Hidden(after=None, happens=None)


def scorer(estimator, X, y):
    """The estimator's score, unless there is trouble."""
    if Trouble.after is not None:
        Trouble.after -= 1
        if Trouble.after <= 0:
            Trouble.after = None
            return Trouble.happens()
    return estimator.score(X, y)


class Other(Noisy):
    """Another class."""


class Guessing(Noisy):
    """Its probabilities are made of the same numbers; it knows how many are alive."""

    alive = weakref.WeakSet()  # fitted ones in this process

    def partial_fit(self, X, y, classes=None):
        Guessing.alive.add(self)
        return super().partial_fit(X, y, classes)

    def predict_proba(self, X):
        share = np.abs(np.asarray(X)[:, 0]) % 1 * self.total_ / self.n_steps_
        return np.column_stack([share, 1 - share])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Big(Noisy):
    """Its state does not fit into a small file."""

    def partial_fit(self, X, y, classes=None):
        self.ballast_ = np.random.default_rng(0).bytes(500_000)
        return super().partial_fit(X, y, classes)


class Deadly(Noisy):
    """One of its candidates ends the process that it is in."""

    def __init__(self, how="exit", quality=0.5):
        super().__init__(quality)
        self.how = how

    def partial_fit(self, X, y, classes=None):
        if self.quality == 0.5 and len(X) < len(Y):
            if self.how == "exit":
                os._exit(3)
            os.kill(os.getpid(), signal.SIGKILL)
        return super().partial_fit(X, y, classes)
