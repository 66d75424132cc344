"""Searches that do not wait for rungs, as a user sees them."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import ASHASearchCV, BOHBSearchCV
from sksearch.executors import VirtualClock
from sksearch.search import PASHASearchCV
from sksearch.simulators import FAMILIES, Branin, GammaCurves, SimulatedEstimator
from sksearch.simulators._functions import Rastrigin

X, y = load_iris(return_X_y=True)
SPACE = {"sgdclassifier__alpha": loguniform(1e-6, 1)}
PROBLEM = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)


def asha(**params):
    pipe = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    params = {"n_candidates": 12, "max_resources": 9, "cv": 3, "random_state": 0} | params
    return ASHASearchCV(pipe, SPACE, resource="epochs", **params)


def simulated(cls, **params):
    estimator = SimulatedEstimator(PROBLEM, random_state=0)
    return cls(
        estimator, PROBLEM.space, resource="epochs", cv=2, random_state=0, refit=False, **params
    )


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("variant", ["promotion", "stopping"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_searches_a_pipeline_with_any_number_of_workers(variant, n_jobs):
    search = asha(variant=variant, n_jobs=n_jobs).fit(X, y)
    results = search.cv_results_
    assert set(results["n_resources"]) == {1, 3, 9}
    assert sum(results["n_resources"] == 1) == 12
    top = results["n_resources"] == 9
    assert search.best_score_ == results["mean_test_score"][top].max() > 0.8
    assert search.best_estimator_.score(X, y) > 0.8
    for resource in (3, 9):  # what is at a rung was at the one below
        ids = results["trial_id"][results["n_resources"] == resource]
        assert set(ids) <= set(results["trial_id"][results["n_resources"] == resource // 3])


@pytest.mark.whole
@pytest.mark.slow
def test_one_worker_repeats_exactly():
    one, other = (asha().fit(X, y).cv_results_ for _ in range(2))
    np.testing.assert_array_equal(one["trial_id"], other["trial_id"])
    np.testing.assert_array_equal(one["mean_test_score"], other["mean_test_score"])


def test_the_plan_is_the_least_that_is_done():
    search = simulated(ASHASearchCV)
    planned = search.plan(np.zeros((4, 1)), np.arange(4) % 2).n_candidates
    search.fit(np.zeros((4, 1)), np.arange(4) % 2)
    assert planned == 81
    done = [np.sum(search.cv_results_["n_resources"] == r) for r in search.n_resources_]
    assert all(d >= p for d, p in zip(done, search.n_candidates_, strict=True))


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize(
    "search",
    [
        simulated(ASHASearchCV),
        simulated(ASHASearchCV, variant="stopping"),
        simulated(PASHASearchCV),
        simulated(BOHBSearchCV, scheduler="asynchronous"),
    ],
    ids=["promotion", "stopping", "PASHA", "BOHB"],
)
def test_a_virtual_clock_repeats_exactly_and_states_are_not_lost(search):
    found = []
    for n_workers in (8, 8):
        with VirtualClock(n_workers) as clock:
            search.fit(np.zeros((4, 1)), np.arange(4) % 2)
        found.append((search.history_.log, clock.seconds))
        # Simulated epochs are paid once: nobody began again because a state was freed too early.
        epochs = sum(trial.resource for trial in search.history_.trials)
        assert clock.busy_seconds == 2 * epochs
    assert found[0] == found[1]


@pytest.mark.whole
def test_bohb_sees_running_candidates_and_is_better_than_its_first_candidates():
    search = simulated(BOHBSearchCV, scheduler="asynchronous")
    with VirtualClock(4):
        search.fit(np.zeros((4, 1)), np.arange(4) % 2)
    final = search.cv_results_["mean_test_score"][search.cv_results_["n_resources"] == 81]
    curves = PROBLEM.losses([t.params for t in search.history_.trials[:20]], 0)
    assert final.max() > np.median(-curves[:, -1])


@pytest.mark.whole
@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pasha_trains_one_candidate_to_the_end_and_refits_it(n_jobs):
    pipe = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    search = PASHASearchCV(
        pipe,
        SPACE,
        resource="epochs",
        max_resources=27,
        cv=3,
        n_jobs=n_jobs,
        random_state=0,
        select="top",
    ).fit(X, y)
    results = search.cv_results_
    assert sum(results["n_resources"] == 1) == 27
    assert sum(results["n_resources"] == 3) >= 9
    assert results["n_resources"][search.best_index_] == 27
    assert search.best_estimator_[-1].t_ == 27 * len(X) + 1
    assert search.best_estimator_.score(X, y) > 0.8


def test_pasha_spends_less_than_its_plan_where_ranks_do_not_change():
    problem = GammaCurves(Branin())
    search = PASHASearchCV(
        SimulatedEstimator(problem, random_state=0), problem.space, resource="epochs", cv=2,
        random_state=0, refit=False,
    ).fit(np.zeros((4, 1)), np.arange(4) % 2)  # fmt: skip
    spent = sum(trial.resource for trial in search.history_.trials)
    assert search.n_resources_ == [1, 3, 9, 27, 81]
    assert set(search.cv_results_["n_resources"]) == {1, 3, 81}
    assert spent < 0.75 * search.plan_.total_resources


@pytest.mark.parametrize("params", [{"variant": "pausing"}, {"n_candidates": 0}, {"factor": 1}])
def test_bad_arguments_are_refused_before_anything_is_trained(params):
    with pytest.raises(ValueError, match=next(iter(params))):
        asha(**params).fit(X, y)
