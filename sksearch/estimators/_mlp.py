"""Nets of scikit-learn: MLP."""

import warnings
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from sksearch._compat import set_rate_of_mlp
from sksearch.space import Outcome

from ._epochs import advance
from ._family import Family
from ._growth import Growth, counts
from ._parts import Size, SpaceDict, loguniform
from ._pipeline import enter, last_step

FIRST_EPOCHS = 5
STEP_EPOCHS = 2**0.5
PATIENCE_EPOCHS = 2.0
LAYERS = [(50,), (100,), (200,), (50, 50), (100, 100), (200, 100), (200, 200), (100, 100, 100)]


class EpochsGrowth(Growth):
    """Nets that ``partial_fit`` trains, seen only where they are."""

    patience, slack = PATIENCE_EPOCHS, 0
    is_as_fitted: ClassVar[bool] = False  # ``fit`` ends when the loss does not fall any more
    endless: ClassVar[dict[str, Any]] = {"early_stopping": False}

    def looks(self, high, estimator):
        if not hasattr(last_step(estimator), "partial_fit"):  # an MLP with solver="lbfgs"
            return [high]
        return counts(min(FIRST_EPOCHS, high), high, STEP_EPOCHS)

    def known(self, high, estimator):
        return self.looks(high, estimator)

    def train(self, state, rows, count, classes, params):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            advance(state, rows[0], rows[1], count, classes, params)

    def refit(self, state, rows, count, classes, params):
        """Train epoch by epoch on all rows, as it was scored."""
        X, y, params = enter(state, rows[0], rows[1], params)
        self.train(state, (X, y), count, classes, params)
        last_step(state.estimator).set_params(**{self.name: count})
        return state


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


class MLP(Family):
    """Perceptrons of several layers."""

    classes = ("sklearn.BaseMultilayerPerceptron",)
    title = "MLP"
    spaces = {"sklearn.MLPClassifier": mlp, "sklearn.MLPRegressor": mlp}
    portfolios = dict.fromkeys(spaces, "MLP")
    counts = ("max_iter",)
    smaller, larger = ("hidden_layer_sizes", "max_iter"), ("alpha",)

    def changing(self, estimator: Any) -> tuple[str, ...]:
        """Return what each step reads; layers are made once."""
        return ("alpha", "batch_size", "learning_rate_init")

    def changed(self, model: Any) -> None:
        """Tell its optimizer the rate, which it reads only once."""
        set_rate_of_mlp(model)

    def growth(self, name: str, own: int | None) -> Growth:
        """Train epoch by epoch."""
        return EpochsGrowth(name, own)
