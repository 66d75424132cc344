"""Incremental evaluation as a search: what it tries, spends and never exceeds."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.utils._param_validation import InvalidParameterError

from sksearch.samplers import ForestSampler, GPSampler, RandomSampler
from sksearch.search import IncrementalEvaluationSearchCV
from tests.fakes import Curve

X, y = make_classification(120, 5, random_state=0)
QUALITY = {"quality": uniform(0, 1)}


def search_of(estimator=None, space=None, **params):
    defaults = {"resource": "epochs", "max_resources": 20, "cv": 2, "random_state": 0}
    return IncrementalEvaluationSearchCV(
        Curve() if estimator is None else estimator, space or QUALITY, **defaults | params
    )


def rungs(search):
    return list(zip(search.n_candidates_, search.n_resources_, strict=True))


@pytest.mark.parametrize("population", ["random", "forest", "gp"])
def test_the_documents_defaults_are_the_defaults_at_the_documents_20_epochs(population):
    search = search_of(population=population, budget=60).fit(X, y)
    assert rungs(search) == [(25, 2), (6, 3), (1, 4)]
    assert search.plan_.total_resources == 50 + 6 + 1
    assert len(search.cv_results_["params"]) == 25 + 6 + 1


@pytest.mark.parametrize(
    ("population", "sampler"),
    [("random", RandomSampler), ("forest", ForestSampler), ("gp", GPSampler)],
)
def test_the_population_is_chosen_by_the_named_sampler(population, sampler):
    search = search_of(population=population)
    assert type(search._compose(None, None)[0]) is sampler


def test_trained_epochs_match_the_plan_and_stay_within_the_budget():
    Curve.n_calls = 0
    search = search_of(population="random", budget=60, refit=False).fit(X, y)
    assert Curve.n_calls == search.n_splits_ * search.plan_.total_resources
    assert search.plan_.total_resources <= 60


def test_the_survivor_is_the_best_and_is_refitted_with_its_epochs():
    search = search_of(population="random", budget=60).fit(X, y)
    results = search.cv_results_
    assert search.best_params_["quality"] == max(p["quality"] for p in results["params"])
    assert results["n_resources"][search.best_index_] == 4
    assert search.best_estimator_.n_epochs_ == 4


@pytest.mark.parametrize("budget", [400, 1000])
@pytest.mark.parametrize(
    ("resource", "estimator", "space"),
    [
        ("epochs", SGDClassifier(), {"alpha": uniform(1e-4, 1)}),
        ("n_estimators", RandomForestClassifier(), {"max_features": uniform(0.2, 0.8)}),
        ("n_samples", LogisticRegression(), {"C": uniform(0.1, 1)}),
        ("max_iter", LogisticRegression(), {"C": uniform(0.1, 1)}),
        ("folds", LogisticRegression(), {"C": uniform(0.1, 1)}),
    ],
)
def test_the_budget_counts_what_the_resource_really_costs(resource, estimator, space, budget):
    search = search_of(estimator, space, resource=resource, max_resources="auto", cv=5)
    for candidates in ("algorithm1", "largest"):
        plan = search.set_params(budget=budget, candidates=candidates).plan(X, y)
        assert 0.85 * budget < plan.total_resources <= budget


def test_the_population_gets_a_tenth_of_the_largest_resource_and_no_less_than_is_needed():
    few_rows = search_of(LogisticRegression(), {"C": uniform(0.1, 1)}, resource="n_samples")
    assert few_rows.set_params(max_resources=120).plan(X, y).rungs[0].n_resources == 12
    assert few_rows.set_params(max_resources=20).plan(X, y).rungs[0].n_resources == 8
    assert search_of(max_resources="auto").plan(X, y).rungs[0].n_resources == 8
    assert search_of(min_resources=3).plan(X, y).rungs[0].n_resources == 3


def test_data_too_small_for_rungs_get_at_most_ten_whole_fits():
    search = search_of(
        LogisticRegression(), {"C": uniform(0.1, 1)}, resource="n_samples", max_resources="auto"
    )
    few = np.r_[np.flatnonzero(y == 0)[:4], np.flatnonzero(y == 1)[:4]]
    (rung,) = search.plan(X[few], y[few]).rungs
    assert rung.n_resources == 8
    assert 2 <= rung.n_candidates <= 10


@pytest.mark.few(1)
@pytest.mark.parametrize("population", ["random", "forest", "gp"])
def test_the_number_of_jobs_changes_nothing(population):
    serial, parallel = (
        search_of(population=population, budget=40, workers={"batch_size": 2}, n_jobs=n_jobs).fit(
            X, y
        )
        for n_jobs in (1, 2)
    )
    assert serial.cv_results_["params"] == parallel.cv_results_["params"]
    assert rungs(serial) == rungs(parallel)


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("population", ["forest", "gp"])
def test_a_model_chooses_a_better_population_than_chance(population):
    def mean_quality(**params):
        searches = (search_of(budget=80, random_state=seed, **params) for seed in range(3))
        results = [search.fit(X, y).cv_results_ for search in searches]
        return np.mean([
            params["quality"]
            for found in results
            for params, rung in zip(found["params"], found["iter"], strict=True)
            if rung == 0
        ])  # fmt: skip

    assert mean_quality(population=population) > mean_quality(population="random") + 0.1


def test_a_budget_that_is_too_small_is_refused_before_any_training():
    Curve.n_calls = 0
    for call in (search_of(budget=4).fit, search_of(budget=4).plan):
        with pytest.raises(ValueError, match=r"budget=4 is too small.*takes budget=5\."):
            call(X, y)
    assert Curve.n_calls == 0


@pytest.mark.parametrize(
    "params",
    [
        {"population": "tpe"},
        {"budget": 0},
        {"budget": 1.5},
        {"keep": 0.0},
        {"keep": 1.0},
        {"step": 0},
        {"candidates": "table"},
        {"workers": {"batch_size": 0}},
        {"resource": None},
    ],
    ids=str,
)
def test_parameters_are_validated_in_fit(params):
    search = clone(search_of(**params))
    with pytest.raises(InvalidParameterError, match=next(iter(params))):
        search.fit(X, y)
