"""What a user sees: a scikit-learn search that pays every epoch once."""

import copy
import pickle
import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV, SuccessiveHalvingSearchCV, When
from sksearch.executors import VirtualClock, spend
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.search import QuasiRandomSearchCV
from tests.fakes import Curve, Failing, Sized

X, y = load_iris(return_X_y=True)
QUALITY = {"quality": uniform(0, 1)}


def hyperband(estimator=None, space=None, **kwargs):
    kwargs = {"resource": "epochs", "max_resources": 27, "cv": 2, "random_state": 0} | kwargs
    return HyperbandSearchCV(estimator or Curve(), space or QUALITY, **kwargs)


# ---- the plan, and what is paid


@pytest.mark.parametrize("max_resources", [9, 27, 81])
@pytest.mark.parametrize("candidates", ["table", "algorithm1"])
def test_every_epoch_is_paid_once(max_resources, candidates):
    search = hyperband(max_resources=max_resources, candidates=candidates)
    plan = search.plan(X, y)
    Curve.n_calls = 0
    assert search.fit(X, y).plan_ == plan
    assert Curve.n_calls == plan.total_resources * plan.n_splits + max_resources
    assert plan.n_fits == len(search.cv_results_["params"]) * 2 + 1


def test_hyperband_at_81_pays_the_sum_of_the_table():
    search = hyperband(max_resources=81, refit=False, cv=[(np.arange(75), np.arange(75, 150))])
    Curve.n_calls = 0
    search.fit(X, y)
    # By hand: each bracket's candidates times the differences between its rungs.
    assert Curve.n_calls == (81 + 4 * 54) + (81 + 3 * 54) + (81 + 2 * 54) + (162 + 108) + 405


def test_a_plan_trains_nothing_and_prints_a_table():
    search = hyperband(cv=3)
    Curve.n_calls = 0
    text = str(search.plan(X, y))
    assert Curve.n_calls == 0
    assert not hasattr(search, "cv_results_")
    assert text.splitlines()[0].split() == ["bracket", "iter", "epochs", "candidates", "fits"]
    assert text.splitlines()[-1].startswith("46 candidates, 196 fits, 342 epochs in each of 3")


def test_a_plan_does_not_move_the_generator_of_the_search():
    rng = np.random.RandomState(3)
    before = rng.get_state()[1].copy()
    hyperband(random_state=rng).plan(X, y)
    np.testing.assert_array_equal(rng.get_state()[1], before)


@pytest.mark.slow
def test_scores_of_folds_are_kept():
    counts = []

    class Counting(LogisticRegression):
        def fit(self, X, y):
            counts.append(1)
            return super().fit(X, y)

    search = HyperbandSearchCV(
        Counting(solver="newton-cholesky"),
        {"C": loguniform(1e-3, 1e2)},
        resource="folds",
        cv=9,
        random_state=0,
    )
    plan = search.plan(X, y)
    search.fit(X, y)
    assert len(counts) == plan.n_fits
    results = pd.DataFrame(search.cv_results_)
    assert sorted(results["trial_id"]) == list(range(plan.n_candidates))
    scores = results.filter(regex="split._test").to_numpy()
    for n, row, mean in zip(
        results["n_resources"], scores, results["mean_test_score"], strict=True
    ):
        assert np.isfinite(row).tolist() == [fold < n for fold in range(9)]
        np.testing.assert_allclose(mean, row.mean())  # NaN where a fold is missing


def test_rows_are_nested_across_rungs_and_test_folds_stay_whole():
    seen = []

    class Spy(Sized):
        def score(self, X, y):
            seen.append((self.quality, self.rows_, len(X)))
            return super().score(X, y)

    X, y = np.arange(900).reshape(-1, 1), np.arange(900) % 2
    HyperbandSearchCV(Spy(), QUALITY, cv=3, random_state=0, refit=False).fit(X, y)
    by_fold = {}
    for quality, rows, n_test in seen:
        assert n_test == 300
        by_fold.setdefault(quality, []).append(rows)
    sizes = {len(rows) for fits in by_fold.values() for rows in fits}
    assert len(sizes) == 4
    for fits in by_fold.values():
        for low in fits:
            bigger = [high for high in fits if len(high) > len(low)]
            assert not bigger or any(low < high for high in bigger)


# ---- results


def test_columns_of_full_fidelity_are_exactly_those_of_scikit_learn():
    space = {"C": loguniform(1e-2, 1e2), "gamma": [0.1, 1]}
    ours, theirs = (
        cls(SVC(), space, n_iter=5, random_state=0, return_train_score=True).fit(X, y)
        for cls in (RandomSearchCV, RandomizedSearchCV)
    )
    assert list(ours.cv_results_) == list(theirs.cv_results_)
    for name, column in theirs.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(ours.cv_results_[name], column)
            assert type(ours.cv_results_[name]) is type(column)
            assert getattr(ours.cv_results_[name], "dtype", None) == getattr(column, "dtype", None)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == theirs.best_score_
    assert {type(value) for value in ours.best_params_.values()} == {float}


@pytest.mark.parametrize("cls", [RandomSearchCV, QuasiRandomSearchCV])
def test_a_whole_grid_equals_grid_search(cls):
    grid = [{"kernel": ["rbf"], "C": [1, 10], "gamma": [0.1, 1]}, {"kernel": ["linear"]}]
    ours = cls(SVC(), grid, n_iter=5).fit(X, y)
    theirs = GridSearchCV(SVC(), grid).fit(X, y)
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    np.testing.assert_array_equal(
        ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"]
    )
    assert ours.cv_results_["param_gamma"].mask.tolist() == [False] * 4 + [True]


def test_ranks_put_larger_resources_first_if_the_top_rung_wins():
    search = hyperband(select="top").fit(X, y)
    results = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
    assert results["n_resources"].is_monotonic_decreasing
    assert results.iloc[0].name == search.best_index_
    for _, rows in results.groupby("n_resources"):
        assert rows["mean_test_score"].is_monotonic_decreasing
    assert results["rank_test_score"].dtype == np.int32
    assert set(results) - {*RandomizedSearchCV(Curve(), QUALITY).fit(X, y).cv_results_} == {
        "iter", "n_resources", "bracket", "trial_id",
    }  # fmt: skip


def test_the_top_is_the_best_at_full_resource_even_if_a_lower_rung_scored_more():
    class Overfits(Curve):
        def score(self, X, y=None):
            return self.quality if self.n_epochs_ > 20 else 2 - self.quality

    search = hyperband(Overfits(), select="top").fit(X, y)
    assert search.cv_results_["n_resources"][search.best_index_] == 27
    assert search.best_score_ < max(search.cv_results_["mean_test_score"])


def test_fitted_schedule_attributes_match_halving():
    search = SuccessiveHalvingSearchCV(
        Curve(), QUALITY, resource="epochs", min_resources=2, max_resources=18, random_state=0
    ).fit(X, y)
    assert (search.min_resources_, search.max_resources_) == (2, 18)
    assert search.n_resources_ == [2, 6, 18]
    assert search.n_candidates_ == [9, 3, 1]
    assert search.n_iterations_ == 3


def test_a_resource_that_is_a_parameter_is_in_params():
    search = HyperbandSearchCV(
        RandomForestClassifier(random_state=0), {"max_depth": randint(1, 9)},
        resource="n_estimators", max_resources=9, cv=2, random_state=0,
    ).fit(X, y)  # fmt: skip
    n_trees = search.best_params_["n_estimators"]
    assert n_trees == search.best_estimator_.n_estimators == search.best_n_resources_
    assert search.cv_results_["param_n_estimators"].tolist() == list(
        search.cv_results_["n_resources"]
    )
    again = RandomForestClassifier(random_state=0, **search.best_params_).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))


def test_refit_repeats_the_epochs_that_were_scored():
    pipe = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    search = hyperband(pipe, {"sgdclassifier__alpha": loguniform(1e-5, 1)}, max_resources=9)
    search.fit(X, y)
    expected = clone(pipe).set_params(**search.best_params_)
    Xt = expected[0].fit_transform(X)
    expected[1].random_state = np.random.RandomState(0)  # one for all epochs
    for _ in range(search.best_n_resources_):
        expected[1].partial_fit(Xt, y, classes=np.unique(y))
    np.testing.assert_array_equal(search.best_estimator_[1].coef_, expected[1].coef_)
    assert search.best_estimator_.predict(X).tolist() == expected.predict(X).tolist()


def test_history_knows_status_cost_and_error_of_each_result():
    search = hyperband(Failing(), error_score=0.3)
    with pytest.warns(match="fits failed"):
        search.fit(X, y)
    failed = [t for t in search.history_.trials if t.params["quality"] > 0.5]
    assert failed
    for trial in failed:
        (result,) = trial.results.values()
        assert result.status == "error"
        assert result.error.startswith("RuntimeError: quality 0.")
        assert np.isnan(result.score)
    assert all(r.cost >= 0 for t in search.history_.trials for r in t.results.values())
    assert search.best_params_["quality"] <= 0.5


def test_several_metrics_with_hyperband():
    search = hyperband(
        SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, max_resources=9,
        scoring=["accuracy", "f1_macro"], refit="f1_macro",
    ).fit(X, y)  # fmt: skip
    assert search.best_score_ == search.cv_results_["mean_test_f1_macro"].max()
    assert search.multimetric_
    assert set(search.scorer_) == {"accuracy", "f1_macro"}


def test_a_callable_refit_sees_all_rows():
    search = hyperband(refit=lambda results: int(np.argmin(results["n_resources"]))).fit(X, y)
    assert search.cv_results_["n_resources"][search.best_index_] == 1
    assert search.best_estimator_.n_epochs_ == 1
    assert not hasattr(search, "best_score_")


# ---- stopping


def test_a_target_score_ends_the_search():
    search = hyperband(stop={"score": 0.5}).fit(X, y)
    assert search.best_score_ >= 0.5
    assert len(search.cv_results_["params"]) < len(hyperband().fit(X, y).cv_results_["params"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The first bracket will take")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_timeout_ends_the_search_and_keeps_the_results(n_jobs):
    class Slow(Curve):
        def partial_fit(self, X, y=None):
            time.sleep(0.05)
            return super().partial_fit(X, y)

    search = hyperband(Slow(), timeout=0.5, n_jobs=n_jobs).fit(X, y)
    assert 0 < len(search.history_.trials) < 46
    assert search.best_estimator_.n_epochs_ == search.cv_results_["n_resources"].max()


def test_first_guesses_come_first():
    guesses = [{"quality": 0.25}, {"quality": 0.75}, {"quality": 0.25}]
    search = hyperband(known={"params": guesses}).fit(X, y)
    assert [t.params["quality"] for t in search.history_.trials[:2]] == [0.25, 0.75]
    assert search.history_.trials[2].params["quality"] not in (0.25, 0.75)
    one = RandomSearchCV(Curve(), QUALITY, n_iter=3, known={"params": guesses[0]}, random_state=0)
    assert one.fit(X, y).cv_results_["params"][0] == guesses[0]


@pytest.mark.parametrize("guess", [{}, {"quality": 3}, {"quality": 0.5, "depth": 1}, "quality"])
def test_guesses_outside_of_the_space_are_refused(guess):
    with pytest.raises((ValueError, TypeError), match="params"):
        hyperband(known={"params": guess}).fit(X, y)


# ---- drop-in


def test_folds_of_an_unseeded_splitter_are_the_same_for_all_candidates():
    folds = set()

    class Spy(Curve):
        def partial_fit(self, X, y=None):
            folds.add(X.tobytes())
            return super().partial_fit(X, y)

    hyperband(Spy(), cv=KFold(3, shuffle=True), refit=False).fit(X, y)
    assert len(folds) == 3


@pytest.mark.slow
def test_a_search_nests_clones_and_pickles():
    pipe = make_pipeline(
        StandardScaler(),
        hyperband(SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, max_resources=3),
    )
    scores = cross_val_score(pipe, X, y, cv=2)
    np.testing.assert_array_equal(scores, cross_val_score(clone(pipe), X, y, cv=2))
    fitted = pipe.fit(X, y)
    for copied in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(copied.predict(X), fitted.predict(X))
        assert len(copied[-1].history_.trials) == len(fitted[-1].history_.trials)


def test_a_second_fit_starts_afresh():
    search = hyperband().fit(X, y)
    first = search.cv_results_["params"]
    assert search.fit(X, y).cv_results_["params"] == first
    search.set_params(refit=False).fit(X, y)
    assert not hasattr(search, "best_estimator_")


def test_estimators_and_conditions_are_searched_in_a_union():
    pipe = make_pipeline(StandardScaler(), SVC())
    pipe.steps[-1] = ("clf", SVC())
    svc, forest = SVC(), RandomForestClassifier(n_estimators=5, random_state=0)
    space = [
        {"clf": [svc], "clf__kernel": ["rbf", "linear"],
         "clf__gamma": When(loguniform(1e-3, 1), "clf__kernel", "==", "rbf")},
        {"clf": [forest], "clf__max_depth": randint(1, 9)},
    ]  # fmt: skip
    search = RandomSearchCV(pipe, space, n_iter=12, cv=2, random_state=0).fit(X, y)
    for params in search.cv_results_["params"]:
        assert params["clf"] is svc or params["clf"] is forest
        assert ("clf__gamma" in params) == (params.get("clf__kernel") == "rbf")
        assert ("clf__max_depth" in params) == (params["clf"] is forest)
    assert svc.get_params() == SVC().get_params(), "a choice is never fitted or changed"
    assert not hasattr(forest, "estimators_")


def test_sample_weight_is_sliced_for_partial_fit_as_well():
    weight = np.where(y == 0, 0.0, 1.0)
    search = hyperband(
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        {"sgdclassifier__alpha": loguniform(1e-5, 1e-2)}, max_resources=9,
    )  # fmt: skip
    search.fit(X, y, sgdclassifier__sample_weight=weight)
    assert 0 not in search.predict(X), "rows without weight teach nothing"


def test_candidates_without_partial_fit_are_fitted_again_among_the_others():
    net = MLPClassifier((4,), random_state=0)
    search = hyperband(net, {"solver": ["adam", "lbfgs"], "alpha": loguniform(1e-4, 1)})
    search.set_params(max_resources=9).fit(X, y)
    assert {p["solver"] for p in search.cv_results_["params"]} == {"adam", "lbfgs"}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


class TakesTime(SGDClassifier):
    """Each call takes a tenth of a simulated second."""

    def partial_fit(self, X, y, classes=None):
        spend(0.1)
        return super().partial_fit(X, y, classes)


def test_seconds_of_training_as_the_resource():
    search = SearchCV(
        TakesTime(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="seconds",
        max_resources=2, cv=2, scheduler=Hyperband(factor=2), random_state=0,
    )  # fmt: skip
    with VirtualClock() as clock:
        search.fit(X, y)
    # Two folds of (2 x 1 s, then 1 s more for one; 2 x 2 s), and 2 s for the refit.
    assert clock.seconds == pytest.approx(2 * (2 + 1 + 4) + 2)
    assert search.best_estimator_.t_ == 20 * len(X) + 1


def test_too_little_data_for_rungs_get_ten_candidates_at_full_resource():
    few = np.r_[0:4, 50:54]
    search = HyperbandSearchCV(Sized(), QUALITY, cv=2, random_state=0).fit(X[few], y[few])
    assert len(search.cv_results_["params"]) == 10
    assert set(search.cv_results_["n_resources"]) == {8}


def test_the_global_generators_are_left_as_they_were():
    np.random.seed(7)
    expected = np.random.rand()
    np.random.seed(7)
    hyperband().fit(X, y)
    assert np.random.rand() == expected


def test_custom_run_search_is_not_the_extension_point():
    with pytest.raises(NotImplementedError, match="compose"):
        hyperband()._run_search(None)


def test_search_cv_composes_anything():
    search = SearchCV(
        Curve(), QUALITY, scheduler=FullFidelity(5), resource="epochs", max_resources=4, cv=2,
        sampler=RandomSampler(),
    ).fit(X, y)  # fmt: skip
    assert search.cv_results_["n_resources"].tolist() == [4] * 5
    search = SearchCV(Curve(), QUALITY, sampler=RandomSampler(), n_iter=7, cv=2).fit(X, y)
    assert len(search.cv_results_["params"]) == 7


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib_backends_give_the_same_result(backend):
    from joblib import parallel_config

    data = make_classification(200, 6, random_state=0)
    search = hyperband(SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)})
    expected = search.fit(*data).cv_results_["mean_test_score"]
    with parallel_config(backend, n_jobs=2):
        found = search.fit(*data).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:(?s).*fits failed")
def test_a_failed_candidate_never_wins_whatever_its_error_score():
    search = RandomSearchCV(Failing(), QUALITY, error_score=99.0, random_state=0).fit(X, y)
    assert search.best_params_["quality"] <= 0.5
    assert 99 in search.cv_results_["mean_test_score"]


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:.*non-finite")
def test_a_metric_that_is_not_optimised_may_fail():
    def broken(estimator, X, y):
        raise ValueError("not today")

    def right(estimator, X, y):
        return estimator.score(X, y)

    search = hyperband(scoring={"right": right, "broken": broken}, refit="right").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_right"]).all()
    assert np.isnan(search.cv_results_["mean_test_broken"]).all()
    assert search.cv_results_["n_resources"].max() == 27


@pytest.mark.parametrize(
    ("resource", "max_resources", "words"),
    [
        ("n_samples", 151, "more than the 150 rows of X"),
        ("folds", 6, "more than the 2 folds of cv"),
    ],
)
def test_more_than_there_is_cannot_be_spent(resource, max_resources, words):
    with pytest.raises(ValueError, match=words):
        hyperband(Sized(), resource=resource, max_resources=max_resources).fit(X, y)


@pytest.mark.parametrize("kwargs", [{"scheduler": Hyperband()}, {"max_resources": 9}])
def test_what_would_be_spent_must_be_named(kwargs):
    with pytest.raises(ValueError, match="need resource="):
        SearchCV(Curve(), QUALITY, **kwargs).fit(X, y)


@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_a_candidate_whose_scoring_failed_never_wins_whatever_its_error_score():
    def picky(estimator, X, y):
        if estimator.quality > 0.5:
            raise ValueError("too good")
        return -1 + estimator.quality

    search = RandomSearchCV(Curve(), QUALITY, scoring=picky, error_score=0.0, random_state=0)
    assert search.fit(X, y).best_params_["quality"] <= 0.5
