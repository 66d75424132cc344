"""Resources that act on the data: rows of the training folds, folds, and the whole data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch.base import Resource

#: Ratio of all rows to the default minimum: five rungs at factor 3.
DEFAULT_SHRINKAGE = 81


@dataclass(frozen=True)
class WholeResource(Resource):
    """The only unit is a whole fit: the resource of searches at full fidelity.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sksearch.resources._data import WholeResource
    >>> WholeResource().limits(SVC(), n_samples=1000, n_splits=5, n_classes=2)
    (1, 1)
    """

    unit = acts_on = "fits"

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return 1 and 1."""
        return 1, 1


@dataclass(frozen=True)
class SamplesResource(Resource):
    """One unit is one row of X; training folds shrink in proportion, test folds stay whole.

    The subsets of a fold are nested, the same for all candidates, and stratified for
    classifiers: every prefix of one fixed order has the classes in proportion, and each of them
    at least once if there is room. Candidates are fitted again at each rung.

    Examples
    --------
    >>> import numpy as np
    >>> from sksearch.resources._data import SamplesResource
    >>> train, strata = np.arange(80), np.arange(100) % 2
    >>> rows = SamplesResource().rows(train, strata, 50, 100, np.random.default_rng(0))
    >>> len(rows), int(strata[rows].sum())  # half of the rows, and half of these of each class
    (40, 20)
    """

    unit = "n_samples"
    acts_on = "rows"

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return four rows of each class, but at least 1/81 of all rows, and all rows."""
        smallest = max(4 * n_classes, -(-n_samples // DEFAULT_SHRINKAGE))
        return min(smallest, n_samples), n_samples

    def check_max(self, max_resources: int, n_samples: int, n_splits: int) -> None:
        """Raise ValueError if `max_resources` is greater than the number of rows."""
        if max_resources > n_samples:
            raise ValueError(
                f"max_resources={max_resources} is more than the {n_samples} rows of X: lower it, "
                "or leave it out to use all rows."
            )

    def rows(
        self,
        train: np.ndarray,
        strata: np.ndarray | None,
        amount: int,
        n_samples: int,
        rng: np.random.Generator,
    ) -> np.ndarray:
        """Choose the first rows of the stratified order; they stay in the order of the fold."""
        train = row_numbers(train)
        n = max(1, len(train) * amount // n_samples)
        if n >= len(train):
            return train
        return first_rows(train, strata, n, rng.permutation(len(train)))


@dataclass(frozen=True)
class FoldsResource(Resource):
    """One unit is one cross-validation fold.

    A candidate is scored on the first folds. If it is promoted, it keeps these scores and is
    scored on further folds. All candidates of a rung are compared on the same folds.

    Examples
    --------
    >>> from sksearch.resources._data import FoldsResource
    >>> list(FoldsResource().folds(n_splits=9, amount=3, spent=1))  # from one fold to three
    [1, 2]
    """

    unit = acts_on = "folds"
    continues = True

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return 1 and the number of folds."""
        return 1, n_splits

    def check_max(self, max_resources: int, n_samples: int, n_splits: int) -> None:
        """Raise ValueError if `max_resources` is greater than the number of folds."""
        if max_resources > n_splits:
            raise ValueError(
                f"max_resources={max_resources} is more than the {n_splits} folds of cv: lower "
                "it, or pass a larger cv."
            )

    def folds(self, n_splits: int, amount: int, spent: int) -> range:
        """Return the indices of the folds from `spent` to `amount`."""
        return range(spent, amount)


def row_numbers(rows: Any) -> np.ndarray:
    """Return the row numbers of a part of a fold, which may be a mask."""
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == bool else rows


def first_rows(
    train: np.ndarray, strata: np.ndarray | None, n: int, order: np.ndarray
) -> np.ndarray:
    """Choose n rows of a fold, the first of an order of its positions; classes keep their shares.

    Parameters
    ----------
    train : ndarray of shape (n_train,)
        Row indices of the training fold.
    strata : ndarray of shape (n_samples,) or None
        Class index of each row of X.
    n : int
        Number of rows.
    order : ndarray of shape (n_train,)
        Order of the rows, within each class.

    Returns
    -------
    rows : ndarray of shape (n,)
        In the order of the fold.
    """
    if strata is not None:
        order = nested_order(strata[train], order)
    return train[np.sort(order[:n])]


def nested_order(strata: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Mix the classes of an order, so that every prefix is stratified.

    Parameters
    ----------
    strata : ndarray of shape (n,)
        Class index of each row.
    order : ndarray of shape (n,)
        Row positions, which keep this order within each class.

    Returns
    -------
    order : ndarray of shape (n,)
        Row positions.
    """
    n = len(order)
    _, codes = np.unique(strata[order], return_inverse=True)
    by_class = np.argsort(codes, kind="stable")  # rows keep their order in a class
    counts = np.bincount(codes)
    within = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    # In a class of m rows, the j-th is placed at (j + 1/2) / m; first rows precede all others.
    place = np.where(within == 0, -1.0, (within + 0.5) / np.repeat(counts, counts))
    return order[by_class[np.argsort(place, kind="stable")]]
