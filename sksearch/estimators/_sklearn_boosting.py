"""scikit-learn's boosting: HistGradientBoosting, GradientBoosting, AdaBoost."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from sksearch._utils._compat import trees_attribute

from ._family import Family
from ._growth import Growth
from ._parts import Size, SpaceDict, log_ints, loguniform, randint, uniform
from ._trees import OF_A_TREE

N_ROWS_AUTO_EARLY_STOPPING = 10_000  # with more rows, HistGradientBoosting's "auto" stops early


class WarmGrowth(Growth):
    """Continue with ``warm_start``, and predict with a part of the list of trees.

    Each start bins the rows again, and all existing trees predict them. So training runs from the
    first look to the earliest possible end: a look in between would change nothing.
    """

    leaves_out: ClassVar[bool] = True

    @contextmanager
    def truncated(self, model: Any, count: int) -> Iterator[Any]:
        """Hide the later trees."""
        name = trees_attribute(model)
        whole = getattr(model, name)
        setattr(model, name, whole[:count])
        try:
            yield model
        finally:
            setattr(model, name, whole)


class HistGrowth(WarmGrowth):
    """Growth of HistGradientBoosting."""

    endless: ClassVar[dict[str, Any]] = {"early_stopping": False}


class ClassicGrowth(WarmGrowth):
    """Growth of GradientBoosting."""

    endless: ClassVar[dict[str, Any]] = {"n_iter_no_change": None}


def hist_gradient_boosting(estimator: Any, size: Size) -> SpaceDict:
    """Search rate, number of trees, leaves, columns and penalty."""
    space = {
        "learning_rate": loguniform(0.02, 0.3),
        "max_iter": size.count(1000, estimator.max_iter),
        "max_leaf_nodes": log_ints(4, 127),
        "min_samples_leaf": log_ints(2, size.leaf(100)),
        "l2_regularization": loguniform(1e-3, 10.0),
        "max_features": uniform(0.3, 0.7),
        "early_stopping": [False],
    }
    if estimator.early_stopping is True:  # the user's own way to find the number
        del space["max_iter"], space["early_stopping"]
    return space


class HistGradientBoosting(Family):
    """Boosting on binned features."""

    classes = ("sklearn.BaseHistGradientBoosting",)
    title = "HistGradientBoosting"
    spaces = {
        "sklearn.HistGradientBoostingClassifier": hist_gradient_boosting,
        "sklearn.HistGradientBoostingRegressor": hist_gradient_boosting,
    }
    portfolios = dict.fromkeys(spaces, "HistGradientBoosting")
    counts = ("max_iter",)
    growth = HistGrowth
    mutable_params = (  # parameters of each new tree; bins are made once
        *("l2_regularization", "learning_rate", "max_depth", "max_features"),
        *("max_leaf_nodes", "min_samples_leaf"),
    )
    smaller = ("max_depth", "max_iter", "max_leaf_nodes", "max_bins", "max_features")
    larger = ("min_samples_leaf", "l2_regularization")

    def can_grow(
        self, model: Any, name: str, names: Collection[str], passed: set[str], n_rows: int
    ) -> bool:
        """Return whether it can continue; not if it stops by itself."""
        stops = model.early_stopping
        stops = n_rows > N_ROWS_AUTO_EARLY_STOPPING if stops == "auto" else stops
        return name == "max_iter" and not stops


def gradient_boosting(estimator: Any, size: Size) -> SpaceDict:
    """Search rate, number of trees, depth, rows and columns."""
    space = {
        "learning_rate": loguniform(0.02, 0.3),
        "n_estimators": size.count(500, estimator.n_estimators),
        "max_depth": randint(2, 9),
        "min_samples_leaf": log_ints(1, size.leaf(100)),
        "subsample": uniform(0.4, 0.6),
        "max_features": size.share_of_columns(),
    }
    if estimator.n_iter_no_change is not None:
        del space["n_estimators"]
    return space


class GradientBoosting(Family):
    """Boosting on unbinned features."""

    classes = ("sklearn.BaseGradientBoosting",)
    title = "GradientBoosting"
    spaces = {
        "sklearn.GradientBoostingClassifier": gradient_boosting,
        "sklearn.GradientBoostingRegressor": gradient_boosting,
    }
    portfolios = dict.fromkeys(spaces, "GradientBoosting")
    counts = ("n_estimators",)
    growth = ClassicGrowth
    mutable_params = (*OF_A_TREE, "subsample")  # the rate applies to all trees, at prediction
    smaller = ("max_depth", "n_estimators", "max_leaf_nodes", "max_features")
    larger = ("min_samples_leaf", "min_samples_split", "min_impurity_decrease", "ccp_alpha")


def ada_boost(estimator: Any, size: Size) -> SpaceDict:
    return {"learning_rate": loguniform(0.01, 2.0), "n_estimators": log_ints(30, 500)}


class AdaBoost(Family):
    """Boosting of any estimator by row weights."""

    spaces = {"sklearn.AdaBoostClassifier": ada_boost, "sklearn.AdaBoostRegressor": ada_boost}
    smaller = ("n_estimators",)
