"""Training of a pipeline's last step, with transformers fitted only once."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from sksearch._utils._compat import consumed_params, num_samples, routing_enabled
from sksearch._utils._overrides import PREDICTION, TRAINING, overridden
from sksearch.base._state import State

ROUNDING = 1e-4  # relative; in single precision, the two ways of PCA differ by up to 1e-5


def trains_its_steps(estimator: Any) -> bool:
    """Return whether ``fit`` is a pipeline's own, so that its steps may be trained one by one.

    A pipeline whose class overrides training is treated like any other estimator.
    """
    return isinstance(estimator, Pipeline) and not overridden(estimator, TRAINING)


def pipelines(estimator: Any) -> Iterator[Any]:
    """Yield a pipeline and its nested pipelines, down to the one that contains the last step."""
    while trains_its_steps(estimator):
        yield estimator
        estimator = estimator.steps[-1][1]


def last_step(estimator: Any) -> Any:
    """Return the last step of a pipeline, even if nested, or the estimator itself."""
    while trains_its_steps(estimator):
        estimator = estimator.steps[-1][1]
    return estimator


def path_of_last_step(estimator: Any) -> str:
    """Return the name of the last step as in ``set_params``, "" outside a pipeline."""
    names = []
    while trains_its_steps(estimator):
        name, estimator = estimator.steps[-1]
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
    if not trains_its_steps(estimator):
        return last
    name, step = estimator.steps[-1]
    estimator.steps[-1] = (name, replace_last_step(step, last))
    return estimator


def resamples(estimator: Any) -> bool:
    """Return True if a step, even of a nested pipeline, changes both rows and target."""
    while trains_its_steps(estimator):
        if any(map(_is_sampler, estimator.steps[:-1])):
            return True
        estimator = estimator.steps[-1][1]
    return False


def check_resampled(estimator: Any, fit_params: dict[str, Any], n_samples: int) -> None:
    """Raise ValueError for ``fit`` arguments with an entry per row if rows are resampled."""
    resampled = False
    while trains_its_steps(estimator):
        resampled = resampled or any(map(_is_sampler, estimator.steps[:-1]))
        _, fit_params = consumed_params(estimator, fit_params)
        estimator = estimator.steps[-1][1]
    for name, value in fit_params.items():
        if resampled and _has_rows(value, n_samples):
            raise ValueError(
                f"{name} has an entry for each row, but a step of the pipeline before "
                f"{type(estimator).__name__} resamples the rows without resampling {name}: leave "
                "it out, or remove the sampler from the pipeline."
            )


def params_of_last_step(estimator: Any, fit_params: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a pipeline's ``fit`` that are for its last step."""
    while trains_its_steps(estimator):
        _, fit_params = consumed_params(estimator, fit_params)
        estimator = estimator.steps[-1][1]
    return fit_params


def enter(
    state: State, X: Any, y: Any, fit_params: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Transform the rows for a pipeline's last step; the first call fits the transformers.

    Steps that resample rows (imbalanced-learn samplers) act in the first call only.

    Parameters
    ----------
    state : State
        The pipeline is fitted if ``state.n_steps > 0``. Transformers are fitted in place.
    X, y : array-like
        The training rows.
    fit_params : dict
        Other arguments of ``fit`` of the whole pipeline.

    Returns
    -------
    X, y : array-like
        The rows on which the last step is trained, the same at each call.
    fit_params : dict
        The arguments for the last step.
    """
    if not trains_its_steps(state.estimator):
        return X, y, fit_params
    if state.n_steps == 0:
        check_resampled(state.estimator, fit_params, num_samples(X))
        return _enter_first(state, X, y, fit_params)
    fit_params = params_of_last_step(state.estimator, fit_params)
    if state.rows is None:
        return _transform(state.estimator, X), y, fit_params
    return state.rows, y if state.y is None else state.y, fit_params


def _enter_first(state, X, y, fit_params):
    """Fit all steps but the last; keep the rows if they cannot be computed again."""
    Xt, yt, faithful, estimator = X, y, True, state.estimator
    while trains_its_steps(estimator):
        # A slice shares the steps, and with memory= holds the fitted copies after a fit.
        head = estimator[:-1]
        head_params, fit_params = consumed_params(estimator, fit_params)
        if any(map(_is_sampler, head.steps)):
            Xt, yt = _resample(head, estimator.steps[-1][0], Xt, yt, head_params)
        elif head.steps:
            Xt = head.fit_transform(Xt, yt, **head_params)
            faithful = faithful and all(map(_transforms_as_fitted, head.steps))
        estimator.steps[:-1] = head.steps
        estimator = estimator.steps[-1][1]
    if resamples(state.estimator):
        state.rows, state.y = Xt, yt
    elif not faithful:
        again = _transform(state.estimator, X)
        if not _alike(Xt, again):
            state.rows = Xt  # for example of TargetEncoder, which cross-fits
        else:
            Xt = again  # bit-identical to the input of later rungs
    return Xt, yt, fit_params


class _Catcher(BaseEstimator):
    """A last step that only stores its input."""

    def fit(self, X, y=None):
        self.X_, self.y_ = X, y
        return self


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


def _transform(estimator: Any, X: Any) -> Any:
    """Transform rows for the last step; step by step, since stateless steps never look fitted."""
    while trains_its_steps(estimator):
        for _, step in estimator.steps[:-1]:
            if step not in (None, "passthrough"):
                X = step.transform(X)
        estimator = estimator.steps[-1][1]
    return X


def prepared(estimator: Any, X: Any) -> Any:
    """Transform rows for the last step of a fitted pipeline, in which it predicts the same.

    Parameters
    ----------
    estimator : estimator object
        Fitted.
    X : array-like
        Rows.

    Returns
    -------
    X : array-like or None
        None if nothing comes before the last step, or a pipeline may predict in another way.
    """
    parts = list(pipelines(estimator))
    is_own = routing_enabled() or resamples(estimator)
    if is_own or any(overridden(part, PREDICTION) for part in parts):
        return None
    return _transform(estimator, X) if any(part.steps[:-1] for part in parts) else None


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
