"""Passes over the training rows, by ``partial_fit``."""

import inspect
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight

from sksearch._clock import now
from sksearch.base import Labels, Resource, State, fit
from sksearch.resources._nets import check_net, is_net, refuse_keras, train_net
from sksearch.resources._pipeline import enter, last_step, replace_last_step

#: Count of epochs where the user names no maximum: the R of Hyperband's published table.
DEFAULT_MAX = 81
DIGITS = 9  # of a second: nanoseconds are the resolution of a computer's clock

WAYS = (
    "Give resource= one of: 'epochs' or 'seconds' for estimators with partial_fit (SGD, MLP, "
    "naive Bayes, skorch nets; also as last step of a Pipeline), the name of an integer "
    "parameter such as 'n_estimators' or 'clf__max_iter' for any estimator that has it, or "
    "'n_samples' or 'folds' for any estimator at all."
)


@dataclass(frozen=True)
class EpochsResource(Resource):
    """One unit is one call of ``partial_fit`` on the training rows: an epoch.

    In a Pipeline the last step is trained; its transformers are fitted once for each candidate
    and fold. The labels of the whole y are passed as ``classes``. ``class_weight="balanced"`` is
    replaced by the weights of the training fold. A candidate whose solver has no ``partial_fit``
    (an MLP with lbfgs) is fitted anew with ``max_iter`` set to the amount. A net of skorch goes
    on as if its training had not been interrupted: its callbacks, schedules and history as well.

    Notes
    -----
    In scikit-learn k calls of ``partial_fit`` are not the same as ``fit(max_iter=k)``, so `refit`
    repeats the calls.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.resources import EpochsResource
    >>> EpochsResource().limits(SGDClassifier(), n_samples=1000, n_splits=5, n_classes=2)
    (1, 81)
    """

    unit = "epochs"
    continues = True
    comparable = True

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return 1 and 81 epochs."""
        return 1, DEFAULT_MAX

    def check(self, estimator: Any, names: Collection[str]) -> None:
        """Raise ValueError if no candidate can have a ``partial_fit``."""
        check_partial_fit("epochs", estimator, names)

    def train(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        spent: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Call ``partial_fit`` once for each epoch that is not paid for yet."""
        return train_calls(state, X, y, amount, classes, fit_params)

    def refit(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        n_steps: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Make all calls; a net is told that its training ends."""
        return train_calls(state, X, y, amount, classes, fit_params, ends=True)


@dataclass(frozen=True)
class SecondsResource(Resource):
    """One unit is one second of training, in calls of ``partial_fit``, for each fold.

    A job makes calls until its time is used up, so it takes up to one call longer. This excess
    counts as time of the trial's next job. Results depend on the speed of the machine. `refit`
    makes as many calls as the median fold did.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.resources import SecondsResource
    >>> SecondsResource().unit
    'seconds'
    """

    unit = "seconds"
    continues = True
    comparable = True

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Raise ValueError: only the user knows how long training may last."""
        raise ValueError(
            "resource='seconds' needs max_resources: the seconds of training that the best "
            "candidates get, for each fold (27 minutes are 27 * 60)."
        )

    def check(self, estimator: Any, names: Collection[str]) -> None:
        """Raise ValueError if no candidate can have a ``partial_fit``."""
        check_partial_fit("seconds", estimator, names)

    def train(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        spent: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Call ``partial_fit`` until `amount` seconds were spent by all jobs of the trial."""
        start = now() - state.seconds
        Xt, yt, last_params = enter(state, X, y, fit_params)
        # Rounded, so that ten calls of 0.1 simulated seconds fill one second, and not eleven.
        while state.n_steps == 0 or round(now() - start, DIGITS) < amount:
            before = now()
            advance(state, Xt, yt, state.n_steps + 1, classes, last_params)
            if now() == before:  # on a virtual clock: this would never end
                raise ValueError(
                    f"{type(last_step(state.estimator)).__name__}.partial_fit took no time on a "
                    "VirtualClock, so resource='seconds' never ends: call "
                    "sksearch.executors.spend(seconds) in it, or count 'epochs'."
                )
        state.seconds = round(now() - start, DIGITS)
        return state

    def refit(
        self,
        state: State,
        X: Any,
        y: Any,
        amount: int,
        n_steps: int,
        classes: Labels,
        fit_params: dict[str, Any],
    ) -> State:
        """Make `n_steps` calls."""
        return train_calls(state, X, y, n_steps, classes, fit_params, ends=True)


def check_partial_fit(resource: str, estimator: Any, names: Collection[str]) -> None:
    """Raise ValueError if no candidate of this estimator can be trained by ``partial_fit``."""
    last = last_step(estimator)
    path = path_of_last_step(estimator)
    if is_searched(path, names):
        return  # the step itself is searched: each candidate is asked
    # The class as well as the object: availability may depend on a searched parameter.
    if not hasattr(type(last), "partial_fit") and not hasattr(last, "partial_fit"):
        raise ValueError(
            f"resource={resource!r} needs an estimator with partial_fit, and "
            f"{type(last).__name__} has none. {WAYS}"
        )
    for model in (last, getattr(last, "estimator", None)):
        refuse_keras(model)
    if is_net(last):
        check_net(last)
    elif is_net(getattr(last, "estimator", None)):
        raise ValueError(
            f"resource={resource!r} trains a net of skorch epoch by epoch where it is the "
            f"estimator or the last step of a Pipeline, and not inside of {type(last).__name__}: "
            "pass the net itself, or resource='n_samples' or 'folds'."
        )
    searched = f"{path}__early_stopping" if path else "early_stopping"
    if searched not in names:
        _refuse_early_stopping(last)


def is_searched(path: str, names: Collection[str]) -> bool:
    """Return whether a step, or one that it is part of, is itself among the searched params."""
    return any(path == name or path.startswith(f"{name}__") for name in names)


def path_of_last_step(estimator: Any) -> str:
    """Return the name of the last step as in ``set_params``, "" outside of a pipeline."""
    names = []
    while hasattr(estimator, "steps") and last_step(estimator) is not estimator:
        name, estimator = estimator.steps[-1]
        names.append(name)
    return "__".join(names)


def _refuse_early_stopping(estimator: Any) -> None:
    if getattr(estimator, "early_stopping", False) is True and hasattr(
        type(estimator), "partial_fit"
    ):
        raise ValueError(
            f"{type(estimator).__name__}(early_stopping=True) cannot be trained epoch by epoch: "
            "set early_stopping=False, stopping early is what the search does."
        )


def train_calls(
    state: State,
    X: Any,
    y: Any,
    n_steps: int,
    classes: Labels,
    fit_params: dict[str, Any],
    ends: bool = False,
) -> State:
    """Train an estimator or Pipeline up to `n_steps` calls of ``partial_fit``.

    `ends` says that no other rung goes on from there.
    """
    Xt, yt, last_params = enter(state, X, y, fit_params)
    advance(state, Xt, yt, n_steps, classes, last_params, ends)
    return state


def advance(
    state: State,
    Xt: Any,
    yt: Any,
    n_steps: int,
    classes: Labels,
    last_params: dict[str, Any],
    ends: bool = False,
) -> None:
    """Train the last step up to `n_steps` calls, on the rows that `enter` returned."""
    last = last_step(state.estimator)
    _refuse_early_stopping(last)
    refuse_keras(last)
    if hasattr(last, "partial_fit"):
        kwargs = _arguments(last, state.n_steps == 0, classes, last_params)
        if is_net(last):
            train_net(state, last, Xt, yt, n_steps - state.n_steps, kwargs, ends)
        else:
            _call_partial_fit(last, Xt, yt, n_steps - state.n_steps, kwargs)
    else:
        last = _fit_anew(last, Xt, yt, n_steps, last_params)
        state.estimator = replace_last_step(state.estimator, last)
    state.n_steps = n_steps


def _arguments(
    last: Any, begins: bool, classes: Labels, fit_params: dict[str, Any]
) -> dict[str, Any]:
    """Return further arguments of ``partial_fit``; ValueError for those that it does not take."""
    accepted = inspect.signature(last.partial_fit).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in accepted.values())
    unknown = [name for name in fit_params if name not in accepted]
    if unknown and not takes_all:
        raise ValueError(
            f"partial_fit of {type(last).__name__} does not take {', '.join(unknown)}: leave it "
            "out, or search with another resource."
        )
    kwargs = dict(fit_params)
    if begins and classes is not None and ("classes" in accepted or takes_all):
        kwargs["classes"] = _classes_for(last, classes)
    return kwargs


def _call_partial_fit(last: Any, X: Any, y: Any, n_calls: int, kwargs: dict[str, Any]) -> None:
    """Call ``partial_fit`` so many times."""
    args = (X,) if y is None else (X, y)
    settings = _settings(last, y, n_calls)
    before = {name: getattr(last, name) for name in settings}
    last.set_params(**settings)
    try:
        for _ in range(1 if "max_epochs" in settings else n_calls):
            last.partial_fit(*args, **kwargs)
            kwargs.pop("classes", None)
    finally:
        last.set_params(**before)


def _settings(last: Any, y: Any, n_calls: int) -> dict[str, Any]:
    """Params that are set during the calls only."""
    settings: dict[str, Any] = {}
    params = last.get_params(deep=False)
    if "max_epochs" in params:  # as skorch: one call is max_epochs epochs
        settings["max_epochs"] = n_calls
    weights = params.get("class_weight")
    if isinstance(weights, str) and weights == "balanced":
        # partial_fit refuses "balanced", since it does not see all rows of the fold.
        present = np.unique(y)
        weights = compute_class_weight("balanced", classes=present, y=y)
        settings["class_weight"] = dict(zip(present.tolist(), weights.tolist(), strict=True))
    return settings


def _classes_for(last: Any, classes: Labels) -> Labels:
    """Labels in the form that `last` takes: a list if it has one estimator for each output."""
    if isinstance(classes, list) and not hasattr(last, "estimator"):
        return np.arange(len(classes))  # multilabel indicators of a net
    return classes


def _fit_anew(last: Any, X: Any, y: Any, amount: int, fit_params: dict[str, Any]) -> Any:
    """Fit a clone with ``max_iter`` set to the amount."""
    if "max_iter" not in last.get_params(deep=False):
        raise ValueError(f"{type(last).__name__} has neither partial_fit nor max_iter. {WAYS}")
    last = clone(last).set_params(max_iter=amount)
    with warnings.catch_warnings():
        # A low rung ends before convergence on purpose.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit(last, X, y, fit_params)
