"""CatBoost, LightGBM and XGBoost go on from the model of the last rung."""

import functools
import importlib
import signal
import threading

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import PBTSearchCV, SuccessiveHalvingSearchCV
from sksearch.base._state import State
from sksearch.estimators import register
from sksearch.estimators._lightgbm import LightGBM
from sksearch.estimators._mutable_params import change, mutable_params
from sksearch.fitting.run._states import dump_state, load_state
from sksearch.resources import as_resource
from sksearch.resources._parameter import ParameterResource
from tests.comparisons import assert_same_results
from tests.interrupted import Trouble, scorer

X, Y3 = make_classification(120, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
Y = (Y3 > 0).astype(int)
AMOUNT = X[:, 0] * 3 + np.sin(X[:, 1]) + 10
TABLE = pd.DataFrame(X, columns=list("abcde")).assign(
    f=pd.Categorical(np.random.default_rng(0).choice(list("uvw"), len(X)))
)
TABLE.loc[3:9, "a"] = np.nan
WEIGHTS = np.random.default_rng(1).random(len(X))
QUERIES = np.repeat(np.arange(12), 10)

#: What each library is made with: no draws, no output, small leaves.
QUIET = {
    "lightgbm": {"verbose": -1, "n_jobs": 1, "min_child_samples": 3},
    "xgboost": {"n_jobs": 1},
    "catboost": {
        "verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 3,
        "learning_rate": 0.1, "depth": 3, "bootstrap_type": "No", "random_strength": 0,
        "leaf_estimation_iterations": 2, "max_ctr_complexity": 1,
    },
}  # fmt: skip
CLASSIFIERS = {
    "lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier", "catboost": "CatBoostClassifier",
}  # fmt: skip
LIBRARIES = list(QUIET)


def booster(library, kind=None, **params):
    """One that draws nothing, if `params` do not say otherwise."""
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    return getattr(module, kind or CLASSIFIERS[library])(**QUIET[library] | params)


def count_name(library):
    return "iterations" if library == "catboost" else "n_estimators"


def n_trees(model):
    """Count of boosting iterations."""
    if hasattr(model, "get_booster"):
        return model.get_booster().num_boosted_rounds()
    return model.n_estimators_ if hasattr(model, "booster_") else model.tree_count_


def output(model, X, n=None):
    """What the first n trees predict, or all of them."""
    predict = getattr(model, "predict_proba", model.predict)
    if n is None:
        return predict(X)
    if hasattr(model, "get_booster"):
        return predict(X, iteration_range=(0, n))
    return predict(X, **{"num_iteration" if hasattr(model, "booster_") else "ntree_end": n})


def trained(estimator, *amounts, X=X, y=Y, name=None, travels=True, fit_params=None):
    """A state, brought from amount to amount, and written and read in between."""
    library = type(estimator).__module__.partition(".")[0]
    resource = ParameterResource(name or count_name(library))
    state = State(clone(estimator))
    for amount in amounts:
        state = resource.train(state, X, y, amount, state.n_steps, None, fit_params or {})
        if travels:
            state = load_state(dump_state(state))
    return state


# ---- one training from rung to rung

SAME = [
    (library, None, {}, X, y, {}) for library in LIBRARIES for y in (Y, Y3)
] + [
    ("lightgbm", "LGBMRegressor", {"objective": "l1"}, X, AMOUNT, {"sample_weight": WEIGHTS}),
    ("lightgbm", "LGBMRanker", {}, X, Y3, {"group": [10] * 12}),
    ("lightgbm", None, {"class_weight": "balanced"}, TABLE, Y3, {}),
    ("lightgbm", None, {"class_weight": {0: 3}, "is_unbalance": False}, X, Y, {}),
    ("xgboost", "XGBRegressor", {"base_score": 0.3}, X, AMOUNT, {"sample_weight": WEIGHTS}),
    ("xgboost", "XGBRegressor", {"objective": "reg:absoluteerror"}, X, AMOUNT, {}),
    ("xgboost", "XGBRanker", {}, X, Y3, {"qid": QUERIES}),
    ("xgboost", None, {"num_parallel_tree": 2}, X, Y3, {"base_margin": np.c_[X[:, :3]]}),
    ("xgboost", None, {"enable_categorical": True, "tree_method": "hist"}, TABLE, Y3, {}),
    ("xgboost", None, {"grow_policy": "lossguide", "max_leaves": 4}, X, Y, {}),
    ("catboost", "CatBoostRegressor", {}, X, AMOUNT, {"sample_weight": WEIGHTS}),
    ("catboost", "CatBoostRegressor", {"loss_function": "MAE"}, X, AMOUNT, {}),
    ("catboost", "CatBoostRanker", {"loss_function": "QueryRMSE"}, X, Y3, {"group_id": QUERIES}),
    ("catboost", None, {"auto_class_weights": "Balanced"}, TABLE, Y3, {"cat_features": ["f"]}),
    ("catboost", None, {"grow_policy": "Lossguide"}, X, Y, {}),
]  # fmt: skip


@pytest.mark.parametrize(("library", "kind", "params", "X", "y", "fit_params"), SAME)
def test_trees_in_rungs_match_one_fit(library, kind, params, X, y, fit_params):
    estimator, name = booster(library, kind, **params), count_name(library)
    assert as_resource(name, estimator, len(X), (), fit_params).continues
    first = trained(estimator, 2, X=X, y=y, fit_params=fit_params).estimator
    in_rungs = trained(estimator, 2, 5, 12, X=X, y=y, fit_params=fit_params).estimator
    at_once = type(estimator)(**estimator.get_params()).set_params(**{name: 12})
    at_once.fit(X, y, **fit_params)
    assert n_trees(in_rungs) == n_trees(at_once) == 12
    assert str(in_rungs.get_params()) == str(at_once.get_params())
    margin = {"base_margin": fit_params["base_margin"]} if "base_margin" in fit_params else {}
    one, other = (getattr(m, "predict_proba", m.predict)(X, **margin) for m in (in_rungs, at_once))
    # CatBoost adds the mean to each model that it starts with, in another order.
    np.testing.assert_allclose(one, other, rtol=1e-12 if library == "catboost" else 0)
    np.testing.assert_array_equal(output(in_rungs, X, 2), output(first, X))
    one, other = in_rungs.feature_importances_, at_once.feature_importances_
    np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), rtol=1e-5)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_last_step_of_a_pipeline_continues(library):
    pipe = make_pipeline(StandardScaler(), booster(library))
    name = f"{pipe.steps[-1][0]}__{count_name(library)}"
    assert as_resource(name, pipe).continues
    in_rungs = trained(clone(pipe), 3, 9, name=name).estimator
    at_once = clone(pipe).set_params(**{name: 9}).fit(X, Y)
    np.testing.assert_allclose(output(in_rungs, X), output(at_once, X), rtol=1e-12)
    assert in_rungs.get_params()[name] == n_trees(in_rungs[-1]) == 9


@pytest.mark.parametrize(
    ("library", "kind", "params"),
    [("lightgbm", None, {}), ("xgboost", None, {}), ("catboost", None, {}),
     ("catboost", "CatBoostRegressor", {"leaf_estimation_iterations": None}),
     ("catboost", None, {"leaf_estimation_iterations": None, "loss_function": "MultiClass"})],
)  # fmt: skip
def test_hundreds_of_trees_match_one_fit_as_well(library, kind, params):
    """CatBoost has other defaults from 200 trees on."""
    estimator, name = booster(library, kind, **params), count_name(library)
    assert as_resource(name, estimator).continues
    in_rungs = trained(estimator, 30, 210).estimator
    at_once = clone(estimator).set_params(**{name: 210}).fit(X, Y)
    np.testing.assert_allclose(output(in_rungs, X), output(at_once, X), rtol=1e-9, atol=1e-12)


DRAWS = {
    "lightgbm": {"colsample_bytree": 0.2},
    "xgboost": {"colsample_bytree": 0.2},
    "catboost": {"rsm": 0.2, "random_strength": 1, "bootstrap_type": "Bayesian"},
}


@pytest.mark.parametrize("seed", [None, 5])
@pytest.mark.parametrize("library", LIBRARIES)
def test_each_stretch_of_training_draws_again(library, seed):
    name = "random_seed" if library == "catboost" else "random_state"
    stump = {"depth": 1} if library == "catboost" else {}
    estimator = booster(library, **DRAWS[library] | stump | {name: seed})
    tree_by_tree = trained(estimator, *range(1, 13)).estimator
    used = np.asarray(tree_by_tree.feature_importances_) > 0
    assert used.sum() > 2, "each tree has one feature, and with the same draws all have the same"
    expected = estimator.get_params() | {count_name(library): 12}
    assert repr(sorted(tree_by_tree.get_params().items())) == repr(sorted(expected.items()))


def test_a_seed_for_part_of_the_draws_keeps_the_others_random():
    estimator = booster("lightgbm", colsample_bytree=0.2, bagging_seed=7)
    tree_by_tree = trained(estimator, *range(1, 13)).estimator
    assert (tree_by_tree.feature_importances_ > 0).sum() > 2
    assert tree_by_tree.get_params() == estimator.get_params() | {"n_estimators": 12}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_state_that_was_written_continues_as_one_in_memory(library):
    estimator = booster(library, **DRAWS[library])
    one, other = (trained(estimator, 3, 9, 20, travels=travels) for travels in (True, False))
    np.testing.assert_array_equal(output(one.estimator, X), output(other.estimator, X))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_search_resumed_from_a_copy_leaves_the_original_alone(library):
    state = trained(booster(library), 4)
    before, content = output(state.estimator, X), dump_state(state)
    child = load_state(content)
    change(child.estimator, {"learning_rate": 0.9})
    resource = ParameterResource(count_name(library))
    child = resource.train(child, X, Y, 8, 4, None, {})
    np.testing.assert_array_equal(output(state.estimator, X), before)
    state = resource.train(state, X, Y, 8, 4, None, {})
    expected = trained(booster(library), 4, 8).estimator
    np.testing.assert_array_equal(output(state.estimator, X), output(expected, X))
    assert not np.array_equal(output(child.estimator, X), output(expected, X))


@pytest.mark.parametrize("library", LIBRARIES)
def test_trees_that_find_nothing_to_split_change_nothing(library):
    few = {
        "lightgbm": {"min_child_samples": 200},
        "xgboost": {"min_child_weight": 200},
        "catboost": {"l2_leaf_reg": 1e9},
    }
    estimator = booster(library, **few[library])
    in_rungs = trained(estimator, 2, 5).estimator
    at_once = type(estimator)(**estimator.get_params() | {count_name(library): 5}).fit(X, Y)
    np.testing.assert_allclose(output(in_rungs, X), output(at_once, X), rtol=1e-12)


# ---- what is fitted again


def look_on(env):
    """See what goes on."""


ANEW = [
    ("lightgbm", {"boosting_type": "dart"}, {}),
    ("lightgbm", {"boosting": "dart"}, {}),
    ("lightgbm", {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1}, {}),
    ("lightgbm", {"data_sample_strategy": "goss"}, {}),
    ("lightgbm", {"cegb_penalty_feature_coupled": [5.0] * 5}, {}),
    ("lightgbm", {}, {"callbacks": [look_on]}),
    ("lightgbm", {"early_stopping_round": 3}, {"eval_X": X, "eval_y": Y}),
    ("lightgbm", {}, {"init_score": WEIGHTS}),
    ("xgboost", {"booster": "dart", "rate_drop": 0.5}, {}),
    ("xgboost", {"booster": "gblinear"}, {}),
    ("xgboost", {"early_stopping_rounds": 3}, {"eval_set": [(X, Y)]}),
    ("catboost", {"learning_rate": None}, {}),
    ("catboost", {"boosting_type": "Ordered"}, {}),
    ("catboost", {"model_shrink_rate": 0.1}, {}),
    ("catboost", {"langevin": True}, {}),
    ("catboost", {}, {"eval_set": [(X, Y)]}),
    ("catboost", {}, {"early_stopping_rounds": 3}),
]


@pytest.mark.parametrize(("library", "params", "fit_params"), ANEW)
def test_training_that_would_differ_is_fitted_again(library, params, fit_params):
    estimator = booster(library, **params)
    name = count_name(library)
    assert not as_resource(name, estimator, len(X), (), fit_params).continues
    state = trained(estimator, 3, 9, fit_params=fit_params, travels=False)
    at_once = type(estimator)(**estimator.get_params() | {name: 9}).fit(X, Y, **fit_params)
    assert state.n_steps == 0
    np.testing.assert_array_equal(output(state.estimator, X), output(at_once, X))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_of_the_users_is_not_replaced(library):
    estimator = booster(library)
    argument = "xgb_model" if library == "xgboost" else "init_model"
    given = clone(estimator).set_params(**{count_name(library): 2}).fit(X, Y)
    state = trained(estimator, 3, 9, fit_params={argument: given})
    assert n_trees(state.estimator) == 11
    none = trained(estimator, 3, 9, fit_params={argument: None})
    assert (none.n_steps, n_trees(none.estimator)) == (9, 9)


def test_what_needs_a_gpu_or_calls_the_user_is_planned_as_fitted_again():
    assert not as_resource("iterations", booster("catboost", task_type="GPU")).continues
    called = booster("xgboost", callbacks=[object()])
    assert not as_resource("n_estimators", called).continues


def test_forests_and_classes_with_a_fit_of_their_own_are_fitted_again():
    xgboost = pytest.importorskip("xgboost")
    for kind in ("XGBRFClassifier", "XGBRFRegressor"):
        assert not as_resource("n_estimators", booster("xgboost", kind)).continues

    class Own(xgboost.XGBClassifier):
        def fit(self, X, y):
            return super().fit(X, y)

    assert not as_resource("n_estimators", Own()).continues


def test_catboost_continues_if_it_chooses_nothing_by_the_count():
    estimator = booster("catboost", learning_rate=None)
    pipe = make_pipeline(StandardScaler(), estimator)
    of = functools.partial(as_resource, n_rows=len(X))
    assert not of("iterations", estimator, names=["depth"]).continues
    assert of("iterations", estimator, names=["learning_rate"]).continues
    leaves = booster("catboost", leaf_estimation_iterations=None)
    assert not of("iterations", leaves).continues
    assert of("iterations", leaves, names=["leaf_estimation_iterations"]).continues
    ctr = booster("catboost", max_ctr_complexity=None)
    assert of("iterations", ctr).continues
    assert not of("iterations", ctr, fit_params={"cat_features": [0]}).continues
    assert of("catboostclassifier__iterations", pipe, names=["catboostclassifier__eta"]).continues
    assert not of("catboostclassifier__iterations", pipe, names=["learning_rate"]).continues


# ---- searches

RATES = {"learning_rate": loguniform(0.03, 0.6)}


def halving(library, **params):
    shared = {
        "resource": count_name(library), "max_resources": 9, "n_candidates": 4, "cv": 2,
        "random_state": 0,
    }  # fmt: skip
    estimator = booster(library, **DRAWS[library])
    return SuccessiveHalvingSearchCV(estimator, RATES, **shared | params)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_trees_that_are_made_match_the_plan(library, monkeypatch):
    kind = getattr(importlib.import_module(library), CLASSIFIERS[library])
    made = []

    @functools.wraps(kind.fit)
    def fit(self, *args, **params):
        made.append(self.get_params()[count_name(library)])
        return original(self, *args, **params)

    original = kind.fit
    monkeypatch.setattr(kind, "fit", fit)
    search = halving(library, refit=False)
    plan = search.fit(X, Y).plan_
    assert sum(made) == 2 * plan.total_resources
    assert plan.total_resources < sum(r.n_candidates * r.n_resources for r in plan.rungs)


@pytest.mark.few(1)
@pytest.mark.parametrize("library", LIBRARIES)
def test_neither_workers_nor_an_interrupt_change_what_is_found(library, tmp_path):
    expected = halving(library).fit(X, Y)
    assert_same_results(expected, halving(library, n_jobs=2).fit(X, Y))

    saved = {"scoring": scorer, "checkpoint_dir": tmp_path}
    Trouble.after, Trouble.happens = 11, lambda: signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        halving(library, **saved).fit(X, Y)
    assert_same_results(expected, halving(library, **saved).fit(X, Y))


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_refit_is_one_plain_fit(library):
    search = halving(library).fit(X, Y)
    plain = booster(library, **DRAWS[library] | search.best_params_).fit(X, Y)
    assert n_trees(plain) == search.best_n_resources_
    np.testing.assert_array_equal(output(search.best_estimator_, X), output(plain, X))


# ---- params that change on the way


SMALL_RATES = {"learning_rate": loguniform(0.005, 0.05)}  # of which the largest are best


def pbt(estimator, space=SMALL_RATES, **params):
    library = type(estimator).__module__.partition(".")[0]
    shared = {
        "resource": count_name(library), "max_resources": 12, "population_size": 6, "step": 2,
        "cv": 2, "random_state": 0, "scoring": "neg_log_loss", "select": "top",
    }  # fmt: skip
    return PBTSearchCV(estimator, space, **shared | params)


@pytest.mark.few(1)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_population_is_trained_by_a_schedule(library):
    estimator = booster(library, **DRAWS[library])
    search = pbt(estimator).fit(X, Y)
    assert len(search.schedule_) > 1
    assert n_trees(search.best_estimator_) == search.best_n_resources_ == 12
    replayed = search.replay(X, Y)
    np.testing.assert_array_equal(output(replayed, X), output(search.best_estimator_, X))
    constant = clone(estimator).set_params(**search.best_params_).fit(X, Y)
    assert not np.array_equal(output(constant, X), output(replayed, X))


@pytest.mark.whole
def test_models_that_cannot_travel_are_trained_again_leg_by_leg():
    lightgbm = pytest.importorskip("lightgbm")

    class FitsAsItsBase(LightGBM):
        classes, portfolios = ("tests.UnpicklableBooster",), {}

    register(FitsAsItsBase())

    class UnpicklableBooster(lightgbm.LGBMClassifier):
        """A fitted one has what nobody can pickle."""

        def fit(self, X, y, init_model=None):
            self.lock_ = threading.Lock()
            return super().fit(X, y, init_model=init_model)

    params = QUIET["lightgbm"] | DRAWS["lightgbm"]
    expected, search = (
        pbt(kind(**params)).fit(X, Y) for kind in (lightgbm.LGBMClassifier, UnpicklableBooster)
    )
    assert search.schedule_ == expected.schedule_
    assert search.best_score_ == expected.best_score_


def test_members_that_are_fitted_again_are_trained_on_all_rows_as_they_were_scored():
    space = SMALL_RATES | {"booster": ["dart"], "rate_drop": [0.3]}
    search = pbt(booster("xgboost"), space).fit(X, Y)
    assert len(search.schedule_) > 1
    assert search.best_params_["n_estimators"] == 12
    expected = booster("xgboost", **search.best_params_).fit(X, Y)
    np.testing.assert_array_equal(output(search.best_estimator_, X), output(expected, X))


@pytest.mark.parametrize(
    ("library", "params", "fit_params"),
    [("xgboost", {"early_stopping_rounds": 3}, {}), ("catboost", {"boosting_type": "Ordered"}, {}),
     ("lightgbm", {}, {"eval_set": [(X, Y)]})],
)  # fmt: skip
def test_a_population_that_cannot_continue_is_refused(library, params, fit_params):
    with pytest.raises(ValueError, match=r"continues training fitted models.*without early"):
        pbt(booster(library, **params)).fit(X, Y, **fit_params)


OBEYED = [
    *[("lightgbm", {}, name, values) for name, values in {
        "learning_rate": (0.1, 0.5), "num_leaves": (31, 2), "max_depth": (-1, 1),
        "min_split_gain": (0.0, 5.0), "min_child_weight": (1e-3, 3.0),
        "min_child_samples": (3, 30), "colsample_bytree": (1.0, 0.3), "reg_alpha": (0.0, 2.0),
        "reg_lambda": (0.0, 9.0)}.items()],
    ("lightgbm", {"subsample_freq": 1}, "subsample", (1.0, 0.5)),
    ("lightgbm", {"subsample": 0.5}, "subsample_freq", (0, 1)),
    *[("xgboost", {}, name, values) for name, values in {
        "learning_rate": (None, 0.1), "max_depth": (2, None), "gamma": (None, 5.0),
        "min_child_weight": (None, 9.0), "max_delta_step": (None, 0.1), "subsample": (None, 0.5),
        "colsample_bytree": (None, 0.3), "colsample_bylevel": (None, 0.3),
        "colsample_bynode": (None, 0.3), "reg_alpha": (None, 2.0), "reg_lambda": (9.0, None),
        }.items()],
    ("xgboost", {"grow_policy": "lossguide"}, "max_leaves", (0, 2)),
    *[("catboost", {}, name, values) for name, values in {
        "learning_rate": (0.1, 0.5), "depth": (3, 1), "l2_leaf_reg": (3.0, 30.0),
        "random_strength": (0, 5), "rsm": (1.0, 0.4)}.items()],
    ("catboost", {"bootstrap_type": "Bayesian"}, "bagging_temperature", (0.1, 9.0)),
    ("catboost", {"bootstrap_type": "Bernoulli"}, "subsample", (0.9, 0.4)),
    ("catboost", {"grow_policy": "Depthwise"}, "min_data_in_leaf", (1, 40)),
    ("catboost", {"grow_policy": "Lossguide"}, "max_leaves", (9, 2)),
    ("catboost", {"learning_rate": None}, "eta", (0.1, 0.5)),
    ("catboost", {"l2_leaf_reg": None}, "reg_lambda", (3.0, 30.0)),
    ("catboost", {"depth": None}, "max_depth", (3, 1)),
    ("catboost", {}, "colsample_bylevel", (1.0, 0.4)),
    ("catboost", {"grow_policy": "Depthwise"}, "min_child_samples", (1, 40)),
    ("catboost", {"grow_policy": "Lossguide"}, "num_leaves", (9, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("library", "params", "name", "values"), OBEYED)
def test_new_trees_obey_what_changes_and_old_ones_stay(library, params, name, values):
    before, after = values
    estimator = booster(library, **{**params, name: before})
    assert mutable_params(estimator, [name]) == (name,)
    resource = ParameterResource(count_name(library))

    def trained_with(second):
        state = trained(estimator, 3)
        old = output(state.estimator, X)
        change(state.estimator, {name: second})
        assert state.estimator.get_params()[name] == second
        np.testing.assert_array_equal(output(state.estimator, X), old)
        model = resource.train(state, X, Y, 8, 3, None, {}).estimator
        np.testing.assert_array_equal(output(model, X, 3), old)
        return output(model, X)

    same = trained_with(before)
    np.testing.assert_array_equal(same, output(trained(estimator, 3, 8).estimator, X))
    assert not np.array_equal(same, trained_with(after))


@pytest.mark.parametrize("name", ["max_bin", "objective", "boosting_type", "n_estimators"])
def test_what_new_trees_do_not_obey_does_not_change(name):
    assert mutable_params(booster("lightgbm"), [name]) == ()


def test_a_booster_as_last_step_changes_by_its_name_in_the_pipeline():
    for library in LIBRARIES:
        pipe = make_pipeline(StandardScaler(), booster(library))
        name = f"{pipe.steps[-1][0]}__learning_rate"
        assert mutable_params(pipe, [name, "standardscaler__with_mean"]) == (name,)
        change(pipe.fit(X, Y), {name: 0.5, "standardscaler__with_mean": True})
        assert pipe[-1].get_params()["learning_rate"] == 0.5
