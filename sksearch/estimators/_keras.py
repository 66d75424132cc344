"""Models of Keras, as scikeras wraps them."""

from typing import Any

from sksearch.base import State

from ._epoch_training import EpochTraining
from ._family import Family


class NoEpochs(EpochTraining):
    """Models that cannot be trained in parts."""

    replaced = ()

    def check(self, model: Any, resource: str, outer: Any = None) -> None:
        """Raise ValueError: a model of Keras does not go on exactly where it was."""
        raise ValueError(
            f"{type(model).__name__} of scikeras cannot be trained in parts: a model that "
            "was stored, or came from another process, goes on otherwise than the one that was "
            "not. Search with resource='n_samples' or 'folds', or with "
            "resource=ParameterResource('epochs'), which fits it again at each rung."
        )

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Raise the same, of a candidate that is one."""
        self.check(model, "epochs")


class Keras(Family):
    """Wrappers whose models are others after they were pickled."""

    classes = ("scikeras.BaseWrapper", "scikeras.KerasClassifier", "scikeras.KerasRegressor")
    epochs = NoEpochs()
