"""Calibration of probabilities by predictions for the test folds, without extra fits.

A model without probabilities gets a map of its decision values: a sigmoid for two classes, as in
``CalibratedClassifierCV(ensemble=False)``, and a softmax for more. A sigmoid for each of several
classes has larger log losses, because the classes are not compared. Overconfident and
underconfident probabilities are corrected by the map with the least log loss on folds that it was
not fitted on, see `best_map`.

=======  ======================================================================================
d        decision values of a class, or votes, shape (n,); -inf for a class that was not seen
t        whether rows are of the class, smoothed as in [1]_
a, b     of the sigmoid 1 / (1 + exp(-(a d + b))), of softmax(a d + b), with one of each for a
         class, and of softmax(a log p + b), where 1 / a is the temperature [2]_
p        probabilities, shape (n, n_classes)
k        place of the class of each row, shape (n,)
w        weights of rows in ``fit``, shape (n,); 1 for all if there are none
=======  ======================================================================================

.. [1] J. Platt, Probabilistic outputs for support vector machines and comparisons to regularized
   likelihood methods, Advances in Large Margin Classifiers, 1999.
.. [2] C. Guo et al., On calibration of modern neural networks, ICML 2017.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.utils import get_tags

from sksearch._utils._compat import to_numpy
from sksearch._utils._numerics import own_numerics
from sksearch._utils._typing import Samples
from sksearch.fitting.run._predictions import (
    Classes,
    decisions_of,
    logarithms,
    shares_of,
    split_columns,
)

N_STEPS = 50  # maximum steps of Newton's method, which needs about eight
N_PIECES = 5  # parts of the rows of one fold, each calibrated by the others
FEWEST = 2  # rows of each class in the other pieces, below which all rows are taken
LOG_SLOPES = -7.0, 7.0  # bounds of log(a) for scaled decision values
SD_OF_SHIFTS = 3.0  # of the prior of b, which contains the logarithms of the classes' frequencies
FARTHEST = 100.0  # scaled decision values beyond it count as this one
FLAT = 1e-9  # added to the curvature: if all d are equal, a is not determined
SMALLEST = np.finfo(float).eps  # as in scikit-learn's log loss
TINY = 1e-9  # a probability whose logarithm is finite
FEWEST_FOR_STEPS = 1_000  # rows, below which isotonic regression overfits


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
    def fit(
        cls, d: np.ndarray, positive: np.ndarray, weights: np.ndarray | None = None
    ) -> "Sigmoid":
        """Fit it by maximum likelihood ([1]_, section 2.2; t keeps a finite)."""
        known = np.isfinite(d)
        d, positive, w = d[known], positive[known], _given(weights, len(d))[known]
        n, n_other = w[positive].sum(), w[~positive].sum()
        t = np.where(positive, (n + 1) / (n + 2), 1 / (n_other + 2))
        scale = np.abs(d).max(initial=0.0) or 1.0  # steps must not depend on the unit of d
        x = np.column_stack([d / scale, np.ones(len(d))])
        ab = np.array([0.0, np.log((n + 1) / (n_other + 1))])
        loss = _loss(x @ ab, t, w)
        for _ in range(N_STEPS):
            p = expit(x @ ab)
            curvature = (x * (w * p * (1 - p))[:, np.newaxis]).T @ x + FLAT * np.eye(2)
            step = np.linalg.solve(curvature, x.T @ (w * (t - p)))
            while (new := _loss(x @ (ab + step), t, w)) > loss and np.abs(step).max() > FLAT:
                step /= 2  # far from the optimum a whole step may lead away
            if loss - new <= FLAT * len(t):
                break
            ab, loss = ab + step, new
        return cls(float(ab[0] / scale), float(ab[1]))

    @own_numerics()
    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        """Return probabilities of both classes, from decision values of both; 0 for -inf."""
        d = decisions[:, 1]
        p = np.where(np.isneginf(d), 0.0, expit(self.a * np.where(np.isfinite(d), d, 0) + self.b))
        return np.column_stack([1 - p, p])


def _loss(z: np.ndarray, t: np.ndarray, w: np.ndarray) -> float:
    """Log loss of sigmoid(z), summed."""
    return float(np.sum(w * (np.logaddexp(0, z) - t * z)))


def _given(weights: np.ndarray | None, n: int) -> np.ndarray:
    """Return weights, or ones."""
    return np.ones(n) if weights is None else weights


@dataclass(frozen=True)
class SoftmaxOfDecisions:
    """A map from decision values of several classes to their probabilities.

    Decision values of each class are centred by their median, and divided by a common scale.

    Parameters
    ----------
    centre : ndarray of shape (n_classes,)
        Medians.
    scale : float
        Median distance from the medians.
    a, b : ndarray of shape (n_classes,)
        Slopes and intercepts.
    """

    centre: np.ndarray
    scale: float
    a: np.ndarray
    b: np.ndarray

    @classmethod
    @own_numerics()
    def fit(
        cls, d: np.ndarray, k: np.ndarray, weights: np.ndarray | None = None
    ) -> "SoftmaxOfDecisions":
        """Fit a common slope, slopes relative to it, and intercepts.

        The relative slopes have a normal prior with mean 1 and standard deviation 1, and the
        intercepts have one with mean 0 and `SD_OF_SHIFTS`. One row spread over all classes is
        added, so that the common slope is finite.
        """
        n, n_classes = d.shape
        finite = np.ma.masked_invalid(d)
        centre = np.ma.median(finite, axis=0).filled(0.0)
        distances = np.abs(finite - centre).compressed()
        distances = distances[distances > 0]
        scale = float(np.median(distances)) if len(distances) else 1.0
        made = cls(centre, scale, np.ones(n_classes), np.zeros(n_classes))
        x, known = made._scaled(d)
        own = (np.eye(n_classes)[k] + 1 / (n * n_classes)) / (1 + 1 / n)
        own = np.where(known, own, 0.0) * _given(weights, n)[:, np.newaxis]
        spread = np.hstack([np.inf, np.ones(n_classes), np.full(n_classes, SD_OF_SHIFTS)])

        def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
            common, of_classes, b = np.exp(w[0]), w[1 : 1 + n_classes], w[1 + n_classes :]
            z = np.where(known, common * (1 + of_classes) * x + b, -np.inf)
            logs = np.where(known, log_softmax(z, axis=1), 0.0)
            rest = np.where(known, np.exp(logs), 0.0) * own.sum(axis=1, keepdims=True) - own
            by_slope = np.sum(rest * x, axis=0) * common
            slope = np.hstack([by_slope @ (1 + of_classes), by_slope, rest.sum(axis=0)])
            prior = w / spread**2
            return prior @ w / 2 - np.sum(own * logs), slope + prior

        start = np.zeros(1 + 2 * n_classes)
        bounds = [LOG_SLOPES, *[(None, None)] * (2 * n_classes)]
        w = minimize(loss, start, method="L-BFGS-B", jac=True, bounds=bounds).x
        a, b = np.exp(w[0]) * (1 + w[1 : 1 + n_classes]), w[1 + n_classes :]
        return replace(made, a=a, b=b)

    def _scaled(self, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return scaled decision values, and whether a class was seen: -inf if it was not."""
        x = np.clip((d - self.centre) / self.scale, -FARTHEST, FARTHEST)
        known = ~np.isneginf(d)
        return np.where(known, np.nan_to_num(x), 0.0), known

    @own_numerics()
    def __call__(self, decisions: np.ndarray) -> np.ndarray:
        """Return probabilities; 0 for -inf, and equal ones if there is nothing else."""
        x, known = self._scaled(decisions)
        nothing = ~known.any(axis=1, keepdims=True)
        return softmax(np.where(known, self.a * x + self.b, np.where(nothing, 0, -np.inf)), axis=1)


#: Maps by column of the target.
Maps = list[Sigmoid | SoftmaxOfDecisions]


def fit_maps(
    decisions: np.ndarray, y: np.ndarray, classes: Classes, weights: np.ndarray | None = None
) -> Maps:
    """Fit maps from decision values to probabilities.

    Parameters
    ----------
    decisions : ndarray of shape (n_rows, n_all_classes)
        Decision values of each column of the target, side by side.
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels.
    classes : list of ndarray
        Labels of each column of the target, ascending.
    weights : ndarray of shape (n_rows,) or None, default=None
        Weights of the rows in ``fit``.

    Returns
    -------
    maps : list of Sigmoid or SoftmaxOfDecisions
        Maps by column of the target.
    """
    maps: Maps = []
    columns = zip(y.reshape(len(decisions), -1).T, split_columns(decisions, classes), strict=True)
    for (labels, d), known in zip(columns, classes, strict=True):
        if len(known) == 2:
            maps.append(Sigmoid.fit(d[:, 1], labels == known[1], weights))
        else:
            maps.append(SoftmaxOfDecisions.fit(d, np.searchsorted(known, labels), weights))
    return maps


def mapped(decisions: np.ndarray, maps: Maps, classes: Classes) -> np.ndarray:
    """Return probabilities, shape (n_rows, n_all_classes), summing to 1 per target column."""
    pairs = zip(maps, split_columns(decisions, classes), strict=True)
    return np.hstack([one(d) for one, d in pairs])


def cross_mapped(
    decisions: Sequence[np.ndarray],
    y: Sequence[Any],
    weights: Sequence[np.ndarray],
    *,
    classes: Classes,
) -> list:
    """Return probabilities part by part, each by maps fitted on the other parts.

    Parameters
    ----------
    decisions : sequence of ndarray of shape (n_rows, n_all_classes)
        Decision values by part of the rows.
    y : sequence of ndarray
        Their labels.
    weights : sequence of ndarray
        Their weights in ``fit``.
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
        if not _are_enough([y[i][weights[i] > 0] for i in others], classes):
            others = [*range(len(decisions))]
        maps = fit_maps(
            np.vstack([decisions[i] for i in others]),
            np.concatenate([y[i] for i in others]),
            classes,
            np.concatenate([weights[i] for i in others]),
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


# ---- maps from probabilities to better ones


@dataclass(frozen=True)
class Softmax:
    """softmax(a log p + b): less confident for a < 1, more confident for a > 1.

    Parameters
    ----------
    a : float
        Inverse of the temperature.
    b : ndarray of shape (n_classes,) or float
        Intercepts.
    floor : float
        Lower bound of p: about 1 / n, because n rows contain no information about smaller values,
        or `TINY` if their order is informative.
    """

    a: float
    b: Any
    floor: float

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """Map probabilities."""
        return softmax(self.a * np.log(np.maximum(p, self.floor)) + self.b, axis=1)

    @classmethod
    def fit(cls, p: np.ndarray, k: np.ndarray, w: np.ndarray, shifts: bool) -> "Softmax":
        """Fit it, with intercepts if it `shifts`.

        log a and b have a standard normal prior: they stay finite if all rows are predicted well.
        """
        n, n_classes = p.shape
        own = np.eye(n_classes)[k] * w[:, np.newaxis]
        found = []
        for floor in (1 / (n + n_classes), TINY):

            def loss(ab: np.ndarray, z: np.ndarray) -> tuple[float, np.ndarray]:
                logs = log_softmax(np.exp(ab[0]) * z + ab[1:], axis=1)
                rest = np.exp(logs) * w[:, np.newaxis] - own
                of_b = rest.sum(axis=0) if shifts else np.zeros(n_classes)
                slope = np.hstack([np.exp(ab[0]) * np.sum(rest * z), of_b])
                return ab @ ab / 2 - np.sum(logs * own), slope + ab

            z = np.log(np.maximum(p, floor))
            best = minimize(loss, np.zeros(1 + n_classes), (z,), "L-BFGS-B", jac=True)
            found.append((best.fun, floor, best.x))
        _, floor, ab = min(found, key=lambda each: each[0])
        return cls(float(np.exp(ab[0])), ab[1:] if shifts else 0.0, floor)


@dataclass(frozen=True)
class Steps:
    """Isotonic regression for each class, or for the second of two classes.

    Parameters
    ----------
    of_classes : list of IsotonicRegression
        Fitted.
    floor : float
        Lower bound of probabilities.
    """

    of_classes: list
    floor: float

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """Map probabilities."""
        given = p[:, 1:] if len(self.of_classes) == 1 else p
        found = np.column_stack(
            [f.predict(x) for f, x in zip(self.of_classes, given.T, strict=True)]
        )
        if len(self.of_classes) == 1:
            found = np.hstack([1 - found, found])
        found = np.maximum(found, self.floor)
        return found / found.sum(axis=1, keepdims=True)

    @classmethod
    def fit(cls, p: np.ndarray, k: np.ndarray, w: np.ndarray) -> "Steps":
        """Fit it."""
        n, n_classes = p.shape
        which = [1] if n_classes == 2 else range(n_classes)
        make = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        of_classes = [clone(make).fit(p[:, j], k == j, w) for j in which]
        return cls(of_classes, 1 / (n + n_classes))


#: Maps by name, in the order of their freedom.
MAPS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Any]] = {
    "a temperature": lambda p, k, w: Softmax.fit(p, k, w, shifts=False),
    "a sigmoid": lambda p, k, w: Softmax.fit(p, k, w, shifts=True),
    "isotonic regression": Steps.fit,
}


@dataclass(frozen=True)
class BestMap:
    """The map of probabilities chosen on the folds.

    Parameters
    ----------
    name : str
        One of `MAPS`; "" if the uncalibrated probabilities are better than all maps.
    map : callable or None
        Fitted on all folds.
    before, after : float
        Cross-validated log loss before and after the map.
    """

    name: str
    map: Any
    before: float
    after: float


@own_numerics()
def best_map(
    shares: Sequence[np.ndarray],
    y: Sequence[np.ndarray],
    known: np.ndarray,
    weights: Sequence[np.ndarray],
) -> BestMap:
    """Choose the map with the least log loss on folds that it was not fitted on.

    Parameters
    ----------
    shares : sequence of ndarray of shape (n_rows, n_classes)
        Probabilities for the test rows of each fold.
    y : sequence of ndarray of shape (n_rows,)
        Labels of these rows.
    known : ndarray of shape (n_classes,)
        All labels, ascending.
    weights : sequence of ndarray of shape (n_rows,)
        Weights of these rows in ``fit``.

    Returns
    -------
    best : BestMap
        None of the maps, if no map reduces the log loss.
    """
    codes = [np.searchsorted(known, labels) for labels in y]
    parts: list[tuple[np.ndarray, ...]] = [*zip(shares, codes, weights, strict=True)]
    if len(parts) == 1:
        n = min(N_PIECES, len(codes[0]))
        parts = [tuple(each[i::n] for each in parts[0]) for i in range(n)]
    whole = _joined(parts)
    before = _log_loss(*whole)
    losses = {"": before}
    for name, fit in MAPS.items():
        if len(parts) < 2 or (fit == Steps.fit and len(whole[0]) < FEWEST_FOR_STEPS):
            continue
        mapped_parts = []
        for i, (p, *_) in enumerate(parts):
            one = fit(*_joined([each for j, each in enumerate(parts) if j != i]))
            mapped_parts.append(one(p))
        losses[name] = _log_loss(np.vstack(mapped_parts), *whole[1:])
    name = min(losses, key=losses.__getitem__)
    return BestMap(name, MAPS[name](*whole) if name else None, before, losses[name])


def _joined(parts: Sequence[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Return p, k and w of several parts of the rows."""
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def _log_loss(p: np.ndarray, k: np.ndarray, w: np.ndarray) -> float:
    own = p[np.arange(len(k)), k] / p.sum(axis=1)
    return float(-np.sum(w * np.log(np.maximum(own, SMALLEST))) / (np.sum(w) or 1.0))


# ---- models with such maps


class Calibrated(BaseEstimator):
    """A fitted classifier with maps from its predictions to probabilities.

    All methods and attributes except those of probabilities are the model's own.

    Parameters
    ----------
    model : estimator object
        A classifier.
    maps : list of Sigmoid or SoftmaxOfDecisions, or None
        A map for each column of the target, for a model without probabilities.
    classes : list of ndarray
        Labels of each column of the target.
    last : callable or None, default=None
        A map of the probabilities of one target column.
    """

    def __init__(self, model: Any, maps: Maps | None, classes: Classes, last: Any = None) -> None:
        self.model = model
        self.maps = maps
        self.classes = classes
        self.last = last

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in vars(self):
            raise AttributeError(name)
        return getattr(self.model, name)

    def __getitem__(self, which: Any) -> Any:
        return self.model[which]

    @property
    def classes_(self) -> Any:
        """Labels, a list of arrays if the target has several columns."""
        return self.classes if len(self.classes) > 1 else self.classes[0]

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.model)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the model without changing the maps.

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
        if self.maps is None:
            shares = np.hstack(shares_of(self.model, X, self.classes))
        else:
            decisions = np.hstack(decisions_of(self.model, X, self.classes))
            shares = mapped(decisions, self.maps, self.classes)
        if self.last is not None:
            shares = self.last(shares)
        return shares if len(self.classes) == 1 else split_columns(shares, self.classes)

    def predict_log_proba(self, X: Any) -> Any:
        """Return logarithms of the probabilities.

        Parameters
        ----------
        X : array-like
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_rows, n_classes), or list of ndarray
            Finite.
        """
        return logarithms(self.predict_proba(X))


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
    def of(
        cls, model: Any, X: Samples, y: Any, classes: Classes, weights: np.ndarray
    ) -> "CalibratedOnFold":
        """Calibrate a fitted model on the rows of a fold.

        Parameters
        ----------
        model : estimator object
            A fitted classifier.
        X, y : array-like
            The test rows.
        classes : list of ndarray
            Labels of each column of the target.
        weights : ndarray of shape (n_rows,)
            Weights of the rows in ``fit``.

        Returns
        -------
        model : CalibratedOnFold
            With probabilities.
        """
        labels, d = to_numpy(y), np.hstack(decisions_of(model, X, classes))
        made = cls(model, fit_maps(d, labels, classes, weights), classes)
        order = np.lexsort(labels.reshape(len(labels), -1).T)  # each piece has all classes
        pieces = [np.sort(order[k::N_PIECES]) for k in range(min(N_PIECES, len(order)))]
        divided = [[each[i] for i in pieces] for each in (d, labels, weights)]
        parts = cross_mapped(*divided, classes=classes)
        shares = np.empty_like(d)
        for piece, part in zip(pieces, parts, strict=True):
            shares[piece] = part
        made.rows, made.shares = X, shares
        return made
