"""Models of Keras, as scikeras wraps them."""

from typing import Any

from sksearch.base import State

from ._family import Family


class Keras(Family):
    """Wrappers whose models are others after they were pickled."""

    classes = ("scikeras.BaseWrapper", "scikeras.KerasClassifier", "scikeras.KerasRegressor")
    replaced = ()

    def check_epochs(self, model: Any) -> None:
        """Raise ValueError: a model of Keras does not go on exactly where it was."""
        raise ValueError(
            f"{type(model).__name__} of scikeras cannot be trained in parts: a model that "
            "was stored, or came from another process, goes on otherwise than the one that was "
            "not. Search with resource='n_samples' or 'folds', or with "
            "resource=ParameterResource('epochs'), which fits it again at each rung."
        )

    def check_epochs_inside(self, model: Any, outer: Any, resource: str) -> None:
        """Raise the same."""
        self.check_epochs(model)

    def train_epochs(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> bool:
        """Raise the same, of a candidate that is one."""
        self.check_epochs(model)
        return False
