"""One to five convolutional layers, each with its own parameters."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from scipy.stats import randint, uniform

from sksearch._utils._compat import Interval
from sksearch.neural._base import ImageClassifier, documented
from sksearch.neural._nets import Dropout, Same, image_after, last_layer
from sksearch.neural._torch import nn
from sksearch.space import LogRandInt
from sksearch.space._conditions import When

MAX_LAYERS = 5
POSITIVE = [Interval(Integral, 1, None, closed="left")]
KINDS = {
    "n_filters": POSITIVE,
    "filter_size": POSITIVE,
    "dropout": [Interval(Real, 0, 1, closed="left")],
    "batch_norm": ["boolean"],
    "pooling": ["boolean"],
}


def layered_conv_net_body(
    channels: int, height: int, width: int, n_classes: int, n_layers: int, **each: Any
) -> nn.Module:
    """Build `n_layers` layers with the parameters in `each`, then one to the classes."""
    layers, n_in = [], channels
    for i in range(1, n_layers + 1):
        n_out = each[f"n_filters_{i}"]
        layers.append(Same(n_in, n_out, each[f"filter_size_{i}"]))
        if each[f"batch_norm_{i}"]:
            layers.append(nn.BatchNorm2d(n_out))
        layers += [nn.ReLU(), Dropout(each[f"dropout_{i}"])]
        if each[f"pooling_{i}"]:
            # Odd images are padded by all poolings except in the first and the last layer.
            layers.append(nn.MaxPool2d(2, ceil_mode=1 < i < n_layers))
        n_in = n_out
    c, h, w = image_after(layers, channels, height, width)
    return nn.Sequential(*layers, nn.Flatten(), last_layer(c * h * w, n_classes))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LayeredConvNetClassifier(ImageClassifier):
    """One to five convolutional layers, each with its own parameters.

    The nets of [1]_. Each layer is followed by batch normalisation, ReLU, dropout and pooling.

    Parameters
    ----------
    n_layers : int, default=2
        Number of layers, from 1 to 5; the parameters of further layers are ignored.
    n_filters_1, n_filters_2, n_filters_3, n_filters_4, n_filters_5 : int, default=32
        Number of filters of each layer.
    filter_size_1, filter_size_2, filter_size_3, filter_size_4, filter_size_5 : int, default=3
        Width and height of the filters of each layer, in pixels.
    dropout_1, dropout_2, dropout_3, dropout_4, dropout_5 : float, default=0.0
        Share of the values after each layer set to 0 during training.
    batch_norm_1, batch_norm_2, batch_norm_3, batch_norm_4, batch_norm_5 : bool, default=True
        If True, normalise the outputs of each layer.
    pooling_1, pooling_2, pooling_3, pooling_4, pooling_5 : bool, default=True
        If True, halve the image after each layer.
    {common}

    Attributes
    ----------
    {attributes}
    ConvNetClassifier : A net for practical use.

    Notes
    -----
    In [1]_ the nets are trained for at most 20 epochs with early stopping, with a learning rate of
    0.1, batches of 50, momentum 0.9 and a weight decay of 1e-4.

    References
    ----------
    .. [1] M. Wistuba, "Bayesian optimization combined with incremental evaluation for neural
       network architecture optimization", AutoML workshop at ECML PKDD 2017.
       https://ceur-ws.org/Vol-1998/paper_01.pdf

    Examples
    --------
    >>> from sksearch.neural import LayeredConvNetClassifier
    >>> LayeredConvNetClassifier(n_layers=3, n_filters_3=64).filter_size_3
    3
    """

    n_layers: int = 2
    n_filters_1: int = 32
    n_filters_2: int = 32
    n_filters_3: int = 32
    n_filters_4: int = 32
    n_filters_5: int = 32
    filter_size_1: int = 3
    filter_size_2: int = 3
    filter_size_3: int = 3
    filter_size_4: int = 3
    filter_size_5: int = 3
    dropout_1: float = 0.0
    dropout_2: float = 0.0
    dropout_3: float = 0.0
    dropout_4: float = 0.0
    dropout_5: float = 0.0
    batch_norm_1: bool = True
    batch_norm_2: bool = True
    batch_norm_3: bool = True
    batch_norm_4: bool = True
    batch_norm_5: bool = True
    pooling_1: bool = True
    pooling_2: bool = True
    pooling_3: bool = True
    pooling_4: bool = True
    pooling_5: bool = True
    batch_size: int = 50
    _body = staticmethod(layered_conv_net_body)
    _architecture = (
        "n_layers",
        *(f"{kind}_{i}" for i in range(1, MAX_LAYERS + 1) for kind in KINDS),
    )
    _parameter_constraints = (
        ImageClassifier._parameter_constraints
        | {"n_layers": [Interval(Integral, 1, MAX_LAYERS, closed="both")]}
        | {f"{kind}_{i}": KINDS[kind] for i in range(1, 6) for kind in KINDS}
    )

    @staticmethod
    def space() -> dict[str, Any]:
        """Return the search space of `LayeredConvNetClassifier`: the architecture, layer by layer.

        Returns
        -------
        space : dict
            Values of each parameter, to edit as needed. The parameters of a layer are active if
            the net has that layer.

        Examples
        --------
        >>> from sksearch.neural import LayeredConvNetClassifier
        >>> sorted(LayeredConvNetClassifier.space())[:3]
        ['batch_norm_1', 'batch_norm_2', 'batch_norm_3']
        """
        space: dict[str, Any] = {"n_layers": [1, 2, 3, 4, 5]}
        for i in range(1, MAX_LAYERS + 1):
            layer = {
                "n_filters": LogRandInt(2, 129),
                "filter_size": randint(3, 11),
                "dropout": uniform(0, 0.9),
                "batch_norm": [False, True],
                "pooling": [False, True],
            }
            for kind, values in layer.items():
                space[f"{kind}_{i}"] = values if i == 1 else When(values, "n_layers", ">=", i)
        return space
