"""skorch nets, trained rung by rung without changes by their authors.

A net trained in three calls of ``partial_fit`` differs from one trained in one call of ``fit``:
each call restarts its callbacks, and with them its schedule. Here all calls of a candidate form a
single training: callbacks start once, and the history continues, as do the global generators that
draw batches and dropout. Nets are recognised by class names, so that skorch is not imported.
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
from sksearch.base._state import State

from ._epoch_training import EpochTraining
from ._family import Family
from ._parts import Size, SpaceDict, loguniform

#: Callbacks that act on files, which candidates would share: they act in the refit alone.
OF_FILES = ("Checkpoint", "TrainEndCheckpoint")
REFUSED = "LoadInitState"
STOPPED = "_sksearch_stopped"  # attribute of a net whose own callback has ended its training


class DivergedError(ArithmeticError):
    """Raised if the weights of a net are not finite."""


def _is_skorchs(cls):
    return cls.__module__.partition(".")[0] == "skorch"


# ---- before training


def check_labels(net: Any, labels: Any) -> None:
    """Raise ValueError for labels that a skorch classifier cannot be trained on.

    Classes that customise reading of the target are not checked.
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
            f"y has labels such as {example!r}, but the skorch {type(net).__name__} needs class "
            "numbers from 0: pass sklearn.preprocessing.LabelEncoder().fit_transform(y)."
        )


def check_net(net: Any) -> None:
    """Raise ValueError for a net with a callback that candidates cannot have.

    Warn of the default that holds out a part of the rows for validation, and of callbacks that
    change a net at the end of its training, which happens in the refit.
    """
    refuse_callbacks(net)
    split: Any = getattr(net, "train_split", None)
    for kind, callback in _callbacks_of(net):
        if any("on_train_end" in vars(cls) for cls in kind.__mro__ if not _is_skorchs(cls)):
            warn(
                f"{type(net).__name__} has the callback {kind.__name__}, whose on_train_end runs "
                "only at the end of the refit: candidates are scored without it.",
            )
        monitor = getattr(callback, "monitor", None)
        if split is None and isinstance(monitor, str) and monitor.startswith("valid_"):
            raise ValueError(
                f"{type(net).__name__} has the callback {kind.__name__} with monitor={monitor!r}, "
                "but train_split=None never computes it: pass monitor='train_loss', or a "
                "train_split."
            )
    if type(split).__name__ == "ValidSplit" and getattr(split, "cv", None) == 5:
        warn(
            f"{type(net).__name__} holds out a fifth of each training fold for its own validation "
            "(train_split=ValidSplit(5), skorch's default), but the search already scores it on "
            "test folds: pass train_split=None to train on all rows.",
        )


def refuse_callbacks(net: Any) -> None:
    """Raise ValueError for callbacks that cannot continue from rung to rung."""
    for kind, _ in _callbacks_of(net):
        if _is_a(kind, REFUSED):
            raise ValueError(
                f"{type(net).__name__} has the callback {kind.__name__}, which would start every "
                "candidate from the same file of weights: leave it out, or search with "
                "resource='n_samples' or 'folds'."
            )


def check_rates(net: Any, names: Collection[str], n_rows: int, n_epochs: int) -> None:
    """Raise ValueError for a one-cycle schedule shorter than the longest fit.

    Parameters
    ----------
    net : estimator object
        The net.
    names : collection of str
        Searched parameters, by the net's own names.
    n_rows, n_epochs : int
        Size of the longest fit.
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
                f"{total} steps, but the refit of {n_epochs} epochs on {n_rows} rows takes "
                f"{needed} steps: pass total_steps={needed}, or refit=False and fewer steps."
            )


def _callbacks_of(net: Any) -> Iterator[tuple[type, Any]]:
    """Class and object of each listed callback that is not switched off."""
    listed = getattr(net, "callbacks", None)
    for entry in listed if isinstance(listed, list | tuple) else ():
        name, callback = entry if isinstance(entry, tuple) else (None, entry)
        kind = callback if isinstance(callback, type) else type(callback)
        if getattr(net, f"callbacks__{name or kind.__name__}", callback) is not None:
            yield kind, callback


def _is_a(kind: type, *names: str) -> bool:
    """Return whether a class is a skorch class of one of these names, or derived from it."""
    return any(_is_skorchs(cls) and cls.__name__ in names for cls in kind.__mro__)


# ---- training


def train_net(
    state: State, net: Any, X: Any, y: Any, n_epochs: int, kwargs: dict[str, Any], ends: bool
) -> None:
    """Train a net for some more epochs, as if one call of ``fit`` continued.

    Parameters
    ----------
    state : State
        ``n_steps`` is the number of epochs so far, ``generators`` the state left by them.
    net : estimator object
        The net.
    X, y : array-like
        The training rows.
    n_epochs : int
        Number of epochs.
    kwargs : dict
        Other arguments of ``partial_fit``.
    ends : bool
        True if training ends with this call.

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
        y = y.astype(np.int64, copy=False)  # the only integers that PyTorch accepts as labels
    # Threads share the global generators, so these are never ours alone.
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
    """Context in which ``partial_fit`` continues an uninterrupted training."""
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
        except KeyboardInterrupt:  # raised by EarlyStopping to end a fit
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
    """Context in which callbacks that act on files are not called."""
    all_of_them = net.callbacks_
    net.callbacks_ = [each for each in all_of_them if not _is_a(type(each[1]), *OF_FILES)]
    try:
        yield
    finally:
        net.callbacks_ = all_of_them


def check_finite(net: Any) -> None:
    """Raise DivergedError if a net has non-finite weights."""
    torch = sys.modules["torch"]
    for module in _parts(net, "_modules"):
        if not all(torch.isfinite(p).all() for p in module.parameters()):
            raise DivergedError(
                f"the weights of {type(net).__name__} are not finite after {len(net.history)} "
                "epochs: its loss has diverged"
            )


# ---- between rungs


def before_store(net: Any) -> None:
    """Prepare a net for storage between two rungs.

    The net leaves the GPU. Its schedules release the optimizer, because a skorch pickle would
    contain it twice, and they would set the rate of the copy.
    """
    _move(net, "cpu")
    for schedule in _schedules(net):
        vars(schedule).pop("optimizer", None)


def wake(net: Any) -> None:
    """Undo `before_store`."""
    _move(net, vars(net).pop("_device_before", net.device))
    for schedule in _schedules(net):
        schedule.optimizer = net.optimizer_
        # An optimizer read from a file would warn that it has made no step.
        schedule._step_count = max(2, getattr(schedule, "_step_count", 2))
    for optimizer in _parts(net, "_optimizers"):
        if "LBFGS" in {cls.__name__ for cls in type(optimizer).__mro__}:
            # PyTorch does not pickle this.
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
        optimizer.load_state_dict(optimizer.state_dict())  # moves it to the device of the weights
    free_gpu_caches()


def _parts(net, kind):
    """The modules, criteria or optimizers that a net has created."""
    parts = (getattr(net, f"{name.rstrip('_')}_", None) for name in getattr(net, kind))
    return [part for part in parts if part is not None and hasattr(part, "state_dict")]


def _schedules(net):
    """PyTorch schedules in a net's callbacks, including nested schedules."""
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
    """Search the optimizer's rate and the batch size; module parameters are left to the user."""
    sgd = getattr(estimator.optimizer, "__name__", "SGD") == "SGD"
    batches = [32, 64, 128, 256]
    return {
        "lr": loguniform(1e-3, 0.3) if sgd else loguniform(1e-4, 0.03),
        "batch_size": [b for b in batches if b <= size.rows // 4] or [32],
    }


class SkorchEpochs(EpochTraining):
    """Epochs of a net as a single training."""

    replaced = ()  # it calls the methods of the net

    def check(self, model: Any, resource: str, outer: Any = None) -> None:
        """Raise ValueError for an unsupported callback, or a net inside a meta-estimator."""
        if outer is not None:
            raise ValueError(
                f"resource={resource!r} trains a skorch net epoch by epoch only if it is the "
                f"estimator or the last step of a Pipeline, not inside {type(outer).__name__}: "
                "pass the net itself, or resource='n_samples' or 'folds'."
            )
        check_net(model)

    def check_rates(self, model: Any, names: Collection[str], n_rows: int, n_epochs: int) -> None:
        """Raise ValueError for a one-cycle schedule shorter than the longest fit."""
        check_rates(model, names, n_rows, n_epochs)

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Continue as if the training had not been interrupted."""
        train_net(state, model, X, y, n, params, ends)

    def has_ended(self, model: Any) -> bool:
        """Return True if a callback of the net has ended its training."""
        return bool(vars(model).get(STOPPED))

    def check_finite(self, model: Any) -> None:
        """Raise DivergedError if the net has non-finite weights."""
        check_finite(model)

    def before_store(self, model: Any) -> None:
        """Leave the GPU, and release the optimizer from schedules."""
        before_store(model)

    def is_pickled_by_attributes(self, model: Any) -> bool:
        """Return True if skorch pickles the module itself, which fails for notebook classes."""
        return type(model).__getstate__.__module__.startswith("skorch.")


class Skorch(Family):
    """skorch nets."""

    spaces = {"skorch.NeuralNet": skorch_net}
    lists_params = False
    mutable_params = ("lr", "batch_size", "optimizer__*")  # other parameters restart training
    epochs = SkorchEpochs()
    smaller, larger = ("n_layers", "n_units"), ("weight_decay", "dropout")

    def check_labels(self, model: Any, labels: Any) -> None:
        """Raise ValueError for labels that are not class numbers."""
        check_labels(model, labels)
