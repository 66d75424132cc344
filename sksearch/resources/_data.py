"""Resources that act on the data: rows of the training folds, folds, and all of it."""

from dataclasses import dataclass

import numpy as np

from sksearch.base import Resource

#: Rungs below the top that a user gets who names no minimum: five in all at factor 3.
DEFAULT_SHRINKAGE = 81


@dataclass(frozen=True)
class WholeResource(Resource):
    """The only unit is a whole fit: the resource of searches at full fidelity."""

    unit = "fits"

    def limits(self, estimator, n_samples, n_splits, n_classes):
        """One."""
        return 1, 1


@dataclass(frozen=True)
class SamplesResource(Resource):
    """One unit is one row of X; a training fold gives its share, the test fold stays whole.

    The subsets of a fold are nested, the same for all candidates, and stratified for
    classifiers: every prefix of one fixed order has each class in proportion, and each at
    least once if there is room. Candidates are fitted anew at each rung.
    """

    unit = "n_samples"

    def limits(self, estimator, n_samples, n_splits, n_classes):
        """From four rows of each class, but at least 1/81 of all rows, to all rows."""
        smallest = max(4 * n_classes, -(-n_samples // DEFAULT_SHRINKAGE))
        return min(smallest, n_samples), n_samples

    def check_max(self, max_resources, n_samples, n_splits):
        """Nobody can train on more rows than there are."""
        if max_resources > n_samples:
            raise ValueError(
                f"max_resources={max_resources} rows is more than the {n_samples} of X: lower "
                "it, or leave it out to use all."
            )

    def rows(self, train, strata, amount, n_samples, rng):
        """The first rows of the fold's order, in the order of the fold."""
        train = np.asarray(train)
        if train.dtype == bool:
            train = np.flatnonzero(train)
        n = max(1, len(train) * amount // n_samples)
        if n >= len(train):
            return train
        order = nested_order(None if strata is None else strata[train], len(train), rng)
        return train[np.sort(order[:n])]


@dataclass(frozen=True)
class FoldsResource(Resource):
    """One unit is one cross-validation fold.

    A candidate is scored on the first folds; one that is promoted is scored on further ones,
    and keeps the scores it has. All candidates of a rung are compared on the same folds.
    """

    unit = "folds"
    continues = True

    def limits(self, estimator, n_samples, n_splits, n_classes):
        """From one fold to all."""
        return 1, n_splits

    def check_max(self, max_resources, n_samples, n_splits):
        """There are only so many folds."""
        if max_resources > n_splits:
            raise ValueError(
                f"max_resources={max_resources} folds is more than the {n_splits} that cv= "
                "gives: lower it, or pass a larger cv."
            )

    def folds(self, n_splits, amount, spent):
        """The folds from `spent` on."""
        return range(spent, amount)


def nested_order(strata, n, rng):
    """An order of n rows whose every prefix is stratified.

    Parameters
    ----------
    strata : ndarray of shape (n,) or None
        Class index of each row; None for a plain permutation.
    n : int
        Count of rows.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    order : ndarray of shape (n,)
        Row positions.
    """
    shuffled = rng.permutation(n)
    if strata is None:
        return shuffled
    _, codes = np.unique(strata[shuffled], return_inverse=True)
    by_class = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    within = np.arange(n) - np.repeat(np.cumsum(counts) - counts, counts)
    # The j-th row of a class of m stands at (j + 1/2) / m of the way; the first ones lead.
    place = np.where(within == 0, -1.0, (within + 0.5) / np.repeat(counts, counts))
    return shuffled[by_class[np.argsort(place, kind="stable")]]
