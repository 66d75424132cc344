"""Training of the last step of a pipeline whose transformers are fitted once."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.pipeline import Pipeline

from sksearch._compat import consumed_params
from sksearch.base import State

ROUNDING = 1e-4  # relative; in single precision PCA's two ways differ by up to 1e-5


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, also of a nested one, or the estimator itself."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def replace_last_step(estimator: Any, last: Any) -> Any:
    """Put `last` in the place of ``last_step(estimator)`` and return the whole estimator."""
    if not isinstance(estimator, Pipeline):
        return last
    name, step = estimator.steps[-1]
    estimator.steps[-1] = (name, replace_last_step(step, last))
    return estimator


def enter(state: State, X: Any, y: Any, fit_params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Transform the rows for the last step of a pipeline; the first time, fit its transformers.

    Parameters
    ----------
    state : State
        Its pipeline is fitted if ``state.n_steps > 0``. Transformers are fitted in place.
    X, y : array-like
        The training rows.
    fit_params : dict
        Further arguments of ``fit`` of the whole pipeline.

    Returns
    -------
    X : array-like
        The rows that the last step is trained on, the same at each call.
    fit_params : dict
        The arguments that are for the last step.
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
            Xt = again  # what later rungs will see, to the last bit
    return Xt, fit_params


def _transforms_as_fitted(step: tuple[str, Any]) -> bool:
    """Whether ``fit_transform`` is by definition the same as ``fit().transform()``."""
    own = getattr(type(step[1]), "fit_transform", TransformerMixin.fit_transform)
    return step[1] in (None, "passthrough") or own is TransformerMixin.fit_transform


def _transform(estimator: Any, X: Any) -> Any:
    """Transform rows for the last step; step by step, since stateless steps never look fitted."""
    while isinstance(estimator, Pipeline):
        for _, step in estimator.steps[:-1]:
            if step not in (None, "passthrough"):
                X = step.transform(X)
        estimator = estimator.steps[-1][1]
    return X


def _alike(a: Any, b: Any) -> bool:
    """Whether two matrices or tables are equal but for rounding; False where it is not known."""
    if sparse.issparse(a) and sparse.issparse(b):
        return a.shape == b.shape and abs(a - b).max() <= ROUNDING * abs(a).max()
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype.kind != "f" or b.dtype.kind != "f":
            return np.array_equal(a, b)
        scale = np.max(np.abs(a), initial=0, where=np.isfinite(a))
        return a.shape == b.shape and np.allclose(a, b, 0, ROUNDING * scale, equal_nan=True)
    return hasattr(a, "equals") and type(a) is type(b) and bool(a.equals(b))
