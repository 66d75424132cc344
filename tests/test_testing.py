"""Parts that break a promise are found by the checks for authors of parts."""

import itertools
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_regression
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.svm import SVC

from sksearch import (
    GPBayesSearchCV,
    HyperbandSearchCV,
    RandomSearchCV,
    SearchCV,
)
from sksearch.base import Plan, Reads, Resume, Rung, Sampler, Scheduler, Start
from sksearch.estimators import Family, Growth
from sksearch.estimators._epoch_training import EpochTraining
from sksearch.estimators._family import families
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity, SuccessiveHalving
from sksearch.space import Outcome, register_space
from sksearch.testing import (
    check_engine,
    check_family,
    check_sampler,
    check_scheduler,
    check_search,
    check_space,
)
from tests.libraries.own_booster import OwnBooster, OwnBoosters, OwnGrowth

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
        (Remembers(), AssertionError, "with its cache"),
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
        (Undecided(), "for the same history"),
        (GivesUpAll(), "released"),
        (NeverToTheTop(), "no candidate to the last rung"),
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
        (RandomSearchCV, None, "differs with a second fit"),
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


# ---- families


class Booster(OwnBooster):
    pass


class RateOfAll(OwnBooster):
    """Its rate is that of all steps when it predicts."""

    def _sum_of_steps(self, X):
        return sum(self.rate * tree.predict(X, False) for _, tree in self.steps_)


class Forgets(OwnBooster):
    def __getstate__(self):
        return vars(self) | {"start_": 0.0}


class ForgetsToGoOn(OwnBooster):
    """It has another rate once it was pickled."""

    def fit(self, X, y, begun=None):
        rate = self.rate
        self.rate = rate / 2 if getattr(self, "was_pickled", False) else rate
        super().fit(X, y, begun)
        self.rate = rate
        return self

    def __getstate__(self):
        return vars(self) | {"was_pickled": True}


class ReadsOnce(OwnBooster):
    """What its constructor has made of a parameter stays when that is set."""

    def __init__(self, rounds=30, rate=0.1, depth=2):
        super().__init__(rounds, rate, depth)
        self.depth_ = depth

    def fit(self, X, y, begun=None):
        given, self.depth = self.depth, self.depth_
        super().fit(X, y, begun)
        self.depth = given
        return self


class Epochs(SGDRegressor):
    pass


class Boosters(OwnBoosters):
    classes = (
        "tests.Booster",
        "tests.RateOfAll",
        "tests.Forgets",
        "tests.ForgetsToGoOn",
        "tests.ReadsOnce",
    )


class Whole(Growth):
    @contextmanager
    def truncated(self, model, count):
        yield model


class StaysCut(Growth):
    @contextmanager
    def truncated(self, model, count):
        model.steps_ = model.steps_[:count]
        yield model


class OneMore(OwnGrowth):
    def refit(self, state, rows, count, classes, params):
        return super().refit(state, rows, count + 1, classes, params)


class SkipsOne(OwnGrowth):
    def train(self, state, rows, count, classes, params):
        super().train(state, rows, count - 1, classes, params)


class OncePerCall(EpochTraining):
    def train(self, state, model, X, y, n, params, ends):
        super().train(state, model, X, y, 1, params, ends)


def space_of(**own):
    return lambda self, estimator, size: {"rate": loguniform(0.05, 1), **own}


def first_of(**values):
    return lambda self, estimator: [values]


def grows_anew(self, model, name, done, count, X, y, params):
    model.set_params(rounds=count - done).fit(X, y).set_params(rounds=count)


def keeps_the_rest_as_its_count(self, model, name, done, count, X, y, params):
    model.set_params(rounds=count - done).fit(X, y, begun=model if done else None)


def keeps_its_first_rate(self, model, name, done, count, X, y, params):
    rate = model.rate
    if done:
        model.set_params(rate=model.steps_[0][0])
    OwnBoosters.grow(self, model, name, done, count, X, y, params)
    model.set_params(rate=rate)


TABLE = make_regression(60, 3, noise=5, random_state=0)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"classes": ()}, "has no classes"),
        ({"classes": ("tests.Bosters",)}, "no imported module"),
        ({"classes": ("tests.libraries.Booster",)}, "omit the modules in between"),
        ({"classes": ("sklearn.SVC",)}, "contains sklearn.SVC, which belongs to Kernels"),
        ({"spaces": {"sklearn.SVR": dict}}, "contains sklearn.SVR, which belongs to Kernels"),
        ({"smaller": ("rate",)}, "has rate in both"),
        ({"space": space_of(dept=[1, 2])}, "contains dept: not parameters"),
        ({"space": lambda self, estimator, size: ["rate"]}, "expected a dict"),
        ({"space": space_of(depth=[0, 2])}, "does not fit with"),
        ({"space": space_of(depth=[3, 4])}, "estimator's value depth=2 is not in its space"),
        ({"space": space_of(rounds=Outcome(20))}, "estimator's value rounds=30"),
        ({"upper_bound": lambda self, model, name: 2}, "depth is at most 2, but searched up to 3"),
        ({"first": first_of(depth=7)}, "first candidate contains depth=7"),
        ({"first": first_of(dept=2)}, "first candidate contains dept, which is not a parameter"),
        ({"growth": Whole}, "at 8 rounds growth passes a model whose predictions differ"),
        ({"growth": StaysCut}, "growth passes a model whose predictions differ"),
        ({"growth": SkipsOne}, "at 32 rounds growth passes"),
        ({"growth": OneMore}, "refit does not give the same model"),
        ({"grow": grows_anew}, "at 36 rounds growth passes"),
        ({"grow": grows_anew, "growth": None, "space": space_of()}, "3 rounds steps and 5 more"),
        ({"grow": keeps_the_rest_as_its_count}, "after grow to 8 steps rounds is 5"),
        ({"grow": keeps_its_first_rate}, "rate is in mutable_params, but on these rows"),
    ],
)
def test_a_family_that_breaks_a_promise_is_found(own, words):
    family = type("Broken", (Boosters,), own)()
    estimator = None if {"classes", "spaces", "smaller"} & own.keys() else Booster()
    with pytest.raises(AssertionError, match=words):
        check_family(family, *TABLE, estimator=estimator)
    assert family not in families()


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (RateOfAll(), "alters the predictions without a further step"),
        (Forgets(), "a pickled model of 3 rounds steps has other predictions"),
        (ForgetsToGoOn(), "pickled in between, do not give the model of 8"),
        (ReadsOnce(), "set_params of depth, rate does not give the same model as the constr"),
        (SVC(), "Boosters is not the family of sklearn.SVC"),
    ],
)
def test_an_estimator_that_is_not_as_its_family_says_is_found(estimator, words):
    with pytest.raises(AssertionError, match=words):
        check_family(Boosters(), *TABLE, estimator=estimator)


def test_epochs_that_do_not_add_up_are_found():
    class Own(Family):
        classes = ("tests.Epochs",)
        epochs = OncePerCall()

    with pytest.raises(AssertionError, match="3 epochs and 5 more do not give the model of 8"):
        check_family(Own(), *TABLE, estimator=Epochs(random_state=0))


@pytest.mark.parametrize("growth", [Growth, OwnGrowth, None])
def test_a_family_that_keeps_its_promises_passes(growth):
    family = type("Right", (Boosters,), {"growth": growth, "classes": ("tests.Booster",)})()
    if growth is None:
        family.space = lambda estimator, size: {"rate": loguniform(0.05, 1)}
    check_family(family, *TABLE)
    assert family not in families()
