"""Nets: scikit-learn's MLP, those of skorch, and our own for images."""

from typing import Any

from ..space import Outcome
from ._parts import Size, SpaceDict, loguniform

LAYERS = [(50,), (100,), (200,), (50, 50), (100, 100), (200, 100), (200, 200), (100, 100, 100)]


def mlp(estimator: Any, size: Size) -> SpaceDict:
    space: SpaceDict = {
        "alpha": loguniform(1e-6, 0.5),
        "hidden_layer_sizes": LAYERS,
        "activation": ["relu", "tanh"],
    }
    if estimator.solver == "lbfgs":  # no epochs and no rate
        return space
    small = [b for b in (32, 64, 128) if b <= size.rows // 4]
    space = {"learning_rate_init": loguniform(3e-4, 0.02)} | space
    space["batch_size"] = [*small, 256] if size.rows >= 1024 else small or ["auto"]
    if estimator.solver == "sgd":
        space["learning_rate_init"] = loguniform(1e-3, 0.3)
    if not estimator.early_stopping and not size.nested:
        space["max_iter"] = Outcome(int(estimator.max_iter))
    return space


def skorch_net(estimator: Any, size: Size) -> SpaceDict:
    """A rate for the optimizer, and rows of a batch; the module's own names are the user's."""
    sgd = getattr(estimator.optimizer, "__name__", "SGD") == "SGD"
    batches = [32, 64, 128, 256]
    return {
        "lr": loguniform(1e-3, 0.3) if sgd else loguniform(1e-4, 0.03),
        "batch_size": [b for b in batches if b <= size.rows // 4] or [32],
    }


def image_net(estimator: Any, size: Size) -> SpaceDict:
    """Rates around the default of the family, which suits its loss and its layers."""
    rate = type(estimator).learning_rate
    return {
        "learning_rate": loguniform(rate / 30, rate * 5),
        "weight_decay": loguniform(1e-5, 0.01),
        "batch_size": [64, 128, 256],
    }


SPACES = {
    "sklearn.MLPClassifier": mlp,
    "sklearn.MLPRegressor": mlp,
    "skorch.NeuralNet": skorch_net,
    "sksearch.ImageClassifier": image_net,
}
