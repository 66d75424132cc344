"""Boosted trees: scikit-learn's, LightGBM, XGBoost, CatBoost, AdaBoost.

Smaller rates and larger penalties cost more iterations: on tables of 1,300 rows with up to 400
iterations the best of five draws was worse for them.
"""

from typing import Any

from ._parts import Size, SpaceDict, log_ints, loguniform, randint, uniform


def hist_gradient_boosting(estimator: Any, size: Size) -> SpaceDict:
    space = {
        "learning_rate": loguniform(0.02, 0.3),
        "max_iter": size.count(1000, estimator.max_iter),
        "max_leaf_nodes": log_ints(4, 127),
        "min_samples_leaf": log_ints(2, size.leaf(100)),
        "l2_regularization": loguniform(1e-3, 10.0),
        "max_features": uniform(0.3, 0.7),
        "early_stopping": [False],
    }
    if estimator.early_stopping is True:  # the user's own way to find the count
        del space["max_iter"], space["early_stopping"]
    return space


def gradient_boosting(estimator: Any, size: Size) -> SpaceDict:
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


def ada_boost(estimator: Any, size: Size) -> SpaceDict:
    return {"learning_rate": loguniform(0.01, 2.0), "n_estimators": log_ints(30, 500)}


def lightgbm(estimator: Any, size: Size) -> SpaceDict:
    space = {
        "learning_rate": loguniform(0.02, 0.3),
        "n_estimators": size.count(1000, estimator.n_estimators),
        "num_leaves": log_ints(4, 127),
        "min_child_samples": log_ints(2, size.leaf(100)),
        "colsample_bytree": uniform(0.4, 0.6),
        "reg_lambda": loguniform(1e-3, 10.0),
        "extra_trees": [False, True],
    }
    if estimator.boosting_type == "dart":  # a later tree changes the earlier ones: no curve
        space["n_estimators"] = log_ints(50, 500)
    if estimator.boosting_type in ("rf", "random_forest"):
        del space["learning_rate"], space["n_estimators"], space["extra_trees"]
    if estimator.get_params().get("early_stopping_round"):
        del space["n_estimators"]
    return space


def xgboost(estimator: Any, size: Size) -> SpaceDict:
    if estimator.booster == "gblinear":
        return {
            "reg_lambda": loguniform(1e-4, 100.0),
            "reg_alpha": loguniform(1e-4, 10.0),
            "learning_rate": loguniform(0.05, 1.0),
        }
    space = {
        "learning_rate": loguniform(0.02, 0.3),
        "n_estimators": size.count(1000, estimator.n_estimators),
        "max_depth": randint(2, 11),
        "min_child_weight": loguniform(0.3, 30.0),
        "colsample_bytree": uniform(0.4, 0.6),
        "subsample": uniform(0.5, 0.5),
        "reg_lambda": loguniform(0.01, 20.0),
    }
    if estimator.booster == "dart":
        space["n_estimators"] = log_ints(50, 500)
    if estimator.early_stopping_rounds is not None:
        del space["n_estimators"]
    return space


def xgboost_forest(estimator: Any, size: Size) -> SpaceDict:
    return {
        "max_depth": randint(4, 17),
        "colsample_bynode": uniform(0.2, 0.8),
        "min_child_weight": loguniform(0.3, 30.0),
        "subsample": uniform(0.5, 0.5),
    }


# CatBoost refuses two names of the same parameter: the one that the user has set is taken.
CATBOOST_NAMES = {
    "learning_rate": ["eta"],
    "iterations": ["n_estimators", "num_boost_round", "num_trees"],
    "depth": ["max_depth"],
    "l2_leaf_reg": ["reg_lambda"],
}


def catboost(estimator: Any, size: Size) -> SpaceDict:
    own = estimator.get_params()
    names = {
        name: next((other for other in others if other in own), name)
        for name, others in CATBOOST_NAMES.items()
    }
    space = {
        "learning_rate": loguniform(0.02, 0.3),
        "iterations": size.count(1000, own.get(names["iterations"])),
        "depth": randint(3, 9),
        "l2_leaf_reg": loguniform(1.0, 30.0),
        "grow_policy": ["SymmetricTree", "Depthwise"],
    }
    if own.get("early_stopping_rounds") or own.get("od_type") or own.get("od_wait"):
        del space["iterations"]
    if own.get("boosting_type") == "Ordered" or own.get("grow_policy") == "Lossguide":
        del space["grow_policy"]
    return {names.get(name, name): values for name, values in space.items()}


SPACES = {
    "sklearn.HistGradientBoostingClassifier": hist_gradient_boosting,
    "sklearn.HistGradientBoostingRegressor": hist_gradient_boosting,
    "sklearn.GradientBoostingClassifier": gradient_boosting,
    "sklearn.GradientBoostingRegressor": gradient_boosting,
    "sklearn.AdaBoostClassifier": ada_boost,
    "sklearn.AdaBoostRegressor": ada_boost,
    "lightgbm.LGBMModel": lightgbm,
    "xgboost.XGBModel": xgboost,
    "xgboost.XGBRFClassifier": xgboost_forest,
    "xgboost.XGBRFRegressor": xgboost_forest,
    "catboost.CatBoost": catboost,
}
