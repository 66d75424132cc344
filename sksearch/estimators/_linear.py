"""Linear models. Their penalties act alike on columns of similar scale: scale them first."""

from numbers import Integral
from typing import Any

from sklearn.utils import check_random_state

from sksearch.base._state import State

from ._epoch_training import EpochTraining
from ._family import Family
from ._parts import Size, SpaceDict, log_ints, loguniform, uniform

# Losses of SGDClassifier with probabilities, which a user who chose one may need.
PROBABILISTIC = ["log_loss", "modified_huber"]


def logistic_regression(estimator: Any, size: Size) -> SpaceDict:
    """Search the strength, and the mix of penalties if the solver has both."""
    penalty = getattr(estimator, "penalty", None)
    if penalty is None:
        return {}
    space: SpaceDict = {"C": loguniform(1e-4, 1000.0)}
    if penalty == "elasticnet" or (penalty == "deprecated" and estimator.solver == "saga"):
        space["l1_ratio"] = uniform(0.0, 1.0)
    elif penalty == "deprecated" and estimator.solver == "liblinear":
        space["l1_ratio"] = [0.0, 1.0]
    return space


def ridge(estimator: Any, size: Size) -> SpaceDict:
    # The penalty is added to a sum over rows.
    return {"alpha": loguniform(1e-3, 10 * size.rows)}


def lasso(estimator: Any, size: Size) -> SpaceDict:
    """Search a wide range: the largest sensible penalty is as large as the spread of y."""
    return {"alpha": loguniform(1e-4, 1000.0)}


def elastic_net(estimator: Any, size: Size) -> SpaceDict:
    return lasso(estimator, size) | {"l1_ratio": uniform(0.0, 1.0)}


def small_alpha(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-4, 100.0)}


def huber(estimator: Any, size: Size) -> SpaceDict:
    return {"epsilon": uniform(1.05, 1.45), "alpha": loguniform(1e-5, 100.0)}


def theil_sen(estimator: Any, size: Size) -> SpaceDict:
    """Search the number of rows per subset: few are robust, all are least squares."""
    least = (size.n_features or 10) + 1
    if least >= size.rows // 3:
        return {}
    return {"n_subsamples": log_ints(least, size.rows // 3)}


def matching_pursuit(estimator: Any, size: Size) -> SpaceDict:
    if estimator.tol is not None:  # training ends at this error, not at a number of iterations
        return {}
    return {"n_nonzero_coefs": log_ints(1, max(2, min(size.n_features or 10, 300)))}


def linear_svc(estimator: Any, size: Size) -> SpaceDict:
    return {"C": loguniform(1e-4, 100.0)}


def linear_svr(estimator: Any, size: Size) -> SpaceDict:
    return {
        "C": loguniform(1e-3, 1000.0),
        "epsilon": loguniform(1e-3, 1.0),
        "loss": ["epsilon_insensitive", "squared_epsilon_insensitive"],
    }


def sgd_classifier(estimator: Any, size: Size) -> SpaceDict:
    space: SpaceDict = {"alpha": loguniform(1e-6, 0.1), "penalty": ["l2", "l1", "elasticnet"]}
    if estimator.loss in PROBABILISTIC:
        space["loss"] = list(PROBABILISTIC)
    elif estimator.loss in ("hinge", "squared_hinge", "perceptron"):
        space["loss"] = ["hinge", *PROBABILISTIC]
    return space


def sgd_regressor(estimator: Any, size: Size) -> SpaceDict:
    return {
        "alpha": loguniform(1e-6, 0.1),
        "eta0": loguniform(1e-3, 0.1),
        "penalty": ["l2", "l1", "elasticnet"],
    }


def perceptron(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-6, 0.1), "penalty": ["l2", "l1", "elasticnet"]}


def passive_aggressive(estimator: Any, size: Size) -> SpaceDict:
    return {"C": loguniform(1e-4, 10.0)}


class Linear(Family):
    """Linear models fitted in one go."""

    spaces = {
        "sklearn.LogisticRegression": logistic_regression,
        "sklearn.Ridge": ridge,
        "sklearn.RidgeClassifier": ridge,
        "sklearn.Lasso": lasso,
        "sklearn.LassoLars": lasso,
        "sklearn.MultiTaskLasso": lasso,
        "sklearn.ElasticNet": elastic_net,
        "sklearn.MultiTaskElasticNet": elastic_net,
        "sklearn.PoissonRegressor": small_alpha,
        "sklearn.GammaRegressor": small_alpha,
        "sklearn.TweedieRegressor": small_alpha,
        "sklearn.QuantileRegressor": small_alpha,
        "sklearn.HuberRegressor": huber,
        "sklearn.TheilSenRegressor": theil_sen,
        "sklearn.OrthogonalMatchingPursuit": matching_pursuit,
        "sklearn.LinearSVC": linear_svc,
        "sklearn.LinearSVR": linear_svr,
    }
    portfolios = {
        "sklearn.LogisticRegression": "LogisticRegression",
        "sklearn.Ridge": "Ridge",
        "sklearn.RidgeClassifier": "Ridge",
    }
    smaller, larger = ("C", "n_nonzero_coefs"), ("alpha",)


class ShuffledEpochs(EpochTraining):
    """Epochs in different orders: with an integer seed all epochs would have the same order."""

    def train(
        self, state: State, model: Any, X: Any, y: Any, n: int, params: dict[str, Any], ends: bool
    ) -> None:
        """Use one generator for all epochs."""
        own = model.random_state
        if not isinstance(own, Integral):
            return super().train(state, model, X, y, n, params, ends)
        if state.generators is None:
            state.generators = check_random_state(own)
        model.random_state = state.generators
        try:
            super().train(state, model, X, y, n, params, ends)
        finally:
            model.random_state = own


class StochasticGradient(Family):
    """Linear models trained row by row."""

    classes = ("sklearn.BaseSGD",)
    spaces = {
        "sklearn.SGDClassifier": sgd_classifier,
        "sklearn.SGDRegressor": sgd_regressor,
        "sklearn.Perceptron": perceptron,
        "sklearn.PassiveAggressiveClassifier": passive_aggressive,
        "sklearn.PassiveAggressiveRegressor": passive_aggressive,
    }
    portfolios = {"sklearn.SGDClassifier": "SGD", "sklearn.SGDRegressor": "SGD"}
    mutable_params = (
        *("alpha", "C", "epsilon", "l1_ratio", "penalty", "eta0", "learning_rate", "power_t"),
    )
    epochs = ShuffledEpochs()
    smaller, larger = ("C",), ("alpha",)
