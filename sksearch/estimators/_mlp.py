"""scikit-learn's neural nets: MLP."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from sksearch._utils._compat import has_mlp_ended, set_generator_of_mlp, set_rate_of_mlp
from sksearch.base._state import State
from sksearch.space import Outcome

from ._epoch_training import EpochTraining, call_partial_fit
from ._epochs import advance
from ._family import Family
from ._growth import Growth, counts
from ._parts import Size, SpaceDict, loguniform
from ._pipeline import last_step

FIRST_EPOCHS = 5
STEP_EPOCHS = 2**0.5
PATIENCE_EPOCHS = 2.0
LAYERS = [(50,), (100,), (200,), (50, 50), (100, 100), (200, 100), (200, 200), (100, 100, 100)]


class EpochsGrowth(Growth):
    """Nets trained by ``partial_fit``, scored only at their current epoch."""

    patience, slack = PATIENCE_EPOCHS, 0
    is_as_fitted: ClassVar[bool] = False  # ``fit`` with early_stopping ends differently
    endless: ClassVar[dict[str, Any]] = {"early_stopping": False}

    def known(self, high, estimator):
        if not hasattr(last_step(estimator), "partial_fit"):  # an MLP with solver="lbfgs"
            return [high]
        return counts(min(FIRST_EPOCHS, high), high, STEP_EPOCHS)

    def train(self, state, rows, count, classes, params):
        advance(state, rows[0], rows[1], count, classes, params)

    def refit(self, state, rows, count, classes, params):
        """Fit once, as for the score; a fit that has not converged is intended."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return super().refit(state, rows, count, classes, params)


def mlp(estimator: Any, size: Size) -> SpaceDict:
    space: SpaceDict = {
        "alpha": loguniform(1e-6, 0.5),
        "hidden_layer_sizes": LAYERS,
        "activation": ["relu", "tanh"],
    }
    if estimator.solver == "lbfgs":  # neither epochs nor a rate
        return space
    small = [b for b in (32, 64, 128) if b <= size.rows // 4]
    space = {"learning_rate_init": loguniform(3e-4, 0.02)} | space
    space["batch_size"] = [*small, 256] if size.rows >= 1024 else small or ["auto"]
    if estimator.solver == "sgd":
        space["learning_rate_init"] = loguniform(1e-3, 0.3)
    if not estimator.early_stopping and not size.nested:
        space["max_iter"] = Outcome(int(estimator.max_iter))
    return space


class Orders(np.random.RandomState):
    """A generator whose shuffles build on one another, as in the epochs of one ``fit``.

    Parameters
    ----------
    generator : RandomState
        Source of the draws.
    last : ndarray of shape (n_rows,) or None
        Order of the rows in the last epoch.
    """

    def __init__(self, generator: np.random.RandomState, last: np.ndarray | None) -> None:
        super().__init__(generator._bit_generator)
        self.last = last

    def shuffle(self, x: Any) -> None:
        """Shuffle the numbers 0 to n - 1 into the next order."""
        step = np.arange(len(x), dtype=np.min_scalar_type(len(x)))
        super().shuffle(step)
        self.last = step if self.last is None else self.last[step]
        x[:] = self.last


@contextmanager
def one_fit(state: State, net: Any) -> Iterator[None]:
    """Make ``partial_fit`` draw the same numbers as ``fit`` in these epochs.

    An integer ``random_state`` would seed each call again, and all epochs would have one order.
    """
    own = net.random_state
    if own is None:  # the global generator, seeded for each task
        yield
        return
    generator, last = state.generators or (check_random_state(own), None)
    net.random_state = orders = Orders(generator, last)
    try:
        yield
    finally:
        net.random_state = own
        set_generator_of_mlp(net, generator)
        state.generators = generator, orders.last


class NetEpochs(EpochTraining):
    """Epochs of a multilayer perceptron."""

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Train bit-identically to ``fit``: the same mini-batches and the same end."""
        with one_fit(state, model):
            for _ in range(n):
                if self.has_ended(model):
                    break
                call_partial_fit(model, X, y, 1, params)
        model.n_iter_ = len(model.loss_curve_)

    def has_ended(self, model: Any) -> bool:
        """Return True if the loss has stopped falling."""
        return has_mlp_ended(model)

    def after_change(self, model: Any) -> None:
        """Pass the rate to the optimizer, which reads it only once."""
        set_rate_of_mlp(model)


class MLP(Family):
    """Multilayer perceptrons."""

    classes = ("sklearn.BaseMultilayerPerceptron",)
    title = "MLP"
    spaces = {"sklearn.MLPClassifier": mlp, "sklearn.MLPRegressor": mlp}
    portfolios = dict.fromkeys(spaces, "MLP")
    counts = ("max_iter",)
    growth = EpochsGrowth
    mutable_params = ("alpha", "batch_size", "learning_rate_init")  # layers are created only once
    epochs = NetEpochs()
    smaller, larger = ("hidden_layer_sizes", "max_iter"), ("alpha",)
