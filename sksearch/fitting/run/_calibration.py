"""Calibrated probabilities for models without any, from predictions for unseen rows.

A sigmoid for each class maps decision values to probabilities, as
``CalibratedClassifierCV(ensemble=False)`` does: it is fitted once, on the predictions for the test
folds, so it needs no extra model fits.

=======  ======================================================================================
d        decision values of a class, or votes, shape (n,); -inf for a class that was not seen
t        whether rows are of the class, smoothed as in [1]_
a, b     of the sigmoid 1 / (1 + exp(-(a d + b)))
=======  ======================================================================================

.. [1] J. Platt, Probabilistic outputs for support vector machines and comparisons to regularized
   likelihood methods, Advances in Large Margin Classifiers, 1999.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags

from sksearch._utils._compat import to_numpy
from sksearch._utils._numerics import own_numerics
from sksearch._utils._typing import Samples
from sksearch.fitting.run._predictions import Classes, decisions_of

N_STEPS = 50  # of Newton's method, which needs about eight
N_PIECES = 5  # of the rows of one fold, each calibrated by the others
FEWEST = 2  # rows of each class in the other pieces, below which all rows are taken
FLAT = 1e-9  # added to the curvature: if all d are equal, a is not determined


@dataclass(frozen=True)
class Sigmoid:
    """A map from decision values to probabilities.

    Parameters
    ----------
    a, b : float
        Slope and intercept.
    """

    a: float
    b: float

    @classmethod
    @own_numerics()
    def fit(cls, d: np.ndarray, positive: np.ndarray) -> "Sigmoid":
        """Fit it by maximum likelihood ([1]_, section 2.2; t keeps a finite)."""
        known = np.isfinite(d)
        d, positive = d[known], positive[known]
        n, n_other = np.count_nonzero(positive), np.count_nonzero(~positive)
        t = np.where(positive, (n + 1) / (n + 2), 1 / (n_other + 2))
        scale = np.abs(d).max(initial=0.0) or 1.0  # steps must not depend on the unit of d
        x = np.column_stack([d / scale, np.ones(len(d))])
        w = np.array([0.0, np.log((n + 1) / (n_other + 1))])
        loss = _loss(x @ w, t)
        for _ in range(N_STEPS):
            p = expit(x @ w)
            curvature = (x * (p * (1 - p))[:, np.newaxis]).T @ x + FLAT * np.eye(2)
            step = np.linalg.solve(curvature, x.T @ (t - p))
            while (new := _loss(x @ (w + step), t)) > loss and np.abs(step).max() > FLAT:
                step /= 2  # far from the optimum a whole step may lead away
            if loss - new <= FLAT * len(t):
                break
            w, loss = w + step, new
        return cls(float(w[0] / scale), float(w[1]))

    @own_numerics()
    def __call__(self, d: np.ndarray) -> np.ndarray:
        """Return probabilities; 0 for -inf."""
        return np.where(
            np.isneginf(d), 0.0, expit(self.a * np.where(np.isfinite(d), d, 0) + self.b)
        )


def _loss(z: np.ndarray, t: np.ndarray) -> float:
    """Log loss of sigmoid(z), summed."""
    return float(np.sum(np.logaddexp(0, z) - t * z))


#: Maps by column of the target, one per class; for two classes only the second's.
Maps = list[list[Sigmoid]]


def fit_maps(decisions: np.ndarray, y: np.ndarray, classes: Classes) -> Maps:
    """Fit maps from decision values to probabilities.

    Parameters
    ----------
    decisions : ndarray of shape (n_rows, n_all_classes)
        Decision values of each column of the target, side by side.
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels.
    classes : list of ndarray
        Labels of each column of the target, ascending.

    Returns
    -------
    maps : list of list of Sigmoid
        Maps by column of the target.
    """
    labels, maps, start = y.reshape(len(decisions), -1).T, [], 0
    for column, known in zip(labels, classes, strict=True):
        which = range(1, 2) if len(known) == 2 else range(len(known))
        d = decisions[:, start : start + len(known)]
        maps.append([Sigmoid.fit(d[:, k], column == known[k]) for k in which])
        start += len(known)
    return maps


def mapped(decisions: np.ndarray, maps: Maps, classes: Classes) -> np.ndarray:
    """Return probabilities, shape (n_rows, n_all_classes), summing to 1 per target column."""
    found, start = [], 0
    for column, known in zip(maps, classes, strict=True):
        d = decisions[:, start : start + len(known)]
        start += len(known)
        if len(known) == 2:
            p = column[0](d[:, 1])
            found.append(np.column_stack([1 - p, p]))
            continue
        p = np.column_stack([one(d[:, k]) for k, one in enumerate(column)])
        total = p.sum(axis=1, keepdims=True)
        found.append(np.where(total > 0, p / np.where(total > 0, total, 1), 1 / len(known)))
    return np.hstack(found)


def cross_mapped(decisions: Sequence[np.ndarray], y: Sequence[Any], classes: Classes) -> list:
    """Return probabilities part by part, each by maps fitted on the other parts.

    Parameters
    ----------
    decisions : sequence of ndarray of shape (n_rows, n_all_classes)
        Decision values by part of the rows.
    y : sequence of ndarray
        Their labels.
    classes : list of ndarray
        Labels of each column of the target.

    Returns
    -------
    shares : list of ndarray
        Shares by part.
    """
    found = []
    for k, part in enumerate(decisions):
        others = [i for i in range(len(decisions)) if i != k]
        if not _are_enough([y[i] for i in others], classes):
            others = [*range(len(decisions))]
        maps = fit_maps(
            np.vstack([decisions[i] for i in others]),
            np.concatenate([y[i] for i in others]),
            classes,
        )
        found.append(mapped(part, maps, classes))
    return found


def _are_enough(y: Sequence[np.ndarray], classes: Classes) -> bool:
    """True if each class has the rows that its map needs."""
    if not y:
        return False
    labels = np.concatenate(y)
    columns = zip(labels.reshape(len(labels), -1).T, classes, strict=True)
    return all(np.count_nonzero(c == k) >= FEWEST for c, known in columns for k in known)


class Calibrated(ClassifierMixin, BaseEstimator):
    """A fitted classifier without probabilities, and maps that derive them from its predictions.

    All methods and attributes except ``predict_proba`` are the model's own.

    Parameters
    ----------
    model : estimator object
        A classifier.
    maps : list of list of Sigmoid
        A map for each class, by column of the target.
    classes : list of ndarray
        Labels of each column of the target.
    """

    def __init__(self, model: Any, maps: Maps, classes: Classes) -> None:
        self.model = model
        self.maps = maps
        self.classes = classes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in vars(self):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __getitem__(self, which: Any) -> Any:
        return self.model[which]

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.model)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the model; the maps stay.

        Parameters
        ----------
        X, y : array-like
            Training data.
        **params : dict
            For ``fit`` of the model.

        Returns
        -------
        self : Calibrated
            Itself.
        """
        self.model.fit(X, y, **params)
        return self

    def predict(self, X: Any) -> Any:
        """Return the labels that the model predicts.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        y : ndarray
            Labels.
        """
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return probabilities of the classes.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes), or list of ndarray
            A list if the target has several columns.
        """
        decisions = np.hstack(decisions_of(self.model, X, self.classes))
        shares = mapped(decisions, self.maps, self.classes)
        sizes = np.cumsum([len(known) for known in self.classes])[:-1]
        return shares if len(self.classes) == 1 else np.split(shares, sizes, axis=1)


class CalibratedOnFold(Calibrated):
    """A model for a scorer on a test fold, calibrated on the fold's rows.

    Each row of the fold is calibrated by the other rows: a map fitted to a row would be optimistic
    for it.
    """

    def predict_proba(self, X: Any) -> Any:
        """Return probabilities of the classes.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
            In the order of the classes.
        """
        return self.shares if X is self.rows else super().predict_proba(X)

    @classmethod
    def of(cls, model: Any, X: Samples, y: Any, classes: Classes) -> "CalibratedOnFold":
        """Calibrate a fitted model on the rows of a fold.

        Parameters
        ----------
        model : estimator object
            A fitted classifier.
        X, y : array-like
            The test rows.
        classes : list of ndarray
            Labels of each column of the target.

        Returns
        -------
        model : CalibratedOnFold
            With probabilities.
        """
        labels, d = to_numpy(y), np.hstack(decisions_of(model, X, classes))
        made = cls(model, fit_maps(d, labels, classes), classes)
        order = np.lexsort(labels.reshape(len(labels), -1).T)  # each piece has all classes
        pieces = [np.sort(order[k::N_PIECES]) for k in range(min(N_PIECES, len(order)))]
        parts = cross_mapped([d[i] for i in pieces], [labels[i] for i in pieces], classes)
        shares = np.empty_like(d)
        for piece, part in zip(pieces, parts, strict=True):
            shares[piece] = part
        made.rows, made.shares = X, shares
        return made
