"""Any sampler works with any scheduler, any resource and any number of jobs.

And a named search is its composition: `SearchCV` with the same parts finds the same, bit for bit.
"""

import inspect

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ParameterSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sksearch
from sksearch import SearchCV, resources, samplers, schedulers
from sksearch.samplers import (
    CMAESSampler,
    DESampler,
    ForestSampler,
    GeneticSampler,
    GPSampler,
    GridSampler,
    PSOSampler,
    QuasiRandomSampler,
    RandomSampler,
    TPESampler,
)
from sksearch.samplers._listed import ListedSampler
from sksearch.schedulers import (
    ASHA,
    PASHA,
    Fabolas,
    FoldRace,
    FullFidelity,
    Hyperband,
    IncrementalEvaluation,
    MedianStopping,
    PopulationBasedTraining,
    SuccessiveHalving,
)
from sksearch.schedulers._async_hyperband import AsyncHyperband
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.space import Space
from tests.comparisons import assert_same_results, planned_and_done
from tests.contracts import test_samplers, test_schedulers

X, y = make_classification(90, 5, random_state=0)


def with_one_of_each(instances, others):
    """The instances, and the first of each class that is only among the others."""
    for other in others:
        if type(other) not in {type(instance) for instance in instances}:
            instances = [*instances, other]
    return instances


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
SAMPLERS = with_one_of_each(SAMPLERS, test_samplers.INSTANCES)
SCHEDULERS = [
    FullFidelity(4),
    SuccessiveHalving(factor=2),
    Hyperband(factor=2),
    IteratedHalving(factor=2, n_iterations=2),
    IncrementalEvaluation(budget=40),
    ASHA(4, factor=2),
    PASHA(4, factor=2),
    AsyncHyperband(factor=2),
    MedianStopping(4),
    PopulationBasedTraining(4),
]
SCHEDULERS = with_one_of_each(SCHEDULERS, test_schedulers.INSTANCES)
SGD = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
FOREST = RandomForestClassifier(random_state=0)
RESOURCES = {  # largest amount, estimator, prefix of its parameters
    "epochs": (4, SGD, "sgdclassifier__"),
    "n_samples": ("auto", SGD, "sgdclassifier__"),
    "folds": ("auto", SGD, "sgdclassifier__"),
    "sgdclassifier__max_iter": (4, SGD, "sgdclassifier__"),
    "n_estimators": (4, FOREST, ""),
}


def resources_for(scheduler):
    """Names of the resources that a scheduler takes."""
    if scheduler.reads.states:
        return ["epochs", "n_estimators"]
    return ["folds"] if scheduler.told.by_fold else list(RESOURCES)


#: Each sampler with each scheduler, and each of both with each resource.
PAIRS = [
    (sampler, scheduler, resources_for(scheduler)[(i + j) % len(resources_for(scheduler))])
    for i, sampler in enumerate(SAMPLERS)
    for j, scheduler in enumerate(SCHEDULERS)
]
ignore_convergence = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def concrete_classes(package):
    public = (getattr(package, name) for name in package.__all__)
    return {cls for cls in public if inspect.isclass(cls) and not inspect.isabstract(cls)}


def test_all_samplers_schedulers_and_resources_are_composed():
    assert {type(sampler) for sampler in SAMPLERS} >= concrete_classes(samplers)
    assert {type(scheduler) for scheduler in SCHEDULERS} >= concrete_classes(schedulers)
    named = {type(resources.as_resource(name, FOREST)) for name in (*RESOURCES, "seconds", None)}
    here = [vars(resources).get(kind.__name__) for kind in named]
    assert here == [*named], "of which test_resources has all"
    for one, other in [(0, 1), (0, 2), (1, 2)]:
        kinds = [SAMPLERS, SCHEDULERS, list(RESOURCES)]
        pairs = {(pair[one], pair[other]) for pair in PAIRS}
        n_refused = (one == 1) * sum(len(RESOURCES) - len(resources_for(s)) for s in SCHEDULERS)
        assert len(pairs) == len(kinds[one]) * len(kinds[other]) - n_refused


def space_of(sampler, prefix):
    if prefix:
        continuous = {prefix + "alpha": loguniform(1e-5, 1)}
        finite = {prefix + "alpha": np.logspace(-5, 0, 40).tolist()}
    else:
        continuous = {"max_features": loguniform(0.2, 1)}
        finite = {"max_features": np.linspace(0.2, 1, 40).tolist()}
    return finite if isinstance(sampler, GridSampler) else continuous


def search_of(sampler, scheduler, resource, n_jobs):
    max_resources, estimator, prefix = RESOURCES.get(resource, ("auto", SGD, "sgdclassifier__"))
    return SearchCV(
        estimator,
        space_of(sampler, prefix),
        sampler=sampler,
        scheduler=scheduler,
        resource=resource,
        max_resources=max_resources,
        workers={"batch_size": 1},
        cv=3,
        n_jobs=n_jobs,
        random_state=0,
    )


def marked(cases, marks):
    """The cases, with a mark by the resource, which is the last entry of each."""
    marks = {kind: getattr(pytest.mark, name) for kind, name in marks.items()}
    return [pytest.param(*case, marks=marks.get(case[-1], ())) for case in cases]


@pytest.mark.few(5)
@ignore_convergence
@pytest.mark.parametrize(
    ("sampler", "scheduler", "resource"),
    marked(PAIRS, dict.fromkeys(set(RESOURCES) - {"epochs", "folds"}, "slow")), ids=str,
)  # fmt: skip
def test_a_composition_follows_its_plan_and_repeats_it(sampler, scheduler, resource):
    # Where results are told as they come, more workers find other candidates.
    n_jobs = (1, 1) if scheduler.told.at_once else (1, 2)
    one, other = (search_of(sampler, scheduler, resource, n).fit(X, y) for n in n_jobs)
    planned, done = planned_and_done(one)
    if scheduler.reads.results:  # a plan is what is done if nobody is dropped
        assert all(n <= planned[rung] for rung, n in done.items())
    elif not scheduler.told.at_once:
        assert done == planned
    assert_same_searches(one, other)
    if not one.plan_.any_rung_wins:
        assert one.best_n_resources_ == max(one.n_resources_)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=str)
def test_without_a_resource_each_sampler_gives_whole_fits(sampler):
    serial, parallel = (search_of(sampler, FullFidelity(4), None, n).fit(X, y) for n in (1, 2))
    assert len(serial.cv_results_["params"]) == 4
    assert_same_searches(serial, parallel)


@pytest.mark.parametrize("scheduler", SCHEDULERS[1:], ids=str)
def test_rungs_without_a_resource_are_refused(scheduler):
    with pytest.raises(ValueError, match="need resource="):
        search_of(RandomSampler(), scheduler, None, 1).fit(X, y)


def assert_same_searches(one, other):
    assert_same_results(one, other)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.whole
@pytest.mark.slow
def test_seconds_compose_too_though_their_scores_depend_on_the_machine():
    search = search_of(QuasiRandomSampler(), Hyperband(factor=2), "seconds", n_jobs=2)
    one_fold = [(np.arange(60), np.arange(60, 90))]
    search.set_params(max_resources=2, cv=one_fold).fit(X, y)
    planned, done = planned_and_done(search)
    assert done == planned
    assert search.best_estimator_[-1].t_ > 1000


# ---- a named search is its composition

ALPHA = {"sgdclassifier__alpha": loguniform(1e-5, 1)}
FEATURES = {"max_features": loguniform(0.2, 1)}
LISTED = ListedSampler(tuple(ParameterSampler(ALPHA, 7, random_state=0)))
#: Parameters of named searches, and the parts that each is made of.
COMPOSED = {
    "SearchCV": [
        ({"sampler": RandomSampler(), "scheduler": FoldRace(8)}, RandomSampler(), FoldRace(8)),
    ],
    "RandomSearchCV": [({"n_iter": 7}, LISTED, FullFidelity(7))],
    "QuasiRandomSearchCV": [
        ({"n_iter": 6}, QuasiRandomSampler("sobol", 6), FullFidelity(6)),
        ({"n_iter": 6, "method": "lhs"}, QuasiRandomSampler("lhs", 6), FullFidelity(6)),
    ],
    "GPBayesSearchCV": [
        ({"n_iter": 9}, GPSampler(), FullFidelity(9)),
        ({"n_iter": 9, "acquisition": "lcb", "n_initial": 3}, GPSampler("lcb", n_initial=3),
         FullFidelity(9)),
    ],
    "TPESearchCV": [({"n_iter": 14}, TPESampler(), FullFidelity(14))],
    "ForestBayesSearchCV": [({"n_iter": 9}, ForestSampler(), FullFidelity(9))],
    "SuccessiveHalvingSearchCV": [
        ({}, RandomSampler(), SuccessiveHalving()),
        ({"n_candidates": 7, "factor": 2}, RandomSampler(), SuccessiveHalving(7, 2)),
    ],
    "HyperbandSearchCV": [
        ({}, RandomSampler(), Hyperband()),
        ({"factor": 2, "candidates": "algorithm1"}, RandomSampler(),
         Hyperband(2, 1, "algorithm1")),
        ({"sampler": "gp"}, GPSampler("ei_distribution"), Hyperband()),
        ({"sampler": TPESampler()}, TPESampler(), Hyperband()),
    ],
    "ASHASearchCV": [
        ({}, RandomSampler(), ASHA()),
        ({"variant": "stopping"}, RandomSampler(), ASHA(variant="stopping")),
    ],
    "PASHASearchCV": [({"n_candidates": 12}, RandomSampler(), PASHA(12))],
    "BOHBSearchCV": [
        ({"transfer": "all"}, TPESampler(transfer="all"), Hyperband()),
        ({"scheduler": "asynchronous"}, TPESampler(), AsyncHyperband()),
    ],
    "HalvingSearchCV": [
        ({"n_iterations": 2}, GPSampler("ei_distribution", transfer="joint"),
         IteratedHalving(n_iterations=2)),
        ({"n_iterations": 3, "sampler": "tpe"}, TPESampler(), IteratedHalving(n_iterations=3)),
    ],
    "EvolutionSearchCV": [
        ({"n_iter": 9, "method": "cma-es"}, CMAESSampler(), FullFidelity(9)),
        ({"n_iter": 9}, DESampler(), FullFidelity(9)),
        ({"n_iter": 9, "method": "genetic", "population_size": 4}, GeneticSampler(4),
         FullFidelity(9)),
        ({"n_iter": 9, "method": "pso"}, PSOSampler(), FullFidelity(9)),
    ],
    "PBTSearchCV": [
        ({"population_size": 5, "step": 3}, RandomSampler(), PopulationBasedTraining(5, 3)),
    ],
    "FabolasSearchCV": [
        ({"n_iter": 7}, QuasiRandomSampler(), Fabolas(7, cost="resource")),
    ],
    "IncrementalEvaluationSearchCV": [
        ({}, ForestSampler(transfer="none"), IncrementalEvaluation()),
        ({"population": "random", "budget": 900, "step": 10, "min_resources": 10}, RandomSampler(),
         IncrementalEvaluation(900, step=10)),
    ],
}  # fmt: skip
FIDELITY = {  # of each kind: estimator, space, rows, parameters
    "epochs": (SGD, ALPHA, 90, {"max_resources": 10}),
    "n_samples": (SGD, ALPHA, 90, {}),
    "folds": (SGD, ALPHA, 90, {"cv": 9}),
    "n_estimators": (FOREST, FEATURES, 90, {"max_resources": 10}),
    "too few rows for two rungs": (SGD, ALPHA, 14, {"cv": 2}),
}
CASES = [
    (name, *case, kind)
    for name, cases in COMPOSED.items()
    for case in cases
    for kind in (
        FIDELITY if "resource" in inspect.signature(getattr(sksearch.search, name)).parameters
        and name != "SearchCV" else [None]
    )
    if ("budget" not in case[0] or kind == "n_samples")
    and (not case[2].reads.states or kind in resources_for(case[2]))
]  # fmt: skip


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("name", "params", "sampler", "scheduler", "kind"),
    marked(CASES, {"n_samples": "slow", "too few rows for two rungs": "slow", "folds": "whole",
                   "n_estimators": "whole"}), ids=str,
)  # fmt: skip
def test_a_named_search_is_its_composition(name, params, sampler, scheduler, kind):
    estimator, space, n_rows, common = FIDELITY.get(kind, (SGD, ALPHA, 90, {}))
    common = {"cv": 3, "random_state": 0, "refit": False} | common
    if kind is not None:
        common["resource"] = kind if " " not in kind else "n_samples"
    if "min_resources" in params:
        common["min_resources"] = params["min_resources"]
    named = getattr(sksearch.search, name)(estimator, space, **(common | params))
    composed = SearchCV(estimator, space, sampler=sampler, scheduler=scheduler, **common)
    assert_same_composition(named, composed, n_rows)


# A search that follows a gradient gets its sampler with the data; two have scikit-learn's rows.
APART = ("SearchCV", "HypergradientSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
NAMED = [n for n in sksearch.search.__all__ if n.endswith("SearchCV") and n not in APART]


@pytest.mark.few(5)
@pytest.mark.parametrize("name", NAMED)
def test_a_search_equals_its_documented_composition(name):
    common = {"cv": 3, "random_state": 0, "refit": False}
    cls = getattr(sksearch.search, name)
    own = inspect.signature(cls).parameters
    if "resource" in own:
        common |= {"resource": "epochs", "max_resources": 10}
    few = {key: value for key, value in {"n_iter": 9, "n_iterations": 2}.items() if key in own}
    space = {"sgdclassifier__alpha": [1e-4, 1e-2, 1.0]} if "param_grid" in own else ALPHA
    named = cls(SGD, space, **common, **few)
    sampler, scheduler = named._compose(Space(space), np.random.RandomState(0))
    composed = SearchCV(SGD, space, sampler=sampler, scheduler=scheduler, **common)
    assert_same_composition(named, composed, len(X))


def assert_same_composition(named, composed, n_rows):
    assert named.plan(X[:n_rows], y[:n_rows]) == composed.plan(X[:n_rows], y[:n_rows])
    named.fit(X[:n_rows], y[:n_rows])
    composed.fit(X[:n_rows], y[:n_rows])
    assert named.history_.log == composed.history_.log
    assert_same_results(named, composed)
