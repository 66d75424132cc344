"""Three convolutional layers of searched width, after cuda-convnet."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from scipy.stats import loguniform, uniform

from sksearch._utils._compat import Interval
from sksearch.neural._base import ImageClassifier, documented
from sksearch.neural._nets import Same, image_after, last_layer
from sksearch.neural._torch import nn
from sksearch.space import LogRandInt

POSITIVE = [Interval(Integral, 1, None, closed="left")]


def cuda_conv_net_body(
    channels: int,
    height: int,
    width: int,
    n_classes: int,
    n_filters_1: int,
    n_filters_2: int,
    n_filters_3: int,
) -> nn.Module:
    """Build three convolutions with poolings, then one layer to the classes."""

    def pool(cls: type[nn.Module]) -> nn.Module:
        """Make a layer that halves the image."""
        return cls(3, stride=2, ceil_mode=True)

    layers = [
        *(Same(channels, n_filters_1, 5), pool(nn.MaxPool2d), nn.ReLU()),
        *(Same(n_filters_1, n_filters_2, 5), nn.ReLU(), pool(nn.AvgPool2d)),
        *(Same(n_filters_2, n_filters_3, 5), nn.ReLU(), pool(nn.AvgPool2d)),
    ]
    c, h, w = image_after(layers, channels, height, width)
    return nn.Sequential(*layers, nn.Flatten(), last_layer(c * h * w, n_classes))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CudaConvNetClassifier(ImageClassifier):
    """Three convolutional layers of 5 x 5 filters, as in cuda-convnet.

    Pooling halves the image at each layer: max pooling after the first layer, average pooling
    after the others.

    Parameters
    ----------
    n_filters_1, n_filters_2, n_filters_3 : int, default=32
        Number of filters of each layer. The default of the third layer is 64.
    {common}

    Attributes
    ----------
    {attributes}
    ConvNetClassifier : A net for practical use.

    References
    ----------
    .. [1] A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", technical
       report, University of Toronto, 2009.

    Examples
    --------
    >>> from sksearch.neural import CudaConvNetClassifier
    >>> CudaConvNetClassifier(n_filters_1=64).n_filters_3
    64
    """

    n_filters_1: int = 32
    n_filters_2: int = 32
    n_filters_3: int = 64
    learning_rate: float = 0.01
    _body = staticmethod(cuda_conv_net_body)
    _architecture = ("n_filters_1", "n_filters_2", "n_filters_3")
    _parameter_constraints = ImageClassifier._parameter_constraints | {
        "n_filters_1": POSITIVE,
        "n_filters_2": POSITIVE,
        "n_filters_3": POSITIVE,
    }

    @staticmethod
    def space() -> dict[str, Any]:
        """Return the search space of `CudaConvNetClassifier`: widths and training.

        Returns
        -------
        space : dict
            Distribution of each parameter, to edit as needed.

        Examples
        --------
        >>> from sksearch.neural import CudaConvNetClassifier
        >>> sorted(CudaConvNetClassifier.space())[:3]
        ['batch_size', 'learning_rate', 'momentum']
        """
        return {
            "n_filters_1": LogRandInt(16, 257),
            "n_filters_2": LogRandInt(16, 257),
            "n_filters_3": LogRandInt(16, 257),
            "learning_rate": loguniform(1e-6, 1),
            "weight_decay": loguniform(1e-6, 1e-1),
            "momentum": uniform(0.3, 0.699),  # 0.3 to 0.999
            "batch_size": LogRandInt(32, 513),
        }
