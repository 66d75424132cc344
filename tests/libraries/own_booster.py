"""A booster of one's own, and all that is known of it: what a library would have in one file."""

from contextlib import contextmanager

import numpy as np
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from sksearch.estimators import Family, Growth, register


class OwnBooster(RegressorMixin, BaseEstimator):
    """Boosting of small trees, which can begin with a model."""

    def __init__(self, rounds=30, rate=0.1, depth=2):
        self.rounds, self.rate, self.depth = rounds, rate, depth

    def fit(self, X, y, begun=None):
        self.steps_ = [] if begun is None else list(begun.steps_)
        X, self.start_ = np.float32(X), np.mean(y)  # as trees take it without a check
        total = self._sum_of_steps(X)
        for _ in range(self.rounds):
            tree = DecisionTreeRegressor(max_depth=self.depth, random_state=len(self.steps_))
            self.steps_.append((self.rate, tree.fit(X, y - (self.start_ + total), None, False)))
            total = total + self.rate * tree.predict(X, False)
        return self

    def _sum_of_steps(self, X):
        return sum(rate * tree.predict(X, False) for rate, tree in self.steps_)

    def predict(self, X):
        return self.start_ + self._sum_of_steps(np.float32(X))


class OwnGrowth(Growth):
    @contextmanager
    def truncated(self, model, count):
        whole = model.steps_
        model.steps_ = whole[:count]
        yield model
        model.steps_ = whole


class OwnBoosters(Family):
    classes = ("tests.OwnBooster",)
    title = "OwnBooster"
    counts = ("rounds",)
    growth = OwnGrowth
    mutable_params = ("rate",)
    smaller, larger = ("rounds",), ("rate",)

    def space(self, estimator, size):
        return {"rate": loguniform(0.05, 1), "rounds": size.count(60), "depth": randint(1, 4)}

    def first(self, estimator):
        return [{"rate": 0.3, "depth": 2}]

    def can_grow(self, model, name, names, passed, n_rows):
        return name == "rounds" and not passed

    def grow(self, model, name, done, count, X, y, params):
        model.set_params(rounds=count - done)
        model.fit(X, y, begun=model if done else None).set_params(rounds=count)

    def upper_bound(self, model, name):
        return 4 if name == "depth" else super().upper_bound(model, name)


register(OwnBoosters())
