"""CatBoost.

CatBoost writes ``catboost_info`` into the working directory at each fit. A search does not
read these files, and its workers would overwrite each other's, so it trains without files.
"""

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import clone

from sksearch.base._resource import fit

from ._boosters import Booster, names_set_by_user
from ._growth import Growth
from ._parts import Size, SpaceDict, loguniform, randint
from ._pipeline import last_step, replace_last_step

NAME = "allow_writing_files"
#: Settings that request files.
WANTED = (NAME, "train_dir", "save_snapshot", "snapshot_file", "snapshot_interval")
#: Losses whose number of leaf estimation steps does not change from 200 trees on.
SAME_LEAVES = ("RMSE", "MAE", "Huber", "MultiClass", "YetiRank")
LARGEST_DEPTH = 16.0


class CatBoostGrowth(Growth):
    """Train from look to look; cut models with fewer trees from the result."""

    def looks(self, high: int, estimator: Any) -> list[int]:
        """Return one look if the learning rate depends on the number of trees."""
        chosen = last_step(estimator).get_params().get("learning_rate")
        return [high] if chosen is None else super().looks(high, estimator)

    def train(self, state, rows, count, classes, params):
        """Continue training in a clone of the existing model."""
        owner, done = last_step(state.estimator), state.n_steps
        model = {}
        if done:  # within one process it continues with its generators, as one fit does
            model = {"init_model": owner}
            owner = clone(owner)
        owner.set_params(**{self.name: count - done})
        fit(owner, rows[0], rows[1], params | model)
        state.estimator = replace_last_step(state.estimator, owner)

    @contextmanager
    def truncated(self, model: Any, count: int) -> Iterator[Any]:
        """Cut a copy, or predict with the first trees."""
        if (model.get_params().get("grow_policy") or "SymmetricTree") != "SymmetricTree":
            with _first_trees(model, count):
                yield model
            return
        shrunk = model.copy()
        shrunk.shrink(count)
        yield shrunk


class CatBoost(Booster):
    """CatBoost estimators."""

    classes = ("catboost.CatBoost",)
    title = "CatBoost"
    portfolios = {"catboost.CatBoost": "CatBoost"}
    counts = ("iterations", "n_estimators", "num_boost_round", "num_trees")
    growing = counts
    default_count = 1000
    aliases = {  # CatBoost refuses two names of one parameter
        "learning_rate": ("eta",),
        "iterations": counts[1:],
        "depth": ("max_depth",),
        "l2_leaf_reg": ("reg_lambda",),
    }
    needs = (
        "of CatBoost set or search learning_rate and leaf_estimation_iterations, and "
        "max_ctr_complexity where there are cat_features"
    )
    argument = "init_model"
    plain = {
        "boosting_type": ("Plain",),  # Ordered keeps a model for each permutation
        "task_type": ("CPU",),  # training cannot continue on a GPU
        **dict.fromkeys(("early_stopping_rounds", "od_type", "od_wait", "od_pval"), ()),
        **dict.fromkeys(("use_best_model", "save_snapshot", "callback", "eval_fraction"), ()),
        **dict.fromkeys(("langevin", "posterior_sampling", "model_shrink_rate"), ()),
        **dict.fromkeys(("diffusion_temperature", "text_features", "embedding_features"), ()),
        **dict.fromkeys(("first_feature_use_penalties", "per_object_feature_penalties"), ()),
    }
    growth = CatBoostGrowth
    mutable_params = (
        *("learning_rate", "eta", "depth", "max_depth", "l2_leaf_reg", "reg_lambda", "rsm"),
        *("colsample_bylevel", "random_strength", "bagging_temperature", "subsample"),
        *("min_data_in_leaf", "min_child_samples", "max_leaves", "num_leaves"),
    )
    smaller = ("iterations", "n_estimators", "depth", "max_depth", "max_leaves", "num_leaves")
    larger = ("l2_leaf_reg", "reg_lambda", "min_data_in_leaf", "min_child_samples")

    def space(self, estimator: Any, size: Size) -> SpaceDict:
        """Search rate, number of trees, depth, penalty and the shape of trees."""
        own = estimator.get_params()
        names = names_set_by_user(own, self.aliases)
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

    def upper_bound(self, model: Any, name: str) -> float:
        """Trees are at most 16 deep."""
        return (
            LARGEST_DEPTH if name in ("depth", "max_depth") else super().upper_bound(model, name)
        )

    def can_grow(
        self, model: Any, name: str, names: Collection[str], passed: set[str], n_rows: int
    ) -> bool:
        """Return whether it can continue; not if parameters depend on the number of trees."""
        params = model.get_params()
        given = {each for each, value in params.items() if value is not None}.union(names)
        loss = params.get("loss_function") or params.get("objective")
        leaves_are_same = str(loss).partition(":")[0] in SAME_LEAVES
        return (
            not given.isdisjoint(("learning_rate", "eta"))
            and (leaves_are_same or "leaf_estimation_iterations" in given)
            and ("cat_features" not in given | passed or "max_ctr_complexity" in given)
            and super().can_grow(model, name, names, passed, n_rows)
        )

    def add(
        self, model: Any, name: str, done: int, count: int, X: Any, y: Any, params: dict[str, Any]
    ) -> None:
        """Train the missing trees in another estimator, and take over its model."""
        # A model keeps its generators until it is pickled. The copy never has them, so the result
        # does not depend on interruptions.
        own = model.get_params() | {name: count - done} | self.seeds_from(model, done)
        part = type(model)(**own)
        fit(part, X, y, params | {self.argument: model.copy()})
        params = part.get_params()
        made = {key: value for key, value in part.__getstate__().items() if key not in params}
        self.set_params(model, made | {name: count})

    def set_params(self, model: Any, params: dict[str, Any]) -> None:
        """Set parameters of a model that may be fitted, which its ``set_params`` would refuse."""
        model.__setstate__(params)

    @contextmanager
    def training(self, estimator: Any) -> Iterator[None]:
        """Train the models of an estimator without files.

        Their original parameters are restored afterwards, so users see no difference.
        """
        if "catboost" not in sys.modules:
            yield
            return
        given = [estimator, *estimator.get_params().values()]
        models = [each for each in given if _is_model(each) and _is_quiet(each)]
        for model in models:
            model.__setstate__({NAME: False})  # set_params refuses to change a fitted model
        try:
            yield
        finally:
            if models:  # meta-estimators have trained clones of them
                for model in (*models, *_trained(estimator)):
                    vars(model)["_init_params"].pop(NAME, None)
                    model.__setstate__({})  # CatBoost caches its parameters


def _is_model(value: Any) -> bool:
    return any(cls.__name__ == "CatBoost" for cls in type(value).__mro__)


def _is_quiet(model: Any) -> bool:
    return all(model.get_params().get(name) is None for name in WANTED)


def _trained(estimator: Any) -> list[Any]:
    """CatBoost models among the attributes of an estimator."""
    found, seen, stack = [], set(), [estimator]
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if _is_model(value):
            found.append(value)
        elif isinstance(value, list | tuple):
            stack += value
        elif hasattr(value, "get_params") and not isinstance(value, type):
            stack += vars(value).values()
    return found


@contextmanager
def _first_trees(model, count):
    """Predict with the first trees; models with other tree shapes cannot be shrunk."""
    predict = model._base_predict

    def predict_with_first(data, prediction_type, ntree_start, ntree_end, *rest):
        return predict(data, prediction_type, ntree_start, ntree_end or count, *rest)

    model._base_predict = predict_with_first
    try:
        yield
    finally:
        del model._base_predict
