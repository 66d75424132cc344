"""The contract of a search."""

import pickle
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris

from sksearch._utils._compat import BaseSearchCV
from sksearch._utils._typing import Samples, Targets
from sksearch.testing._require import require


def check_search(search: BaseSearchCV, X: Samples | None = None, y: Targets | None = None) -> None:
    """Check that a search meets the requirements of this library.

    The search must be a scikit-learn estimator (clone, pickle, parameters unchanged by `fit`).
    With an integer `random_state`, its results must be the same for any number of workers and in a
    second `fit`. Its best candidate must be the best one in `cv_results_`. A second `fit` with the
    same `checkpoint_dir` must not train any model.

    Parameters
    ----------
    search : BaseSearch
        Unfitted search with an integer `random_state`; it is cloned.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Training data. None: scikit-learn's iris data.
    y : array-like of shape (n_samples,) or None, default=None
        Their target.

    Raises
    ------
    AssertionError
        If a requirement is violated.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.testing import check_search
    >>> space = {"C": loguniform(0.1, 10)}
    >>> check_search(RandomSearchCV(SVC(), space, n_iter=4, cv=3, random_state=0))
    """
    if X is None:
        X, y = load_iris(return_X_y=True)
    first = clone(search)
    if first.get_params().get("workers__batch_size") == "auto":  # the number of workers
        first.set_params(workers__batch_size=2)
        search = clone(first)
    before = _described(first)
    require(_described(first.fit(X, y)) == before, "fit changed the parameters of the search.")
    _check_results(first)
    _require_same(first, clone(search).fit(X, y), "with a second fit")
    _require_same(first, clone(search).set_params(n_jobs=2).fit(X, y), "with two workers")
    if getattr(search, "refit", True):
        kept = pickle.loads(pickle.dumps(first))
        same = np.array_equal(kept.predict(X), first.predict(X))
        require(same, "A pickled search has other predictions.")
    _check_that_nothing_is_trained_twice(clone(search), X, y)


def _check_that_nothing_is_trained_twice(search: BaseSearchCV, X: Any, y: Any) -> None:
    """Fits repeated would have different times."""
    with tempfile.TemporaryDirectory() as folder:
        search.set_params(checkpoint_dir=folder)
        first, second = (clone(search).fit(X, y) for _ in range(2))
    _require_same(first, second, "when checkpoint_dir is read", times=True)


def _described(search: BaseSearchCV) -> str:
    return repr(sorted((k, repr(v)) for k, v in search.get_params(deep=False).items()))


def _check_results(search: BaseSearchCV) -> None:
    results = search.cv_results_
    lengths = {name: len(column) for name, column in results.items()}
    require(len(set(lengths.values())) == 1, f"Columns have different lengths: {lengths}.")
    best = results["params"][search.best_index_]
    require(best == search.best_params_, f"best_params_ is {search.best_params_}, not {best}.")


def _require_same(one: BaseSearchCV, other: BaseSearchCV, when: str, times: bool = False) -> None:
    for name, column in one.cv_results_.items():
        if times or not name.endswith("_time"):
            same = _texts(column) == _texts(other.cv_results_[name])
            require(same, f"cv_results_[{name!r}] differs {when}.")
    require(one.best_params_ == other.best_params_, f"The best candidate differs {when}.")


def _texts(column: Iterable) -> list[str]:
    """Values of any kind, including NaN, in a comparable form."""
    return [repr(value) for value in column]
