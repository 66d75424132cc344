"""Nets of skorch as their owners wrote them, trained rung by rung.

A net that is trained in three calls of ``partial_fit`` is not the net that one call of ``fit``
gives: each call begins its callbacks again, and with them its schedule. Here all calls of a
candidate are one training: callbacks begin once, the history goes on, and so do the global
generators, from which batches and dropout are drawn. Nets are told by the names of their classes,
so that skorch is not imported.
"""

import math
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from sksearch._utils._gpus import free_gpu_caches
from sksearch._utils._seeds import generator_states, set_generator_states
from sksearch._utils._terminal import warn
from sksearch.base import State

from ._epoch_training import EpochTraining
from ._family import Family
from ._parts import Size, SpaceDict, loguniform

#: Callbacks that act on files, which candidates would share: they act in the refit alone.
OF_FILES = ("Checkpoint", "TrainEndCheckpoint")
REFUSED = "LoadInitState"
STOPPED = "_sksearch_stopped"  # attribute of a net whose own callback has ended its training


class DivergedError(ArithmeticError):
    """The weights of a net are no numbers any more."""


def _is_skorchs(cls):
    return cls.__module__.partition(".")[0] == "skorch"


# ---- before training


def check_labels(net: Any, labels: Any) -> None:
    """Raise ValueError for labels that a classifier of skorch cannot be trained on.

    Classes that read their target in a way of their own are left alone.
    """
    own = ("fit", "partial_fit", "check_data", "get_dataset", "get_loss", "train_step_single")
    kinds = {cls.__name__ for cls in type(net).__mro__ if _is_skorchs(cls)}
    if not kinds & {"NeuralNetClassifier", "NeuralNetBinaryClassifier"}:
        return
    for name in own:
        owner = next((cls for cls in type(net).__mro__ if name in vars(cls)), object)
        if owner is not object and not _is_skorchs(owner):
            return
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iubf":
        example = labels.ravel()[:1].tolist()[0]
        raise ValueError(
            f"y has labels such as {example!r}, and {type(net).__name__} of skorch is "
            "trained on the numbers of classes, counted from 0: pass "
            "sklearn.preprocessing.LabelEncoder().fit_transform(y)."
        )


def check_net(net: Any) -> None:
    """Raise ValueError for a net with a callback that candidates cannot have.

    Warns of a default by which a net keeps a part of its rows for validation, and of callbacks
    that change a net at the end of its training, which is that of the refit.
    """
    refuse_callbacks(net)
    split: Any = getattr(net, "train_split", None)
    for kind, callback in _callbacks_of(net):
        if any("on_train_end" in vars(cls) for cls in kind.__mro__ if not _is_skorchs(cls)):
            warn(
                f"{type(net).__name__} has the callback {kind.__name__}, whose on_train_end comes "
                "with the last training, that of best_estimator_: candidates are scored without "
                "it.",
                UserWarning,
                stacklevel=2,
            )
        monitor = getattr(callback, "monitor", None)
        if split is None and isinstance(monitor, str) and monitor.startswith("valid_"):
            raise ValueError(
                f"{type(net).__name__} has the callback {kind.__name__} with monitor={monitor!r}, "
                "and train_split=None, so nothing is there to monitor: pass monitor='train_loss', "
                "or a train_split."
            )
    if type(split).__name__ == "ValidSplit" and getattr(split, "cv", None) == 5:
        warn(
            f"{type(net).__name__} keeps a fifth of the rows of each training fold for its own "
            "validation (train_split=ValidSplit(5), skorch's default), and the search scores it "
            "on its test fold: pass train_split=None to train on all rows.",
            UserWarning,
            stacklevel=2,
        )


def refuse_callbacks(net: Any) -> None:
    """Raise ValueError for callbacks that cannot go on from rung to rung."""
    for kind, _ in _callbacks_of(net):
        if _is_a(kind, REFUSED):
            raise ValueError(
                f"{type(net).__name__} has the callback {kind.__name__}, by which all candidates "
                "would begin with the weights of one file, each at its first rung: leave it out, "
                "or search with resource='n_samples' or 'folds'."
            )


def check_rates(net: Any, names: Collection[str], n_rows: int, n_epochs: int) -> None:
    """Raise ValueError for a one-cycle schedule that is shorter than the longest training.

    Parameters
    ----------
    net : estimator object
        The net.
    names : collection of str
        Its own names of what is searched.
    n_rows, n_epochs : int
        Of the longest training.
    """
    for kind, callback in _callbacks_of(net):
        policy = getattr(callback, "policy", None)
        if "OneCycleLR" not in (policy, getattr(policy, "__name__", None)):
            continue
        own = getattr(callback, "kwargs", {})
        total = own.get("total_steps") or own.get("epochs", 0) * own.get("steps_per_epoch", 0)
        by_batch = getattr(callback, "step_every", "epoch") == "batch"
        if not total or (by_batch and "batch_size" in names):
            continue
        a_batch = net.batch_size if net.batch_size > 0 else n_rows
        needed = n_epochs * (math.ceil(n_rows / a_batch) if by_batch else 1)
        if total < needed:
            raise ValueError(
                f"{type(net).__name__} has the callback {kind.__name__} with a OneCycleLR of "
                f"{total} steps, and {n_epochs} epochs of {n_rows} rows take {needed}, those of "
                f"best_estimator_: pass total_steps={needed}, or refit=False and fewer steps."
            )


def _callbacks_of(net: Any) -> Iterator[tuple[type, Any]]:
    """Class and object of each callback that a net lists, and that is not switched off."""
    listed = getattr(net, "callbacks", None)
    for entry in listed if isinstance(listed, list | tuple) else ():
        name, callback = entry if isinstance(entry, tuple) else (None, entry)
        kind = callback if isinstance(callback, type) else type(callback)
        if getattr(net, f"callbacks__{name or kind.__name__}", callback) is not None:
            yield kind, callback


def _is_a(kind: type, *names: str) -> bool:
    """Whether a class is one of skorch's of these names, or derived from it."""
    return any(_is_skorchs(cls) and cls.__name__ in names for cls in kind.__mro__)


# ---- training


def train_net(
    state: State, net: Any, X: Any, y: Any, n_epochs: int, kwargs: dict[str, Any], ends: bool
) -> None:
    """Train a net for some more epochs, as one call of its ``fit`` would go on.

    Parameters
    ----------
    state : State
        Its ``n_steps`` are the epochs so far, and its ``generators`` what they have left.
    net : estimator object
        The net.
    X, y : array-like
        The training rows.
    n_epochs : int
        Number of epochs.
    kwargs : dict
        Further arguments of ``partial_fit``.
    ends : bool
        Whether training ends with this call.

    Raises
    ------
    ValueError
        If the net has a callback that candidates cannot have.
    """
    refuse_callbacks(net)
    begins = state.n_steps == 0
    if not begins and vars(net).get(STOPPED):
        return
    if not begins:
        wake(net)
    if isinstance(y, np.ndarray) and y.dtype.kind in "iub":
        y = y.astype(np.int64, copy=False)  # the only integers that PyTorch takes as labels
    # In other threads the generators are shared, and never ours.
    alone = threading.current_thread() is threading.main_thread()
    before = net.get_params(deep=False)["max_epochs"]
    net.set_params(max_epochs=n_epochs)
    try:
        with _one_training(state, net, begins, ends, alone):
            net.partial_fit(X, *(() if y is None else (y,)), **kwargs)
    finally:
        net.set_params(max_epochs=before)


@contextmanager
def _one_training(state: State, net: Any, begins: bool, ends: bool, alone: bool) -> Iterator[None]:
    """A context in which ``partial_fit`` goes on as if it had not been interrupted."""
    split = net.get_split_datasets
    notify = net.notify
    at_split, now = state.generators or (None, None)

    def split_as_before(*args, **kwargs):
        nonlocal at_split
        if begins or not alone or at_split is None:
            at_split = generator_states() if alone else None
            return split(*args, **kwargs)
        at_end = generator_states()
        set_generator_states(at_split)
        try:
            return split(*args, **kwargs)
        finally:
            set_generator_states(at_end)

    writes = not ends and any(_is_a(kind, *OF_FILES) for kind, _ in _callbacks_of(net))

    def notify_once(method, **arguments):
        if method == "on_train_begin" and not begins:
            return
        if method == "on_train_end" and not ends:
            for _, callback in net.callbacks_:
                if hasattr(callback, "_initialize_cache"):  # predictions of an EpochScoring
                    callback.on_train_end(net, **arguments)
            return
        try:
            with _without_files(net) if writes else nullcontext():
                notify(method, **arguments)
        except KeyboardInterrupt:  # by which EarlyStopping ends a training
            vars(net)[STOPPED] = True
            raise

    if alone and now is not None and not begins:
        set_generator_states(now)
    vars(net).update(get_split_datasets=split_as_before, notify=notify_once)
    try:
        yield
    finally:
        for name in ("get_split_datasets", "notify"):
            vars(net).pop(name)
    state.generators = (at_split, generator_states()) if alone else None


@contextmanager
def _without_files(net: Any) -> Iterator[None]:
    """A context in which callbacks that act on files hear of nothing."""
    all_of_them = net.callbacks_
    net.callbacks_ = [each for each in all_of_them if not _is_a(type(each[1]), *OF_FILES)]
    try:
        yield
    finally:
        net.callbacks_ = all_of_them


def check_finite(net: Any) -> None:
    """Raise DivergedError if a net has weights that are no numbers."""
    torch = sys.modules["torch"]
    for module in _parts(net, "_modules"):
        if not all(torch.isfinite(p).all() for p in module.parameters()):
            raise DivergedError(
                f"the weights of {type(net).__name__} are not finite after {len(net.history)} "
                "epochs: its loss has diverged"
            )


# ---- between rungs


def before_store(net: Any) -> None:
    """Make a net ready to lie between two rungs.

    It leaves the GPU. Its schedules let go of the optimizer, of which a pickle by skorch would
    have a second one, and they would set the rate of that one.
    """
    _move(net, "cpu")
    for schedule in _schedules(net):
        vars(schedule).pop("optimizer", None)


def wake(net: Any) -> None:
    """Undo what `before_store` has done to a net."""
    _move(net, vars(net).pop("_device_before", net.device))
    for schedule in _schedules(net):
        schedule.optimizer = net.optimizer_
        # Of an optimizer that was read from a file it would warn that it has made no step.
        schedule._step_count = max(2, getattr(schedule, "_step_count", 2))
    for optimizer in _parts(net, "_optimizers"):
        if "LBFGS" in {cls.__name__ for cls in type(optimizer).__mro__}:
            # What PyTorch forgets when it pickles one.
            optimizer._params = optimizer.param_groups[0]["params"]
            optimizer._numel_cache = None


def _move(net, device):
    """Move a net to another device, with the states of its optimizers."""
    if net.device is None or str(net.device) == str(device):
        return
    if str(device) == "cpu":
        net._device_before = net.device
    net.device = device
    for part in (*_parts(net, "_modules"), *_parts(net, "_criteria")):
        part.to(device)
    for optimizer in _parts(net, "_optimizers"):
        optimizer.load_state_dict(optimizer.state_dict())  # moves to where the weights are
    free_gpu_caches()


def _parts(net, kind):
    """The modules, criteria or optimizers that a net has made."""
    parts = (getattr(net, f"{name.rstrip('_')}_", None) for name in getattr(net, kind))
    return [part for part in parts if part is not None and hasattr(part, "state_dict")]


def _schedules(net):
    """The schedules of PyTorch that callbacks of a net hold, and those that these hold."""
    found = [
        value
        for _, callback in getattr(net, "callbacks_", ())
        for value in vars(callback).values()
    ]
    for value in found:
        nested = getattr(value, "_schedulers", None)
        if _is_schedule(value) and isinstance(nested, list):
            found += nested
    return [value for value in found if _is_schedule(value)]


def _is_schedule(value):
    names = {cls.__name__ for cls in type(value).__mro__}
    return (
        bool(names & {"LRScheduler", "_LRScheduler", "ReduceLROnPlateau"})
        and hasattr(value, "step")
        and not hasattr(value, "initialize")
    )


# ---- the family


def skorch_net(estimator: Any, size: Size) -> SpaceDict:
    """A rate for the optimizer, and rows of a batch; the module's own names are the user's."""
    sgd = getattr(estimator.optimizer, "__name__", "SGD") == "SGD"
    batches = [32, 64, 128, 256]
    return {
        "lr": loguniform(1e-3, 0.3) if sgd else loguniform(1e-4, 0.03),
        "batch_size": [b for b in batches if b <= size.rows // 4] or [32],
    }


class SkorchEpochs(EpochTraining):
    """Epochs of a net that are one training."""

    replaced = ()  # it calls the methods of the net

    def check(self, model: Any, resource: str, outer: Any = None) -> None:
        """Raise ValueError for a callback that candidates cannot have, or inside of another."""
        if outer is not None:
            raise ValueError(
                f"resource={resource!r} trains a net of skorch epoch by epoch where it is the "
                f"estimator or the last step of a Pipeline, and not inside of "
                f"{type(outer).__name__}: pass the net itself, or resource='n_samples' or 'folds'."
            )
        check_net(model)

    def check_rates(self, model: Any, names: Collection[str], n_rows: int, n_epochs: int) -> None:
        """Raise ValueError for a one-cycle schedule that is shorter than the longest training."""
        check_rates(model, names, n_rows, n_epochs)

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Go on as if the training had not been interrupted."""
        train_net(state, model, X, y, n, params, ends)

    def has_ended(self, model: Any) -> bool:
        """Return whether a callback of its own has ended its training."""
        return bool(vars(model).get(STOPPED))

    def check_finite(self, model: Any) -> None:
        """Raise DivergedError if it has weights that are not finite."""
        check_finite(model)

    def before_store(self, model: Any) -> None:
        """Leave the GPU, and have schedules let go of the optimizer."""
        before_store(model)

    def is_pickled_by_attributes(self, model: Any) -> bool:
        """Whether skorch pickles the module by itself, where no class of a notebook can be."""
        return type(model).__getstate__.__module__.startswith("skorch.")


class Skorch(Family):
    """Nets of skorch."""

    spaces = {"skorch.NeuralNet": skorch_net}
    lists_params = False
    mutable_params = ("lr", "batch_size", "optimizer__*")  # all else begins its training again
    epochs = SkorchEpochs()
    smaller, larger = ("n_layers", "n_units"), ("weight_decay", "dropout")

    def check_labels(self, model: Any, labels: Any) -> None:
        """Raise ValueError for labels that are no numbers of classes."""
        check_labels(model, labels)
