"""The same search twice, copied, nested, with odd values; "row": line of the table of faults."""

import copy
import os
import pickle
import sys

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sksearch import HyperbandSearchCV, RandomSearchCV, SearchCV
from sksearch._utils._compat import cloudpickle
from sksearch.search import QuasiRandomSearchCV
from tests.faults.estimators import STRANGE, TRIPLE, X, Y, hyperband, jobs

# Workers cannot import this file, so its estimators travel by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Fake(ClassifierMixin, BaseEstimator):
    """Scores its quality."""

    def __init__(self, quality=0.5, n_units=9, ballast=None, error=None):
        self.quality = quality
        self.n_units = n_units
        self.ballast = ballast
        self.error = error

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(y) if classes is None else classes
        return self

    def fit(self, X, y):
        return self.partial_fit(X, y)

    def score(self, X, y):
        return float(self.quality)


# ---- the same again

UNSEEDED = {
    "sgd": (SGDClassifier(), {"alpha": loguniform(1e-4, 1)}, "epochs"),
    "mlp": (MLPClassifier((3,)), {"alpha": loguniform(1e-4, 1)}, "epochs"),
    "lda": (LatentDirichletAllocation(2), {"learning_decay": uniform(0.5, 0.5)}, "epochs"),
    "boosting": (
        GradientBoostingClassifier(subsample=0.5), {"learning_rate": uniform()}, "n_estimators",
    ),
    "forest": (RandomForestClassifier(), {"max_features": uniform()}, "n_estimators"),
    "tree": (DecisionTreeClassifier(splitter="random"), {"max_depth": [1, 2, 3, 4]}, "n_samples"),
    "folds": (DecisionTreeClassifier(splitter="random"), {"max_depth": [1, 2, 3, 4]}, "folds"),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", UNSEEDED)
def test_an_estimator_without_a_seed_gives_the_same_scores_again(name):  # row 37
    estimator, space, resource = UNSEEDED[name]

    def scores(n_jobs):
        search = hyperband(estimator, space, resource, n_jobs=n_jobs, refit=False)
        return search.fit(np.abs(X), Y).cv_results_["mean_test_score"]

    np.random.seed(1)
    first = scores(1)
    np.random.seed(2)
    np.testing.assert_array_equal(scores(1), first)
    np.testing.assert_array_equal(scores(2), first)


def test_a_search_leaves_the_global_generator_where_it_was():  # row 37
    np.random.seed(3)
    expected = np.random.RandomState(3).random_sample()
    RandomSearchCV(SGDClassifier(), {"alpha": [1]}, n_iter=1, random_state=0).fit(X, Y)
    assert np.random.random_sample() == expected


# ---- copies, and fitting again


def copy_by_pickle(search):
    return pickle.loads(pickle.dumps(search))


@pytest.mark.few(3)
@pytest.mark.parametrize("copy_of", [copy.deepcopy, clone, copy_by_pickle])
@pytest.mark.parametrize("cls", [RandomSearchCV, QuasiRandomSearchCV, SearchCV, hyperband])
def test_copies_of_a_search_search_as_it_does(cls, copy_of):  # row 45
    space = {"alpha": loguniform(1e-4, 1)}
    search = cls(SGDClassifier(random_state=0), space, cv=2, random_state=0)
    if "n_iter" in search.get_params():
        search.set_params(n_iter=4)
    expected = copy_of(search).fit(X, Y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(search.fit(X, Y).cv_results_["mean_test_score"], expected)
    again = copy_of(search)
    if hasattr(again, "best_estimator_"):
        np.testing.assert_array_equal(again.predict(X), search.predict(X))
    np.testing.assert_array_equal(again.fit(X, Y).cv_results_["mean_test_score"], expected)


@jobs
def test_a_pickle_holds_no_data(n_jobs):  # row 45
    rows = np.random.default_rng(0).normal(size=(20_000, 10))
    search = hyperband(
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        {"sgdclassifier__alpha": [1e-3, 1e-2]}, n_jobs=n_jobs,
    ).fit(rows, (rows[:, 0] > 0).astype(int))  # fmt: skip
    assert len(pickle.dumps(search)) < 20_000


def test_a_second_fit_that_fails_leaves_nothing_of_the_first():  # row 46
    search = RandomSearchCV(Fake(), TRIPLE, n_iter=3).fit(X, Y)
    search.set_params(param_distributions={"quality": []})
    with pytest.raises(ValueError):
        search.fit(X, Y)
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "cv_results_")


def test_a_search_inside_of_a_search_starts_no_workers_of_workers():
    def stays_here(search, X, y):
        return float(set(search.cv_results_["mean_test_score"]) == {float(os.getpid())})

    inner = RandomSearchCV(
        Fake(), TRIPLE, n_iter=3, cv=2, n_jobs=2, scoring=lambda e, X, y: float(os.getpid())
    )
    outer = RandomSearchCV(inner, {"cv": [2, 3]}, n_iter=2, cv=2, n_jobs=2, scoring=stays_here)
    assert outer.fit(X, Y).best_score_ == 1


# ---- odd values of parameters


@jobs
def test_values_of_any_kind_can_be_promoted(n_jobs):  # row 38
    search = HyperbandSearchCV(
        Fake(), {"ballast": STRANGE[5:12], "error": STRANGE[:4]}, resource="n_units",
        n_jobs=n_jobs, random_state=0,
    ).fit(X, Y)  # fmt: skip
    assert (search.cv_results_["n_resources"] == 9).sum() == 1 + 1 + 3


def test_a_parameter_that_some_candidates_lack_is_masked():  # row 38
    space = [{"quality": [0.1, 0.2]}, {"n_units": [1, 2]}]
    search = RandomSearchCV(Fake(), space, n_iter=4).fit(X, Y)
    assert search.cv_results_["params"] == list(ParameterGrid(space))
    assert search.cv_results_["param_quality"].mask.tolist() == [False, False, True, True]


def test_functions_as_values_reach_the_workers():  # row 38
    pipe = make_pipeline(FunctionTransformer(), SGDClassifier(random_state=0))
    space = {"functiontransformer__func": [lambda X: X, lambda X: X[:, :1]]}
    search = RandomSearchCV(pipe, space, n_iter=2, n_jobs=2, error_score="raise").fit(X, Y)
    assert len(set(search.cv_results_["mean_test_score"])) == 2


# ---- workers


@pytest.mark.parametrize("cls", [RandomSearchCV, QuasiRandomSearchCV, SearchCV, hyperband])
def test_zero_workers_are_refused(cls):  # row 49
    with pytest.raises(ValueError, match="n_jobs=0 leaves no worker"):
        cls(Fake(), {"quality": uniform()}, n_jobs=0).fit(X, Y)
