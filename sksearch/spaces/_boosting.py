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


#: Names of the count of trees.
CATBOOST_COUNTS = ("iterations", "n_estimators", "num_boost_round", "num_trees")
LIGHTGBM_COUNTS = (
    *("n_estimators", "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees"),
    *("num_round", "num_rounds", "nrounds", "num_boost_round", "max_iter"),
)
#: Names that are searched in place of ours where the user has set them: CatBoost refuses two of
#: one parameter, and LightGBM takes these.
CATBOOST_NAMES = {
    "learning_rate": ("eta",),
    "iterations": CATBOOST_COUNTS[1:],
    "depth": ("max_depth",),
    "l2_leaf_reg": ("reg_lambda",),
}
LIGHTGBM_NAMES = {
    "n_estimators": LIGHTGBM_COUNTS[1:],
    "min_child_samples": ("min_data_in_leaf", "min_data", "min_samples_leaf"),
    "colsample_bytree": ("feature_fraction", "sub_feature"),
    "reg_lambda": ("lambda_l2", "lambda"),
}
LIGHTGBM_STOPS = (
    *("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change"),
)


def _set_by_user(own: dict, names: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """For each of our names the one that the user has set, ours if there is none."""
    return {
        name: next((other for other in others if other in own), name)
        for name, others in names.items()
    }


def lightgbm(estimator: Any, size: Size) -> SpaceDict:
    own = estimator.get_params()
    names = _set_by_user(own, LIGHTGBM_NAMES)
    space = {
        "learning_rate": loguniform(0.02, 0.3),
        "n_estimators": size.count(1000, own[names["n_estimators"]]),
        "num_leaves": log_ints(4, 127),
        "min_child_samples": log_ints(2, size.leaf(100)),
        "colsample_bytree": uniform(0.4, 0.6),
        "reg_lambda": loguniform(1e-3, 10.0),
        "extra_trees": [False, True],
    }
    kind = own.get("boosting", own.get("boost", estimator.boosting_type))
    if kind == "dart":  # a later tree changes the earlier ones: no curve
        space["n_estimators"] = log_ints(50, 500)
    if kind in ("rf", "random_forest"):
        del space["learning_rate"], space["n_estimators"], space["extra_trees"]
    if any(own.get(name) for name in LIGHTGBM_STOPS):
        space.pop("n_estimators", None)
    return {names.get(name, name): values for name, values in space.items()}


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


def catboost(estimator: Any, size: Size) -> SpaceDict:
    own = estimator.get_params()
    names = _set_by_user(own, CATBOOST_NAMES)
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
