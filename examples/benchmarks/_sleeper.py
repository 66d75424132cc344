"""An estimator that sleeps, in a module that worker processes import, as they do others."""

import time

from sklearn.base import BaseEstimator


class Sleeper(BaseEstimator):
    """Sleeps; its score is its parameter."""

    def __init__(self, x=0.0, seconds=0.0):
        self.x = x
        self.seconds = seconds

    def fit(self, X, y=None):
        """Train for one epoch."""
        return self.partial_fit(X, y)

    def partial_fit(self, X, y=None):
        """Sleep."""
        time.sleep(self.seconds)
        return self

    def score(self, X, y=None):
        """Return the parameter."""
        return self.x
