"""Blocks of equal convolutional layers, each with pooling, and a fully connected head."""

from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any

from sksearch._utils._compat import Interval
from sksearch.neural._base import ImageClassifier, documented
from sksearch.neural._nets import Same, image_after, last_layer
from sksearch.neural._torch import nn

POSITIVE = [Interval(Integral, 1, None, closed="left")]


def block_conv_net_body(
    channels: int,
    height: int,
    width: int,
    n_classes: int,
    n_blocks: int,
    n_layers: int,
    n_filters: int,
    filter_size: int,
    separable: bool,
    head: tuple[int, ...],
) -> nn.Module:
    """Build the blocks, then the head."""
    layers, n_in = [], channels
    for _ in range(n_blocks):
        for _ in range(n_layers):
            layers += [*_convolution(n_in, n_filters, filter_size, separable), nn.ReLU()]
            n_in = n_filters
        layers.append(nn.MaxPool2d(2))
    c, h, w = image_after(layers, channels, height, width)
    sizes = [c * h * w, *head]
    for before, after in pairwise(sizes):
        layers += [nn.Flatten(), nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), last_layer(sizes[-1], n_classes))


def _convolution(n_in, n_out, size, separable):
    if separable:  # first each channel separately, then all channels of each pixel
        return [Same(n_in, n_in, size, groups=n_in), nn.Conv2d(n_in, n_out, 1)]
    return [Same(n_in, n_out, size)]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class BlockConvNetClassifier(ImageClassifier):
    """Blocks of convolutional layers, each followed by pooling, and a fully connected head.

    In [1]_ this family of nets is searched for the recognition of body parts in MRI images. The
    nets have no normalisation, so a suitable learning rate depends on the depth.

    Parameters
    ----------
    n_blocks : int, default=3
        Number of blocks. Each block halves the image, so an image of 28 x 28 pixels allows four.
    n_layers : int, default=1
        Number of layers in a block.
    n_filters : int, default=32
        Number of filters of each layer.
    filter_size : int, default=3
        Width and height of a filter, in pixels.
    separable : bool, default=False
        If True, a layer first filters each channel separately and then mixes channels.
    head : tuple of int, default=(256,)
        Sizes of the fully connected layers between the blocks and the classes. The published sizes
        are (4096, 1024).
    {common}

    Attributes
    ----------
    {attributes}
    ConvNetClassifier : A net for practical use.

    References
    ----------
    .. [1] H. Bertrand, "Hyper-parameter optimization in deep learning and transfer learning",
       thesis, Universite Paris-Saclay, 2019, chapter on hyper-parameter optimization.

    Examples
    --------
    >>> from sksearch.neural import BlockConvNetClassifier
    >>> BlockConvNetClassifier(n_blocks=5, n_filters=64, head=(4096, 1024)).n_layers
    1
    """

    n_blocks: int = 3
    n_layers: int = 1
    n_filters: int = 32
    filter_size: int = 3
    separable: bool = False
    head: tuple = (256,)
    batch_size: int = 32
    learning_rate: float = 0.01
    weight_decay: float = 1e-6
    _body = staticmethod(block_conv_net_body)
    _architecture = ("n_blocks", "n_layers", "n_filters", "filter_size", "separable", "head")
    _parameter_constraints = ImageClassifier._parameter_constraints | {
        "n_blocks": POSITIVE,
        "n_layers": POSITIVE,
        "n_filters": POSITIVE,
        "filter_size": POSITIVE,
        "separable": ["boolean"],
        "head": [tuple, list],
    }

    @staticmethod
    def space() -> dict[str, Any]:
        """Return the search space of `BlockConvNetClassifier`, with 39,200 models.

        Returns
        -------
        space : dict
            Values of each parameter, to edit as needed.

        Notes
        -----
        The published ranges contain 39,200 models, because there are eight learning rates from
        1e-7 to 1. The published number of 34,300 is for seven learning rates.

        Examples
        --------
        >>> from sksearch.neural import BlockConvNetClassifier
        >>> sorted(BlockConvNetClassifier.space())[:3]
        ['batch_size', 'filter_size', 'learning_rate']
        """
        return {
            "n_blocks": [1, 2, 3, 4, 5],
            "n_layers": [1, 2, 3, 4, 5],
            "n_filters": [4, 8, 16, 32, 64, 128, 256],
            "filter_size": [3, 5],
            "separable": [False, True],
            "learning_rate": [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0],
            "batch_size": [4, 8, 16, 32, 64, 128, 256],
        }
