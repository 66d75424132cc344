"""Constraints: functions of params, bounds on what is measured, and failures."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.stats import randint, uniform
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import (
    ASHASearchCV,
    Bound,
    GPBayesSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
    TPESearchCV,
    load_history,
)
from sksearch.base import Reads, Sampler
from sksearch.fitting.run._objectives import make_allows
from sksearch.history import Problem, Result, best_first
from sksearch.samplers import (
    ForestSampler,
    GPSampler,
    GridSampler,
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import PASHA, FoldRace, FullFidelity
from sksearch.search import ForestBayesSearchCV
from sksearch.space import Space
from sksearch.study import Study
from tests.contracts.learners import LEARNERS, name_of
from tests.fakes import Pair

X, y = load_iris(return_X_y=True)
SPACE = {"max_depth": randint(1, 9), "min_samples_leaf": randint(1, 9)}
SQUARE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def at_most_eight(params):
    return params["max_depth"] + params["min_samples_leaf"] <= 8


def score_and_price(estimator, X, y):
    return {"score": estimator.x + estimator.y, "price": estimator.x * estimator.y}


# ---- functions of params


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "cls", [SearchCV, RandomSearchCV, TPESearchCV, GPBayesSearchCV, ForestBayesSearchCV]
)
def test_what_is_not_allowed_is_never_trained(cls):
    search = cls(
        DecisionTreeClassifier(random_state=0), SPACE, n_iter=12, cv=2,
        known={"constraints": at_most_eight}, random_state=0,
    ).fit(X, y)  # fmt: skip
    assert len(search.history_.trials) == 12
    assert all(map(at_most_eight, search.cv_results_["params"]))


@pytest.mark.few(6)
@pytest.mark.parametrize(
    "sampler", [*LEARNERS, RandomSampler(), QuasiRandomSampler()], ids=name_of
)
def test_every_sampler_stays_in_a_small_part_of_the_space(sampler):
    def allows(params):
        return abs(params["x"] - params["y"]) < 0.05

    study = Study(Problem(Space(SQUARE), seed=1, allows=allows), sampler, FullFidelity(9))
    while (job := study.ask()) is not None:
        assert allows(job.params)
        study.tell(job, Result(job.params["x"]))
    assert len(study.history.trials) == 9


@pytest.mark.parametrize("sampler", [GridSampler(), RandomSampler(), TPESampler()])
@pytest.mark.filterwarnings("ignore:The search space has no new candidate")
def test_what_is_allowed_of_a_finite_space_is_gone_through(sampler):
    problem = Problem(
        Space({"a": range(6), "b": range(6)}), allows=lambda params: params["a"] > params["b"]
    )
    study = Study(problem, sampler, FullFidelity(36))
    while (job := study.ask()) is not None:
        study.tell(job, Result(0.0))
    found = {(trial.params["a"], trial.params["b"]) for trial in study.history.trials}
    assert found == {(a, b) for a in range(6) for b in range(a)}


def test_a_small_part_of_a_finite_space_is_found():
    space = Space({"a": range(100), "b": range(100)})
    allows = make_allows(lambda params: params["a"] == params["b"] == 57, space)
    assert allows({"a": 57, "b": 57})


def test_the_estimator_as_it_is_comes_first_only_if_it_is_allowed():
    def small(params):
        return params["max_depth"] <= 3  # a TypeError for the estimator's own None

    search = SearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": randint(1, 9)}, n_iter=3,
        known={"constraints": [small]}, random_state=0,
    )  # fmt: skip
    search.fit(X, y)
    assert all(params["max_depth"] <= 3 for params in search.cv_results_["params"])
    with pytest.raises(ValueError, match=r"params.*\[0\].* is not allowed by .*constraints"):
        search.set_params(known__params={"max_depth": 5}).fit(X, y)


@pytest.mark.parametrize(
    ("constraints", "error", "message"),
    [
        (lambda params: 1, TypeError, "must return True or False, got 1"),
        (lambda params: False, ValueError, "no allowed candidate"),
        (lambda params: params["C"] > 0, ValueError, "raised KeyError.*use params.get"),
        ([3], TypeError, "3, at index 0, must be a function"),
        (Bound("widt", "<=", 1), ValueError, "'widt' is an objective or a bound"),
        ([Bound("predict_tim", "<=", 1)], ValueError, "Did you mean 'predict_time'"),
    ],
)
def test_bad_constraints_are_refused_before_anything_is_trained(constraints, error, message):
    class NeverFitted(DecisionTreeClassifier):
        def fit(self, *args, **kwargs):
            raise AssertionError

    with pytest.raises(error, match=message):
        RandomSearchCV(NeverFitted(), SPACE, known={"constraints": constraints}).fit(X, y)


def test_the_time_of_a_prediction_needs_a_model_that_predicts():
    limit = Bound("predict_time", "<=", 1)
    search = RandomSearchCV(
        PCA(), {"n_components": [1, 2]}, n_iter=2, known={"constraints": limit}
    )
    with pytest.raises(ValueError, match="PCA has no predict: leave it out"):
        search.fit(X)
    steps = {"model": [DecisionTreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=3)]}
    pipe = Pipeline([("model", "passthrough")])
    search.set_params(estimator=pipe, param_distributions=steps, scoring="accuracy")
    assert search.fit(X, y).cv_results_["violation"].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("a", "<", 1), ValueError),
        ((1, "<=", 1), TypeError),
        (("a", "<=", "1"), TypeError),
        (("a", "<=", np.nan), ValueError),
    ],
)
def test_bad_bounds_are_refused(args, error):
    with pytest.raises(error):
        Bound(*args)


def test_a_race_needs_scores_and_reports_it():
    bound = Bound("fit_time", "<=", 10)
    kwargs = {"known": {"constraints": bound}, "random_state": 0}
    for scheduler, resource in ((FoldRace(4), "folds"), (PASHA(), "n_samples")):
        with pytest.raises(ValueError, match="the values of a single score"):
            SearchCV(
                DecisionTreeClassifier(), SPACE, scheduler=scheduler, resource=resource, **kwargs
            ).fit(X, y)
    search = SearchCV(DecisionTreeClassifier(), SPACE, n_iter=3, **kwargs).fit(X, y)
    assert {len(trial.results[1].fold_scores) for trial in search.history_.trials} == {5}


# ---- what is measured


def price_search(cls, **kwargs):
    kwargs = {"known": {"constraints": Bound("price", "<=", 0.1)}, "refit": "score"} | kwargs
    return cls(Pair(), SQUARE, scoring=score_and_price, cv=2, random_state=0, **kwargs).fit(X, y)


@pytest.mark.few(1)
@pytest.mark.parametrize("cls", [TPESearchCV, GPBayesSearchCV, ForestBayesSearchCV])
def test_the_best_keeps_the_bound_and_most_of_the_last_do(cls):
    search = price_search(cls, n_iter=25)
    results = search.cv_results_
    price = results["mean_test_price"]
    np.testing.assert_allclose(results["violation"], np.maximum(0, price - 0.1) / 0.1)
    kept = price <= 0.1
    assert kept[search.best_index_]
    assert search.best_score_ == results["mean_test_score"][kept].max()
    assert search.best_score_ < results["mean_test_score"].max()
    # Behind all that keep it come the others, the least broken first.
    assert results["rank_test_score"][kept].max() < results["rank_test_score"][~kept].min()
    order = np.argsort(results["rank_test_score"][~kept])
    assert (np.diff(results["violation"][~kept][order]) >= 0).all()
    assert search.best_score_ > 0.85, "of 1.1, at x = 1 and y = 0.1, which keeps it just so"


def test_when_none_keeps_a_bound_the_one_that_breaks_it_least_wins():
    with pytest.warns(UserWarning, match="No candidate satisfies all bounds"):
        search = price_search(
            GPBayesSearchCV, n_iter=12, known={"constraints": Bound("price", ">=", 2)}
        )
    assert search.best_index_ == np.argmax(search.cv_results_["mean_test_price"])
    # Without any that keeps it, it is what is looked for.
    assert search.cv_results_["mean_test_price"].max() > 0.95


@pytest.mark.parametrize("cls", [SuccessiveHalvingSearchCV, ASHASearchCV])
def test_who_breaks_a_bound_is_promoted_after_all_others(cls):
    bound = Bound("price", "<=", 0.3)
    search = price_search(
        cls, n_candidates=27, resource="epochs", max_resources=9, known={"constraints": bound}
    )
    trials = search.history_.trials
    first = {i: trial.results[1] for i, trial in enumerate(trials)}
    broken = {i for i, result in first.items() if result.violation > 0}
    promoted = {i for i, trial in enumerate(trials) if trial.resource > 1}
    assert len(broken) > 5
    assert len(promoted) >= 9
    if cls is SuccessiveHalvingSearchCV:
        assert not promoted & broken
    else:
        assert len(promoted & broken) <= 2, "before any that keeps it was known"
    assert search.cv_results_["violation"][search.best_index_] == 0


def test_results_are_ordered_by_what_they_break_then_by_score():
    results = [
        Result(3.0, slacks=(-0.5, 0.1)),
        Result(1.0, slacks=(0.0, 0.0)),
        Result(np.nan),
        Result(9.0, slacks=(-0.2, -0.4)),
        Result(2.0, slacks=(1.0, 0.3)),
    ]
    assert best_first(results) == [4, 1, 0, 3]
    assert results[3].violation == pytest.approx(0.6)
    assert np.isnan(results[0].feasible_score)
    assert best_first([Result(np.nan)]) == []


def test_seconds_and_bytes_are_measured_kept_and_replayed(tmp_path):
    bounds = [Bound(name, "<=", 1e6) for name in ("fit_time", "predict_time", "model_size")]

    def search(n_iter):
        return GPBayesSearchCV(
            SVC(), {"C": uniform(0.1, 10)}, n_iter=n_iter, n_initial=3, cv=2,
            known={"constraints": bounds}, random_state=0, checkpoint_dir=tmp_path,
        ).fit(X, y)  # fmt: skip

    first = search(5)
    results = first.cv_results_
    for trial, seconds in zip(first.history_.trials, results["mean_predict_time"], strict=True):
        assert 0 < seconds < 1e-3  # of a row
        slacks = trial.results[1].slacks
        np.testing.assert_allclose(slacks[1], 1 - seconds / 1e6)
    size = len(pickle.dumps(SVC(C=5.0).fit(X[::2], y[::2])))
    np.testing.assert_allclose(results["mean_model_size"], size, rtol=0.6)
    again = search(7)
    for old, new in zip(first.history_.trials, again.history_.trials, strict=False):
        assert old.params == new.params
        assert old.results[1].slacks == new.results[1].slacks
    saved = load_history(tmp_path)
    np.testing.assert_array_equal(saved.cv_results_["violation"], again.cv_results_["violation"])
    assert saved.history_.trials[3].results[1].slacks == again.history_.trials[3].results[1].slacks
    assert pickle.loads(pickle.dumps(again)).best_params_ == again.best_params_


def test_the_time_of_training_matches_all_rungs():
    search = SuccessiveHalvingSearchCV(
        Pair(), SQUARE, resource="epochs", max_resources=9, n_candidates=9, cv=2,
        known={"constraints": Bound("fit_time", "<=", 100)}, random_state=0,
    ).fit(X, y)  # fmt: skip
    trial = next(trial for trial in search.history_.trials if trial.resource == 9)
    seconds = [100 * (1 - trial.results[r].slacks[0]) for r in (1, 3, 9)]
    assert 0 < seconds[0] < seconds[1] < seconds[2]


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
def test_a_scorer_that_leaves_out_what_has_a_bound_is_an_error():
    with pytest.raises(ValueError, match="must return"):
        price_search(RandomSearchCV, known={"constraints": Bound("weight", "<=", 1)})


# ---- failures


def fails_beyond(params):
    """Greatest in the middle of what does not fail."""
    if params["x"] > 0.7:
        return np.nan
    return -((params["x"] - 0.5) ** 2) - (params["y"] - 0.4) ** 2


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize(
    ("sampler", "most"), [(GPSampler(), 2), (ForestSampler(), 2), (TPESampler(), 3)], ids=name_of
)
def test_failures_are_learnt_from(sampler, most):
    """Of the last twenty of forty; of draws 6 fail."""
    n_failed = []
    for seed in range(5):
        study = Study(Problem(Space(SQUARE), seed=seed), sampler, FullFidelity(40))
        scores = []
        while (job := study.ask()) is not None:
            scores.append(fails_beyond(job.params))
            study.tell(job, Result(scores[-1]))
        n_failed.append(np.isnan(scores[20:]).sum())
    assert np.mean(n_failed) <= most


@dataclass(frozen=True)
class OneScore(Sampler):
    """A random step from the best score: it knows nothing of bounds."""

    reads = Reads(results=True)

    def ask(self, history, start, rng):
        known = [t for t in history.trials if t.results and not np.isnan(t.results[1].score)]
        if not known:
            return history.problem.space.sample(rng)
        best = max(known, key=lambda trial: trial.results[1].score).params
        return {k: float(np.clip(v + 0.2 * rng.normal(), 0, 1)) for k, v in best.items()}


def test_a_sampler_that_knows_no_bounds_sees_worse_scores():
    search = price_search(
        SearchCV,
        n_iter=30,
        sampler=OneScore(),
        scheduler=FullFidelity(30),
        workers={"batch_size": 1},
    )
    kept = search.cv_results_["mean_test_price"] <= 0.1
    assert kept[10:].mean() > 0.4
    assert search.best_score_ > 0.6
