"""What all families share: from arrays to a trained net and back, epoch by epoch."""

import copy
import inspect
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from sksearch._compat import Interval, StrOptions, fit_context
from sksearch._seeds import draw_seed
from sksearch.neural._device import (
    choose_device,
    choose_precision,
    lent,
    memory_errors,
    threads,
)
from sksearch.neural._images import Images, layout, scale_of
from sksearch.neural._nets import build
from sksearch.neural._torch import nn, torch
from sksearch.neural._training import (
    Epoch,
    EpochNet,
    Recipe,
    autocast,
    averaged_tensors,
)

ROWS_AT_ONCE = 1_024  # in prediction

COMMON = """
max_epochs : int, default={max_epochs}
    Passes over the training images, of each call of ``fit`` or ``partial_fit``.
batch_size : int, default={batch_size}
    Largest count of images in a step. Batches of an epoch differ by one image at most.
learning_rate : float, default={learning_rate}
    Largest step size of gradient descent.
momentum : float, default={momentum}
    Nesterov's, from 0 to less than 1.
weight_decay : float, default={weight_decay}
    Factor of the weights that is added to their gradients.
schedule : {"constant", "cosine", "one_cycle", "auto"}, default="{schedule}"
    How the learning rate changes from step to step. The second falls to 0 at the horizon, the
    third rises until 0.3 of it and falls to 0. "auto" is "cosine" where the horizon is known,
    else "constant".
horizon : int or None, default=None
    Count of epochs, over all calls, at which the learning rate is 0. None: in ``fit`` it is
    `max_epochs`, in ``partial_fit`` it is not known. Under a search by epochs set it to
    ``max_resources``.
early_stopping : bool, default=False
    Whether ``fit`` puts a part of the images aside, stops when the loss on them has not
    improved for `patience` epochs, and keeps the weights of the best epoch.
validation_fraction : float, default=0.1
    That part.
patience : int, default=2
    Count of epochs.
class_weight : dict, "balanced" or None, default=None
    Factors of the loss for each class. "balanced": inversely proportional to its count.
precision : {"auto", "fp32", "bf16", "fp16"}, default="auto"
    Of matrix products and convolutions. "auto" is "bf16" on a GPU that has it, else "fp32".
device : str, default="auto"
    Where to compute, as in PyTorch: "cpu", "cuda", "cuda:1". "auto" is a GPU where there is one.
n_jobs : int or None, default=None
    Count of threads on the CPU; None is 1, -1 is all. The last bits of results depend on it.
compile : bool, default=False
    Whether ``torch.compile`` translates the net. It takes a minute, which long trainings earn.
image_shape : tuple of int or None, default=None
    (height, width), (height, width, channels) or (channels, height, width) of an image, for
    flat rows. None: they are square, with one channel.
random_state : int, RandomState instance or None, default=None
    Seed of weights, order of the images and all that training draws. PyTorch's global generator
    is neither used nor changed.
"""

ATTRIBUTES = """
classes_ : ndarray of shape (n_classes,)
    Labels.
n_epochs_ : int
    Count of epochs so far.
net_ : skorch.NeuralNetClassifier
    With the module in ``module_`` and loss and seconds of each epoch in ``history``. It is on
    the CPU between calls.
image_shape_ : tuple of int
    Of an image, with its channels.
horizon_ : int or None
    Count of epochs at which the learning rate is 0.
n_features_in_ : int
    Size of the second axis of X.
feature_names_in_ : ndarray of shape (`n_features_in_`,)
    Names of the columns, if X is a DataFrame.
"""


def documented(cls):
    """Fill ``{common}`` and ``{attributes}`` in a docstring, own params before the common ones."""
    signature = inspect.signature(cls.__init__)
    first, *others = signature.parameters.values()
    others.sort(key=lambda p: p.name in ImageClassifier.__dataclass_fields__)
    cls.__init__.__signature__ = signature.replace(parameters=[first, *others])
    common = COMMON
    for name in cls.__dataclass_fields__:
        common = common.replace("{" + name + "}", str(getattr(cls, name)))
    doc = inspect.cleandoc(cls.__doc__).replace("{common}", common.strip())
    cls.__doc__ = doc.replace("{attributes}", ATTRIBUTES.strip())
    return cls


@dataclass(kw_only=True, eq=False, repr=False)
class ImageClassifier(ClassifierMixin, BaseEstimator):
    """A net on images; subclasses say which one, in `_body` and `_architecture`."""

    max_epochs: int = 20
    batch_size: int = 128
    learning_rate: float = 0.1
    momentum: float = 0.9
    weight_decay: float = 1e-4
    schedule: str = "constant"
    horizon: int | None = None
    early_stopping: bool = False
    validation_fraction: float = 0.1
    patience: int = 2
    class_weight: Any = None
    precision: str = "auto"
    device: str = "auto"
    n_jobs: int | None = None
    compile: bool = False
    image_shape: tuple | None = None
    random_state: Any = None

    _parameter_constraints = {
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "schedule": [StrOptions({"constant", "cosine", "one_cycle", "auto"})],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "precision": [StrOptions({"auto", "fp32", "bf16", "fp16"})],
        "device": [str],
        "n_jobs": [Integral, None],
        "compile": ["boolean"],
        "image_shape": [tuple, list, None],
        "random_state": ["random_state"],
    }
    _checks = {"allow_nd": True, "dtype": [np.float32, np.uint8]}
    _flat_rows = False  # whether rows that are no square are images one pixel high
    _architecture = ()  # names of the params that `_body` takes
    _tricks = ()  # names of the params that a Recipe takes beside the common ones

    @property
    @abstractmethod
    def _body(self):
        """``_body(channels, height, width, n_classes, **params)`` builds the net; no method."""

    @fit_context
    def fit(self, X, y, sample_weight=None):
        """Train for `max_epochs` epochs.

        Parameters
        ----------
        X : array-like
            Images: (n, height, width), (n, height, width, channels), (n, channels, height,
            width), or flat rows. Pixels of any type; each channel is scaled by mean and
            deviation, and bytes need a quarter of the memory of floats.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,) or None, default=None
            Factors of the loss.

        Returns
        -------
        self : object
            Fitted.

        Raises
        ------
        ValueError
            If the images are too small for the architecture.
        MemoryError
            If the memory of the GPU, or of the CPU, is full; it is freed.
        FloatingPointError
            If the loss becomes infinite or no number.
        """
        X, y = validate_data(self, X, y, **self._checks)
        self._begin(X, y, None, self.horizon or self.max_epochs)
        return self._train(X, y, sample_weight, self.early_stopping)

    @fit_context
    def partial_fit(self, X, y, classes=None, sample_weight=None):
        """Train for `max_epochs` more epochs: two calls of one are one of two, to the bit.

        Parameters
        ----------
        X, y : array-like
            As for ``fit``.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels there are, for the first call. None: those of y.
        sample_weight : array-like of shape (n,) or None, default=None
            Factors of the loss.

        Returns
        -------
        self : object
            Fitted.

        Raises
        ------
        ValueError
            As in ``fit``; also with ``early_stopping=True``, beyond the horizon, and for a
            schedule whose horizon is not known.
        MemoryError, FloatingPointError
            As in ``fit``.
        """
        if self.early_stopping:
            raise ValueError(
                "early_stopping=True needs fit: it cannot say after which partial_fit to stop."
            )
        first = not hasattr(self, "net_")
        X, y = validate_data(self, X, y, reset=first, **self._checks)
        if first:
            self._begin(X, y, classes, self.horizon)
        return self._train(X, y, sample_weight, False)

    def predict_proba(self, X):
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like
            Images in the layout of the training images.

        Returns
        -------
        probabilities : ndarray of shape (n, n_classes)
            Of type float32.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._checks)
        with self._place() as (device, precision):
            images = self._images(X, None, None, device)
            with lent(self.net_, device):
                logits = self._logits(images, precision)
                return torch.softmax(logits.float(), dim=1).cpu().numpy()

    def predict(self, X):
        """Labels of images.

        Parameters
        ----------
        X : array-like
            Images in the layout of the training images.

        Returns
        -------
        labels : ndarray of shape (n,)
            The most probable ones.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    # ---- the net

    def _begin(self, X, y, classes, horizon):
        """Make an untrained net for such images."""
        check_classification_targets(y)
        self.classes_ = np.unique(y if classes is None else classes)
        self.image_shape_, last = layout(X.shape, self.image_shape, self._flat_rows)
        self._channels_last = last
        self.horizon_ = horizon
        self._seed = draw_seed(self.random_state)
        self.n_epochs_ = 0
        with memory_errors(), threads(self.n_jobs):
            self.net_ = self._new_net(X)

    def _new_net(self, X):
        mean, deviation = scale_of(X.reshape(-1, *self.image_shape_), self._channels_last)
        height, width, channels = self.image_shape_
        if not self._channels_last:
            channels, height, width = self.image_shape_
        body = partial(self._body, **{name: getattr(self, name) for name in self._architecture})
        image, n_classes = (channels, height, width), len(self.classes_)
        scale = mean.tolist(), deviation.tolist()
        net = EpochNet(
            partial(build, body, image, n_classes, *scale, seed=self._seed),
            criterion=nn.CrossEntropyLoss,
            criterion__reduction="none",
            criterion__label_smoothing=getattr(self, "label_smoothing", 0.0),
            optimizer=torch.optim.SGD,
            optimizer__momentum=self.momentum,
            optimizer__nesterov=self.momentum > 0,
            optimizer__weight_decay=self.weight_decay,
            optimizer__fused=True,
            lr=self.learning_rate,
            train_split=None,
            callbacks="disable",
            verbose=0,
        )
        return net.initialize()

    def _recipe(self, precision):
        schedule = self.schedule
        if schedule == "auto":
            schedule = "constant" if self.horizon_ is None else "cosine"
        if schedule != "constant" and self.horizon_ is None:
            raise ValueError(
                f"schedule={schedule!r} must know when it ends, and partial_fit does not: set "
                "horizon to the count of epochs over all calls (max_resources of a search), or "
                'schedule="auto".'
            )
        end = self.n_epochs_ + self.max_epochs
        if schedule != "constant" and end > self.horizon_:
            raise ValueError(
                f"schedule={schedule!r} ends after horizon={self.horizon_} epochs, and this call "
                f"would go on to epoch {end}: set horizon to the count of epochs over all calls."
            )
        return Recipe(
            learning_rate=self.learning_rate,
            batch_size=self.batch_size,
            schedule=schedule,
            horizon=self.horizon_,
            precision=precision,
            compile=self.compile,
            **{name: getattr(self, name) for name in self._tricks},
        )

    # ---- training

    def _train(self, X, y, sample_weight, stops):
        weights = self._weights(y, sample_weight)
        codes = self._codes(y)
        with self._place() as (device, precision):
            recipe = self._recipe(precision)
            parts = self._parts(X, codes, weights, device, stops)
            if recipe.ema_decay > 0 and self.net_.average_ is None:
                self.net_.average_ = [t.clone() for t in averaged_tensors(self.net_.module_)]
                self.net_.n_averaged_ = 0
            with lent(self.net_, device):
                self._epochs(recipe, *parts)
        return self

    def _epochs(self, recipe, images, held_out):
        net, best, since = self.net_, (np.inf, None), 0
        for _ in range(self.max_epochs):
            net.fit_loop(Epoch(images, recipe, self._seed, self.n_epochs_), epochs=1)
            self.n_epochs_ += 1
            if held_out is None:
                continue
            loss = self._loss(held_out, recipe.precision)
            net.history.record("valid_loss", loss)
            since += 1
            if loss < best[0]:
                best, since = (loss, copy.deepcopy((net.module_.state_dict(), net.average_))), 0
            if since == self.patience:
                break
        if best[1] is not None:
            net.module_.load_state_dict(best[1][0])
            net.average_ = best[1][1]

    def _parts(self, X, codes, weights, device, stops):
        """Images to train on, and those to stop by or None."""
        if not stops:
            return self._images(X, codes, weights, device), None
        rows = train_test_split(
            np.arange(len(X)),
            test_size=self.validation_fraction,
            stratify=codes,
            random_state=self._seed,
        )
        return [
            self._images(X[i], codes[i], None if weights is None else weights[i], device)
            for i in rows
        ]

    def _codes(self, y):
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if np.any(unknown := self.classes_[codes] != y):
            raise ValueError(
                f"y has the label {y[unknown][0]!r}, and the first call was told of "
                f"{self.classes_.tolist()}: pass all labels as classes to the first call."
            )
        return codes.astype(np.int64)

    def _weights(self, y, sample_weight):
        """Weight of each row, None if there are none."""
        weights = None if sample_weight is None else _one_each(sample_weight, y)
        if self.class_weight is not None:
            factors = self.class_weight
            if factors == "balanced":
                present = np.unique(y)
                balanced = compute_class_weight("balanced", classes=present, y=y)
                factors = dict(zip(present.tolist(), balanced.tolist(), strict=True))
            table = np.array([factors.get(label, 1.0) for label in self.classes_.tolist()])
            each = table[self._codes(y)]
            weights = each if weights is None else weights * each
        return weights

    # ---- prediction

    @contextmanager
    def _place(self):
        """Device and precision, with our count of threads, and errors of memory translated."""
        device = choose_device(self.device)
        with memory_errors(), threads(self.n_jobs):
            yield device, choose_precision(self.precision, device)

    def _images(self, X, codes, weights, device):
        shape, last = layout(X.shape, self.image_shape_, self._flat_rows)
        if (shape, last) != (self.image_shape_, self._channels_last):
            raise ValueError(
                f"X has images of shape {shape}, and those of the training had "
                f"{self.image_shape_}: pass them in the same layout."
            )
        return Images(X.reshape(-1, *shape), last, codes, weights, device)

    @torch.no_grad()
    def _logits(self, images, precision):
        """Outputs of the net for all images, on the device."""
        module, average = self.net_.module_.eval(), self.net_.average_
        replaced = {}
        if average is not None:
            names = [n for n, t in module.state_dict().items() if t.is_floating_point()]
            replaced = dict(zip(names, average, strict=True))
        outputs = []
        for start in range(0, len(images), ROWS_AT_ONCE):
            rows = torch.arange(start, min(start + ROWS_AT_ONCE, len(images)))
            x, _, _ = images.take(rows, rows.to(images.device))
            with autocast(precision, images.device):
                outputs.append(torch.func.functional_call(module, replaced, (x,)))
        return torch.cat(outputs)

    def _loss(self, images, precision):
        """Mean weighted loss, without training."""
        losses = self.net_.criterion_(self._logits(images, precision).float(), images.codes)
        if images.weights is not None:
            losses = losses * images.weights
        return float(losses.mean())


def _one_each(sample_weight, y):
    """One weight for each label."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(len(y), sample_weight)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (len(y),):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, and y has {len(y)} labels: pass one weight "
            "for each."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero everywhere: leave it out, or weigh some rows.")
    return weights
