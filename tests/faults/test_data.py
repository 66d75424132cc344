"""Rows 29 to 37 of the table of faults: estimators, data, folds, weights."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from sksearch._compat import cloudpickle
from tests.faults.estimators import (
    Fake,
    X,
    Y,
    assert_same,
    halving,
    random_search,
    trainings,
)

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.usefixtures("engine")

ALPHAS = {"alpha": [1e-4, 1e-3, 1e-2, 1e-1]}


def test_a_local_estimator_and_a_lambda_reach_the_workers():  # row 29
    class Mine(Fake):
        def score(self, X, y):
            raise AssertionError("the scorer does not ask for it")

    Mine.__module__ = "__main__"  # as in a notebook
    search = halving(Mine(), scoring=lambda estimator, X, y: estimator.quality)
    assert search.fit(X, Y).best_params_ == {"quality": 0.9}


def test_folds_with_one_class_are_named_if_all_candidates_fail():  # row 30
    search = random_search(SVC(), {"C": [0.1, 1.0]}, n_iter=2, cv=KFold(2))
    match = r"(?s)^fold 0 trains on 30 rows of one class.*fold 1 trains on 30.*fits failed"
    with pytest.raises(ValueError, match=match):
        search.fit(X, np.repeat([0, 1], 30))


def test_a_target_that_no_candidate_can_learn_is_refused_once(tmp_path):  # row 31
    log = tmp_path / "log"
    for y, match in [
        (None, "requires y"),
        (np.linspace(0, 1, 60), "continuous"),
        (Y[:-1], "inconsistent numbers of samples"),
    ]:
        with pytest.raises(ValueError, match=match):
            random_search(Fake(log=str(log))).fit(X, y)
    assert trainings(log) == []
    with pytest.raises(ValueError, match=r"number of classes.* greater than one"):
        random_search(SVC(), {"C": [1, 2, 3, 4]}).fit(X, np.zeros(60, dtype=int))


def test_a_generator_of_folds_serves_all_and_a_cv_without_folds_is_refused(tmp_path):  # row 32
    search = halving(cv=KFold(3).split(X)).fit(X, Y)
    assert search.n_splits_ == 3
    assert search.cv_results_["n_resources"].max() == 9
    log = tmp_path / "log"
    for cv in (1, 0, 61, [], iter([])):
        with pytest.raises(ValueError):
            random_search(Fake(log=str(log)), cv=cv).fit(X, Y)
    assert trainings(log) == []


@pytest.mark.few(1)
@pytest.mark.filterwarnings("ignore:Column 'colour' of X gives y away")
@pytest.mark.slow
def test_rows_in_any_container_are_passed_through_untouched(tmp_path):  # row 33
    np.save(tmp_path / "X.npy", X)
    for data in (
        sparse.csr_matrix(X),
        sparse.csc_array(X),
        sparse.coo_matrix(X),
        X.tolist(),
        pl.DataFrame(X, schema=list("abcd")),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
    ):
        search = random_search(LogisticRegression(), {"C": [0.01, 1.0]}, n_iter=2)
        grid = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=2, n_jobs=1)
        np.testing.assert_array_equal(
            search.fit(data, Y).cv_results_["mean_test_score"],
            grid.fit(data, Y).cv_results_["mean_test_score"],
        )
    frame = pd.DataFrame({"x": X[:, 0], "colour": np.where(Y, "red", "blue")})
    frame["colour"] = frame["colour"].astype("category")
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    pipe = make_pipeline(columns, SGDClassifier(random_state=0))
    search = halving(pipe, {"sgdclassifier__alpha": [1e-3, 1e-2]}).fit(frame, Y)
    assert search.best_score_ == 1
    assert search.feature_names_in_.tolist() == ["x", "colour"]


def test_nan_in_the_data_is_left_to_the_estimator():  # row 34
    holes = X.copy()
    holes[::7, 1] = np.nan
    assert random_search().fit(holes, Y).best_params_ == {"quality": 0.4}
    with pytest.raises(ValueError, match="Input X contains NaN"):
        random_search(SVC(), {"C": [1, 2, 3, 4]}).fit(holes, Y)


class Weighed(Fake):
    """Its weights must be those of its rows."""

    def fit(self, X, y, sample_weight):
        np.testing.assert_array_equal(X[:, 0], sample_weight)
        return super().fit(X, y)


def test_weights_and_groups_are_sliced_with_their_rows(tmp_path):  # row 35
    pipe = make_pipeline("passthrough", Weighed(log=str(tmp_path / "log")))
    space = {"weighed__quality": [0.1, 0.2, 0.3, 0.4]}
    search = random_search(pipe, space, error_score="raise")
    assert search.fit(X, Y, weighed__sample_weight=X[:, 0]).best_score_ > 0.3
    n_trainings = len(trainings(tmp_path / "log"))
    with pytest.raises(ValueError, match="sample_weight"):
        search.fit(X, Y, weighed__sample_weight=X[1:, 0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        random_search(cv=GroupKFold(2)).fit(X, Y, groups=np.arange(59))
    assert len(trainings(tmp_path / "log")) == n_trainings


@pytest.mark.filterwarnings("ignore:cv. fold 0 tests only classes:UserWarning")
def test_partial_fit_is_told_the_classes_of_the_whole_y():  # row 36
    # Each training fold of an unshuffled KFold lacks one of the classes.
    y = np.repeat(["ant", "bee", "cat"], 20)
    search = halving(SGDClassifier(random_state=0), ALPHAS, cv=KFold(3), error_score="raise")
    assert search.fit(X, y).classes_.tolist() == ["ant", "bee", "cat"]


class Rounds(Fake):
    """Breaks the rule that makes estimators clonable."""

    def __init__(self, quality=0.5):
        self.quality = np.round([quality])


def test_an_estimator_without_a_seed_gives_the_same_scores_again(engine):  # row 37
    np.random.seed(1)
    search = halving(SGDClassifier(), ALPHAS, n_candidates=4).fit(X, Y)
    np.random.seed(2)
    expected = halving(SGDClassifier(), ALPHAS, n_candidates=4, n_jobs=1).fit(X, Y)
    if engine.name != "threads":  # which share the global generators, as the docs say
        assert_same(search, expected)
    with pytest.raises(RuntimeError, match="Cannot clone"):
        random_search(Rounds(), {"quality": [0.1]}, n_iter=1).fit(X, Y)
