"""A small residual net, with common training techniques as parameters."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from scipy.stats import loguniform, randint, uniform

from sksearch._utils._compat import Interval
from sksearch.neural._base import ImageClassifier, documented
from sksearch.neural._nets import Dropout, last_layer
from sksearch.neural._torch import functional, nn, torch

POSITIVE = [Interval(Integral, 1, None, closed="left")]
COUNT = [Interval(Integral, 0, None, closed="left")]
SHARE = [Interval(Real, 0, 1, closed="left")]


class Residual(nn.Module):
    """Two convolutions whose output is added to their input.

    Parameters
    ----------
    n_in, n_out : int
        Number of channels.
    stride : int
        Step of the first convolution: 2 halves the image.
    """

    def __init__(self, n_in: int, n_out: int, stride: int):
        super().__init__()
        self.first = nn.Conv2d(n_in, n_out, 3, stride=stride, padding=1, bias=False)
        self.norm_1 = nn.BatchNorm2d(n_out)
        self.second = nn.Conv2d(n_out, n_out, 3, padding=1, bias=False)
        self.norm_2 = nn.BatchNorm2d(n_out)
        self.stride = stride
        self.short: nn.Module = nn.Identity()
        if stride > 1 or n_in != n_out:
            short = nn.Conv2d(n_in, n_out, 1, bias=False)
            self.short = nn.Sequential(short, nn.BatchNorm2d(n_out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Convolve twice and add."""
        inner = functional.relu(self.norm_1(self.first(x)))
        if self.stride > 1:
            # Not by the step of the convolution: oneDNN (issue 6035) writes beyond its memory for
            # filters of one pixel, step 2 and few channels.
            x = x[:, :, :: self.stride, :: self.stride]
            x = x.contiguous(memory_format=torch.channels_last)
        return functional.relu(self.norm_2(self.second(inner)) + self.short(x))


def conv_net_body(
    channels: int,
    height: int,
    width: int,
    n_classes: int,
    n_filters: int,
    n_stages: int,
    n_blocks: int,
    dropout: float,
) -> nn.Module:
    """Build a convolution, stages of residual blocks, the channel means, and the classes."""
    enough = 1 + (max(height, width) - 1).bit_length()
    if n_stages > enough:
        raise ValueError(
            f"n_stages={n_stages} halves images {n_stages - 1} times, but images of {height} x "
            f"{width} pixels shrink to a single pixel earlier: set n_stages to at most {enough}."
        )
    layers = [
        nn.Conv2d(channels, n_filters, 3, padding=1, bias=False),
        *(nn.BatchNorm2d(n_filters), nn.ReLU()),
    ]
    n_in = n_filters
    for stage in range(n_stages):
        n_out = n_filters * 2**stage
        for block in range(n_blocks):
            halves = stage > 0 and block == 0
            layers.append(Residual(n_in, n_out, 2 if halves else 1))
            n_in = n_out
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), Dropout(dropout)]
    return nn.Sequential(*layers, last_layer(n_in, n_classes))


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ConvNetClassifier(ImageClassifier):
    """A small residual net, with common training techniques as parameters.

    This net is recommended to start with: it uses normalisation, accepts images of any size, and
    has its depth and width as parameters.

    Parameters
    ----------
    n_filters : int, default=16
        Number of filters in the first stage. The number is doubled in each further stage.
    n_stages : int, default=3
        Number of stages. Each stage except the first begins by halving the image.
    n_blocks : int, default=1
        Number of residual blocks in a stage, of two layers each.
    dropout : float, default=0.0
        Share of the values before the last layer set to 0 during training.
    label_smoothing : float, default=0.0
        Share of each label distributed equally among all classes.
    flip : bool, default=False
        If True, mirror training images at random, left to right. Unsuitable for digits, for
        example.
    shift : int, default=0
        Largest shift of a training image in pixels, in each direction.
    cutout : int, default=0
        Width and height of a blackened square in each training image, in pixels.
    warmup : float, default=1.0
        Number of epochs during which the learning rate rises from 0. Ignored if
        ``schedule="one_cycle"``.
    ema_decay : float, default=0.0
        Decay of the moving average of the weights used for prediction; 0 for no average. With a
        constant learning rate, averaging has much of the effect of reducing the rate to 0, at any
        time.
    {common}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [1] K. He, X. Zhang, S. Ren, J. Sun, "Deep residual learning for image recognition",
       CVPR 2016. https://doi.org/10.1109/CVPR.2016.90
    .. [2] T. DeVries, G. W. Taylor, "Improved regularization of convolutional neural networks
       with cutout", 2017. https://arxiv.org/abs/1708.04552

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sksearch.neural import ConvNetClassifier
    >>> digits = load_digits()
    >>> X, y = digits.images, digits.target
    >>> classifier = ConvNetClassifier(n_filters=4, max_epochs=2, device="cpu", random_state=0)
    >>> bool(classifier.fit(X[:1500], y[:1500]).score(X[1500:], y[1500:]) > 0.7)
    True
    """

    n_filters: int = 16
    n_stages: int = 3
    n_blocks: int = 1
    dropout: float = 0.0
    label_smoothing: float = 0.0
    flip: bool = False
    shift: int = 0
    cutout: int = 0
    warmup: float = 1.0
    ema_decay: float = 0.0
    batch_size: int = 64
    weight_decay: float = 5e-4
    schedule: str = "auto"
    _body = staticmethod(conv_net_body)
    _architecture = ("n_filters", "n_stages", "n_blocks", "dropout")
    _tricks = ("flip", "shift", "cutout", "warmup", "ema_decay")
    _parameter_constraints = ImageClassifier._parameter_constraints | {
        "n_filters": POSITIVE,
        "n_stages": POSITIVE,
        "n_blocks": POSITIVE,
        "dropout": SHARE,
        "label_smoothing": SHARE,
        "flip": ["boolean"],
        "shift": COUNT,
        "cutout": COUNT,
        "warmup": [Interval(Real, 0, None, closed="left")],
        "ema_decay": SHARE,
    }

    @staticmethod
    def space(horizon: int | None = None) -> dict[str, Any]:
        """Return the search space of `ConvNetClassifier`: size, regularisation and training.

        Parameters
        ----------
        horizon : int or None, default=None
            Number of epochs of the best candidates, at which learning-rate schedules end. None:
            schedules are not searched.

        Returns
        -------
        space : dict
            Values of each parameter, to edit as needed. `flip` is not searched, because whether
            mirrored images are valid depends on the task.

        Examples
        --------
        >>> from sksearch.neural import ConvNetClassifier
        >>> sorted(ConvNetClassifier.space())[:3]
        ['batch_size', 'cutout', 'dropout']
        """
        space = {
            "n_filters": [8, 16, 32, 64],
            "n_blocks": [1, 2, 3],
            "learning_rate": loguniform(1e-2, 1),
            "weight_decay": loguniform(1e-5, 1e-2),
            "batch_size": [32, 64, 128, 256, 512],
            "dropout": uniform(0, 0.5),
            "label_smoothing": uniform(0, 0.2),
            "shift": randint(0, 5),
            "cutout": [0, 4, 8, 12],
            "ema_decay": [0.0, 0.9, 0.99],
        }
        if horizon is not None:
            space |= {"schedule": ["constant", "cosine", "one_cycle"], "horizon": [horizon]}
        return space
