"""Estimators, data, folds and weights, on each engine."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from sksearch._utils._compat import cloudpickle
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
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    pipe = make_pipeline(columns, SGDClassifier(random_state=0))
    for dtype in ("category", object, "str"):
        frame["colour"] = frame["colour"].astype(dtype)
        search = halving(pipe, {"sgdclassifier__alpha": [1e-3, 1e-2]}).fit(frame, Y)
        assert search.best_score_ == 1
        assert search.feature_names_in_.tolist() == ["x", "colour"]


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
