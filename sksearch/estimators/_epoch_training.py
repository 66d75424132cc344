"""Training of estimators epoch by epoch, as used by their family."""

from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from sksearch._utils._overrides import TRAINING
from sksearch.base._state import State


class EpochTraining:
    """Training by calls of ``partial_fit``, for estimators without further needs.

    It is the attribute `Family.epochs`. Derive a class for estimators that need more than these
    calls to become the model that one ``fit`` makes.

    Attributes
    ----------
    replaced : tuple of str
        Methods, or patterns, that `train` stands for. A class that overrides one of them outside
        the package of the family's class is trained by its own methods.

    Examples
    --------
    >>> from sksearch.estimators import Family
    >>> from sksearch.estimators._epoch_training import EpochTraining
    >>> class Rates(EpochTraining):
    ...     def after_change(self, model):
    ...         model.optimizer_.rate = model.rate  # which it reads only once
    >>> class Nets(Family):
    ...     classes = ("my_package.NetClassifier",)
    ...     mutable_params = ("rate",)
    ...     epochs = Rates()
    """

    replaced: ClassVar[tuple[str, ...]] = TRAINING

    def check(self, model: Any, resource: str, outer: Any = None) -> None:
        """Raise ValueError, before any training, if an estimator cannot be trained in this way.

        Parameters
        ----------
        model : estimator object
            An estimator of the family.
        resource : str
            The resource that the user requested, for the message.
        outer : estimator object or None, default=None
            The meta-estimator that contains it and trains it by ``partial_fit``. None: it is
            trained directly.
        """

    def check_rates(self, model: Any, names: Collection[str], n_rows: int, n_epochs: int) -> None:
        """Raise ValueError for a schedule that ends before the longest fit does.

        Parameters
        ----------
        model : estimator object
            An estimator of the family.
        names : collection of str
            Searched parameters, by the estimator's own names.
        n_rows, n_epochs : int
            Size of the longest fit.
        """

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Train for `n` more epochs.

        Parameters
        ----------
        state : State
            The state; ``n_steps`` is the number of epochs so far.
        model : estimator object
            An estimator of the family.
        X, y : array-like
            The training rows.
        n : int
            Number of epochs.
        params : dict
            Other arguments of ``partial_fit``.
        ends : bool
            True if training ends with this call.
        """
        call_partial_fit(model, X, y, n, params)

    def has_ended(self, model: Any) -> bool:
        """Return True if more epochs would change nothing, because ``fit`` would have ended."""
        return False

    def after_change(self, model: Any) -> None:
        """Apply parameters that were just set to the further training of a fitted estimator."""

    def check_finite(self, model: Any) -> None:
        """Raise DivergedError if a fitted estimator has non-finite weights."""

    def before_store(self, model: Any) -> None:
        """Prepare a fitted estimator for storage between two rungs."""

    def is_pickled_by_attributes(self, model: Any) -> bool:
        """Return True if the estimator's own pickling is to be bypassed."""
        return False


def call_partial_fit(last: Any, X: Any, y: Any, n_calls: int, kwargs: dict[str, Any]) -> None:
    """Call ``partial_fit`` `n_calls` times."""
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
    """Parameters set only during the calls."""
    settings: dict[str, Any] = {}
    params = last.get_params(deep=False)
    if "max_epochs" in params:  # skorch: one call is max_epochs epochs
        settings["max_epochs"] = n_calls
    weights = params.get("class_weight")
    if isinstance(weights, str) and weights == "balanced":
        # partial_fit refuses "balanced", since it does not see all rows of the fold.
        present = np.unique(y)
        weights = compute_class_weight("balanced", classes=present, y=y)
        settings["class_weight"] = dict(zip(present.tolist(), weights.tolist(), strict=True))
    return settings
