"""One epoch of training, on any device.

All random numbers of an epoch (order of the rows, flips, shifts, dropout) come from generators
seeded by (seed, epoch). So exact continuation requires only the number of epochs.
"""

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch.neural._images import Images
from sksearch.neural._nets import Dropout
from sksearch.neural._torch import (
    NeuralNetClassifier,
    functional,
    get_ema_multi_avg_fn,
    nn,
    torch,
)

PEAK = 0.3  # share of a one-cycle schedule in which the rate rises
AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}


@dataclass(frozen=True)
class Recipe:
    """Training settings, as plain values.

    Parameters
    ----------
    learning_rate : float
        Largest step size.
    batch_size : int
        Largest number of rows in a step.
    schedule : {"constant", "cosine", "one_cycle"}
        Schedule of the learning rate.
    horizon : int or None
        Number of epochs after which the learning rate is 0.
    precision : {"fp32", "bf16", "fp16"}
        Precision of matrix products and convolutions.
    compile : bool
        If True, use ``torch.compile``.
    warmup : float, default=0.0
        Number of epochs in which the learning rate rises.
    ema_decay : float, default=0.0
        Decay of the moving average of the weights; 0 for none.
    flip : bool, default=False
        If True, mirror half of the images.
    shift : int, default=0
        Largest shift of an image, in pixels.
    cutout : int, default=0
        Side of the blackened square, in pixels.
    """

    learning_rate: float
    batch_size: int
    schedule: str
    horizon: int | None
    precision: str
    compile: bool
    warmup: float = 0.0
    ema_decay: float = 0.0
    flip: bool = False
    shift: int = 0
    cutout: int = 0

    def rate(self, epochs: float) -> float:
        """Return the learning rate after a number of epochs, possibly fractional."""
        rise = min(1.0, epochs / self.warmup) if self.warmup > 0 else 1.0
        if self.schedule == "constant":
            return self.learning_rate * rise
        horizon: Any = self.horizon  # the other schedules have one
        if self.schedule == "cosine":
            left = (epochs - self.warmup) / max(horizon - self.warmup, 1e-9)
            fall = 0.5 * (1 + math.cos(math.pi * max(left, 0.0)))
            return self.learning_rate * rise * fall
        peak = PEAK * horizon
        if epochs < peak:
            return self.learning_rate * epochs / peak
        return self.learning_rate * (horizon - epochs) / (horizon - peak)


class EpochNet(NeuralNetClassifier):
    """A skorch net whose epoch is one plain loop over batches.

    skorch creates and pickles module, criterion and optimizer, counts epochs and keeps the
    history. Its own loop records each batch, and waits for the GPU each time; this one records
    epochs.

    Attributes
    ----------
    scaler_ : dict or None
        State of the loss scaler of fp16.
    average_ : list of Tensor or None
        Moving average of the `averaged_tensors`.
    n_averaged_ : int
        Number of steps in the moving average.
    """

    scaler_, average_, n_averaged_ = None, None, 0

    def get_split_datasets(self, X: Any, y: Any = None, **params: Any) -> tuple[Any, None]:
        """Return `X`, an `Epoch`, as training data, and no validation data."""
        return X, None

    def get_iterator(self, dataset: Any, training: bool = False) -> Any:
        """Return the `Epoch` itself."""
        return dataset

    def check_data(self, X: Any, y: Any = None) -> None:
        """Skip the check: the classifier has checked the data."""

    def run_single_epoch(
        self, iterator: Any, training: bool, prefix: str, step_fn: Any, **fit_params: Any
    ) -> None:
        """Run the `Epoch`, and record its loss and seconds."""
        if iterator is not None:
            start = time.perf_counter()
            loss = iterator.run(self)
            self.history.record(f"{prefix}_loss", loss)
            self.history.record("dur", time.perf_counter() - start)


class Epoch:
    """A pass over all images, in steps.

    Parameters
    ----------
    images : Images
        Images to train on.
    recipe : Recipe
        Training settings.
    seed : int
        Seed of the classifier.
    number : int
        Number of the epoch, from 0.
    """

    def __init__(self, images: Images, recipe: Recipe, seed: int, number: int):
        self.images, self.recipe, self.number = images, recipe, number
        words = np.random.SeedSequence((seed, number)).generate_state(2)
        self.here = torch.Generator().manual_seed(int(words[0]))
        self.there = torch.Generator(images.device).manual_seed(int(words[1]))

    def __len__(self) -> int:
        return math.ceil(len(self.images) / self.recipe.batch_size)

    def run(self, net: EpochNet) -> float:
        """Train `net` and return the mean loss.

        Raises
        ------
        FloatingPointError
            If the loss is not finite.
        """
        module, device, n = net.module_.train(), self.images.device, len(self.images)
        dropouts = [m for m in module.modules() if isinstance(m, Dropout)]
        for dropout in dropouts:
            dropout.generator = self.there
        total = torch.zeros((), device=device)
        try:
            step = Step(net, self.recipe, device)
            for i, (x, codes, weights) in enumerate(self._batches()):
                rate = self.recipe.rate(self.number + (i + 0.5) / len(self))
                total += step(x, codes, weights, rate) * len(codes)
        finally:
            for dropout in dropouts:  # a generator cannot be pickled
                dropout.generator = None
        step.end()
        loss = float(total) / n  # the only wait for a GPU
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"The loss was {loss} in epoch {self.number + 1}: training diverged with "
                f"learning_rate={self.recipe.learning_rate:.3g}."
            )
        return loss

    def _batches(self) -> Iterator[tuple]:
        """Yield batches whose sizes differ by at most one row, so that none is too small."""
        n, n_batches = len(self.images), len(self)
        order = torch.randperm(n, generator=self.here)
        there = order.to(self.images.device)
        draws = EpochDraws(self.recipe, n, self.here, self.images)
        for i in range(n_batches):
            rows = slice(i * n // n_batches, (i + 1) * n // n_batches)
            x, codes, weights = self.images.take(order[rows], there[rows])
            yield draws.apply(x, rows), codes, weights


class Step:
    """A step of the optimizer.

    Parameters
    ----------
    net : EpochNet
        Net whose module is on the device.
    recipe : Recipe
        Training settings.
    device : torch.device
        Device to train on.
    """

    def __init__(self, net: EpochNet, recipe: Recipe, device: torch.device):
        self.net, self.recipe, self.device = net, recipe, device
        self.forward = torch.compile(net.module_) if recipe.compile else net.module_
        self.scaler = None
        if recipe.precision == "fp16":
            self.scaler = torch.amp.GradScaler(device.type)
            if net.scaler_ is not None:
                self.scaler.load_state_dict(net.scaler_)
        if recipe.ema_decay > 0:
            self.weights = averaged_tensors(net.module_)

    def __call__(
        self, x: torch.Tensor, codes: torch.Tensor, weights: torch.Tensor | None, rate: float
    ) -> torch.Tensor:
        """Train on a batch and return its loss, on the device."""
        optimizer = self.net.optimizer_
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        with autocast(self.recipe.precision, self.device):
            losses = self.net.criterion_(self.forward(x), codes)
        loss = losses.mean() if weights is None else (losses * weights).mean()
        if self.scaler is None:
            loss.backward()
            optimizer.step()
        else:
            self.scaler.scale(loss).backward()
            self.scaler.step(optimizer)
            self.scaler.update()
        if self.recipe.ema_decay > 0:
            self._average()
        return loss.detach()

    @torch.no_grad()
    def _average(self) -> None:
        """Add the weights of this step to their moving average."""
        net = self.net
        net.n_averaged_ += 1
        # An average over few steps must not contain the initial random weights.
        decay = min(self.recipe.ema_decay, net.n_averaged_ / (10 + net.n_averaged_))
        get_ema_multi_avg_fn(decay)(net.average_, self.weights, None)

    def end(self) -> None:
        """Store the state for the next epoch."""
        if self.scaler is not None:
            self.net.scaler_ = self.scaler.state_dict()


class EpochDraws:
    """Random changes to the images of an epoch.

    They are drawn on the CPU for all images at once, so they are the same on each device.

    Parameters
    ----------
    recipe : Recipe
        Settings of the changes.
    n : int
        Number of images.
    generator : torch.Generator
        Generator of the epoch.
    images : Images
        Images of the epoch, whose device also stores the changes.
    """

    def __init__(self, recipe: Recipe, n: int, generator: torch.Generator, images: Images):
        self.recipe, self.device = recipe, images.device
        self.flips = self.shifts = self.corners = None
        if recipe.flip:
            self.flips = self._there(torch.rand(n, generator=generator) < 0.5)
        if recipe.shift:
            span = (2, n)
            shifts = torch.randint(2 * recipe.shift + 1, span, generator=generator)
            self.shifts = self._there(shifts)
        if recipe.cutout:
            self.corners = self._there(torch.rand((2, n), generator=generator))

    def _there(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device)

    def apply(self, x: torch.Tensor, rows: slice) -> torch.Tensor:
        """Change a batch of shape (m, channels, height, width)."""
        m, _, height, width = x.shape
        if self.flips is not None:
            x = torch.where(self.flips[rows].view(m, 1, 1, 1), x.flip(3), x)
        if self.shifts is not None:
            # (m, height) and (m, width): source of each row and column of pixels.
            down, right = self.shifts[:, rows].unsqueeze(2)
            ys = torch.arange(height, device=x.device) + down
            xs = torch.arange(width, device=x.device) + right
            padded = functional.pad(x, (self.recipe.shift,) * 4).permute(0, 2, 3, 1)
            every = torch.arange(m, device=x.device).view(m, 1, 1)
            x = padded[every, ys.unsqueeze(2), xs.unsqueeze(1)].permute(0, 3, 1, 2)
        if self.corners is not None:
            side = self.recipe.cutout
            inside = []
            for share, size in zip(self.corners[:, rows], (height, width), strict=True):
                first = (share * (size + side)).floor().unsqueeze(1) - side
                at = torch.arange(size, device=x.device)
                inside.append((at >= first) & (at < first + side))
            hole = inside[0].unsqueeze(2) & inside[1].unsqueeze(1)
            x = x.masked_fill(hole.unsqueeze(1), 0)
        return x


def autocast(precision: str, device: torch.device) -> AbstractContextManager:
    """Compute in a lower precision where it is harmless."""
    if precision not in AUTOCAST:
        return nullcontext()
    return torch.autocast(device.type, dtype=AUTOCAST[precision])


def averaged_tensors(module: nn.Module) -> list[torch.Tensor]:
    """List weights, and the statistics of batch normalisation."""
    return [t for t in module.state_dict().values() if t.is_floating_point()]
