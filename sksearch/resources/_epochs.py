"""Passes over the training rows, by ``partial_fit``."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sksearch._utils._clock import now
from sksearch.base import Resource
from sksearch.base._state import Labels, State
from sksearch.estimators._epochs import (
    WAYS,
    advance,
    has_ended,
    refuse_early_stopping,
    train_calls,
    warn_of_own_fit,
)
from sksearch.estimators._family import family_of
from sksearch.estimators._pipeline import enter, is_searched, last_step, path_of_last_step

#: Default maximum number of epochs: the R of Hyperband's published table.
DEFAULT_MAX = 81
DIGITS = 9  # digits of a second: clocks have a resolution of nanoseconds


@dataclass(frozen=True)
class EpochsResource(Resource):
    """One unit is one pass over the training rows by ``partial_fit``: an epoch.

    In a Pipeline the last step is trained; its transformers are fitted once for each candidate and
    fold. The labels of the whole y are passed as ``classes``. ``class_weight="balanced"`` is
    replaced by the weights of the training fold. A candidate whose solver has no ``partial_fit``
    (an MLP with lbfgs) is fitted again with ``max_iter`` set to the amount. A skorch net continues
    as if its training had not been interrupted, including callbacks, schedules and history.

    Notes
    -----
    k epochs of an MLP are bit-identical to ``fit(max_iter=k)`` if the training rows contain all
    classes and ``random_state`` is not None. This covers mini-batches, falling rates, and the end
    by ``tol`` and ``n_iter_no_change``, after which more epochs change nothing. Linear models
    (SGD, Perceptron) shuffle the rows in each epoch, as in ``fit``. Their ``partial_fit`` reports
    no loss, so ``tol`` never ends training, and the rate of ``learning_rate="adaptive"`` stays
    constant. scikit-learn's ``partial_fit`` seeds each call with an integer ``random_state``, so
    that its mini-batches are the same in all epochs.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.resources._epochs import EpochsResource
    >>> EpochsResource().limits(SGDClassifier(), n_samples=1000, n_splits=5, n_classes=2)
    (1, 81)
    """

    unit = "epochs"
    acts_on = "calls"
    continues = True
    comparable = True

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Return 1 and 81 epochs."""
        return 1, DEFAULT_MAX

    def check(self, estimator: Any, names: Collection[str]) -> None:
        """Raise ValueError if ``partial_fit`` is available for no candidate."""
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
        """Call ``partial_fit`` once for each unpaid epoch."""
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
        """Make all calls; the last one ends the training of a net."""
        return train_calls(state, X, y, amount, classes, fit_params, ends=True)


@dataclass(frozen=True)
class SecondsResource(Resource):
    """One unit is one second of training, in calls of ``partial_fit``, for each fold.

    A job makes calls until its time is used up, so it takes up to one call longer. This excess
    counts as time of the trial's next job. Results depend on the speed of the machine. `refit`
    makes the same number of calls as the median fold.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.resources._epochs import SecondsResource
    >>> SecondsResource().unit
    'seconds'
    """

    unit = "seconds"
    acts_on = "calls"
    measured = True
    continues = True
    comparable = True

    def limits(
        self, estimator: Any, n_samples: int, n_splits: int, n_classes: int
    ) -> tuple[int, int]:
        """Raise ValueError: only the user knows how long training may last."""
        raise ValueError(
            "resource='seconds' needs max_resources, the training time of the best candidates on "
            "each fold in seconds (27 * 60 for 27 minutes)."
        )

    def check(self, estimator: Any, names: Collection[str]) -> None:
        """Raise ValueError if ``partial_fit`` is available for no candidate."""
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
        """Call ``partial_fit`` until the trial's jobs have spent `amount` seconds in total."""
        start = now() - state.seconds
        Xt, yt, last_params = enter(state, X, y, fit_params)
        # Rounded, so that ten calls of 0.1 simulated seconds fill one second, and not eleven.
        while state.n_steps == 0 or (
            round(now() - start, DIGITS) < amount and not has_ended(state.estimator)
        ):
            before = now()
            advance(state, Xt, yt, state.n_steps + 1, classes, last_params)
            if now() == before:  # a virtual clock would never end this loop
                raise ValueError(
                    f"{type(last_step(state.estimator)).__name__}.partial_fit took no time on a "
                    "VirtualClock, so resource='seconds' never ends: call "
                    "sksearch.executors.spend(seconds) in it, or pass resource='epochs'."
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
        return  # the step itself is searched: each candidate is checked
    # The class as well as the object: availability may depend on a searched parameter.
    if not hasattr(type(last), "partial_fit") and not hasattr(last, "partial_fit"):
        raise ValueError(
            f"resource={resource!r} needs an estimator with partial_fit, and "
            f"{type(last).__name__} has none. {WAYS}"
        )
    warn_of_own_fit(last, resource)
    family_of(last).epochs.check(last, resource)
    if (inner := getattr(last, "estimator", None)) is not None:
        family_of(inner).epochs.check(inner, resource, outer=last)
    searched = f"{path}__early_stopping" if path else "early_stopping"
    if searched not in names:
        refuse_early_stopping(last)
