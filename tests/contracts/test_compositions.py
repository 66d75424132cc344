"""Any sampler works with any scheduler, any resource and any number of jobs."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import SearchCV
from sksearch.samplers import (
    ForestSampler,
    GPSampler,
    GridSampler,
    ListedSampler,
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.schedulers import (
    ASHA,
    PASHA,
    AsyncHyperband,
    FullFidelity,
    Hyperband,
    IncrementalEvaluation,
    MedianStopping,
    SuccessiveHalving,
)

X, y = make_classification(90, 5, random_state=0)

SAMPLERS = [
    RandomSampler(),
    GridSampler(),
    ListedSampler(()),
    QuasiRandomSampler("sobol"),
    QuasiRandomSampler("lhs", 8),
    TPESampler(n_initial=2),
    GPSampler(n_initial=2),
    ForestSampler(n_initial=2),
]
SCHEDULERS = [FullFidelity(4), SuccessiveHalving(factor=2), Hyperband(factor=2)]
UNEVEN = [
    IncrementalEvaluation(budget=40),
    ASHA(4, factor=2),
    PASHA(4, factor=2),
    AsyncHyperband(factor=2),
    MedianStopping(4),
]
SGD = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
RESOURCES = [  # resource, largest amount, estimator, prefix of its parameters
    ("epochs", 4, SGD, "sgdclassifier__"),
    ("n_samples", "auto", SGD, "sgdclassifier__"),
    ("folds", "auto", SGD, "sgdclassifier__"),
    ("sgdclassifier__max_iter", 4, SGD, "sgdclassifier__"),
    ("n_estimators", 4, RandomForestClassifier(random_state=0), ""),
]


def space_of(sampler, prefix):
    if prefix:
        continuous = {prefix + "alpha": loguniform(1e-5, 1)}
        finite = {prefix + "alpha": np.logspace(-5, 0, 40).tolist()}
    else:
        continuous = {"max_features": loguniform(0.2, 1)}
        finite = {"max_features": np.linspace(0.2, 1, 40).tolist()}
    return finite if isinstance(sampler, GridSampler) else continuous


def search_of(sampler, scheduler, resource, max_resources, estimator, prefix, n_jobs):
    return SearchCV(
        estimator,
        space_of(sampler, prefix),
        sampler=sampler,
        scheduler=scheduler,
        resource=resource,
        max_resources=max_resources,
        cv=3,
        n_jobs=n_jobs,
        random_state=0,
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("resource", RESOURCES, ids=lambda r: str(r[0]))
@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=str)
@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_any_composition_does_what_it_planned_whatever_n_jobs(sampler, scheduler, resource):
    serial, parallel = (
        search_of(sampler, scheduler, *resource, n_jobs).fit(X, y) for n_jobs in (1, 2)
    )
    planned = {(r.bracket, r.n_resources): r.n_candidates for r in serial.plan_.rungs}
    rows = list(zip(serial.cv_results_["bracket"], serial.cv_results_["n_resources"], strict=True))
    assert {key: rows.count(key) for key in rows} == planned
    assert_same_results(serial, parallel)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("resource", RESOURCES, ids=lambda r: str(r[0]))
@pytest.mark.parametrize("scheduler", UNEVEN, ids=str)
def test_schedulers_of_other_kinds_work_with_any_resource(scheduler, resource):
    search = search_of(TPESampler(n_initial=2), scheduler, *resource, n_jobs=1).fit(X, y)
    again = search_of(TPESampler(n_initial=2), scheduler, *resource, n_jobs=1).fit(X, y)
    assert_same_results(search, again)
    top = max(search.n_resources_)
    assert search.cv_results_["n_resources"][search.best_index_] == top


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_without_a_resource_each_sampler_gives_whole_fits(sampler):
    args = (sampler, FullFidelity(4), None, "auto", SGD, "sgdclassifier__")
    serial, parallel = (search_of(*args, n_jobs).fit(X, y) for n_jobs in (1, 2))
    assert len(serial.cv_results_["params"]) == 4
    assert_same_results(serial, parallel)


@pytest.mark.parametrize("scheduler", SCHEDULERS[1:], ids=str)
def test_rungs_without_a_resource_are_refused(scheduler):
    search = search_of(RandomSampler(), scheduler, None, "auto", SGD, "sgdclassifier__", 1)
    with pytest.raises(ValueError, match="need resource="):
        search.fit(X, y)


def assert_same_results(serial, parallel):
    for name, column in serial.cv_results_.items():
        if not name.endswith("_time"):
            np.testing.assert_array_equal(column, parallel.cv_results_[name], err_msg=name)
    assert serial.best_params_ == parallel.best_params_
    np.testing.assert_array_equal(serial.predict(X), parallel.predict(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_seconds_compose_too_though_their_scores_depend_on_the_machine(n_jobs):
    search = search_of(
        QuasiRandomSampler(), Hyperband(factor=2), "seconds", 2, SGD, "sgdclassifier__", n_jobs
    )
    search.set_params(cv=[(np.arange(60), np.arange(60, 90))]).fit(X, y)
    planned = {(r.bracket, r.n_resources): r.n_candidates for r in search.plan_.rungs}
    rows = list(zip(search.cv_results_["bracket"], search.cv_results_["n_resources"], strict=True))
    assert {key: rows.count(key) for key in rows} == planned
    assert search.best_estimator_[-1].t_ > 1000
