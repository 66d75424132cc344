"""Decision trees, forests and bagging."""

from typing import Any

from ._family import Family
from ._parts import Size, SpaceDict, log_ints, loguniform, uniform

OF_A_TREE = (
    *("max_depth", "max_features", "max_leaf_nodes", "min_impurity_decrease"),
    *("min_samples_leaf", "min_samples_split", "min_weight_fraction_leaf"),
)


def tree(estimator: Any, size: Size) -> SpaceDict:
    return {
        "max_depth": log_ints(2, 31),
        "min_samples_leaf": log_ints(1, size.leaf(100)),
        "max_features": uniform(0.3, 0.7),
    } | _criterion(estimator)


def forest(estimator: Any, size: Size) -> SpaceDict:
    """Do not search the number of trees: more are better, and only take longer."""
    space = {
        "max_features": size.share_of_columns(),
        "min_samples_leaf": log_ints(1, size.leaf(50)),
    }
    if getattr(estimator, "bootstrap", False) is True:
        space["max_samples"] = uniform(0.4, 0.6)
    return space | _criterion(estimator)


def _criterion(estimator):
    """Search two measures for classes; a regression's criterion is its task and is kept."""
    return {"criterion": ["gini", "entropy"]} if _classifies(estimator) else {}


def _classifies(estimator):
    return estimator.criterion in ("gini", "entropy", "log_loss")


def bagging(estimator: Any, size: Size) -> SpaceDict:
    return {"max_samples": uniform(0.3, 0.7), "max_features": uniform(0.3, 0.7)}


def easy_ensemble(estimator: Any, size: Size) -> SpaceDict:
    """Search balanced samples; the booster of each is kept."""
    return {"n_estimators": log_ints(5, 50)}


def isolation_forest(estimator: Any, size: Size) -> SpaceDict:
    return {"max_samples": loguniform(0.05, 1.0), "max_features": uniform(0.3, 0.7)}


class Trees(Family):
    """Trees, and ensembles that draw rows and columns."""

    spaces = {
        "sklearn.DecisionTreeClassifier": tree,
        "sklearn.DecisionTreeRegressor": tree,
        "sklearn.BaggingClassifier": bagging,
        "sklearn.BaggingRegressor": bagging,
        "sklearn.IsolationForest": isolation_forest,
        "imblearn.EasyEnsembleClassifier": easy_ensemble,
    }
    smaller = ("max_depth", "max_leaf_nodes", "max_features", "n_estimators")
    larger = ("min_samples_leaf", "min_samples_split", "min_impurity_decrease", "ccp_alpha")


class Forests(Family):
    """Random forests and extremely randomised trees."""

    classes = ("sklearn.BaseForest",)
    spaces = {
        f"sklearn.{kind}{task}": forest
        for kind in ("RandomForest", "ExtraTrees")
        for task in ("Classifier", "Regressor")
    }
    portfolios = {
        f"sklearn.{kind}{task}": kind
        for kind in ("RandomForest", "ExtraTrees")
        for task in ("Classifier", "Regressor")
    }
    smaller, larger = Trees.smaller, Trees.larger
    mutable_params = (*OF_A_TREE, "max_samples")
