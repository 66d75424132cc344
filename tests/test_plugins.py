"""What CONTRIBUTING.md shows how to add works, from outside of the package.

Each example is written to a file as it stands in the text, and imported like anybody's module.
"""

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import Ridge, SGDClassifier
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sksearch import HyperbandSearchCV, PBTSearchCV, SearchCV
from sksearch.base import Resource
from sksearch.executors import end_idle_workers
from sksearch.samplers import RandomSampler, TPESampler
from sksearch.schedulers import FoldRace, FullFidelity, Hyperband, SuccessiveHalving
from sksearch.space import Outcome
from sksearch.testing import check_family, check_sampler, check_scheduler
from tests.comparisons import assert_same_results, planned_and_done
from tests.contracts import test_schedulers as schedulers_contract

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"### A (\w+)\n(?:(?!###).)*?```python\n(.*?)```", TEXT, flags=re.DOTALL)

X, y = make_classification(90, 5, random_state=0)
STUMPS = make_regression(60, 3, noise=5, random_state=0)
SGD = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
SPACE = {"sgdclassifier__alpha": loguniform(1e-5, 1)}
EPOCHS = {"resource": "epochs", "max_resources": 9, "cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """The class of each example by its kind."""
    folder = tmp_path_factory.mktemp("plugins")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        end_idle_workers()  # of earlier tests: they were born with another path
        classes = {}
        for kind, code in EXAMPLES:
            (folder / f"my_{kind}.py").write_text(code, encoding="utf-8")
            module = importlib.import_module(f"my_{kind}")
            own = (obj for obj in vars(module).values() if inspect.isclass(obj))
            *others, classes[kind] = (cls for cls in own if cls.__module__ == module.__name__)
            assert [cls.__name__ for cls in others] == ["StumpRegressor"] * (kind == "family")
        yield classes


def test_there_is_an_example_of_each():
    assert [kind for kind, _ in EXAMPLES] == [
        "sampler",
        "scheduler",
        "resource",
        "family",
        "search",
    ]


def test_the_sampler_keeps_the_contract(examples):
    check_sampler(examples["sampler"](width=0.2))


@pytest.mark.few(1)
@pytest.mark.parametrize("scheduler", [FullFidelity(6), Hyperband()], ids=str)
def test_the_sampler_works_in_a_search(examples, scheduler):
    args = EPOCHS | {"sampler": examples["sampler"](), "scheduler": scheduler}
    search, parallel = (SearchCV(SGD, SPACE, **args, n_jobs=n).fit(X, y) for n in (1, 2))
    planned, done = planned_and_done(search)
    assert done == planned
    assert_same_results(search, parallel)


def test_the_scheduler_keeps_the_contract(examples):
    scheduler = examples["scheduler"](n_candidates=9, factor=3)
    check_scheduler(scheduler)
    for n_workers in (1, 2, 7):
        schedulers_contract.test_a_search_does_what_was_planned(scheduler, n_workers)
        schedulers_contract.test_states_are_freed_once_and_never_before_their_last_use(
            scheduler, n_workers
        )
    schedulers_contract.test_the_number_of_workers_and_their_order_change_nothing(scheduler)
    schedulers_contract.test_a_search_where_all_fail_ends_with_several_workers(scheduler)
    schedulers_contract.test_equal_scores_promote_the_first_trials(scheduler)
    schedulers_contract.test_the_best_of_each_rung_are_promoted(scheduler)
    schedulers_contract.test_an_exhausted_space_ends_early_and_still_promotes(scheduler)


@pytest.mark.parametrize("sampler", [RandomSampler(), TPESampler(n_initial=2)], ids=str)
def test_the_scheduler_works_in_a_search(examples, sampler):
    args = EPOCHS | {"sampler": sampler, "scheduler": examples["scheduler"]()}
    search = SearchCV(SGD, SPACE, **args).fit(X, y)
    planned, done = planned_and_done(search)
    assert planned == done == {(0, 2): 12, (0, 9): 3}


class Remembers(RegressorMixin, BaseEstimator):
    """Notes the rows that it was trained on: their first column is their number."""

    seen: list = []

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.seen.append(X[:, 0].astype(int).tolist())
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_ + self.shift)


def test_the_resource_works_in_a_search(examples):
    rows, target = np.arange(108.0).reshape(-1, 1), np.arange(108.0)
    Remembers.seen.clear()
    search = HyperbandSearchCV(
        Remembers(), {"shift": uniform(-1, 2)}, resource=examples["resource"](),
        cv=TimeSeriesSplit(2), random_state=0,
    ).fit(rows, target)  # fmt: skip
    planned, done = planned_and_done(search)
    assert done == planned
    assert search.n_resources_[:4] == [4, 12, 36, 108]
    assert Remembers.seen[:2] == [[35], [70, 71]], "a 27th of 36 and of 72 rows, from their ends"
    assert Remembers.seen[-1] == list(range(108)), "the refit has all"


def test_the_resource_works_for_a_real_estimator(examples):
    t = np.arange(120.0)
    search = HyperbandSearchCV(
        Ridge(), {"alpha": loguniform(1e-6, 1e3)}, resource=examples["resource"](),
        cv=TimeSeriesSplit(3), random_state=0,
    ).fit(np.c_[t, t % 7], t + t % 7)  # fmt: skip
    planned, done = planned_and_done(search)
    assert done == planned
    assert search.best_score_ > 0.99


# ---- the family


def test_the_family_keeps_the_contract(examples):
    check_family(examples["family"](), *STUMPS)


@pytest.mark.parametrize(
    ("search", "params"),
    [
        (SearchCV, {"n_iter": 2, "known": {"params": None}}),
        (HyperbandSearchCV, {"resource": "n_estimators", "max_resources": 9}),
        (PBTSearchCV, {"resource": "n_estimators", "max_resources": 4, "population_size": 3}),
    ],
    ids=["count", "rungs", "population"],
)
def test_the_family_works_in_a_search(examples, search, params):
    model = importlib.import_module("my_family").StumpRegressor()
    space = {} if search is SearchCV else {"param_distributions": {"rate": [0.1, 0.3, 0.9]}}
    search = search(model, **space, **params, cv=2, random_state=0).fit(*STUMPS)
    assert search.best_score_ > 0
    if not isinstance(search, PBTSearchCV):  # a schedule is not one fit
        by_hand = clone(model).set_params(**search.best_params_).fit(*STUMPS)
        np.testing.assert_allclose(search.predict(STUMPS[0]), by_hand.predict(STUMPS[0]))


# ---- the search


@pytest.fixture
def search(examples):
    return examples["search"](SGD, SPACE, n_candidates=9, n_initial=3, **EPOCHS)


def test_the_search_has_the_parameters_of_a_scikit_learn_estimator(search):
    copy = clone(search)
    assert copy.get_params(deep=False).keys() == search.get_params(deep=False).keys()
    assert copy.set_params(factor=2).factor == 2
    assert repr(search).startswith("TPESuccessiveHalvingSearchCV(cv=3,\n")
    assert "n_candidates=9" in repr(search)
    assert "factor=" not in repr(search), "it is the default"
    with pytest.raises(TypeError, match="no parameter n_candidate: did you mean n_candidates"):
        type(search)(SGD, SPACE, n_candidate=9)


def test_the_signature_of_the_search_has_the_own_parameters_first(search):
    names = list(inspect.signature(type(search)).parameters)
    assert names[:5] == [
        "estimator", "param_distributions", "n_initial", "n_candidates", "factor",
    ]  # fmt: skip
    assert list(search.get_params(deep=False)) == sorted(names)


@pytest.mark.parametrize("wrong", [{"n_candidates": 0}, {"factor": 1}, {"timeout": -1}])
def test_the_search_validates_its_parameters(search, wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of"):
        search.set_params(**wrong).fit(X, y)


def test_the_search_is_its_composition(search):
    planned = search.plan(X, y)
    search.fit(X, y)
    assert planned.rungs == search.plan_.rungs
    planned, done = planned_and_done(search)
    assert planned == done == {(0, 1): 9, (0, 3): 3, (0, 9): 1}
    sampler, scheduler = TPESampler(n_initial=3), SuccessiveHalving(9)
    composed = SearchCV(SGD, SPACE, sampler=sampler, scheduler=scheduler, **EPOCHS).fit(X, y)
    assert_same_results(search, composed)


@pytest.mark.whole
def test_the_search_continues_where_it_ended(search, tmp_path):
    search.set_params(checkpoint_dir=tmp_path / "a").fit(X, y)
    cut = clone(search).set_params(checkpoint_dir=tmp_path / "b", timeout=1e-9).fit(X, y)
    assert len(cut.history_.trials) < 9
    assert_same_results(search, cut.set_params(timeout=None).fit(X, y))


def test_the_search_works_in_a_pipeline(search):
    search.set_params(estimator=SGDClassifier(random_state=0))
    search.set_params(param_distributions={"alpha": loguniform(1e-5, 1)})
    pipe = make_pipeline(StandardScaler(), search).fit(X, y)
    assert pipe.score(X, y) > 0.8
    assert pipe[-1].best_params_["alpha"] < 1


class OwnFolds(Resource):
    """One unit is one fold, as ours, in a class of another package."""

    unit = "folds"
    acts_on = "folds"
    continues = True

    def limits(self, estimator, n_samples, n_splits, n_classes):
        return 1, n_splits

    def folds(self, n_splits, amount, spent):
        return range(spent, amount)


def test_candidates_race_on_folds_of_ones_own_as_on_ours():
    own, ours = (
        SearchCV(
            SGD, SPACE, scheduler=FoldRace(6), sampler=RandomSampler(), resource=resource, cv=4,
            random_state=0,
        ).fit(X, y)
        for resource in (OwnFolds(), "folds")
    )  # fmt: skip
    assert own.plan_.by_folds
    assert_same_results(own, ours)


def test_what_training_finds_goes_with_rows_of_ones_own(examples):
    booster = HistGradientBoostingClassifier(max_iter=20)
    search = SearchCV(
        booster, {"max_iter": Outcome(20)}, scheduler=SuccessiveHalving(2),
        resource=examples["resource"](), cv=2, random_state=0,
    )  # fmt: skip
    assert "max_iter" in search.fit(X, y).best_params_
