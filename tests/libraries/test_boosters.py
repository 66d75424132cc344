"""CatBoost, LightGBM and XGBoost: what of their parameters is told, and what not."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, SuccessiveHalvingSearchCV
from sksearch.estimators._growth import growth_of
from sksearch.space import Outcome, Space, default_space

X, y = make_classification(120, 5, random_state=0)


@pytest.fixture
def catboost(tmp_path):
    """A CatBoostClassifier that writes nothing and uses one thread."""
    module = pytest.importorskip("catboost", reason="catboost is not installed")

    def make(**params):
        return module.CatBoostClassifier(
            verbose=0, allow_writing_files=False, thread_count=1, random_seed=0, **params
        )

    return make


@pytest.fixture
def lightgbm():
    """A LGBMClassifier that prints nothing."""
    module = pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    return module.LGBMClassifier(verbose=-1, n_jobs=1)


@pytest.fixture
def xgboost():
    """An XGBClassifier."""
    module = pytest.importorskip("xgboost", reason="xgboost is not installed")
    return module.XGBClassifier(n_jobs=1)


DEPTHS = {"depth": [1, 2, 3], "learning_rate": loguniform(0.03, 0.3)}


@pytest.mark.parametrize("name", ["iterations", "n_estimators", "num_trees"])
def test_iterations_of_catboost_are_a_resource_though_they_are_not_set(catboost, name):
    search = SuccessiveHalvingSearchCV(
        catboost(), DEPTHS, resource=name, max_resources=9, n_candidates=3, cv=2, random_state=0
    ).fit(X, y)
    assert search.best_params_[name] == search.cv_results_["n_resources"][search.best_index_]
    assert search.best_estimator_.tree_count_ == search.best_params_[name]
    assert search.best_estimator_.feature_names_ == list("01234")


def test_catboost_makes_a_thousand_trees_unless_told_otherwise(catboost):
    search = HyperbandSearchCV(catboost(), DEPTHS, resource="iterations", cv=2)
    assert search.plan(X, y).rungs[-1].n_resources == 1000
    search = HyperbandSearchCV(catboost(iterations=20), DEPTHS, resource="iterations", cv=2)
    assert search.plan(X, y).rungs[-1].n_resources == 20


def test_catboost_as_last_step(catboost):
    pipeline = make_pipeline(StandardScaler(), catboost())
    search = SuccessiveHalvingSearchCV(
        pipeline, {f"catboostclassifier__{name}": values for name, values in DEPTHS.items()},
        resource="catboostclassifier__iterations", max_resources=3, n_candidates=3, cv=2,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    best = search.best_params_["catboostclassifier__iterations"]
    assert search.best_estimator_[-1].tree_count_ == best


def test_a_search_at_full_resource_over_params_that_catboost_does_not_list(catboost):
    space = {**DEPTHS, "iterations": [2, 3]}
    search = RandomSearchCV(catboost(), space, n_iter=3, cv=2, random_state=0).fit(X, y)
    assert set(search.best_params_) == set(space)


@pytest.mark.parametrize("pipeline", [False, True])
def test_a_misspelt_parameter_of_catboost_is_found_before_training(catboost, pipeline):
    estimator, name = catboost(), "dpeth"
    if pipeline:
        estimator, name = make_pipeline(StandardScaler(), estimator), f"catboostclassifier__{name}"
    with pytest.raises(ValueError, match=rf"(?s)Invalid parameter '{name}'.*Did you mean.*depth'"):
        RandomSearchCV(estimator, {name: [1, 2]}, n_iter=2, cv=2).plan(X, y)


def test_a_second_name_of_the_iterations_is_refused(catboost):
    search = HyperbandSearchCV(catboost(iterations=9), DEPTHS, resource="n_estimators", cv=2)
    with pytest.raises(ValueError, match="'n_estimators' is another name of 'iterations'"):
        search.plan(X, y)
    search = HyperbandSearchCV(catboost(), {**DEPTHS, "num_trees": [3]}, resource="iterations")
    with pytest.raises(ValueError, match="'iterations' is another name of 'num_trees'"):
        search.plan(X, y)


def test_a_resource_that_catboost_does_not_have(catboost):
    with pytest.raises(
        ValueError, match="resource=max_iter which is not supported by estimator CatB"
    ):
        HyperbandSearchCV(catboost(), DEPTHS, resource="max_iter", cv=2).plan(X, y)


def test_xgboost_makes_a_hundred_trees_unless_told_otherwise(xgboost):
    search = HyperbandSearchCV(xgboost, {"max_depth": [1, 2]}, resource="n_estimators", cv=2)
    assert search.plan(X, y).rungs[-1].n_resources == 100


def test_trees_of_xgboost(xgboost):
    search = SuccessiveHalvingSearchCV(
        xgboost, {"max_depth": [1, 2, 3]}, resource="n_estimators", max_resources=9,
        n_candidates=3, cv=2, random_state=0,
    ).fit(X, y)  # fmt: skip
    trees = search.best_estimator_.get_booster().num_boosted_rounds()
    assert trees == search.best_params_["n_estimators"]


def test_trees_of_lightgbm(lightgbm):
    search = SuccessiveHalvingSearchCV(
        lightgbm, {"num_leaves": [3, 5, 7]}, resource="n_estimators", max_resources=9,
        n_candidates=3, cv=2, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert search.best_estimator_.n_estimators_ == search.best_params_["n_estimators"]


@pytest.mark.parametrize("name", ["num_iterations", "num_boost_round", "max_iter"])
def test_a_second_name_of_the_trees_of_lightgbm_is_refused(lightgbm, name):
    lightgbm.set_params(**{name: 9})
    search = HyperbandSearchCV(lightgbm, {"num_leaves": [3, 5]}, resource="n_estimators", cv=2)
    with pytest.raises(ValueError, match=f"'n_estimators' is another name of '{name}'"):
        search.plan(X, y)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "names",
    [
        {"n_estimators": 30},
        {"num_boost_round": 30},
        {"num_trees": 30},
        {"iterations": 30},
        {"num_trees": 30, "eta": 0.1, "max_depth": 3, "reg_lambda": 2.0},
    ],
)
@pytest.mark.parametrize("pipeline", [False, True])
def test_catboost_is_searched_by_the_names_that_its_user_has_set(catboost, names, pipeline):
    estimator, prefix = catboost(**names), ""
    if pipeline:
        estimator, prefix = make_pipeline(StandardScaler(), estimator), "catboostclassifier__"
    search = SearchCV(estimator, n_iter=2, cv=2, random_state=0).fit(X, y)
    assert {prefix + name for name in names} <= search.best_params_.keys()
    count = search.best_params_[prefix + next(iter(names))]
    best = search.best_estimator_[-1] if pipeline else search.best_estimator_
    assert best.tree_count_ == count


@pytest.mark.parametrize("shape", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_trees_of_any_shape_are_seen_at_smaller_counts(catboost, shape):
    model = catboost(grow_policy=shape, iterations=30).fit(X, y)
    whole = model.predict_proba(X)
    with growth_of(model, "iterations").truncated(model, 5) as first:
        np.testing.assert_array_equal(first.predict_proba(X), model.predict_proba(X, ntree_end=5))
        assert first.score(X, y) == (model.predict(X, ntree_end=5) == y).mean()
    np.testing.assert_array_equal(model.predict_proba(X), whole)
    space = {"depth": [2, 3], "iterations": Outcome(40)}
    estimator = catboost(grow_policy=shape, learning_rate=0.1)
    search = SearchCV(estimator, space, n_iter=2, cv=2, random_state=0).fit(X, y)
    assert set(search.statuses_) == {"ok"}


@pytest.mark.parametrize(
    ("given", "searched"),
    [
        ({"num_boost_round": 30}, "num_boost_round"),
        ({"max_iter": 30}, "max_iter"),
        ({"lambda_l2": 1.0}, "lambda_l2"),
        ({"feature_fraction": 0.9}, "feature_fraction"),
        ({"min_data_in_leaf": 9}, "min_data_in_leaf"),
        ({"eta": 0.3}, "learning_rate"),
    ],
)
def test_what_is_searched_of_lightgbm_acts_whatever_its_user_calls_it(lightgbm, given, searched):
    lightgbm.set_params(**given)
    values = default_space(lightgbm, n_samples=len(X))[searched]
    ends = (
        (5, 50) if isinstance(values, Outcome) else Space({searched: values}).dimensions[0].bounds
    )
    low, high = (
        clone(lightgbm).set_params(**{searched: end}).fit(X, y).predict_proba(X) for end in ends
    )
    assert abs(low - high).max() > 0


@pytest.mark.parametrize("given", [{"boosting": "rf"}, {"n_iter_no_change": 3}])
def test_lightgbm_has_no_count_to_find_where_there_is_none(lightgbm, given):
    lightgbm.set_params(**given)
    assert "n_estimators" not in default_space(lightgbm)
