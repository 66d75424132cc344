"""Estimators of other packages that are made of nothing that another family knows."""

from typing import Any

from ._family import Family
from ._parts import Size, SpaceDict, log_ints, loguniform, uniform


def ngboost(estimator: Any, size: Size) -> SpaceDict:
    return {
        "learning_rate": loguniform(0.005, 0.2),
        "n_estimators": log_ints(100, 1000),
        "minibatch_frac": uniform(0.5, 0.5),
        "col_sample": uniform(0.5, 0.5),
    }


def explainable_boosting(estimator: Any, size: Size) -> SpaceDict:
    """Training ends by itself, so rounds are left alone."""
    return {
        "learning_rate": loguniform(0.005, 0.1),
        "max_leaves": [2, 3, 4],
        "min_samples_leaf": log_ints(2, size.leaf(50)),
        "interactions": [0, 5, 10, 20],
        "smoothing_rounds": log_ints(10, 500),
    }


def survival_forest(estimator: Any, size: Size) -> SpaceDict:
    return {
        "min_samples_leaf": log_ints(3, size.leaf(100)),
        "max_features": size.share_of_columns(),
    }


def survival_boosting(estimator: Any, size: Size) -> SpaceDict:
    return {
        "learning_rate": loguniform(0.01, 0.5),
        "n_estimators": log_ints(30, 500),
        "max_depth": [1, 2, 3, 4, 5],
        "subsample": uniform(0.5, 0.5),
    }


def componentwise_boosting(estimator: Any, size: Size) -> SpaceDict:
    return {"learning_rate": loguniform(0.01, 0.5), "n_estimators": log_ints(30, 1000)}


def cox(estimator: Any, size: Size) -> SpaceDict:
    # The penalty stands beside a sum over rows.
    return {"alpha": loguniform(1e-3, 10 * size.rows)}


def cox_net(estimator: Any, size: Size) -> SpaceDict:
    """It predicts with the smallest penalty of its path."""
    return {"alpha_min_ratio": loguniform(1e-3, 0.5), "l1_ratio": uniform(0.05, 0.95)}


def survival_svm(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-4, 100.0)}


class Probabilistic(Family):
    """Boosting of distributions and of additive models."""

    spaces = {
        "ngboost.NGBClassifier": ngboost,
        "ngboost.NGBRegressor": ngboost,
        "interpret.ExplainableBoostingClassifier": explainable_boosting,
        "interpret.ExplainableBoostingRegressor": explainable_boosting,
    }
    smaller = ("n_estimators", "interactions", "max_leaves")
    larger = ("min_samples_leaf", "smoothing_rounds")


class Survival(Family):
    """Times until an event that may not have come yet."""

    spaces = {
        "sksurv.RandomSurvivalForest": survival_forest,
        "sksurv.ExtraSurvivalTrees": survival_forest,
        "sksurv.GradientBoostingSurvivalAnalysis": survival_boosting,
        "sksurv.ComponentwiseGradientBoostingSurvivalAnalysis": componentwise_boosting,
        "sksurv.CoxPHSurvivalAnalysis": cox,
        "sksurv.CoxnetSurvivalAnalysis": cox_net,
        "sksurv.FastSurvivalSVM": survival_svm,
        "sksurv.FastKernelSurvivalSVM": survival_svm,
    }
    smaller = ("max_depth", "n_estimators", "max_features")
    larger = ("alpha", "alpha_min_ratio", "min_samples_leaf")
