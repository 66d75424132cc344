"""Independent draws."""

from dataclasses import dataclass

import numpy as np

from sksearch.base import Sampler, Start
from sksearch.history import History, Params


@dataclass(frozen=True)
class RandomSampler(Sampler):
    """Draw each candidate independently from the user's distributions.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
    >>> search = SearchCV(
    ...     SVC(), space, sampler=RandomSampler(), scheduler=FullFidelity(8), cv=3, random_state=0
    ... )
    >>> bool(search.fit(X, y).best_score_ > 0.9)
    True
    """

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Draw a candidate from the space."""
        return history.problem.space.sample(rng)
