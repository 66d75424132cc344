"""Estimators of other packages, unrelated to any other family.

.. [1] D. Holzmüller, L. Grinsztajn and I. Steinwart, "Better by default: strong pre-tuned MLPs and
   boosted trees on tabular data", NeurIPS 2024.
.. [2] Y. Gorishniy, A. Kotelnikov and A. Babenko, "TabM: advancing tabular deep learning with
   parameter-efficient ensembling", ICLR 2025.
"""

from typing import Any

from sklearn.base import is_classifier

from sksearch.estimators._family import Family
from sksearch.estimators._parts import Size, SpaceDict, log_ints, loguniform, uniform


def ngboost(estimator: Any, size: Size) -> SpaceDict:
    return {
        "learning_rate": loguniform(0.005, 0.2),
        "n_estimators": log_ints(100, 1000),
        "minibatch_frac": uniform(0.5, 0.5),
        "col_sample": uniform(0.5, 0.5),
    }


def explainable_boosting(estimator: Any, size: Size) -> SpaceDict:
    """Do not search the number of rounds: training ends by itself."""
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
    # The penalty is added to a sum over rows.
    return {"alpha": loguniform(1e-3, 10 * size.rows)}


def cox_net(estimator: Any, size: Size) -> SpaceDict:
    """Search the smallest penalty of the path, with which it predicts."""
    return {"alpha_min_ratio": loguniform(1e-3, 0.5), "l1_ratio": uniform(0.05, 0.95)}


def survival_svm(estimator: Any, size: Size) -> SpaceDict:
    return {"alpha": loguniform(1e-4, 100.0)}


def real_mlp(estimator: Any, size: Size) -> SpaceDict:
    """Use the published space [1]_, except the kind of embedding."""
    space = {
        "lr": loguniform(0.02, 0.3),
        "p_drop": [0.0, 0.15, 0.3],
        "wd": [0.0, 0.02],
        "act": ["selu", "mish", "relu"],
        "hidden_sizes": [[256] * 3, [64] * 5, [512]],
        "plr_sigma": loguniform(0.05, 0.5),
        "add_front_scale": [True, False],
    }
    return space | ({"ls_eps": [0.0, 0.1]} if is_classifier(estimator) else {})


def tab_m(estimator: Any, size: Size) -> SpaceDict:
    """Use the published space [2]_."""
    return {
        "lr": loguniform(1e-4, 5e-3),
        "weight_decay": loguniform(1e-4, 0.1),
        "dropout": uniform(0.0, 0.5),
        "n_blocks": [1, 2, 3, 4],
        "d_block": log_ints(64, 1024),
    }


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
    """Survival models: times until an event that may be censored."""

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


class TableNets(Family):
    """Nets for tables, from pytabkit; they hold out rows for early stopping."""

    spaces = {
        "pytabkit.RealMLP_TD_Classifier": real_mlp,
        "pytabkit.RealMLP_TD_Regressor": real_mlp,
        "pytabkit.TabM_D_Classifier": tab_m,
        "pytabkit.TabM_D_Regressor": tab_m,
    }
    smaller = ("n_blocks", "d_block")
    larger = ("wd", "weight_decay", "p_drop", "dropout")
