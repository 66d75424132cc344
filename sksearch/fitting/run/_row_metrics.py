"""A metric as a mean over rows, with the contribution of each.

=======  ======================================================================================
a, b     numbers of a row, shape (n, n_ratios)
R        mean(a) / mean(b), a ratio of means over rows; a metric is one, or a mean of several
c        contributions of rows, shape (n,): their mean is the metric, and if row i counts a little
         more, the metric changes in proportion to c[i] - mean(c)
=======  ======================================================================================

For a ratio, c = R + (a - R b) / mean(b). Areas under a curve have formulas of their own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import metrics

from sksearch._utils._compat import to_numpy
from sksearch._utils._typing import Targets

#: Relative; a metric that differs by more from its formula is another one, by its arguments.
ROUNDING = 1e-6


def raveled(values: Targets) -> np.ndarray:
    """Return true or predicted values as an array; one column is raveled, as metrics do."""
    array = to_numpy(values)
    return array.ravel() if array.ndim == 2 and array.shape[1] == 1 else array


def contributions(
    function: Callable, value: float, y: Targets, predicted: Targets, **kwargs: Any
) -> np.ndarray | None:
    """Return the contributions of rows to a metric.

    Parameters
    ----------
    function : callable
        A scikit-learn metric, or any other.
    value : float
        The return value.
    y, predicted : array-like of shape (n,) or (n, n_outputs)
        Arguments of the call.
    **kwargs : dict
        Further arguments.

    Returns
    -------
    c : ndarray of shape (n,) or None
        Contributions. None if the formula is unknown, or gives another value.
    """
    if function not in FORMULAS:
        return None
    try:
        with np.errstate(all="ignore"):
            c = FORMULAS[function](raveled(y), raveled(predicted), **kwargs)
            # Also converts an array of objects that contains numbers
            c = np.asarray(c, dtype=float)
    except Exception:  # arguments that the formula does not support, labels of two kinds, ...
        return None
    close = abs(c.mean() - value) <= ROUNDING * max(1.0, abs(value))
    return c if close and np.isfinite(c).all() else None


def value_by_formula(function: Callable, y: np.ndarray, predicted: np.ndarray, **kw: Any) -> float:
    """Return a metric for which `contributions` are known; many times as fast as the metric."""
    with np.errstate(all="ignore"):
        c: Any = FORMULAS[function](y, predicted, **kw)
        return float(np.mean(c))


# ---- ratios


def ratios(
    a: np.ndarray,
    b: Any = 1,
    sample_weight: Targets = None,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """Contributions to a mean of ratios; b is 1 for a plain mean, and a ratio without rows 0."""
    a = np.asarray(a, dtype=float).reshape(len(a), -1)
    if np.ndim(b) == 0 and sample_weight is None:
        return a.mean(axis=1)
    b = np.broadcast_to(np.reshape(b, (len(b), -1)) if np.ndim(b) else b, a.shape)
    if sample_weight is not None:
        weight = to_numpy(sample_weight)[:, np.newaxis]
        a, b = a * weight, b * weight
    bottom = b.mean(axis=0)
    ratio = a.mean(axis=0) / bottom
    c = np.where(bottom == 0, 0.0, ratio + (a - ratio * b) / bottom)
    return np.average(c, axis=1, weights=shares)


def _loss(loss: Callable) -> Callable:
    return lambda y, p, **kwargs: ratios(loss(y, p), **kwargs)


def _root(loss: Callable) -> Callable:
    """Contributions to the root of a mean loss; with several outputs, one root each."""

    def formula(y: np.ndarray, p: np.ndarray, **kwargs: Any) -> np.ndarray:
        c = ratios(loss(y, p), **kwargs)
        root = np.sqrt(c.mean())
        return root + (c - c.mean()) / (2 * root)

    return formula


def _squared(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return (y - p) ** 2


def _squared_log(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return (np.log1p(y) - np.log1p(p)) ** 2


def _relative(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.abs(y - p) / np.maximum(np.abs(y), np.finfo(float).eps)


def _is_right(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    right = y == p
    return right if right.ndim == 1 else right.all(axis=1)


def _poisson(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return 2 * (np.where(y > 0, y * np.log(y / p), 0.0) - y + p)


def _gamma(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return 2 * (np.log(p / y) + y / p - 1)


def _r2(y: np.ndarray, p: np.ndarray, **kwargs: Any) -> np.ndarray:
    around = (y - y.mean(axis=0)) ** 2
    return ratios(around - (y - p) ** 2, around, **kwargs)


def _log_loss(
    y: np.ndarray, p: np.ndarray, labels: np.ndarray | None = None, **kwargs: Any
) -> np.ndarray:
    if p.ndim == 1:
        p = np.column_stack([1 - p, p])
    columns = np.searchsorted(np.unique(y if labels is None else labels), y)
    own = p[np.arange(len(y)), columns] / p.sum(axis=1)
    return ratios(-np.log(np.maximum(own, np.finfo(p.dtype).eps)), **kwargs)


def _brier(y: np.ndarray, p: np.ndarray, pos_label: object = None, **kwargs: Any) -> np.ndarray:
    positive = np.unique(y)[-1] if pos_label is None else pos_label
    return ratios((p - (y == positive)) ** 2, **kwargs)


def _balanced(y: np.ndarray, p: np.ndarray, **kwargs: Any) -> np.ndarray:
    is_of = y[:, np.newaxis] == np.unique(y)
    return ratios(is_of & (y == p)[:, np.newaxis], is_of, **kwargs)


def _by_class(top_and_bottom: Callable) -> Callable:
    """Contributions from the numbers of a class: true and predicted, predicted, true."""

    def formula(
        y: np.ndarray, p: np.ndarray, average: str = "binary", pos_label: object = 1, **kwargs: Any
    ) -> np.ndarray:
        labels = np.unique(y) if average == "weighted" else np.union1d(y, p)
        labels = np.array([pos_label]) if average == "binary" else labels
        is_of, said = y[:, np.newaxis] == labels, p[:, np.newaxis] == labels
        a, b = top_and_bottom(1.0 * (is_of & said), 1.0 * said, 1.0 * is_of)
        if average == "micro":
            a, b = a.sum(axis=1), b.sum(axis=1)
        return ratios(a, b, shares=is_of.sum(axis=0) if average == "weighted" else None, **kwargs)

    return formula


# ---- areas


def _roc_auc(
    y: np.ndarray, p: np.ndarray, multi_class: str = "raise", average: str = "macro"
) -> np.ndarray | None:
    """Mean over the classes against the others of the area under their curve."""
    classes = np.unique(y)
    if p.ndim == 1:
        return _area(y == classes[1], p)
    return np.mean([_area(y == k, column) for k, column in zip(classes, p.T, strict=True)], axis=0)


def _area(positive: np.ndarray, p: np.ndarray) -> np.ndarray:
    """For a positive row the share of negative rows below it, and conversely."""
    above, below = np.sort(p[positive]), np.sort(p[~positive])
    share = np.empty(len(p))
    share[positive] = _place(below, p[positive]) / len(below)
    share[~positive] = 1 - _place(above, p[~positive]) / len(above)
    area = share[positive].mean()
    return area + (share - area) * len(p) / np.where(positive, len(above), len(below))


def _place(ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Number of the ordered numbers below each value, equal ones as halves."""
    return (np.searchsorted(ordered, values) + np.searchsorted(ordered, values, "right")) / 2


def _average_precision(y: np.ndarray, p: np.ndarray, pos_label: object = 1) -> np.ndarray:
    """Mean precision at the scores of positive rows; a row also affects the rows below it."""
    positive = y == pos_label
    below = np.sort(p[positive])
    n_above = len(below) - np.searchsorted(below, below)
    n_all = len(p) - np.searchsorted(np.sort(p), below)
    precision = n_above / n_all
    area = precision.mean()
    moved = np.cumsum(np.r_[0, 1 / n_all]), np.cumsum(np.r_[0, precision / n_all])
    at = np.searchsorted(below, p, side="right")
    c = positive * moved[0][at] - moved[1][at]
    c[positive] += precision[np.searchsorted(below, p[positive])] - area
    return area + c * len(p) / len(below)


FORMULAS: dict[Callable, Callable[..., np.ndarray | None]] = {
    metrics.accuracy_score: _loss(_is_right),
    metrics.balanced_accuracy_score: _balanced,
    metrics.precision_score: _by_class(lambda both, said, of: (both, said)),
    metrics.recall_score: _by_class(lambda both, said, of: (both, of)),
    metrics.f1_score: _by_class(lambda both, said, of: (2 * both, said + of)),
    metrics.jaccard_score: _by_class(lambda both, said, of: (both, said + of - both)),
    metrics.roc_auc_score: _roc_auc,
    metrics.average_precision_score: _average_precision,
    metrics.log_loss: _log_loss,
    metrics.brier_score_loss: _brier,
    metrics.r2_score: _r2,
    metrics.mean_squared_error: _loss(_squared),
    metrics.root_mean_squared_error: _root(_squared),
    metrics.mean_absolute_error: _loss(lambda y, p: np.abs(y - p)),
    metrics.mean_absolute_percentage_error: _loss(_relative),
    metrics.mean_squared_log_error: _loss(_squared_log),
    metrics.root_mean_squared_log_error: _root(_squared_log),
    metrics.mean_poisson_deviance: _loss(_poisson),
    metrics.mean_gamma_deviance: _loss(_gamma),
}
