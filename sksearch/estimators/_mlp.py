"""Nets of scikit-learn: MLP."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from sksearch._utils._compat import has_mlp_ended, set_generator_of_mlp, set_rate_of_mlp
from sksearch.base import State
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
    """Nets that ``partial_fit`` trains, seen only where they are."""

    patience, slack = PATIENCE_EPOCHS, 0
    is_as_fitted: ClassVar[bool] = False  # ``fit`` with early_stopping ends otherwise
    endless: ClassVar[dict[str, Any]] = {"early_stopping": False}

    def known(self, high, estimator):
        if not hasattr(last_step(estimator), "partial_fit"):  # an MLP with solver="lbfgs"
            return [high]
        return counts(min(FIRST_EPOCHS, high), high, STEP_EPOCHS)

    def train(self, state, rows, count, classes, params):
        advance(state, rows[0], rows[1], count, classes, params)

    def refit(self, state, rows, count, classes, params):
        """Fit once, which is what was scored; that it has not converged is as it should be."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return super().refit(state, rows, count, classes, params)


def mlp(estimator: Any, size: Size) -> SpaceDict:
    space: SpaceDict = {
        "alpha": loguniform(1e-6, 0.5),
        "hidden_layer_sizes": LAYERS,
        "activation": ["relu", "tanh"],
    }
    if estimator.solver == "lbfgs":  # no epochs and no rate
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
    """A generator whose shuffles go on from one another, as those of the epochs of a ``fit`` do.

    Parameters
    ----------
    generator : RandomState
        The generator of its draws.
    last : ndarray of shape (n_rows,) or None
        Order of the rows in the last epoch.
    """

    def __init__(self, generator: np.random.RandomState, last: np.ndarray | None) -> None:
        super().__init__(generator._bit_generator)
        self.last = last

    def shuffle(self, x: Any) -> None:
        """Put the numbers from 0 on into the next order."""
        step = np.arange(len(x), dtype=np.min_scalar_type(len(x)))
        super().shuffle(step)
        self.last = step if self.last is None else self.last[step]
        x[:] = self.last


@contextmanager
def one_fit(state: State, net: Any) -> Iterator[None]:
    """Have ``partial_fit`` draw what ``fit`` would draw in these epochs.

    An integer ``random_state`` would seed each call again, so that all epochs had one order.
    """
    own = net.random_state
    if own is None:  # the global generator, which is seeded for each task
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
    """Epochs of a perceptron."""

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Train as ``fit`` does: the same mini-batches, the same end, the same bits."""
        with one_fit(state, model):
            for _ in range(n):
                if self.has_ended(model):
                    break
                call_partial_fit(model, X, y, 1, params)
        model.n_iter_ = len(model.loss_curve_)

    def has_ended(self, model: Any) -> bool:
        """Return whether its loss does not fall any more."""
        return has_mlp_ended(model)

    def after_change(self, model: Any) -> None:
        """Tell its optimizer the rate, which it reads only once."""
        set_rate_of_mlp(model)


class MLP(Family):
    """Perceptrons of several layers."""

    classes = ("sklearn.BaseMultilayerPerceptron",)
    title = "MLP"
    spaces = {"sklearn.MLPClassifier": mlp, "sklearn.MLPRegressor": mlp}
    portfolios = dict.fromkeys(spaces, "MLP")
    counts = ("max_iter",)
    growth = EpochsGrowth
    mutable_params = ("alpha", "batch_size", "learning_rate_init")  # layers are made once
    epochs = NetEpochs()
    smaller, larger = ("hidden_layer_sizes", "max_iter"), ("alpha",)
