"""The base class of all net families: from arrays to a trained net and to predictions."""

import copy
import inspect
from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sksearch._utils._compat import Interval, StrOptions, fit_context
from sksearch._utils._seeds import draw_seed
from sksearch.neural._device import (
    choose_device,
    choose_precision,
    lent,
    memory_errors,
    own_settings,
)
from sksearch.neural._docs import ATTRIBUTES, COMMON
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
from sksearch.neural._weights import check_class_weight, checked_weights

ROWS_AT_ONCE = 1_024  # rows of a batch in prediction


def documented(cls: Any) -> Any:
    """Fill ``{common}`` and ``{attributes}`` in a docstring; own parameters come first."""
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
    """A net for images; subclasses define it by `_body` and `_architecture`."""

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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
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
    _flat_rows = False  # if True, rows other than square images are images one pixel high
    _architecture: ClassVar[tuple[str, ...]] = ()  # names of the parameters of `_body`
    _tricks: ClassVar[tuple[str, ...]] = ()  # names of further parameters of a Recipe

    @property
    @abstractmethod
    def _body(self):
        """Static ``_body(channels, height, width, n_classes, **params)`` that builds the net."""

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train for `max_epochs` epochs.

        Parameters
        ----------
        X : array-like
            Images of shape (n, height, width), (n, height, width, channels) or (n, channels,
            height, width), or flat rows. Pixels of any type: each channel is scaled by mean and
            deviation. Bytes need a quarter of the memory of floats.
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
            If the memory of the GPU or of the CPU is full; it is then freed.
        FloatingPointError
            If the loss becomes infinite or NaN.
        """
        X, y = validate_data(self, X, y, **self._checks)
        self._begin(X, y, None, self.horizon or self.max_epochs)
        return self._train(X, y, sample_weight, self.early_stopping)

    @fit_context
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Train for `max_epochs` more epochs; two calls of one epoch equal one call of two.

        Parameters
        ----------
        X, y : array-like
            As for ``fit``.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels, in the first call. None: the labels of y.
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
            schedule with an unknown horizon.
        MemoryError, FloatingPointError
            As in ``fit``.
        """
        if self.early_stopping:
            raise ValueError(
                "early_stopping=True needs fit: it cannot choose after which partial_fit to stop."
            )
        first = not hasattr(self, "net_")
        X, y = validate_data(self, X, y, reset=first, **self._checks)
        if first:
            self._begin(X, y, classes, self.horizon)
        return self._train(X, y, sample_weight, False)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Predict probabilities of the classes.

        Parameters
        ----------
        X : array-like
            Images in the layout of the training images.

        Returns
        -------
        probabilities : ndarray of shape (n, n_classes)
            Probabilities of type float32.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **self._checks)
        with self._place() as (device, precision):
            images = self._images(X, None, None, device)
            with lent(self.net_, device):
                logits = self._logits(images, precision)
                return torch.softmax(logits.float(), dim=1).cpu().numpy()

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict labels of images.

        Parameters
        ----------
        X : array-like
            Images in the layout of the training images.

        Returns
        -------
        labels : ndarray of shape (n,)
            The most probable labels.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    # ---- the net

    def _begin(self, X, y, classes, horizon):
        """Create an untrained net for images like X."""
        check_classification_targets(y)
        self.classes_ = np.unique(y if classes is None else classes)
        self.image_shape_, last = layout(X.shape, self.image_shape, self._flat_rows)
        self._channels_last = last
        self.horizon_ = horizon
        self._seed = draw_seed(self.random_state)
        self.n_epochs_ = 0
        with memory_errors(), own_settings(self.n_jobs):
            self.net_ = self._new_net(X)

    def _new_net(self, X):
        """Create a net with initial weights and channel scales."""
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
        """Collect training settings; refuse schedules with an early or unknown end."""
        schedule = self.schedule
        if schedule == "auto":
            schedule = "constant" if self.horizon_ is None else "cosine"
        if schedule != "constant" and self.horizon_ is None:
            raise ValueError(
                f"schedule={schedule!r} needs the total number of epochs, which partial_fit does "
                "not provide: set horizon to the number of epochs over all calls (max_resources "
                'of a search), or schedule="auto".'
            )
        end = self.n_epochs_ + self.max_epochs
        if schedule != "constant" and end > self.horizon_:
            raise ValueError(
                f"schedule={schedule!r} ends after horizon={self.horizon_} epochs, but this call "
                f"would continue to epoch {end}: set horizon to the number of epochs over all "
                "calls."
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
        """Train for `max_epochs` epochs; if `stops`, `patience` may end training earlier."""
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
        """Run the epochs; with `held_out` images stop early, and keep the best weights."""
        net, since = self.net_, 0
        best: Any = (np.inf, None)  # loss and weights
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
        """Divide into images to train on, and held-out images or None."""
        if not stops:
            return self._images(X, codes, weights, device), None
        rows = self._held_out(codes)
        return [
            self._images(X[i], codes[i], None if weights is None else weights[i], device)
            for i in rows
        ]

    def _held_out(self, codes):
        """Divide positions of rows into those to train on and those held out."""
        try:
            return train_test_split(
                np.arange(len(codes)),
                test_size=self.validation_fraction,
                stratify=codes,
                random_state=self._seed,
            )
        except ValueError as error:
            fewest = np.bincount(codes, minlength=len(self.classes_)).min()
            raise ValueError(
                f"early_stopping=True holds out {self.validation_fraction:g} of {len(codes)} "
                f"rows, stratified by {len(self.classes_)} classes, but the smallest class has "
                f"{fewest} ({error}): pass more rows, a larger validation_fraction, or "
                "early_stopping=False."
            ) from None

    def _codes(self, y):
        """Index of each label among the classes."""
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        if np.any(unknown := self.classes_[codes] != y):
            raise ValueError(
                f"y has the label {y[unknown][0]!r}, but the classes of the first call were "
                f"{self.classes_.tolist()}: pass all labels as classes to the first call."
            )
        return codes.astype(np.int64)

    def _weights(self, y, sample_weight):
        """Weight of each row by sample and class; None if all are equal."""
        weights = None if sample_weight is None else checked_weights(sample_weight, y)
        if self.class_weight is not None:
            factors = self.class_weight
            if factors == "balanced":
                present = np.unique(y)
                balanced = compute_class_weight("balanced", classes=present, y=y)
                factors = dict(zip(present.tolist(), balanced.tolist(), strict=True))
            check_class_weight(factors, self.classes_)
            table = np.array([factors.get(label, 1.0) for label in self.classes_.tolist()])
            each = table[self._codes(y)]
            weights = each if weights is None else weights * each
        return weights

    # ---- prediction

    @contextmanager
    def _place(self):
        """Return device and precision, use our settings, and translate memory errors."""
        device = choose_device(self.device)
        with memory_errors(), own_settings(self.n_jobs):
            yield device, choose_precision(self.precision, device)

    def _images(self, X, codes, weights, device):
        """Make `Images` of an array, whose layout must match the training images."""
        shape, last = layout(X.shape, self.image_shape_, self._flat_rows)
        if (shape, last) != (self.image_shape_, self._channels_last):
            raise ValueError(
                f"X has images of shape {shape}, but the training images had {self.image_shape_}: "
                "pass them in the same layout."
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
        """Mean of the weighted losses, without training."""
        losses = self.net_.criterion_(self._logits(images, precision).float(), images.codes)
        if images.weights is not None:
            losses = losses * images.weights
        return float(losses.mean())
