"""Counts of iterations that training finds."""

import warnings

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, When, load_history
from sksearch.base._state import State
from sksearch.estimators import register
from sksearch.estimators._growth import Allowance, counts, growth_of
from sksearch.estimators._pipeline import path_of_last_step
from sksearch.estimators._sklearn_boosting import HistGradientBoosting
from sksearch.executors import VirtualClock, spend
from sksearch.fitting.run._curves import choose_count, common, settle
from sksearch.fitting.run._tasks import CurveTask, Output
from sksearch.resources._data import SamplesResource
from sksearch.schedulers import FullFidelity
from sksearch.space import Outcome, Space
from tests.comparisons import assert_same_results

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:200], y[:200]
RATES = {"learning_rate": [0.05, 0.2, 0.5]}


def boosters():
    from catboost import CatBoostClassifier
    from lightgbm import LGBMClassifier
    from xgboost import XGBClassifier

    return {
        "HistGradientBoosting": (HistGradientBoostingClassifier(max_leaf_nodes=4), "max_iter"),
        "GradientBoosting": (GradientBoostingClassifier(random_state=0), "n_estimators"),
        "LightGBM": (LGBMClassifier(verbose=-1, n_jobs=1, num_leaves=4), "n_estimators"),
        "XGBoost": (XGBClassifier(n_jobs=1, max_depth=2), "n_estimators"),
        "CatBoost": (
            CatBoostClassifier(verbose=0, thread_count=1, allow_writing_files=False, depth=2),
            "iterations",
        ),
    }


@pytest.mark.few(2)
@pytest.mark.parametrize("name", list(boosters()))
@pytest.mark.parametrize("resource", [None, "folds"])
def test_a_candidate_is_scored_as_if_it_were_fitted_with_that_count(name, resource):
    model, count = boosters()[name]
    space = RATES | {count: Outcome(60)}
    search = SearchCV(
        model, space, n_iter=3, cv=KFold(3), resource=resource, error_score="raise",
        scheduler=None if resource else FullFidelity(3), known={"params": None}, random_state=0,
    )  # fmt: skip
    if resource is None:
        search.set_params(n_iter=None)
    search.fit(X, y)
    top = search.cv_results_.get("n_resources", np.full(3, 3)) == 3
    for row in np.flatnonzero(top):
        params = search.cv_results_["params"][row]
        check_scores(search, model, row, params, count)
    refitted = clone(model).set_params(**search.best_params_).fit(X, y)
    assert np.array_equal(search.predict(X), refitted.predict(X))


def check_scores(search, model, row, params, count):
    """The scores of a row are those of models that are fitted with its params."""
    assert 1 <= params[count] <= 60
    for fold, (train, test) in enumerate(KFold(3).split(X)):
        again = clone(model).set_params(**params).fit(X[train], y[train])
        score = accuracy_score(y[test], again.predict(X[test]))
        assert search.cv_results_[f"split{fold}_test_score"][row] == pytest.approx(score)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [*boosters(), "net"])
@pytest.mark.parametrize("is_outside", [True, False])
def test_a_transformed_target_changes_nothing_else(name, is_outside):
    X, y = load_diabetes(return_X_y=True)
    model, count = regressors()[name]
    within = make_pipeline(StandardScaler(), model) if is_outside else model
    wrapped = TransformedTargetRegressor(within, func=np.log, inverse_func=np.exp)
    whole = wrapped if is_outside else make_pipeline(StandardScaler(), wrapped)
    prefix = path_of_last_step(whole)
    space = {f"{prefix}__{count}": Outcome(40)}
    search = RandomSearchCV(whole, space, n_iter=1, cv=KFold(3), error_score="raise").fit(X, y)
    again = clone(whole).set_params(**search.best_params_)
    scores = cross_val_score(again, X, y, cv=KFold(3))
    assert search.best_score_ == pytest.approx(scores.mean())
    assert 1 <= search.best_params_[f"{prefix}__{count}"] <= 40
    np.testing.assert_array_equal(search.predict(X), again.fit(X, y).predict(X))


@pytest.mark.filterwarnings("ignore")
def test_counts_without_a_finite_score_are_left_out():
    """The exponential of a diverging booster overflows from some count on."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.exp(X[:, 0] + 0.3 * rng.normal(size=60))
    booster = GradientBoostingRegressor(learning_rate=3.0, max_depth=1, random_state=0)
    model = TransformedTargetRegressor(booster, func=np.log, inverse_func=np.exp)
    space = {"regressor__n_estimators": Outcome(100)}
    search = RandomSearchCV(model, space, n_iter=1, cv=KFold(2), random_state=0).fit(X, y)
    again = clone(model).set_params(**search.best_params_)
    assert np.isfinite(search.best_score_)
    assert search.best_score_ == pytest.approx(cross_val_score(again, X, y, cv=KFold(2)).mean())
    all_trees = clone(model).set_params(regressor__n_estimators=100)
    assert not np.isfinite(cross_val_score(all_trees, X, y, cv=KFold(2))).all()


def test_columns_may_have_other_names_than_scikit_learn_accepts():
    from xgboost import XGBRegressor

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X.iloc[:, :3].set_axis(["a", "b", 3], axis=1)
    model = TransformedTargetRegressor(XGBRegressor(n_jobs=1), transformer=StandardScaler())
    space = {"regressor__n_estimators": Outcome(10)}
    search = RandomSearchCV(model, space, n_iter=1, cv=KFold(3), error_score="raise").fit(X, y)
    again = clone(model).set_params(**search.best_params_)
    assert search.best_score_ == pytest.approx(cross_val_score(again, X, y, cv=KFold(3)).mean())


@pytest.mark.parametrize("routes", [True, False])
def test_weights_reach_the_regressor_of_a_transformed_target(routes):
    X, y = load_diabetes(return_X_y=True)
    params = {"sample_weight": np.linspace(0, 1, len(y)) ** 4}
    model = HistGradientBoostingRegressor(max_leaf_nodes=4)
    with config_context(enable_metadata_routing=routes):
        if routes:
            model.set_fit_request(sample_weight=True)
        wrapped = TransformedTargetRegressor(model, transformer=StandardScaler())
        space = {"regressor__max_iter": Outcome(20)}
        search = RandomSearchCV(wrapped, space, n_iter=1, cv=KFold(3), error_score="raise")
        search.fit(X, y, **params)
        again = clone(wrapped).set_params(**search.best_params_)
        plain = clone(again).fit(X, y).predict(X)
        weighted = again.fit(X, y, **params).predict(X)
    np.testing.assert_array_equal(search.predict(X), weighted)
    assert not np.allclose(weighted, plain)


def regressors():
    from catboost import CatBoostRegressor
    from lightgbm import LGBMRegressor
    from xgboost import XGBRegressor

    silent = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
    return {
        "HistGradientBoosting": (HistGradientBoostingRegressor(max_leaf_nodes=4), "max_iter"),
        "GradientBoosting": (GradientBoostingRegressor(random_state=0), "n_estimators"),
        "LightGBM": (LGBMRegressor(verbose=-1, n_jobs=1, num_leaves=4), "n_estimators"),
        "XGBoost": (XGBRegressor(n_jobs=1, max_depth=2), "n_estimators"),
        "CatBoost": (CatBoostRegressor(depth=2, **silent), "iterations"),
        "net": (MLPRegressor(hidden_layer_sizes=(5,), random_state=0), "max_iter"),
    }


def test_the_count_is_the_best_of_those_on_the_way():
    model = HistGradientBoostingRegressor(max_leaf_nodes=4, early_stopping=False)
    X, y = load_diabetes(return_X_y=True)
    space = {"learning_rate": [0.3], "max_iter": Outcome(100)}
    search = RandomSearchCV(model, space, n_iter=1, cv=KFold(3)).fit(X, y)
    found = search.best_params_["max_iter"]
    assert found < 50  # with this rate it overfits soon

    def mean(count):
        scores = [
            clone(model)
            .set_params(learning_rate=0.3, max_iter=count)
            .fit(X[a], y[a])
            .score(X[b], y[b])
            for a, b in KFold(3).split(X)
        ]
        return np.mean(scores)

    assert mean(found) == pytest.approx(search.best_score_)
    assert all(mean(count) <= search.best_score_ + 1e-12 for count in (8, 16, 32, 64))


def test_training_stops_when_the_top_has_passed():
    model = GradientBoostingRegressor(learning_rate=0.9, max_depth=4, random_state=0)
    X, y = load_diabetes(return_X_y=True)
    state, seen = State(clone(model)), []

    def score(estimator, count):
        seen.append(count)
        return estimator.score(X[300:], y[300:])

    rows = X[:300], y[:300]
    growth_of(model, "n_estimators").curve(state, rows, 1000, None, {}, score)
    assert seen == sorted(seen)
    assert 32 <= max(seen) < 100


def test_a_curve_ends_with_its_time():
    model = HistGradientBoostingClassifier()
    for seconds, least, reached in ((1e-9, 1, 32), (1e-9, 90, 90), (None, 1, 122)):
        state = State(clone(model))
        growth = growth_of(model, "max_iter")
        allowance = None if seconds is None else Allowance(seconds, seconds)
        growth.curve(state, (X, y), 130, None, {}, lambda e, c: c, allowance, least)
        assert state.estimator.n_iter_ >= reached
        assert seconds is None or state.estimator.n_iter_ == reached


@pytest.mark.parametrize("name", ["LightGBM", "XGBoost"])
def test_a_booster_that_is_watched_tree_by_tree_ends_in_one_training(name):
    model, count = boosters()[name]
    growth, seen = growth_of(model, count), []

    def score(estimator, n):
        seen.append(n)
        assert estimator.predict(X).shape == y.shape
        return -abs(n - 40)

    rows, state = (X, y), State(clone(model))
    growth.curve(state, rows, 1000, None, {}, score)
    assert 40 * 1.6 + 40 <= max(seen) <= 130
    assert seen == growth.known(1000, model)[: len(seen)]
    seen.clear()
    growth.curve(State(clone(model)), rows, 1000, None, {}, score, Allowance(1e-9, 1e-9), 30)
    assert 30 <= max(seen) <= 32
    with pytest.raises(RuntimeError, match="no score"):
        growth.curve(State(clone(model)), rows, 1000, None, {}, fails)


def fails(estimator, n):
    raise RuntimeError("no score")


def test_a_user_s_own_callbacks_are_called_as_well():
    from lightgbm import LGBMClassifier

    called = []
    params = {"callbacks": [lambda env: called.append(env.iteration)]}
    model = LGBMClassifier(verbose=-1, n_jobs=1)
    growth = growth_of(model, "n_estimators")
    growth.curve(State(model), (X, y), 40, None, params, lambda e, n: n)
    assert called == list(range(40))


class SlowTrees(HistGradientBoostingRegressor):
    """A second for each new tree, on a virtual clock."""

    def fit(self, X, y):
        before = self.n_iter_ if self.warm_start and hasattr(self, "_predictors") else 0
        super().fit(X, y)
        spend(self.n_iter_ - before)
        return self


class OverridesFitAlone(HistGradientBoosting):
    """Says that what these classes do beside training changes nothing."""

    classes = ("tests.SlowTrees", "tests.Noted")
    spaces = {}


register(OverridesFitAlone())


def test_a_candidate_may_take_as_long_as_the_estimator_as_it_is():
    space = {"learning_rate": [0.002, 0.001], "max_iter": Outcome(400)}
    model = SlowTrees(max_iter=90, learning_rate=0.002, early_stopping=False)
    with VirtualClock():
        # A fifth of the time is 50 trees on each of the two folds.
        search = SearchCV(model, space, timeout=500, cv=2, refit=False)
        search.fit(*load_diabetes(return_X_y=True))
    own, other = (results["max_iter"] for results in search.cv_results_["params"])
    assert 90 <= own <= 150  # three fifths, while it rises
    assert 50 < other <= own


def test_a_training_may_take_longer_while_it_leads_and_its_score_still_rises():
    cases = [
        (lambda n: n, (), 160),  # nobody is ahead of it
        (lambda n: n, ((10, 5), (60, 50), (110, 140)), 122),  # it is overtaken after 110 seconds
        (lambda n: n, ((10, 99),), 50),
        (lambda n: min(n, 32), (), 50),  # it rises no more
    ]
    for score, rival, reached in cases:
        with VirtualClock() as clock:
            growth_of(SlowTrees(), "max_iter").curve(
                State(SlowTrees()), load_diabetes(return_X_y=True), 1000, None, {},
                lambda _, n, score=score: score(n), Allowance(50, 160, rival),
            )  # fmt: skip
            assert reached / 1.25 < clock.now() <= reached


def test_trees_are_grown_at_once_as_far_as_training_cannot_end_before():
    grown = []

    class Noted(HistGradientBoostingRegressor):
        def fit(self, X, y):
            grown.append(self.max_iter)
            return super().fit(X, y)

    rows = load_diabetes(return_X_y=True)
    known = {}
    for top, expected in [(1000, [32, 98, 191, 298, 466, 728, 1000]), (90, [32, 98, 191])]:
        growth_of(Noted(), "max_iter").curve(
            State(Noted()), rows, 1000, None, {},
            lambda _, n, top=top: known.setdefault((top, n), -abs(n - top)),
        )  # fmt: skip
        assert grown == expected  # 1.6 of the best and 40 trees more
        grown.clear()
    assert [n for top, n in known if top == 90 and n < 50] == [8, 10, 13, 16, 20, 25, 32, 40]


def test_of_two_slow_candidates_the_one_that_is_behind_is_cut():
    class Slow(SlowTrees):
        def score(self, X, y):
            return (self.n_iter_ if self.learning_rate > 0.1 else self.n_iter_ / 2) / 1000

    space = {"learning_rate": [0.2, 0.05], "max_iter": Outcome(400)}
    with VirtualClock() as clock:
        first = [{"learning_rate": 0.2}, {"learning_rate": 0.05}]
        search = RandomSearchCV(
            Slow(early_stopping=False), space, n_iter=2, timeout=1000, cv=2, refit=False,
            known={"params": first},
        )  # fmt: skip
        search.fit(*load_diabetes(return_X_y=True))
        assert clock.now() <= 1000
    good, bad = (results["max_iter"] for results in search.cv_results_["params"])
    assert 300 / 1.25 < good <= 300
    assert 100 / 1.25 < bad <= 100


def test_a_net_is_trained_epoch_by_epoch():
    net = make_pipeline(StandardScaler(), MLPClassifier((20,), random_state=0))
    space = {
        "mlpclassifier__learning_rate_init": loguniform(1e-3, 1e-1),
        "mlpclassifier__max_iter": Outcome(40),
    }
    search = RandomSearchCV(net, space, n_iter=3, cv=3, random_state=0, error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
    last = search.best_estimator_[-1]
    assert last.max_iter == search.best_params_["mlpclassifier__max_iter"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has not converged
        again = clone(search.best_estimator_).fit(X, y)
    assert np.array_equal(search.predict_proba(X), again.predict_proba(X))


@pytest.mark.whole
def test_several_metrics_train_scores_and_workers():
    space = RATES | {"max_iter": Outcome(40)}
    model = HistGradientBoostingClassifier(max_leaf_nodes=4)
    searches = [
        RandomSearchCV(
            model, space, n_iter=3, cv=3, scoring=["accuracy", "neg_log_loss"],
            refit="neg_log_loss", return_train_score=True, n_jobs=n_jobs,
        ).fit(X, y)
        for n_jobs in (1, 2)
    ]  # fmt: skip
    assert_same_results(*searches)
    assert (searches[0].cv_results_["mean_train_accuracy"] > 0.8).all()


def test_a_checkpoint_keeps_curves_and_shows_counts(tmp_path):
    model, space = (
        HistGradientBoostingClassifier(max_leaf_nodes=4),
        RATES | {"max_iter": Outcome(40)},
    )
    search = RandomSearchCV(model, space, n_iter=3, cv=3, checkpoint_dir=tmp_path).fit(X, y)
    again = clone(search).fit(X, y)
    assert again.best_params_ == search.best_params_
    seen = load_history(tmp_path)
    assert seen.cv_results_["params"] == search.cv_results_["params"]
    assert seen.best_params_ == search.best_params_
    assert np.array_equal(
        seen.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    )


def test_a_count_is_chosen_of_those_that_all_folds_have_been_at():
    curves = [[[1, 0.5, None], [2, 0.7, None]], [[1, 0.5, None], [2, 0.6, None], [3, 0.9, None]]]
    assert choose_count(curves, None) == 2
    count, outputs = settle([Output(curve=curve) for curve in curves], None)
    assert count == 2
    assert [output.test_scores for output in outputs] == [0.7, 0.6]
    assert choose_count([[[1, 0.5, None]], [[2, 0.5, None]]], None) is None


def test_later_folds_go_no_further_than_earlier_ones():
    curves = [[[1, 0.5, None], [2, 0.7, None]], [[1, 0.6, None], [2, 0.6, None], [3, 0.9, None]]]
    task = CurveTask("max_iter", 100, None, False, common(curves, None))
    assert task.last == 2
    assert task.mean(1, 1.0) == pytest.approx(0.7)
    assert CurveTask("max_iter", 100, None, False).last == 100
    assert CurveTask("max_iter", 100, None, False).mean(7, 0.3) == 0.3


def test_the_smallest_of_equal_counts_is_chosen_and_nan_never():
    curve = [[1, np.nan, None], [2, 0.7, None], [3, 0.7, None]]
    assert choose_count([curve], None) == 2


def test_a_failed_fold_has_no_count():
    outputs = [Output(curve=[[1, 0.5, None]]), Output(status="error", test_scores=np.nan)]
    assert settle(outputs, None) == (None, outputs)


def test_counts_rise_to_the_last_and_hold_the_own():
    assert counts(8, 40, 1.5, 25) == [8, 12, 18, 25, 27, 40]
    assert counts(8, 8, 1.5) == [8]
    assert counts(8, 20, 2, 100) == [8, 16, 20]


@pytest.mark.parametrize(
    ("model", "space", "match"),
    [
        (SVC(), {"max_iter": Outcome(5)}, "cannot continue training by it"),
        (RandomForestClassifier(), {"n_estimators": Outcome(5)}, "cannot continue training by it"),
        (
            HistGradientBoostingClassifier(),
            {"max_depth": Outcome(5)},
            "cannot continue training by it",
        ),
        (HistGradientBoostingClassifier(), {"iterations": Outcome(5)}, "Invalid parameter"),
        (
            GradientBoostingClassifier(),
            {"n_estimators": Outcome(5), "max_depth": Outcome(3)},
            "several Outcomes",
        ),
        (
            HistGradientBoostingClassifier(),
            {"max_depth": [1, 2], "max_iter": When(Outcome(5), "max_depth", "==", 1)},
            "with a condition",
        ),
    ],
)
def test_an_outcome_that_cannot_be_is_refused(model, space, match):
    with pytest.raises(ValueError, match=match):
        RandomSearchCV(model, space).fit(X, y)


@pytest.mark.parametrize("high", [0, -1, 1.5, True, None])
def test_a_count_is_at_least_one(high):
    with pytest.raises(ValueError, match="at least 1"):
        Outcome(high)


def test_a_resource_that_cuts_training_is_refused():
    space = RATES | {"max_iter": Outcome(40)}
    model = HistGradientBoostingClassifier()
    with pytest.raises(ValueError, match="resource='max_depth' interrupts training"):
        HyperbandSearchCV(model, space, resource="max_depth", max_resources=9).fit(X, y)


@pytest.mark.few(1)
@pytest.mark.parametrize("resource", ["n_samples", SamplesResource()])
def test_rows_may_be_the_resource(resource):
    space = {"learning_rate": loguniform(0.05, 0.5), "max_iter": Outcome(9)}
    model = HistGradientBoostingClassifier(max_leaf_nodes=4)
    search = HyperbandSearchCV(model, space, resource=resource, cv=2, random_state=0)
    search.fit(X, y)
    assert all(1 <= params["max_iter"] <= 9 for params in search.cv_results_["params"])


def test_a_space_knows_its_outcomes():
    space = Space([{"a": [1, 2], "n": Outcome(5)}, {"b": [1, 2]}])
    assert space.outcomes == ["n"]
    assert space.outcome({"a": 1}) == ("n", Outcome(5))
    assert space.outcome({"b": 1}) is None
    assert Space({"n": Outcome(5)}).size == 1
