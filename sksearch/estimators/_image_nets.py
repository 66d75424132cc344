"""The image nets of sksearch."""

from typing import Any

from ._family import Family
from ._parts import Size, SpaceDict, loguniform


def image_net(estimator: Any, size: Size) -> SpaceDict:
    """Search rates around the family's default, which suits its loss and its layers."""
    rate = type(estimator).learning_rate
    return {
        "learning_rate": loguniform(rate / 30, rate * 5),
        "weight_decay": loguniform(1e-5, 0.01),
        "batch_size": [64, 128, 256],
    }


class ImageNets(Family):
    """The nets in `sksearch.neural`."""

    spaces = {"sksearch.ImageClassifier": image_net}
    smaller, larger = ("n_layers", "n_units"), ("weight_decay", "dropout")
    mutable_params = ("batch_size", "learning_rate")
