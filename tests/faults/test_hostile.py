"""A hundred candidates that do what they can to end a search, among twenty that do no harm."""

import os
import pickle
import signal
import sys
import time
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from sksearch import RandomSearchCV, SearchCV
from sksearch._utils._compat import cloudpickle
from sksearch.samplers import GridSampler
from sksearch.schedulers import FullFidelity

cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)


class SpeechlessError(Exception):
    """Its text cannot be made."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def __str__(self):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


class NeverError(Exception):
    """Cannot be pickled."""

    def __reduce__(self):
        raise SystemExit(4)


def raises(make):
    """Something to do in a fit that raises."""

    def act(estimator):
        raise make()

    return act


def scores(value):
    """Something to do in a fit, after which the scorer returns this value."""

    def act(estimator):
        estimator.value_ = value

    return act


def recurse(estimator):
    recurse(estimator)


def break_pickle(estimator):
    pickle.loads = None


def break_modules(estimator):
    sys.modules.clear()


class Stubborn:
    """Raises when it is copied, pickled, or read again."""

    def __init__(self, when):
        self.when = when

    def __deepcopy__(self, memo):
        if self.when == "copied":
            raise SystemExit("not to be copied")
        return self

    def __reduce__(self):
        if self.when == "pickled":
            raise TypeError("not to be pickled")
        return fail_to_read if self.when == "read" else Stubborn, (self.when,)


def fail_to_read(when):
    raise SystemExit(f"cannot be {when}")


class Item:
    """Looks like an array of one number."""

    def item(self):
        raise KeyboardInterrupt


IN_FIT = [
    raises(make)
    for make in (
        lambda: ValueError("bad value"),
        lambda: ValueError(),
        lambda: ValueError("\n\n"),
        lambda: ValueError("\ud800"),
        lambda: ValueError("long " * 10**5),
        lambda: SystemExit(3),
        KeyboardInterrupt,
        StopIteration,
        EOFError,
        lambda: TimeoutError("late"),
        lambda: OSError(28, "No space left on device"),
        lambda: MemoryError("too much"),
        NeverError,
        lambda: SpeechlessError(ValueError("in the text")),
        lambda: SpeechlessError(SystemExit(3)),
        lambda: SpeechlessError(GeneratorExit()),
        lambda: SpeechlessError(None),
        lambda: ExceptionGroup("several", [ValueError("a"), KeyError("b")]),
        lambda: type("", (Exception,), {})("of a class without a name"),
        lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad byte"),
    )
]
AS_SCORE = [
    scores(value)
    for value in (
        None, "good", "0.5", b"0.5", 1j, 10**400, [0.5], (), np.array([1.0, 2.0]), np.array("a"),
        {}, {"a": 0.5}, {"a": None}, {"score": None}, {"score": "x", "b": 1.0}, {1: 0.5},
        {"score": 10**400}, np.nan, np.inf, -np.inf, Decimal("sNaN"), Decimal("NaN"), object(),
        pd.NA, pd.Series([1.0, 2.0]), np.datetime64("2020-01-01"), Item(), int, sum,
    )
]  # fmt: skip
HARMLESS = {f"harmless {i}": 1 + i for i in range(20)}
MILD = {f"mild {i}": act for i, act in enumerate([recurse, *IN_FIT, *AS_SCORE])}
AGAIN = {f"{name} again": act for name, act in MILD.items()}
DEADLY = {
    "exits": lambda estimator: os._exit(0),
    "is killed": lambda estimator: os.kill(os.getpid(), signal.SIGKILL),
    "closes files": lambda estimator: os.closerange(3, 256),
    "hangs": lambda estimator: time.sleep(100),
    "breaks pickle": break_pickle,
    "breaks modules": break_modules,
}
ACTS = MILD | AGAIN | DEADLY
STUBBORN = [Stubborn("copied"), Stubborn("pickled"), Stubborn("read")]
REFUSED = ["not to be set", "nor this one"]


class Candidate(ClassifierMixin, BaseEstimator):
    """Does what it is told, and is a tree if that is nothing."""

    def __init__(self, name="harmless 0", value=None):
        self.name = name
        self.value = value

    def set_params(self, **params):
        if params.get("name") in REFUSED:
            raise SystemExit("not these")
        return super().set_params(**params)

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        depth = HARMLESS.get(self.name, 1)
        self.tree_ = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        if self.name in ACTS:
            ACTS[self.name](self)
        return self

    def predict(self, X):
        return self.tree_.predict(X)

    def score(self, X, y):
        return self.value_ if hasattr(self, "value_") else super().score(X, y)


def search_among(names, stubborn=(), **kwargs):
    """Train harmless candidates, and others with them, in any order."""
    space = [{"name": [*HARMLESS, *names]}]
    if stubborn:
        space.append({"name": [*HARMLESS][:1], "value": stubborn})
    n_iter = len(HARMLESS) + len(names) + len(stubborn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = RandomSearchCV(
            Candidate(), space, n_iter=n_iter, cv=2, random_state=0, **kwargs
        ).fit(X, Y)
    assert len(search.statuses_) == n_iter
    return search


def rows_by_name(search):
    """Scores and status of each candidate."""
    found = {}
    for i, params in enumerate(search.cv_results_["params"]):
        folds = [search.cv_results_[f"split{fold}_test_score"][i] for fold in range(2)]
        key = params["name"], getattr(params.get("value"), "when", None)
        found[key] = [search.statuses_[i], search.errors_[i], *folds]
    return found


def assert_only_they_fail(search, neighbours):
    """See that the harmless ones have the rows of a search without others, which all failed."""
    found, expected = rows_by_name(search), rows_by_name(neighbours)
    assert expected == {key: row for key, row in found.items() if key in expected}
    assert {row[0] for row in expected.values()} == {"ok"}
    others = {key: row for key, row in found.items() if key not in expected}
    assert not {key: row for key, row in others.items() if row[0] == "ok" or not row[1]}
    assert search.best_params_ == neighbours.best_params_
    assert search.best_score_ == neighbours.best_score_
    return others


def test_a_hundred_hostile_candidates_in_this_process_harm_no_other():
    names = [*MILD, *AGAIN][:97] + REFUSED
    search = search_among(names, STUBBORN[:1])
    others = assert_only_they_fail(search, search_among([]))
    assert len(others) == 100
    assert {status for status, *_ in others.values()} == {"error", "memory", "nan"}


@pytest.mark.whole
@pytest.mark.slow
def test_a_hundred_hostile_candidates_in_workers_harm_no_other():
    # Whoever breaks its worker after training is ok itself; the next one gets another worker.
    names = [*MILD, *AGAIN][:90] + REFUSED + [*DEADLY]
    limits = {"n_jobs": 2, "workers": {"timeout": 5, "retries": 0}}
    search = search_among(names, STUBBORN, **limits)
    others = assert_only_they_fail(search, search_among(["breaks pickle"], **limits))
    assert len(others) == 100
    found = {status for status, *_ in others.values()}
    assert found == {"error", "memory", "nan", "crash", "timeout"}


# ---- scores with names


def table(scores, refit):
    """Search over candidates whose scorer returns what is listed."""
    space = {"name": [f"harmless {i}" for i in range(len(scores))]}

    def scorer(estimator, X, y):
        return scores[HARMLESS[estimator.name] - 1]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SearchCV(
            Candidate(), space, sampler=GridSampler(), scheduler=FullFidelity(len(scores)), cv=2,
            scoring=scorer, refit=refit, known={"params": None},
        ).fit(X, Y)  # fmt: skip


NAMED = [{"b": 0.1, "a": 0.3}, {"b": 0.9}, {}, 0.8, {"a": 0.5, "c": 0.0}, {"a": "x", "b": 0.2}]


def test_metrics_that_a_candidate_lacks_cost_that_candidate_only():
    search = table(NAMED, "a")
    assert search.statuses_ == ["ok", "error", "error", "error", "ok", "error"]
    assert search.best_params_ == {"name": "harmless 4"}
    found = search.cv_results_
    np.testing.assert_array_equal(found["mean_test_a"], [0.3, *[np.nan] * 3, 0.5, np.nan])
    np.testing.assert_array_equal(found["mean_test_b"], [0.1, *[np.nan] * 4, 0.2])
    assert "'a' of refit, got the metrics ['b']" in search.errors_[1]
    assert "must return a dict with the metric 'a'" in search.errors_[3]


def test_a_dict_among_single_scores_costs_that_candidate_only():
    search = table([0.1, 0.5, {"a": 1.0}, 0.2, 0.3, {"score": 0.9}], True)
    assert search.statuses_ == ["ok", "ok", "error", "ok", "ok", "error"]
    assert search.best_params_ == {"name": "harmless 1"}
    assert not search.multimetric_
    assert "refit must be set to a scorer key" in search.errors_[2]


def test_scores_with_and_without_names_have_their_columns_where_nothing_is_refitted():
    found = table(NAMED, False).cv_results_
    np.testing.assert_array_equal(found["mean_test_score"], [*[np.nan] * 3, 0.8, *[np.nan] * 2])
    np.testing.assert_array_equal(found["mean_test_a"], [0.3, *[np.nan] * 3, 0.5, np.nan])


@pytest.mark.parametrize("scores", [[{"a": 0.1}] * 4, [None] * 4, [{}] * 4])
def test_a_scorer_that_no_candidate_has_a_score_of_is_blamed(scores):
    with pytest.raises(ValueError, match="scoring must return"):
        table(scores, True)


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_params_that_a_candidates_step_lacks_cost_that_candidate_only():
    space = {"c": [SVC(), GaussianNB()], "c__C": [0.1, 1.0]}
    search = RandomSearchCV(Pipeline([("c", SVC())]), space, n_iter=4, random_state=0)
    with pytest.warns(FitFailedWarning, match="Invalid parameter 'C' for estimator GaussianNB"):
        search.fit(X, Y)
    kinds = [type(params["c"]).__name__ for params in search.cv_results_["params"]]
    expected = {"SVC": "ok", "GaussianNB": "error"}
    assert search.statuses_ == [expected[kind] for kind in kinds]


@pytest.mark.filterwarnings("ignore:One or more of the test scores:UserWarning")
def test_a_kernel_that_the_data_are_not_costs_that_candidate_only():
    search = RandomSearchCV(SVC(), {"kernel": ["rbf", "precomputed"]}, n_iter=2)
    with pytest.warns(FitFailedWarning, match="square kernel matrix"):
        search.fit(X, Y)
    assert sorted(search.statuses_) == ["error", "ok"]
