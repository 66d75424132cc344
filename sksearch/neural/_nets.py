"""Building blocks of the nets of all families."""

from collections.abc import Callable
from typing import Any

from sksearch.neural._torch import nn, torch


class ImageNet(nn.Module):
    """A net for raw pixels, which scales them with the statistics of the training images.

    Parameters
    ----------
    body : nn.Module
        Net from scaled images to one number for each class.
    mean, deviation : list of float
        Mean and deviation of each channel of the training images.
    """

    def __init__(self, body: nn.Module, mean: list[float], deviation: list[float]):
        super().__init__()
        self.body = body
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1))
        self.register_buffer("deviation", torch.tensor(deviation).view(1, -1, 1, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scale pixels, and pass them to the body."""
        x = ((x.float() - self.mean) / self.deviation).contiguous(
            memory_format=torch.channels_last
        )
        return self.body(x)


class Dropout(nn.Module):
    """Dropout with its own generator, which is set during training.

    Parameters
    ----------
    p : float
        Share of values set to 0.
    """

    def __init__(self, p: float):
        super().__init__()
        self.p = p
        self.generator = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Set values to 0 during training."""
        if not self.training or self.p == 0:
            return x
        kept = torch.empty_like(x).bernoulli_(1 - self.p, generator=self.generator)
        return x * kept.div_(1 - self.p)


class Same(nn.Sequential):
    """A convolution that keeps the size of the image, even with filters of even size.

    Parameters
    ----------
    n_in, n_out : int
        Number of channels.
    size : int
        Side of the filters, in pixels.
    **kwargs : object
        Parameters of ``nn.Conv2d``.
    """

    def __init__(self, n_in: int, n_out: int, size: int, **kwargs: Any):
        if size % 2:
            super().__init__(nn.Conv2d(n_in, n_out, size, padding=size // 2, **kwargs))
            return
        before, after = size // 2 - 1, size // 2
        super().__init__(
            nn.ZeroPad2d((before, after, before, after)), nn.Conv2d(n_in, n_out, size, **kwargs)
        )


def image_after(
    layers: list[nn.Module], channels: int, height: int, width: int
) -> tuple[int, ...]:
    """Pass a shape through layers built on the device "meta".

    Parameters
    ----------
    layers : list of nn.Module
        Convolutions and poolings, one after another.
    channels, height, width : int
        Shape of the images.

    Returns
    -------
    shape : tuple of int
        Channels, height and width of the output.

    Raises
    ------
    ValueError
        If a layer leaves no pixel.
    """
    x = torch.empty(1, channels, height, width, device="meta")
    for layer in layers:
        before = tuple(x.shape[2:])
        try:
            x = layer.eval()(x)
        except RuntimeError:  # the layer is larger than what is left
            x = None
        if x is None or x.numel() == 0:
            raise ValueError(
                f"The images are too small for this architecture: images of {height} x {width} "
                f"pixels are only {before[0]} x {before[1]} before {type(layer).__name__}. Pass "
                "larger images, or use fewer poolings."
            )
    return tuple(x.shape[1:])


def build(
    body: Callable[..., nn.Module],
    image: tuple[int, int, int],
    n_classes: int,
    mean: list[float],
    deviation: list[float],
    seed: int,
) -> ImageNet:
    """Build a net whose weights depend on the seed alone.

    Parameters
    ----------
    body : callable
        ``body(channels, height, width, n_classes)`` returns an ``nn.Module``. It is called with
        "meta" as default device, so that it costs nothing and draws nothing.
    image : tuple of int
        Channels, height and width of an image.
    n_classes : int
        Number of outputs.
    mean, deviation : list of float
        Mean and deviation of each channel.
    seed : int
        Seed of the weights.

    Returns
    -------
    net : ImageNet
        The net, on the CPU.
    """
    with torch.device("meta"):
        inner = body(*image, n_classes)
    net = ImageNet(inner.to_empty(device="cpu"), mean, deviation)
    generator = torch.Generator().manual_seed(seed)
    for module in net.modules():
        _initialise(module, generator)
    return net.train().to(memory_format=torch.channels_last)


@torch.no_grad()
def _initialise(module: nn.Module, generator: torch.Generator) -> None:
    """Draw weights: He's initialisation for all layers but the last, which has no ReLU."""
    if isinstance(module, nn.Conv2d | nn.Linear):
        last = getattr(module, "last", False)
        fan_in = module.weight[0].numel()
        scale = (1 / fan_in if last else 2 / fan_in) ** 0.5
        module.weight.normal_(0, scale, generator=generator)
        if module.bias is not None:
            module.bias.zero_()
    elif isinstance(module, nn.BatchNorm2d):
        module.reset_running_stats()
        module.weight.fill_(1.0)
        module.bias.zero_()


def last_layer(n_in: int, n_classes: int) -> nn.Linear:
    """Create the layer whose outputs are the classes."""
    layer = nn.Linear(n_in, n_classes)
    layer.last = True
    return layer
