"""XGBoost: its boosting, and its forests."""

from collections.abc import Collection
from typing import Any, ClassVar

from sksearch.base._resource import fit

from ._boosters import Booster
from ._growth import Growth
from ._parts import Size, SpaceDict, log_ints, loguniform, randint, uniform
from ._pipeline import last_step


class XGBoostGrowth(Growth):
    """Train once; a callback sees the model after each tree."""

    endless: ClassVar[dict[str, Any]] = {"early_stopping_rounds": None}

    def _grow(self, state, rows, watch, classes, params):
        """Fit with a callback that scores the partial model and ends the training."""
        from xgboost.callback import TrainingCallback

        owner = last_step(state.estimator)

        class After(TrainingCallback):
            def after_iteration(self, model, epoch, evals_log):
                owner._Booster = model
                return watch.ends(state.estimator, epoch + 1)

        callbacks = [*(owner.get_params().get("callbacks") or []), After()]
        owner.set_params(**{self.name: watch.known[-1]}, callbacks=callbacks)
        fit(owner, rows[0], rows[1], params)


class XGBoost(Booster):
    """XGBoost boosting of trees or linear models."""

    classes: ClassVar[tuple[str, ...]] = ("xgboost.XGBModel",)
    title = "XGBoost"
    portfolios = {"xgboost.XGBModel": "XGBoost"}
    counts = ("n_estimators",)
    default_count = 100
    argument = "xgb_model"
    plain = {
        "booster": ("gbtree",),
        "process_type": ("default",),
        **dict.fromkeys(("early_stopping_rounds", "callbacks", "updater"), ()),
        "lambdarank_unbiased": (),  # learns from tree to tree the bias of clicks by position
    }
    growth: ClassVar[type[Growth] | None] = XGBoostGrowth
    mutable_params = (
        *("learning_rate", "max_depth", "max_leaves", "gamma", "min_child_weight"),
        *("max_delta_step", "subsample", "colsample_bytree", "colsample_bylevel"),
        *("colsample_bynode", "reg_alpha", "reg_lambda"),
    )
    smaller = ("n_estimators", "max_depth", "max_leaves", "max_bins")
    larger = ("reg_alpha", "reg_lambda", "min_child_weight")

    def space(self, estimator: Any, size: Size) -> SpaceDict:
        """Search rate, number of trees, depth, rows, columns and penalty; if linear, penalties."""
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

    def model_of(self, model: Any) -> Any:
        """Return the XGBoost booster."""
        from xgboost import Booster

        # Drop its parameters, which would apply if the estimator's are None.
        return Booster(model_file=model.get_booster().save_raw("ubj"))


class XGBoostForest(XGBoost):
    """XGBoost forests: one step, with parallel trees."""

    classes = ("xgboost.XGBRFClassifier", "xgboost.XGBRFRegressor")
    title = ""  # not listed among the estimators whose number of steps is found
    growth = None
    portfolios = {}  # recorded candidates of boosting are shallow

    def space(self, estimator: Any, size: Size) -> SpaceDict:
        """Search depth, rows and columns of the trees."""
        return {
            "max_depth": randint(4, 17),
            "colsample_bynode": uniform(0.2, 0.8),
            "min_child_weight": loguniform(0.3, 30.0),
            "subsample": uniform(0.5, 0.5),
        }

    def can_grow(
        self, model: Any, name: str, names: Collection[str], passed: set[str], n_rows: int
    ) -> bool:
        """Return False: later steps add nothing."""
        return False
