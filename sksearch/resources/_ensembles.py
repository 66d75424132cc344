"""Ensembles that go on from `done` trees to `count`: whether they may, and how.

Those of scikit-learn go on by a warm start; LightGBM, XGBoost and CatBoost are given the model
that there is, and make the trees that are missing. These libraries are told by the names of
classes, so that none of them is imported here.
"""

import inspect
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from sksearch._compat import is_hist_gradient_boosting
from sksearch._seeds import MAX_SEED
from sksearch.base import fit
from sksearch.history import Params
from sksearch.resources._epochs import path_of_last_step
from sksearch.resources._pipeline import last_step, params_of_last_step, resamples
from sksearch.spaces._boosting import CATBOOST_COUNTS, LIGHTGBM_STOPS

N_ROWS_AUTO_EARLY_STOPPING = 10_000  # with more, HistGradientBoosting's "auto" stops early

#: Texts of values that leave a parameter out.
OFF = ("None", "False", "0", "0.0", "[]", "()")
#: Params that seed all that a library draws, and those that seed a part, but for bins.
SEEDS = ("random_state", "random_seed", "seed")
MORE_SEEDS = (
    *("bagging_seed", "bagging_fraction_seed", "feature_fraction_seed", "extra_seed"),
    "objective_seed",
)
#: Arguments of ``fit`` that mean the same for trees that are made later. Others may stop the
#: training, change it from tree to tree, or are a model of the user's to begin with.
FIT_PARAMS = {
    *("sample_weight", "group", "qid", "group_id", "group_weight", "base_margin", "verbose"),
    *("feature_name", "categorical_feature", "cat_features", "feature_weights"),
}


@dataclass(frozen=True)
class _Library:
    """How the boosting of one library goes on.

    Parameters
    ----------
    argument : str
        Of ``fit``: the model to go on from.
    counts : tuple of str
        Names of the count of trees.
    plain : dict of str to tuple of str
        Params with which trees depend on more than on the predictions of those before, or
        training ends by itself: each with the texts of values that do no harm.
    """

    argument: str
    counts: tuple[str, ...]
    plain: dict[str, tuple[str, ...]]

    def goes_on(self, owner: Any, leaf: str, names: Collection[str], passed: set[str]) -> bool:
        """Whether it may, with its params, the `names` of searched ones, and what is passed."""
        params = owner.get_params()
        return (
            leaf in self.counts
            and passed <= FIT_PARAMS
            and all(
                str(params.get(name)) in (*OFF, *harmless) for name, harmless in self.plain.items()
            )
            # A class of the user's may have a fit of its own.
            and self.argument in inspect.signature(owner.fit).parameters
        )

    def model(self, owner: Any) -> Any:
        """Return the fitted model for ``fit``."""
        return owner.booster_

    def grow(
        self, owner: Any, name: str, done: int, count: int, X: Any, y: Any, params: Params
    ) -> None:
        """Make the trees that are missing; the params are those of the whole afterwards."""
        seeds, after = _seeds(owner, done), owner.get_params() | {name: count}
        model = self.model(owner)
        owner.set_params(**{name: count - done}, **seeds)
        fit(owner, X, y, params | {self.argument: model})
        owner.set_params(**{each: after[each] for each in (name, *seeds)})


class _XGBoost(_Library):
    def model(self, owner: Any) -> Any:
        from xgboost import Booster

        # Without its params, which would hold where the estimator has None.
        return Booster(model_file=owner.get_booster().save_raw("ubj"))


class _CatBoost(_Library):
    def goes_on(self, owner: Any, leaf: str, names: Collection[str], passed: set[str]) -> bool:
        """Whether it may; not if it chooses params by the count of trees."""
        params = owner.get_params()
        given = {name for name, value in params.items() if value is not None}.union(names)
        loss = params.get("loss_function") or params.get("objective")
        leaves_are_same = str(loss).partition(":")[0] in _SAME_LEAVES
        return (
            not given.isdisjoint(("learning_rate", "eta"))
            and (leaves_are_same or "leaf_estimation_iterations" in given)
            and ("cat_features" not in given | passed or "max_ctr_complexity" in given)
            and super().goes_on(owner, leaf, names, passed)
        )

    def grow(
        self, owner: Any, name: str, done: int, count: int, X: Any, y: Any, params: Params
    ) -> None:
        """Have another estimator make the trees that are missing, and take its model."""
        # A model knows its generators until it is pickled. The copy never does, so that it makes
        # no difference where the training goes on.
        own = owner.get_params() | {name: count - done} | _seeds(owner, done)
        part = type(owner)(**own)
        fit(part, X, y, params | {self.argument: owner.copy()})
        params = part.get_params()
        made = {key: value for key, value in part.__getstate__().items() if key not in params}
        set_params(owner, made | {name: count})


_GBDT = ("gbdt", "gbrt")
_LIGHTGBM_PLAIN = {
    **dict.fromkeys(("boosting_type", "boosting", "boost"), _GBDT),
    **dict.fromkeys((*LIGHTGBM_STOPS, "cegb_penalty_split", "cegb_penalty_feature_coupled"), ()),
    **dict.fromkeys(("cegb_penalty_feature_lazy", "input_model", "model_input", "model_in"), ()),
    "data_sample_strategy": ("bagging",),  # GOSS takes all rows at first
}
_XGBOOST_PLAIN = {
    "booster": ("gbtree",),
    "process_type": ("default",),
    **dict.fromkeys(("early_stopping_rounds", "callbacks", "updater"), ()),
    "lambdarank_unbiased": (),  # learns from tree to tree where in a list clicks are
}
_CATBOOST_PLAIN = {
    "boosting_type": ("Plain",),  # Ordered has a model for each permutation
    "task_type": ("CPU",),  # on a GPU training cannot go on
    **dict.fromkeys(("early_stopping_rounds", "od_type", "od_wait", "od_pval"), ()),
    **dict.fromkeys(("use_best_model", "save_snapshot", "callback", "eval_fraction"), ()),
    **dict.fromkeys(("langevin", "posterior_sampling", "model_shrink_rate"), ()),
    **dict.fromkeys(("diffusion_temperature", "text_features", "embedding_features"), ()),
    **dict.fromkeys(("first_feature_use_penalties", "per_object_feature_penalties"), ()),
}
#: Losses with as many steps for the value of a leaf from 200 trees on as with fewer.
_SAME_LEAVES = ("RMSE", "MAE", "Huber", "MultiClass", "YetiRank")

#: By the name of a class, the first of an estimator's bases that is here.
_LIBRARIES: dict[str, _Library | None] = {
    "LGBMModel": _Library("init_model", ("n_estimators",), _LIGHTGBM_PLAIN),
    "XGBRFClassifier": None,  # one step, whose trees are side by side
    "XGBRFRegressor": None,
    "XGBModel": _XGBoost("xgb_model", ("n_estimators",), _XGBOOST_PLAIN),
    "CatBoost": _CatBoost("init_model", CATBOOST_COUNTS, _CATBOOST_PLAIN),
}


def can_grow(
    estimator: Any,
    name: str,
    n_rows: int,
    fit_params: dict[str, Any],
    names: Collection[str] = (),
) -> bool:
    """Return whether training that goes on gives the model of one ``fit``, but for draws.

    Only a last step can be continued, and not if a step before it resamples the rows.

    Parameters
    ----------
    estimator : estimator object
        A pipeline, or another estimator.
    name : str
        The parameter that is the count, as in ``set_params``.
    n_rows : int
        Count of training rows.
    fit_params : dict
        Further arguments of ``fit`` of the whole estimator.
    names : collection of str, default=()
        Params that candidates have beside their own, as in ``set_params``.

    Returns
    -------
    can : bool
        Whether `grow` may be called.
    """
    path, _, leaf = name.rpartition("__")
    owner = estimator.get_params().get(path, estimator)
    if owner is not last_step(estimator) or resamples(estimator):
        return False
    library = _library_of(owner)
    if library is not None:
        own_params = params_of_last_step(estimator, fit_params)
        passed = {each for each, value in own_params.items() if value is not None}
        prefix = f"{path}__" if path else ""
        leaves = {each.removeprefix(prefix) for each in names if each.startswith(prefix)}
        return library.goes_on(owner, leaf, leaves, passed)
    if not hasattr(owner, "warm_start") or getattr(owner, "oob_score", False):
        return False
    if leaf == "n_estimators":
        return getattr(owner, "n_iter_no_change", None) is None
    if leaf == "max_iter" and is_hist_gradient_boosting(owner):
        stops = owner.early_stopping
        return not (n_rows > N_ROWS_AUTO_EARLY_STOPPING if stops == "auto" else stops)
    return False


def grow(
    owner: Any, name: str, done: int, count: int, X: Any, y: Any, fit_params: dict[str, Any]
) -> None:
    """Train an ensemble on from `done` trees to `count`, in place; from none it is a ``fit``.

    Parameters
    ----------
    owner : estimator object
        One that `can_grow` says yes to; fitted if ``done > 0``.
    name : str
        Its parameter that is the count.
    done, count : int
        Count of trees, or of boosting iterations, that there are, and that there will be.
    X, y : array-like
        The training rows, the same at each call.
    fit_params : dict
        Further arguments of ``fit``.
    """
    library = _library_of(owner)
    if library is not None and done:
        library.grow(owner, name, done, count, X, y, fit_params)
    elif library is not None:
        set_params(owner, {name: count})
        fit(owner, X, y, fit_params)
    else:
        _start_warm(owner, name, count, X, y, fit_params)


def set_params(estimator: Any, params: Params) -> None:
    """Set params where the last step may be a fitted CatBoost, whose ``set_params`` refuses it."""
    last = last_step(estimator)
    if isinstance(_library_of(last), _CatBoost):
        path = path_of_last_step(estimator)
        prefix = f"{path}__" if path else ""
        own = {name for name in params if name.startswith(prefix)}
        last.__setstate__({name.removeprefix(prefix): params[name] for name in own})
        params = {name: value for name, value in params.items() if name not in own}
    if params:
        estimator.set_params(**params)


def _library_of(owner):
    classes = (cls.__name__ for cls in type(owner).__mro__)
    return next((_LIBRARIES[cls] for cls in classes if cls in _LIBRARIES), None)


def _start_warm(owner, name, count, X, y, fit_params):
    before = owner.warm_start
    owner.set_params(warm_start=True, **{name: count})
    with warnings.catch_warnings():
        # The rows are the same each time, so the class weights are, too.
        warnings.filterwarnings("ignore", message="class_weight presets")
        fit(owner, X, y, fit_params)
    owner.set_params(warm_start=before)


def _seeds(owner: Any, done: int) -> Params:
    """Seeds of the trees from `done` on, without which each stretch would draw the same again."""
    params = owner.get_params()
    own = {n: params[n] for n in (*SEEDS, *MORE_SEEDS) if params.get(n) is not None}
    if own.keys().isdisjoint(SEEDS):
        own["random_state"] = 0
    # What is no number, such as a RandomState, goes on by itself. Draws of neighbouring seeds are
    # in step where a generator is linear (LightGBM's), hence a hash.
    return {
        name: int(np.random.SeedSequence((abs(int(seed)), done)).generate_state(1)[0]) % MAX_SEED
        for name, seed in own.items()
        if isinstance(seed, Integral)
    }
