"""Training only the last step of a pipeline, its transformers fitted once."""

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.pipeline import Pipeline

from sksearch._compat import consumed_params

ROUNDING = 1e-4  # relative; in single precision PCA's two ways differ by up to 1e-5


def last_step(estimator):
    """The estimator that learns: the last step of a pipeline, however deep, or the estimator."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def replace_last_step(estimator, last):
    """Put `last` in the place of `last_step(estimator)` and return the whole."""
    if not isinstance(estimator, Pipeline):
        return last
    name, step = estimator.steps[-1]
    estimator.steps[-1] = (name, replace_last_step(step, last))
    return estimator


def enter(state, X, y, fit_params):
    """Pass the rows through the transformers of a state's pipeline, fitting them the first time.

    Parameters
    ----------
    state : State
        With a fitted pipeline if ``state.n_steps > 0``. Its transformers are fitted in place.
    X, y : array-like
        The training rows.
    fit_params : dict
        As given to ``fit`` of the whole pipeline.

    Returns
    -------
    X : array-like
        What the last step is trained on, the same at each call.
    fit_params : dict
        Those that are the last step's.
    """
    if not isinstance(state.estimator, Pipeline):
        return X, fit_params
    first = state.n_steps == 0
    Xt, faithful, estimator = X, True, state.estimator
    while isinstance(estimator, Pipeline):
        # A slice shares the steps, and with memory= holds the fitted copies after a fit.
        head = estimator[:-1]
        head_params, fit_params = consumed_params(estimator, fit_params)
        if head.steps and first:
            Xt = head.fit_transform(Xt, y, **head_params)
            estimator.steps[:-1] = head.steps
            faithful = faithful and all(map(_transforms_as_fitted, head.steps))
        estimator = estimator.steps[-1][1]
    if not first:
        return (_transform(state.estimator, X) if state.rows is None else state.rows), fit_params
    if not faithful:
        again = _transform(state.estimator, X)
        if not _alike(Xt, again):
            state.rows = Xt  # such as TargetEncoder's, which are cross-fitted
        else:
            Xt = again  # to the last bit what later rungs will see
    return Xt, fit_params


def _transforms_as_fitted(step):
    """Whether ``fit_transform`` is ``fit().transform()`` by construction."""
    own = getattr(type(step[1]), "fit_transform", TransformerMixin.fit_transform)
    return step[1] in (None, "passthrough") or own is TransformerMixin.fit_transform


def _transform(estimator, X):
    """What reaches the last step; step by step, since stateless ones never look fitted."""
    while isinstance(estimator, Pipeline):
        for _, step in estimator.steps[:-1]:
            if step not in (None, "passthrough"):
                X = step.transform(X)
        estimator = estimator.steps[-1][1]
    return X


def _alike(a, b):
    """Whether two containers are equal but for rounding, as far as we can tell."""
    if sparse.issparse(a) and sparse.issparse(b):
        return a.shape == b.shape and abs(a - b).max() <= ROUNDING * abs(a).max()
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype.kind != "f" or b.dtype.kind != "f":
            return np.array_equal(a, b)
        scale = np.max(np.abs(a), initial=0, where=np.isfinite(a))
        return a.shape == b.shape and np.allclose(a, b, 0, ROUNDING * scale, equal_nan=True)
    return hasattr(a, "equals") and type(a) is type(b) and bool(a.equals(b))
