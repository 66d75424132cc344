"""Parts that break a promise are found by the checks for authors of parts."""

import itertools

import joblib
import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC

from sksearch import (
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
)
from sksearch.base import Plan, Reads, Resume, Rung, Sampler, Scheduler, Start
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity, SuccessiveHalving
from sksearch.space import register_space
from sksearch.testing import (
    check_engine,
    check_sampler,
    check_scheduler,
    check_search,
    check_space,
)

X, y = load_iris(return_X_y=True)


# ---- samplers


class Outside(Sampler):
    def ask(self, history, start, rng):
        return history.problem.space.sample(rng) | {"other": 1}


class Writes(Sampler):
    def ask(self, history, start, rng):
        params = history.problem.space.sample(rng)
        history.start(params, 0, 1)
        return params


class Counts(Sampler):
    """Its proposals depend on how often it was asked."""

    def __init__(self):
        self.count = itertools.count()

    def ask(self, history, start, rng):
        return history.problem.space.sample(np.random.default_rng(next(self.count)))


class Remembers(Sampler):
    """Its proposals depend on the cache, which is not a part of what is known."""

    reads = Reads(results=True)

    def ask(self, history, start, rng):
        seed = history.cache["n"] = history.cache.get("n", 0) + 1
        return history.problem.space.sample(np.random.default_rng(seed))


class OnlyWhenAsked(Sampler):
    def __init__(self):
        self.cannot_be_pickled = lambda: None

    def ask(self, history, start, rng):
        return history.problem.space.sample(rng)


@pytest.mark.parametrize(
    ("sampler", "error", "words"),
    [
        (Outside(), AssertionError, "left the space"),
        (Writes(), AssertionError, "changed the history"),
        (Counts(), AssertionError, "from the same history"),
        (Remembers(), AssertionError, "in its cache"),
        (OnlyWhenAsked(), AttributeError, "pickle"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_sampler_that_breaks_a_promise_is_found(sampler, error, words):
    with pytest.raises(error, match=words):
        check_sampler(sampler)


def test_a_sampler_is_checked_on_spaces_of_ones_own():
    check_sampler(RandomSampler(), {"mine": {"depth": randint(1, 9)}})
    with pytest.raises(AssertionError, match="mine"):
        check_sampler(Writes(), {"mine": {"depth": randint(1, 9)}})


# ---- schedulers


class Steps(Scheduler):
    """Six candidates, the best of which goes on; subclasses break one thing each."""

    def next(self, history, rng):
        trials = history.trials
        if len(trials) < min(6, history.problem.space.size):
            return Start(1)
        if any(not trial.results for trial in trials):
            return None
        best = self.chosen(history, rng)
        if best is None or history.problem.max_resources in best.results:
            return None
        return Resume(best.id, history.problem.max_resources)

    def chosen(self, history, rng):
        able = [t for t in history.trials if np.isfinite(t.results[1].score)]
        return max(able, key=lambda trial: trial.results[1].score, default=None)

    def plan(self, problem):
        return Plan(((Rung(1, 6), Rung(problem.max_resources, 1)),))


class PromotesAny(Steps):
    def chosen(self, history, rng):
        return history.trials[0]


class Undecided(Steps):
    def __init__(self):
        self.count = itertools.count()

    def next(self, history, rng):
        return Start(1 + next(self.count) % 2) if len(history.trials) < 6 else None


class GivesUpAll(Steps):
    def retired(self, history, job):
        return [job.trial_id]


class NeverToTheTop(Steps):
    def chosen(self, history, rng):
        return None


class StopsShort(SuccessiveHalving):
    def next(self, history, rng):
        return None if len(history.trials) == 20 else super().next(history, rng)


def test_a_scheduler_that_keeps_all_promises_passes():
    check_scheduler(Steps())
    check_scheduler(FullFidelity(5), max_resources=9)


@pytest.mark.parametrize(
    ("scheduler", "words"),
    [
        (PromotesAny(), "promoted"),
        (Undecided(), "of the same history"),
        (GivesUpAll(), "gave"),
        (NeverToTheTop(), "nobody to the last rung"),
        (StopsShort(), "planned"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_scheduler_that_breaks_a_promise_is_found(scheduler, words):
    with pytest.raises(AssertionError, match=words):
        check_scheduler(scheduler)


# ---- spaces


class Needy(ClassifierMixin, BaseEstimator):
    """Cannot be fitted with what its space has."""

    def __init__(self, width=1):
        self.width = width

    def __sksearch_space__(self, n_samples, n_features):
        return {"width": randint(0, 3)}

    def fit(self, X, y):
        if self.width == 0:
            raise ValueError("width must be positive")
        return self


class Owned(BaseEstimator):
    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        return self


def test_spaces_of_an_estimator_are_checked():
    check_space(SVC(), X, y)
    check_space(SVC(), space={"C": loguniform(0.1, 10), "kernel": ["rbf", "poly"]})
    register_space(Owned, {"depth": randint(1, 4)})
    check_space(Owned(), X, y)
    with pytest.raises(AssertionError, match="does not fit with"):
        check_space(Needy(), X, y)
    with pytest.raises(AssertionError, match="does not take"):
        check_space(SVC(), space={"c": loguniform(0.1, 10)})


# ---- searches


SPACE = {"alpha": loguniform(1e-5, 1)}
SEARCHES = [
    SearchCV(SGDClassifier(random_state=0), n_iter=5, cv=3, random_state=0),
    HyperbandSearchCV(
        SGDClassifier(random_state=0), SPACE, resource="epochs", max_resources=9, random_state=0
    ),
    GPBayesSearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=6, cv=3, random_state=0),
]


@pytest.mark.few(1)
@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_searches_of_ours_pass(search):
    check_search(search, X[::3], y[::3])


class ChangesItself(RandomSearchCV):
    def fit(self, X, y=None, **params):
        self.n_iter = self.n_iter + 1
        return super().fit(X, y, **params)


class CallsAnotherTheBest(RandomSearchCV):
    def fit(self, X, y=None, **params):
        super().fit(X, y, **params)
        self.best_params_ = {"C": -1.0}
        return self


@pytest.mark.parametrize(
    ("cls", "seed", "words"),
    [
        (ChangesItself, 0, "changed the parameters"),
        (CallsAnotherTheBest, 0, "best_params_ is"),
        (RandomSearchCV, None, "not the same with a second fit"),
    ],
)
def test_a_search_that_breaks_a_promise_is_found(cls, seed, words):
    search = cls(SVC(), {"C": loguniform(0.1, 10)}, n_iter=3, cv=3, random_state=seed)
    with pytest.raises(AssertionError, match=words):
        check_search(search, X[::3], y[::3])


# ---- engines


@pytest.mark.whole
@pytest.mark.slow
def test_our_processes_and_threads_keep_the_contract_of_an_engine():
    check_engine(2)
    with joblib.parallel_config("threading"):
        check_engine(2, processes=False)


def test_an_engine_that_changes_what_it_runs_is_found(monkeypatch):
    monkeypatch.setattr("sksearch.testing._engine.Mortal.score", lambda *args: np.random.rand())
    with joblib.parallel_config("threading"), pytest.raises(AssertionError, match="Scores differ"):
        check_engine(2, processes=False)
