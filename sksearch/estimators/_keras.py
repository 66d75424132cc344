"""Keras models, wrapped by scikeras."""

from typing import Any

from sksearch.base._state import State

from ._epoch_training import EpochTraining
from ._family import Family


class NoEpochs(EpochTraining):
    """Reject training in parts."""

    replaced = ()

    def check(self, model: Any, resource: str, outer: Any = None) -> None:
        """Raise ValueError: Keras cannot resume training exactly."""
        raise ValueError(
            f"The scikeras {type(model).__name__} cannot be trained in parts: after a model is "
            "stored or sent to another process, its training continues differently. Search with "
            "resource='n_samples' or 'folds', or with resource=ParameterResource('epochs'), which "
            "trains it from scratch at each rung."
        )

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Raise the same error for a candidate that is a Keras model."""
        self.check(model, "epochs")


class Keras(Family):
    """Wrappers whose models change when they are pickled."""

    classes = ("scikeras.BaseWrapper", "scikeras.KerasClassifier", "scikeras.KerasRegressor")
    epochs = NoEpochs()
