"""Training of the last step of a composition, with transformers fitted only once.

A composition is a pipeline or a TransformedTargetRegressor, possibly nested; the last step is the
model inside all of them.
"""

import copy
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from sksearch._utils._compat import consumed_params, num_samples, routing_enabled
from sksearch._utils._overrides import PREDICTION, TRAINING, overridden
from sksearch.base._state import State

from ._family import class_names

ROUNDING = 1e-4  # relative; in single precision, the two ways of PCA differ by up to 1e-5


def trains_its_steps(estimator: Any) -> bool:
    """Return whether ``fit`` is a pipeline's own, so that its steps may be trained one by one.

    A pipeline whose class overrides training is treated like any other estimator.
    """
    return isinstance(estimator, Pipeline) and not overridden(estimator, TRAINING)


def trains_its_regressor(estimator: Any) -> bool:
    """Return whether a regressor of a transformed target may be trained in place."""
    return (
        "sklearn.TransformedTargetRegressor" in class_names(estimator)
        and hasattr(estimator.regressor, "fit")
        and not overridden(estimator, (*TRAINING, *PREDICTION))
    )


def inner_of(estimator: Any) -> tuple[str, Any] | None:
    """Return the part of a composition that is trained last, and its name; None for others."""
    if trains_its_steps(estimator):
        return estimator.steps[-1]
    return ("regressor", estimator.regressor) if trains_its_regressor(estimator) else None


def compositions(estimator: Any) -> Iterator[Any]:
    """Yield a composition and those nested in it, down to the one that contains the last step."""
    while inner := inner_of(estimator):
        yield estimator
        estimator = inner[1]


def own_rows(estimator: Any, X: Any) -> Any:
    """Return rows for an estimator alone: copies for a composition, which may change them."""
    return X if inner_of(estimator) is None else copied(X)


def copied(X: Any) -> Any:
    """Return a copy of rows, or the rows themselves if they have none."""
    with suppress(Exception):  # such as a table in a file
        return copy.deepcopy(X)
    return X


def pipelines(estimator: Any) -> Iterator[Any]:
    """Yield a pipeline and its nested pipelines, down to the one that contains the predictor."""
    while trains_its_steps(estimator):
        yield estimator
        estimator = estimator.steps[-1][1]


def last_step(estimator: Any, is_fitted: bool = False) -> Any:
    """Return the last step of a composition, even if nested, or the estimator itself.

    A TransformedTargetRegressor fits a clone of its regressor, unless it is trained in place.
    """
    while inner := inner_of(estimator):
        name, part = inner
        estimator = getattr(estimator, f"{name}_", part) if is_fitted else part
    return estimator


def predictor(estimator: Any) -> Any:
    """Return the last step of a pipeline, even if nested; it may transform the target itself."""
    for pipeline in pipelines(estimator):
        estimator = pipeline.steps[-1][1]
    return estimator


def path_of_last_step(estimator: Any) -> str:
    """Return the name of the last step as in ``set_params``, "" outside a composition."""
    names = []
    while inner := inner_of(estimator):
        name, estimator = inner
        names.append(name)
    return "__".join(names)


def own_names(estimator: Any, names: Iterable[str]) -> dict[str, str]:
    """Map the names of the last step's parameters to the step's own names for them."""
    path = path_of_last_step(estimator)
    prefix = f"{path}__" if path else ""
    return {name.removeprefix(prefix): name for name in names if name.startswith(prefix)}


def is_searched(path: str, names: Collection[str]) -> bool:
    """Return True if a step, or one that contains it, is itself searched."""
    return any(path == name or path.startswith(f"{name}__") for name in names)


def replace_last_step(estimator: Any, last: Any) -> Any:
    """Replace ``last_step(estimator)`` by `last`, and return the whole estimator."""
    inner = inner_of(estimator)
    if inner is None:
        return last
    _replace_inner(estimator, replace_last_step(inner[1], last))
    return estimator


def _replace_inner(estimator: Any, part: Any) -> None:
    """Replace the part of a composition that is trained last."""
    if trains_its_steps(estimator):
        estimator.steps[-1] = (estimator.steps[-1][0], part)
    else:
        estimator.regressor = estimator.regressor_ = part


def resamples(estimator: Any) -> bool:
    """Return True if a step, even of a nested pipeline, changes both rows and target."""
    return any(_is_sampler(step) for each in compositions(estimator) for step in _head(each))


def _head(estimator: Any) -> list[tuple[str, Any]]:
    """Return the steps of a composition before the part that is trained last."""
    return estimator.steps[:-1] if trains_its_steps(estimator) else []


def check_resampled(estimator: Any, fit_params: dict[str, Any], n_samples: int) -> None:
    """Raise ValueError for ``fit`` arguments with an entry per row if rows are resampled."""
    resampled = False
    for each in compositions(estimator):
        resampled = resampled or any(map(_is_sampler, _head(each)))
        _, fit_params = consumed_params(each, fit_params)
    for name, value in fit_params.items():
        if resampled and _has_rows(value, n_samples):
            raise ValueError(
                f"{name} has an entry for each row, but a step of the pipeline before "
                f"{type(last_step(estimator)).__name__} resamples the rows without resampling "
                f"{name}: leave it out, or remove the sampler from the pipeline."
            )


def params_of_last_step(estimator: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a composition's ``fit`` that are for its last step."""
    for each in compositions(estimator):
        _, fit_params = consumed_params(each, fit_params)
    return fit_params


def enter(
    state: State, X: Any, y: Any, fit_params: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Transform the rows for the last step; the first call fits the transformers.

    Steps that resample rows (imbalanced-learn samplers) act in the first call only.

    Parameters
    ----------
    state : State
        The composition is fitted if ``state.n_steps > 0``. Transformers are fitted in place.
    X, y : array-like
        The training rows.
    fit_params : dict
        Other arguments of ``fit`` of the whole composition.

    Returns
    -------
    X, y : array-like
        The rows on which the last step is trained, the same at each call.
    fit_params : dict
        The arguments for the last step.
    """
    if inner_of(state.estimator) is None:
        return X, y, fit_params
    if state.n_steps == 0:
        check_resampled(state.estimator, fit_params, num_samples(X))
        return _enter_first(state, X, y, fit_params)
    fit_params = params_of_last_step(state.estimator, fit_params)
    if state.y is not None:
        return state.rows, state.y, fit_params
    parts = list(compositions(state.estimator))
    Xt = _transform(parts, X) if state.rows is None else state.rows
    return Xt, _transform_target_again(parts, y), fit_params


def _enter_first(state, X, y, fit_params):
    """Fit all steps but the last; keep the rows if they cannot be computed again."""
    Xt, yt, faithful = X, y, True
    for each in compositions(state.estimator):
        head_params, fit_params = consumed_params(each, fit_params)
        if trains_its_regressor(each):
            yt = _transform_target(each, Xt, yt)
            continue
        # A slice shares the steps, and with memory= holds the fitted copies after a fit.
        head = each[:-1]
        if any(map(_is_sampler, head.steps)):
            Xt, yt = _resample(head, each.steps[-1][0], Xt, yt, head_params)
        elif head.steps:
            Xt = head.fit_transform(Xt, yt, **head_params)
            faithful = faithful and all(map(_transforms_as_fitted, head.steps))
        each.steps[:-1] = head.steps
    if resamples(state.estimator):
        state.rows, state.y = Xt, yt
    elif not faithful:
        again = _transform(compositions(state.estimator), X)
        if not _alike(Xt, again):
            state.rows = Xt  # for example of TargetEncoder, which cross-fits
        else:
            Xt = again  # bit-identical to the input of later rungs
    return Xt, yt, fit_params


def _transform_target(estimator, X, y):
    """Fit the target's transformer in place; the regressor becomes the fitted one, untrained."""
    regressor = estimator.regressor
    estimator.regressor = _Catcher()
    try:
        y = estimator.fit(X, y).regressor_.y_
    finally:
        estimator.regressor = regressor
    _replace_inner(estimator, regressor)
    return y


def _transform_target_again(parts, y):
    """Transform the target by the fitted transformers of compositions, one in another."""
    for part in filter(trains_its_regressor, parts):
        y = check_array(y, ensure_2d=False, dtype="numeric", allow_nd=True)
        found = part.transformer_.transform(y.reshape(-1, 1) if y.ndim == 1 else y)
        is_column = y.ndim == 1 and found.ndim == 2 and found.shape[1] == 1
        y = found.squeeze(axis=1) if is_column else found
    return y


class _Catcher(BaseEstimator):
    """A last step that only stores its input."""

    def fit(self, X, y=None):
        with suppress(TypeError):  # the regressor may accept other names than scikit-learn
            validate_data(self, X, skip_check_array=True)  # stores the names of the columns
        self.X_, self.y_ = X, y
        return self

    def predict(self, X):
        """Return nothing; scikit-learn demands the method of a regressor."""


def _resample(head, name, X, y, fit_params):
    """Fit a pipeline of transformers and samplers, which pass y from step to step."""
    catcher = _Catcher()
    head.steps.append((name, catcher))
    head.fit(X, y, **fit_params)
    head.steps.pop()
    return catcher.X_, catcher.y_


def _is_sampler(step: tuple[str, Any]) -> bool:
    return hasattr(step[1], "fit_resample")


def _has_rows(value: Any, n_samples: int) -> bool:
    """Return True if an argument of ``fit`` has one entry per row."""
    return (hasattr(value, "__len__") or hasattr(value, "shape")) and (
        not isinstance(value, str | dict) and num_samples(value) == n_samples
    )


def _transforms_as_fitted(step: tuple[str, Any]) -> bool:
    """Return True if ``fit_transform`` equals ``fit().transform()`` by definition."""
    own = getattr(type(step[1]), "fit_transform", TransformerMixin.fit_transform)
    return step[1] in (None, "passthrough") or own is TransformerMixin.fit_transform


def _transform(parts: Iterable[Any], X: Any) -> Any:
    """Transform rows by compositions, one in another; stateless steps never look fitted."""
    for part in parts:
        for _, step in _head(part):
            if step not in (None, "passthrough"):
                X = step.transform(X)
    return X


def prepared(estimator: Any, X: Any) -> Any:
    """Transform rows for the `predictor` of a fitted pipeline, which predicts the same.

    Parameters
    ----------
    estimator : estimator object
        Fitted.
    X : array-like
        Rows.

    Returns
    -------
    X : array-like or None
        None if nothing comes before the predictor, or a pipeline may predict in another way.
    """
    parts = list(pipelines(estimator))
    is_own = routing_enabled() or resamples(estimator)
    if is_own or any(overridden(part, PREDICTION) for part in parts):
        return None
    return _transform(parts, X) if any(map(_head, parts)) else None


def _alike(a: Any, b: Any) -> bool:
    """Return whether two matrices or tables are equal up to rounding; False if unknown."""
    if sparse.issparse(a) and sparse.issparse(b):
        return a.shape == b.shape and abs(a - b).max() <= ROUNDING * abs(a).max()
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype.kind != "f" or b.dtype.kind != "f":
            return np.array_equal(a, b)
        scale = np.max(np.abs(a), initial=0, where=np.isfinite(a))
        return a.shape == b.shape and np.allclose(a, b, 0, ROUNDING * scale, equal_nan=True)
    return hasattr(a, "equals") and type(a) is type(b) and bool(a.equals(b))
