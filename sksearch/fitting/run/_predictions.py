"""Predictions for test rows, kept of each candidate for averaging."""

from collections.abc import Sequence, Sized
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from sksearch._utils._compat import num_samples, safe_indexing, to_numpy
from sksearch._utils._typing import Samples, Targets
from sksearch.base._state import Labels
from sksearch.estimators._model_choice import named_of
from sksearch.estimators._pipeline import params_of_last_step
from sksearch.fitting.run._tasks import NUMBER, Context, Output

#: Per candidate, over all folds: predictions of more rows would hardly change a choice.
MOST_NUMBERS = 100_000
#: Share of rows labelled by the largest decision value, if there is a value for each class.
MOSTLY = 0.9

#: Probabilities whose logarithms and odds are finite.
WITHIN = (np.finfo(float).tiny, 1 - np.finfo(float).epsneg)

#: Ascending labels of all rows, by column of the target.
Classes = list[np.ndarray]


def as_classes(labels: Labels) -> Classes:
    """Return the labels of each column of the target; an empty list for numbers."""
    if labels is None:
        return []
    return list(labels) if isinstance(labels, list) else [labels]


def kept_rows(splits: list, classes: Classes, y: Targets) -> list[np.ndarray]:
    """Choose the test rows of the kept predictions: all, or a random part of many.

    Parameters
    ----------
    splits : list of (ndarray, ndarray)
        Training and test rows of the folds.
    classes : list of ndarray
        Labels of each column of the target.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Target.

    Returns
    -------
    kept : list of ndarray of int
        Places among the test rows of each fold, ascending.
    """
    sizes = [len(test) for _, test in splits]
    width = sum(map(len, classes)) or int(np.prod(to_numpy(y).shape[1:]))
    part, rng = MOST_NUMBERS / (sum(sizes) * width), np.random.default_rng(0)
    if part >= 1:
        return [np.arange(n) for n in sizes]
    return [np.sort(rng.choice(n, max(1, int(n * part)), replace=False)) for n in sizes]


def keep_predictions(context: Context, fold: int, model: Any, X: Samples, output: Output) -> None:
    """Store the predictions of a model for the chosen test rows.

    Classifiers without probabilities give decision values: they are calibrated later, over all
    folds.

    Parameters
    ----------
    context : Context
        Context of the search.
    fold : int
        Index of the fold.
    model : estimator object
        Fitted.
    X : array-like
        All test rows of the fold.
    output : Output
        Gets the predictions as 8-byte numbers, row by row, unless they are not needed or the model
        fails.
    """
    output.predictions, output.are_decisions = None, False
    if context.kept is None:
        return
    places: Any = context.kept[fold]
    with suppress(Exception):  # a model may have a score even if its average has none
        X = X if len(places) == num_samples(X) else safe_indexing(X, places)
        if not is_classifier(context.estimator):
            given = to_numpy(model.predict(X)).reshape(len(places), -1)
        else:
            output.are_decisions = not hasattr(model, "predict_proba")
            of = decisions_of if output.are_decisions else shares_of
            given = np.hstack(of(model, X, as_classes(context.classes)))
        if len(given) == len(places) and not np.isnan(given).any():
            output.predictions = given.astype(NUMBER).tobytes()


def read_predictions(context: Context, fold: int, content: bytes) -> np.ndarray:
    """Read the output of `keep_predictions`, an array of shape (n_kept, n_columns)."""
    n_rows = len((context.kept or [])[fold])
    return np.frombuffer(content, dtype=NUMBER).reshape(n_rows, -1).astype(np.float64)


def weights_of(context: Context, rows: np.ndarray) -> np.ndarray:
    """Return the weights in ``fit`` of the model, which have the mean 1 over all rows.

    1 for each row if there are none.
    """
    params = context.fit_params
    if not named_of(context.estimator):  # a list has the same weights for all models
        params = params_of_last_step(context.estimator, params)
    n, given = num_samples(context.X), params.get("sample_weight")
    if given is not None:
        weights = np.maximum(to_numpy(given).astype(float), 0.0)
        if weights.shape == (n,) and weights.any():
            return weights[to_numpy(rows)] * (n / weights.sum())
    return np.ones(len(rows))


def shares_of(model: Any, X: Samples, classes: Classes) -> list[np.ndarray]:
    """Return probabilities of classes, or a one-hot vote if a model has no probabilities.

    Parameters
    ----------
    model : estimator object
        A fitted classifier.
    X : array-like
        Rows.
    classes : list of ndarray
        Labels of each column of the target, ascending.

    Returns
    -------
    shares : list of ndarray of shape (n_rows, n_classes)
        For each column of the target; 0 for a class that the model has not seen.

    Raises
    ------
    ValueError
        If its probabilities do not match the classes.
    """
    if not hasattr(model, "predict_proba"):
        labels = to_numpy(model.predict(X))
        columns = labels.reshape(len(labels), -1).T
        return [_votes(*each) for each in zip(columns, classes, strict=True)]
    given = model.predict_proba(X)
    if len(classes) == 1:
        given, seen = (given[0] if isinstance(given, list) else given), model.classes_
        return [columns_of(given, seen[0] if isinstance(seen, list) else seen, classes[0], 0.0)]
    if not isinstance(given, list):  # for several binary labels: probabilities of 1
        if any(list(known) != [0, 1] for known in classes):
            raise ValueError("probabilities of columns other than 0 and 1 have no labels")
        return [np.column_stack([1 - p, p]) for p in to_numpy(given).T]
    parts = zip(given, model.classes_, classes, strict=True)
    return [columns_of(*part, 0.0) for part in parts]


def best_method_of(model: Any) -> str:
    """Return the most informative method of a classifier."""
    methods = ("predict_proba", "decision_function")
    return next((name for name in methods if hasattr(model, name)), "predict")


def decisions_of(model: Any, X: Samples, classes: Classes) -> list[np.ndarray]:
    """Return decision values of classes; a one-hot vote if a model has none.

    Parameters
    ----------
    model : estimator object
        A fitted classifier.
    X : array-like
        Rows.
    classes : list of ndarray
        Labels of each column of the target, ascending.

    Returns
    -------
    decisions : list of ndarray of shape (n_rows, n_classes)
        For each column of the target; -inf for a class that the model has not seen.
    """
    if len(classes) == 1 and hasattr(model, "decision_function"):
        given, seen = to_numpy(model.decision_function(X)), to_numpy(model.classes_)
        if given.ndim == 1 and len(seen) == 2:
            return [columns_of(np.column_stack([-given, given]), seen, classes[0], -np.inf)]
        # With a column for each pair of classes, the largest one does not indicate the label.
        if given.shape == (len(given), len(seen)):
            is_own = seen[given.argmax(axis=1)] == to_numpy(model.predict(X))
            if is_own.mean() > MOSTLY:
                return [columns_of(given, seen, classes[0], -np.inf)]
    labels = to_numpy(model.predict(X))
    columns = labels.reshape(len(labels), -1).T
    return [_votes(*each) for each in zip(columns, classes, strict=True)]


def columns_of(given: Sized, seen: ArrayLike, classes: np.ndarray, lowest: float) -> np.ndarray:
    """Predictions with a column for every class, including classes unknown to the model."""
    whole = np.full((len(given), len(classes)), lowest)
    whole[:, np.searchsorted(classes, to_numpy(seen))] = to_numpy(given)
    return whole


def split_columns(predictions: np.ndarray, classes: Classes) -> list[np.ndarray]:
    """Split predictions by column of the target."""
    return np.split(predictions, np.cumsum([len(known) for known in classes])[:-1], axis=1)


def labels_of(shares: Sequence[np.ndarray], classes: Classes) -> np.ndarray:
    """Return the class with the largest share for each row; the first one wins ties."""
    found = [known[part.argmax(axis=1)] for part, known in zip(shares, classes, strict=True)]
    return found[0] if len(found) == 1 else np.column_stack(found)


def logarithms(shares: Any) -> Any:
    """Return finite logarithms of probabilities, by column of the target if there are several."""
    if isinstance(shares, list):
        return [logarithms(each) for each in shares]
    return np.log(np.maximum(shares, WITHIN[0]))


def _votes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    return np.eye(len(classes))[np.searchsorted(classes, labels)]
