"""Decision trees, forests and bagging."""

from typing import Any

from ._parts import Size, SpaceDict, log_ints, loguniform, uniform


def tree(estimator: Any, size: Size) -> SpaceDict:
    return {
        "max_depth": log_ints(2, 31),
        "min_samples_leaf": log_ints(1, size.leaf(100)),
        "max_features": uniform(0.3, 0.7),
    } | _criterion(estimator)


def forest(estimator: Any, size: Size) -> SpaceDict:
    """The count of trees is left alone: more are better, and only dearer."""
    space = {
        "max_features": size.share_of_columns(),
        "min_samples_leaf": log_ints(1, size.leaf(50)),
    }
    if getattr(estimator, "bootstrap", False) is True:
        space["max_samples"] = uniform(0.4, 0.6)
    return space | _criterion(estimator)


def _criterion(estimator):
    """Two measures for classes; that of a regression is its task, and is left alone."""
    return {"criterion": ["gini", "entropy"]} if _classifies(estimator) else {}


def _classifies(estimator):
    return estimator.criterion in ("gini", "entropy", "log_loss")


def bagging(estimator: Any, size: Size) -> SpaceDict:
    return {"max_samples": uniform(0.3, 0.7), "max_features": uniform(0.3, 0.7)}


def isolation_forest(estimator: Any, size: Size) -> SpaceDict:
    return {"max_samples": loguniform(0.05, 1.0), "max_features": uniform(0.3, 0.7)}


SPACES = {
    "sklearn.DecisionTreeClassifier": tree,
    "sklearn.DecisionTreeRegressor": tree,
    "sklearn.RandomForestClassifier": forest,
    "sklearn.RandomForestRegressor": forest,
    "sklearn.ExtraTreesClassifier": forest,
    "sklearn.ExtraTreesRegressor": forest,
    "sklearn.BaggingClassifier": bagging,
    "sklearn.BaggingRegressor": bagging,
    "sklearn.IsolationForest": isolation_forest,
}
