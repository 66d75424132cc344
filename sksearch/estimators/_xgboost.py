"""XGBoost: its boosting, and its forests."""

from collections.abc import Collection
from typing import Any, ClassVar

from sksearch.base._resource import fit

from ._boosters import Booster
from ._growth import Growth
from ._parts import Size, SpaceDict, log_ints, loguniform, randint, uniform
from ._pipeline import last_step


class XGBoostGrowth(Growth):
    """Trained once; a callback sees it after each tree."""

    endless: ClassVar[dict[str, Any]] = {"early_stopping_rounds": None}

    def _grow(self, state, rows, watch, classes, params):
        """Have the callback make a fitted estimator of what there is, and end the training."""
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
    """Boosting of XGBoost: of trees, and linear."""

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
        "lambdarank_unbiased": (),  # learns from tree to tree where in a list clicks are
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
        """Search rate, count, depth, rows, columns and penalty; of a linear one its penalties."""
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
        """Return the booster of XGBoost."""
        from xgboost import Booster

        # Without its params, which would hold where the estimator has None.
        return Booster(model_file=model.get_booster().save_raw("ubj"))


class XGBoostForest(XGBoost):
    """Forests of XGBoost: one step, whose trees are side by side."""

    classes = ("xgboost.XGBRFClassifier", "xgboost.XGBRFRegressor")
    title = ""  # not named among those whose count is found
    growth = None
    portfolios = {}  # those of boosting are shallow

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
        """Never: there is nothing that a later step adds."""
        return False
