"""The threshold between two classes, found from the predictions for a test fold."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import UndefinedMetricWarning

from sksearch.base._resource import fit

from ..space import Threshold
from ._family import Family
from ._growth import Growth
from ._parts import Size, SpaceDict
from ._pipeline import last_step


class ThresholdGrowth(Growth):
    """Train once, and score the model at each threshold."""

    is_as_fitted: ClassVar[bool] = False  # untuned: the threshold is 0.5 and is not searched

    def __init__(self, name: str, own: int | None) -> None:
        super().__init__(name, None)  # its own threshold is not a number of steps

    def curve(self, state, rows, high, classes, params, score, allowance=None, least=1):
        """Score at all thresholds; the model predicts once for each set of rows."""
        owner = last_step(state.estimator)
        _check(owner, classes)
        fit(state.estimator, rows[0], rows[1], params)
        state.n_steps = 0
        model, own = AtThreshold(_Responses(state.estimator), owner), owner.threshold
        with warnings.catch_warnings():  # warnings about classes that are never predicted
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            for count in range(1, high + 1):
                owner.threshold = Threshold().value(count)
                score(model, count)
        owner.threshold = own


class _Responses:
    """Probabilities of a fitted model, cached for the rows requested."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._known: list[tuple[Any, np.ndarray]] = []

    def __call__(self, X: Any) -> np.ndarray:
        for rows, found in self._known:
            if rows is X:
                return found
        # Keeps only the last two, test and training rows: scorers may use any number of parts.
        self._known = [*self._known[-1:], (X, self.model.predict_proba(X))]
        return self._known[-1][1]


class AtThreshold(ClassifierMixin, BaseEstimator):
    """A fitted model with known probabilities; everything else is the model's own.

    Parameters
    ----------
    responses : _Responses
        Cached probabilities of the model.
    owner : FixedThresholdClassifier
        The model, or its last step, which has the threshold.
    """

    def __init__(self, responses: Any, owner: Any) -> None:
        self.responses = responses
        self.owner = owner

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Class of the model, for scorers that check it."""
        return type(self.responses.model) if "responses" in vars(self) else AtThreshold

    def __reduce__(self) -> Any:
        return AtThreshold, (self.responses, self.owner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "responses" not in vars(self):
            raise AttributeError(name)
        return getattr(self.responses.model, name)

    def __getitem__(self, which: Any) -> Any:
        return self.responses.model[which]

    def __len__(self) -> int:
        return len(self.responses.model)

    def __sklearn_clone__(self) -> Any:
        return clone(self.responses.model)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the model."""
        return self.responses.model.get_params(deep)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities, which do not depend on the threshold."""
        return self.responses(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the positive class from the threshold on, otherwise the negative one."""
        classes = self.classes_
        label = self.owner.pos_label
        at = 1 if label is None else int(np.flatnonzero(classes == label)[0])
        is_positive = self.responses(X)[:, at] >= self.owner.threshold
        return classes[np.where(is_positive, at, 1 - at)]


def _check(owner: Any, classes: Any) -> None:
    """Raise ValueError unless there is a probability threshold between two classes."""
    if not isinstance(classes, np.ndarray) or len(classes) != 2:
        n = "several columns" if isinstance(classes, list) else len(classes)
        raise ValueError(
            f"a threshold needs two classes, but y has {n}: remove the threshold from the space."
        )
    inner = owner.estimator
    if owner.response_method == "decision_function" or not hasattr(inner, "predict_proba"):
        raise ValueError(
            f"Threshold is a threshold of a probability, but {type(inner).__name__} is used with "
            "its decision_function: wrap it in CalibratedClassifierCV, or search the threshold "
            "with a distribution of numbers."
        )


def fixed_threshold(estimator: Any, size: Size) -> SpaceDict:
    return {"threshold": Threshold()}


class Thresholds(Family):
    """A classifier with its own threshold."""

    spaces = {"sklearn.FixedThresholdClassifier": fixed_threshold}
    counts = ("threshold",)
    growth = ThresholdGrowth
