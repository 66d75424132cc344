"""LightGBM.

As for all boosting, smaller rates and larger penalties cost more iterations. On tables of 1,300
rows with up to 400 iterations, they made the best of five draws worse.
"""

from typing import Any

from sksearch.base._resource import fit

from ._boosters import Booster, names_set_by_user
from ._growth import Growth
from ._parts import Size, SpaceDict, log_ints, loguniform, uniform
from ._pipeline import last_step

STOPS = ("early_stopping_round", "early_stopping_rounds", "early_stopping", "n_iter_no_change")


class LightGBMGrowth(Growth):
    """Train once; a callback sees the model after each tree."""

    def _grow(self, state, rows, watch, classes, params):
        """Fit with a callback that scores the partial model and ends the training."""
        from lightgbm.callback import EarlyStopException

        owner = last_step(state.estimator)
        owner.set_params(**{self.name: watch.known[-1]})

        def after(env):
            booster = env.model
            owner._Booster, owner._n_features = booster, booster.num_feature()
            owner.fitted_ = True
            if watch.ends(state.estimator, env.iteration + 1):
                raise EarlyStopException(env.iteration, [])

        callbacks = [*(params.get("callbacks") or []), after]
        fit(owner, rows[0], rows[1], params | {"callbacks": callbacks})


class LightGBM(Booster):
    """LightGBM estimators, with any kind of boosting."""

    classes = ("lightgbm.LGBMModel",)
    title = "LightGBM"
    portfolios = {"lightgbm.LGBMModel": "LightGBM"}
    counts = (
        *("n_estimators", "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees"),
        *("num_round", "num_rounds", "nrounds", "num_boost_round", "max_iter"),
    )
    default_count = 100
    aliases = {
        "n_estimators": counts[1:],
        "min_child_samples": ("min_data_in_leaf", "min_data", "min_samples_leaf"),
        "colsample_bytree": ("feature_fraction", "sub_feature"),
        "reg_lambda": ("lambda_l2", "lambda"),
    }
    argument = "init_model"
    plain = {
        **dict.fromkeys(("boosting_type", "boosting", "boost"), ("gbdt", "gbrt")),
        **dict.fromkeys((*STOPS, "cegb_penalty_split", "cegb_penalty_feature_coupled"), ()),
        **dict.fromkeys(("cegb_penalty_feature_lazy", "input_model", "model_input"), ()),
        "model_in": (),
        "data_sample_strategy": ("bagging",),  # GOSS uses all rows at first
    }
    growth = LightGBMGrowth
    mutable_params = (
        *("learning_rate", "num_leaves", "max_depth", "min_split_gain", "min_child_weight"),
        *("min_child_samples", "subsample", "subsample_freq", "colsample_bytree"),
        *("reg_alpha", "reg_lambda"),
    )
    part_seeds = (
        *("bagging_seed", "bagging_fraction_seed", "feature_fraction_seed", "extra_seed"),
        "objective_seed",
    )
    smaller = ("n_estimators", "max_depth", "num_leaves")
    larger = (
        *("reg_alpha", "reg_lambda", "lambda_l1", "lambda_l2", "min_child_samples"),
        *("min_child_weight", "min_data_in_leaf"),
    )

    def space(self, estimator: Any, size: Size) -> SpaceDict:
        """Search rate, number of trees, leaves, columns and penalty, depending on the booster."""
        own = estimator.get_params()
        names = names_set_by_user(own, self.aliases)
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
        if any(own.get(name) for name in STOPS):
            space.pop("n_estimators", None)
        return {names.get(name, name): values for name, values in space.items()}

    def model_of(self, model: Any) -> Any:
        """Return the LightGBM booster."""
        return model.booster_
