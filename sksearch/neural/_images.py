"""Arrays of images in any layout, and batches of them on any device."""

import math
from contextlib import suppress

import numpy as np

from sksearch.neural._torch import torch

VALUES_AT_ONCE = 2**20  # values converted to float64 at a time
ROWS_FOR_SCALE = 10_000  # enough rows for the means and deviations of all rows to three digits
SHARE_OF_MEMORY = 0.5  # largest share of a GPU's free memory for images that stay on it


def layout(
    shape: tuple[int, ...], image_shape: tuple[int, ...] | None, flat: bool = False
) -> tuple[tuple[int, ...], bool]:
    """Determine the axes of an array.

    Parameters
    ----------
    shape : tuple of int
        Shape of the whole array, rows first.
    image_shape : tuple of int or None
        Shape of one image, for flat rows.
    flat : bool, default=False
        If True, rows other than square images may be images one pixel high.

    Returns
    -------
    one : tuple of int
        Shape of one image, with an axis for its channels.
    channels_last : bool
        True if the channels are its last axis.
    """
    one = shape[1:]
    if len(one) == 1:
        one = image_shape or _square(one[0], flat)
        if math.prod(one) != shape[1]:
            raise ValueError(
                f"image_shape={tuple(one)} has {math.prod(one)} values, but rows have {shape[1]}: "
                "correct image_shape."
            )
    if len(one) == 2:
        return (*one, 1), True
    if len(one) != 3:
        raise ValueError(
            f"X has shape {shape}: images must be arrays of shape (n, height, width), (n, height, "
            "width, channels), (n, channels, height, width), or flat rows."
        )
    if (one[0] == one[1]) != (one[1] == one[2]):  # most images are square
        return tuple(one), one[0] == one[1]
    return tuple(one), not one[0] < one[2]


def _square(n_values: int, flat: bool) -> tuple[int, int]:
    """Return height and width of a flat row without a given shape."""
    side = math.isqrt(n_values)
    if side * side == n_values:
        return (side, side)
    if flat:
        return (1, n_values)
    raise ValueError(
        f"Rows of {n_values} values are not square images with one channel: set image_shape to "
        "(height, width), (height, width, channels) or (channels, height, width)."
    )


def scale_of(X: np.ndarray, channels_last: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation of each channel, from at most 20,000 rows."""
    some = X[:: max(1, len(X) // ROWS_FOR_SCALE)]
    axes = (0, 1, 2) if channels_last else (0, 2, 3)
    shape = (-1,) if channels_last else (-1, 1, 1)
    n_at_once = max(1, VALUES_AT_ONCE // some[0].size)
    parts = [some[start : start + n_at_once] for start in range(0, len(some), n_at_once)]
    count = some.size // some.shape[-1 if channels_last else 1]
    mean = sum(part.sum(axis=axes, dtype=np.float64) for part in parts) / count
    squares = (((part - mean.reshape(shape)) ** 2).sum(axis=axes) for part in parts)
    deviation = np.sqrt(sum(squares) / count)
    return mean, np.where(deviation > 0, deviation, 1.0)


class Images:
    """Images with class codes and weights, from which batches are taken.

    The array is left unchanged, even if it is a view of a file; only batches are copied. On a GPU
    all images are kept there if they fit into half of the free memory.

    Parameters
    ----------
    X : ndarray of shape (n, height, width, channels) or (n, channels, height, width)
        Pixels of any dtype.
    channels_last : bool
        True if the channels are the last axis.
    codes : ndarray of int64 of shape (n,) or None
        Index of each row's class.
    weights : ndarray of shape (n,) or None
        Weight of each row in the loss.
    device : torch.device
        Device of the batches.
    """

    def __init__(
        self,
        X: np.ndarray,
        channels_last: bool,
        codes: np.ndarray | None,
        weights: np.ndarray | None,
        device: torch.device,
    ):
        self.X, self.channels_last, self.device = X, channels_last, device
        self.codes = None if codes is None else torch.from_numpy(codes).to(device)
        weights = None if weights is None else torch.from_numpy(weights.astype(np.float32))
        self.weights = None if weights is None else weights.to(device)
        self.resident = None
        if device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            if X.nbytes < SHARE_OF_MEMORY * free:
                with suppress(torch.cuda.OutOfMemoryError):  # another process was faster
                    self.resident = self._upload()

    def __len__(self) -> int:
        return len(self.X)

    def _upload(self) -> torch.Tensor:
        """Copy all images to the device in pieces: the CPU may lack memory for a whole copy."""
        whole = torch.empty(
            self.X.shape, dtype=torch.from_numpy(self.X[:1].copy()).dtype, device=self.device
        )
        for start in range(0, len(self.X), ROWS_FOR_SCALE):
            rows = slice(start, start + ROWS_FOR_SCALE)
            whole[rows].copy_(torch.from_numpy(self.X[rows].copy()))
        return whole

    def take(self, rows: torch.Tensor, rows_there: torch.Tensor) -> tuple:
        """Return images, codes and weights of some rows.

        Parameters
        ----------
        rows, rows_there : Tensor of int64
            The same positions, on the CPU and on the device.

        Returns
        -------
        x : Tensor of shape (len(rows), channels, height, width)
            Images on the device, in their own dtype.
        codes, weights : Tensor of shape (len(rows),) or None
            Codes and weights on the device.
        """
        if self.resident is not None:
            x = self.resident[rows_there]
        else:
            x = torch.from_numpy(self.X[rows.numpy()])
            if self.device.type == "cuda":
                x = x.pin_memory().to(self.device, non_blocking=True)
        if self.channels_last:
            x = x.permute(0, 3, 1, 2)
        codes = None if self.codes is None else self.codes[rows_there]
        weights = None if self.weights is None else self.weights[rows_there]
        return x, codes, weights
