"""The contract of an engine, which runs the tasks."""

import os
import warnings

import joblib
import numpy as np
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris

from sksearch._utils._typing import Samples, Targets
from sksearch.search import SearchCV
from sksearch.testing._require import require


def check_engine(n_jobs: int = 2, *, processes: bool = True) -> None:
    """Check that searches on the active joblib backend give the same results as in one process.

    Results must be bit-identical, and a candidate that fails or ends its process must not affect
    others.

    Parameters
    ----------
    n_jobs : int, default=2
        Number of workers.
    processes : bool, default=True
        Whether workers are separate processes. If False, candidates that end their process are not
        tested.

    Raises
    ------
    AssertionError
        If a requirement is violated.

    Examples
    --------
    >>> import joblib
    >>> from sksearch.testing import check_engine
    >>> with joblib.parallel_config("threading"):
    ...     check_engine(processes=False)
    """
    X, y = load_iris(return_X_y=True)
    deaths = ("none", "raise", "exit") if processes else ("none", "raise")
    for death in deaths:
        search = SearchCV(
            Mortal(death=death), {"x": uniform(0, 1)}, n_iter=6, cv=2, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about failing candidates
            there = clone(search).set_params(n_jobs=n_jobs).fit(X, y)
            if death == "exit":
                search.set_params(estimator__death="raise")
            with joblib.parallel_config("sequential"):
                here = search.fit(X, y)
        for name in ("split0_test_score", "split1_test_score"):
            same = np.array_equal(here.cv_results_[name], there.cv_results_[name], equal_nan=True)
            require(same, f"Scores differ if candidates with death={death!r} fail.")


class Mortal(ClassifierMixin, BaseEstimator):
    """Score about x; above 0.5, raise an error or end the process."""

    def __init__(self, x: float = 0.0, death: str = "none"):
        self.x, self.death = x, death

    def fit(self, X: Samples, y: Targets) -> "Mortal":
        """Fail, or learn nothing."""
        if self.x > 0.5 and self.death == "raise":
            raise RuntimeError("x is too large")
        if self.x > 0.5 and self.death == "exit":
            os._exit(1)
        self.classes_ = np.unique(np.asarray(y))
        return self

    def predict(self, X: Samples) -> np.ndarray:
        """Return any classes."""
        return np.repeat(self.classes_[0], len(np.asarray(X)))

    def score(self, X: Samples, y: Targets) -> float:
        """Return its parameter."""
        return self.x
