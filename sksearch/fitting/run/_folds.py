"""Folds of a search, computed once, and checked for an order in time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from sksearch._utils._advice import advice
from sksearch._utils._compat import FOLDS_DIFFER, num_samples
from sksearch._utils._typing import Estimator, Folding, Samples, Targets
from sksearch.resources._data import row_numbers

#: Ratio of training rows from which the largest fold gives different models than the smallest.
UNLIKE = 1.5


@dataclass(frozen=True)
class Folds:
    """The folds of a search, and the decisions about them.

    Parameters
    ----------
    splits : list of (array, array)
        Training and test rows of each.
    cv : object
        Source of the folds: the `cv` of the search, or its substitute.
    unlike : str, default=""
        Reason for not using a race, because the first folds are not representative; otherwise "".
    notes : tuple of str, default=()
        Decisions, with the reason and the argument that changes them; a sentence each.
    """

    splits: list
    cv: Any = None
    unlike: str = ""
    notes: tuple[str, ...] = ()


def freeze_folds(
    cv: Folding, estimator: Estimator, X: Samples, y: Targets, split_params: dict
) -> list:
    """Make the folds once, pairs of (train, test), so that all candidates see the same ones."""
    if isinstance(cv, Iterable) and not hasattr(cv, "split"):  # a str has a method split
        cv = check_folds(list(cv), num_samples(X))
    splitter = check_cv(cv, y, classifier=is_classifier(estimator))
    n_splits = splitter.get_n_splits(X, y, **split_params)
    splits = list(splitter.split(X, y, **split_params))
    if len(splits) != n_splits:
        raise ValueError(
            f"{FOLDS_DIFFER} inconsistent results. Expected {n_splits} splits, got {len(splits)}"
        )
    if not splits:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? cv has "
            "no folds, like an exhausted generator: pass a list of its pairs (train, test), or "
            "the splitter itself."
        )
    n_samples = num_samples(X)
    # Convert masks and negative indices to row numbers.
    numbers = np.arange(n_samples)
    return [
        tuple(numbers[np.asarray(rows)] for rows in split)
        for split in check_folds(splits, n_samples)
    ]


def check_folds(splits: list, n_samples: int) -> list:
    """Return the folds, or raise ValueError if a fold cannot be used for training and scoring."""
    for fold, split in enumerate(splits):
        if not isinstance(split, Sequence | np.ndarray) or len(split) != 2:
            size = f" of {len(split)}" if hasattr(split, "__len__") else ""
            raise ValueError(
                f"cv: fold {fold} is a {type(split).__name__}{size}, but must be a pair of "
                "indices, (train, test): pass a list of pairs, a number of folds, or a splitter."
            )
        for name, indices in zip(("train", "test"), split, strict=True):
            if fault := _fault_of(np.asarray(indices), n_samples):
                raise ValueError(
                    f"cv: the {name} rows of fold {fold} {fault}: pass pairs (train, test) of row "
                    f"numbers from 0 to {n_samples - 1}, or a number of folds."
                )
    return splits


def count_rows(indices: ArrayLike) -> int:
    """Count the rows that indices or a mask select."""
    indices = np.asarray(indices)
    return int(np.count_nonzero(indices) if indices.dtype == bool else indices.size)


def _fault_of(indices: np.ndarray, n_samples: int) -> str:
    """Error in the rows of a fold, otherwise ""."""
    if not count_rows(indices):
        return "are empty"
    if indices.dtype == bool:
        wrong = indices.shape != (n_samples,)
        return f"are a mask whose shape is not ({n_samples},)" if wrong else ""
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        return f"are an array of shape {indices.shape} and dtype {indices.dtype}"
    if indices.min() < -n_samples or indices.max() >= n_samples:
        return f"range from {indices.min()} to {indices.max()}, but X has {n_samples} rows"
    return ""


def one_class_folds(splits: list, strata: np.ndarray | None) -> str:
    """Name the training folds with a single class, otherwise ""."""
    if strata is None or len(np.unique(strata)) == 1:
        return ""
    notes = []
    for fold, (train, _) in enumerate(splits):
        present = strata[np.asarray(train)]
        if len(np.unique(present)) == 1:
            notes.append(f"fold {fold} trains on {len(present)} rows of one class only")
    return "; ".join(notes)


@advice
def warn_of_folds(splits: list, strata: np.ndarray | None) -> Iterator[str]:
    """Warn of a fold that tests its own training rows, or unseen classes.

    Parameters
    ----------
    splits : list of (array, array)
        Training and test rows of each fold.
    strata : ndarray of shape (n_samples,) or None
        Index of the class of each row, of classifiers.
    """
    for fold, (train, test) in enumerate(splits):
        known, tested = row_numbers(train), row_numbers(test)
        if n := len(np.intersect1d(known, tested)):
            yield (
                f"cv: fold {fold} tests {n:,} rows that it also trains on, so its scores are "
                "optimistic: pass a number of folds, or a splitter such as StratifiedKFold()."
            )
            return
        if strata is None:
            continue
        classes = np.unique(strata[known])  # a single class raises an error
        if len(classes) > 1 and not np.isin(strata[tested], classes).any():
            yield (
                f"cv: fold {fold} tests only classes that it does not train on, so no model can "
                "predict them: pass StratifiedKFold(), or KFold(shuffle=True)."
            )
            return


def trains_on_the_past(splits: list) -> bool:
    """True if in every fold all test rows come after all training rows."""
    return all(row_numbers(train).max() < row_numbers(test).min() for train, test in splits)


def why_unlike(splits: list, n_samples: int) -> str:
    """Return why folds are not interchangeable random parts of the data.

    The rows are checked, not the class of the splitter, because a list or a custom splitter may
    have the same folds as `TimeSeriesSplit`.

    Parameters
    ----------
    splits : list of (array, array)
        Training and test rows of each fold.
    n_samples : int
        Number of rows of X.

    Returns
    -------
    reason : str
        The reason, "" if they are interchangeable.
    """
    if trains_on_the_past(splits):
        return "each fold tests rows after its training rows"
    for ordered, which in ((splits, "a later"), (splits[::-1], "an earlier")):
        if _never_trains_ahead(ordered, n_samples):
            return f"no fold trains on rows tested by {which} one"
    sizes = [count_rows(train) for train, _ in splits]
    if max(sizes) >= UNLIKE * min(sizes):
        return f"they train on {min(sizes):,} to {max(sizes):,} rows"
    return ""


def _never_trains_ahead(splits: list, n_samples: int) -> bool:
    """True if no fold trains on the test rows of a later fold, wherever these are in X."""
    tested_by = np.full(n_samples, -1)  # last fold that tests each row
    for i, (_, test) in enumerate(splits):
        tested_by[np.asarray(test)] = i
    return all((tested_by[np.asarray(train)] <= i).all() for i, (train, _) in enumerate(splits))
