"""Whatever form data have: where scikit-learn's search fits, ours fits, with its scores."""

import warnings
import zlib

import numpy as np
import pytest
import sklearn.model_selection
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVR

import sksearch
from tests.forms import LABELS, NUMBERS, TARGET, XS, YS, of_cells


class Takes(BaseEstimator):
    """Takes any data; its score depends on which it got."""

    def __init__(self, a=1):
        self.a = a

    def fit(self, X, y=None):
        self.classes_ = [0]
        return self

    def score(self, X, y=None):
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return self.a + zlib.crc32(f"{type(X)} {n} {type(y)}".encode()) % 1000


class TakesLabels(ClassifierMixin, Takes):
    score = Takes.score


class TakesNumbers(RegressorMixin, Takes):
    score = Takes.score


MODELS = {
    "any": (Takes(), {"a": [1, 2]}),
    "classifier": (TakesLabels(), {"a": [1, 2]}),
    "regressor": (TakesNumbers(), {"a": [1, 2]}),
    "dummy": (DummyClassifier(), {"strategy": ["prior", "most_frequent"]}),
    "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
}


def same_as_scikit_learn(model, X, y, cv, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = sklearn.model_selection.GridSearchCV(*MODELS[model], cv=cv).fit(X, y)
        except Exception:
            return
        scores = theirs.cv_results_["mean_test_score"]
        if not np.isfinite(scores).all():
            return
        ours = sksearch.model_selection.GridSearchCV(*MODELS[model], cv=cv, **more).fit(X, y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], scores)


@pytest.mark.parametrize("model", ["any", "classifier", "neighbours"])
@pytest.mark.parametrize("name", XS)
def test_x_in_any_form(name, model, tmp_path):
    X = XS[name](tmp_path) if callable(XS[name]) else XS[name]
    same_as_scikit_learn(model, X, LABELS, KFold(2))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", YS)
def test_y_in_any_form(name, model):
    same_as_scikit_learn(model, NUMBERS, YS[name], 2)
    same_as_scikit_learn(model, NUMBERS, YS[name], KFold(2))


COPIES = {
    "one minus y": (LABELS, 1 - LABELS),
    "a line": (TARGET, 2 * TARGET + 3),
    "a line down": (TARGET, 1 - TARGET),
    "fewer digits": (TARGET, TARGET.astype(np.float32)),
    "texts": (TARGET, [str(value) for value in TARGET]),
    "texts of labels": (LABELS, [str(value) for value in LABELS]),
    "words": (LABELS, [("low", "high")[value] for value in LABELS]),
    "a gap": (LABELS, [None, *LABELS[1:].tolist()]),
    "y as one column": (LABELS[:, None], 1 - LABELS),
    "y in words": (np.where(LABELS, "yes", "no"), LABELS),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_column_that_gives_the_target_away_is_named(name):
    y, column = COPIES[name]
    with pytest.warns(UserWarning, match="Column 'cell' of X (gives y away|is y itself).*leave"):
        sksearch.model_selection.GridSearchCV(Takes(), {"a": [1]}, cv=2).fit(of_cells(column), y)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.lil_matrix])
@pytest.mark.parametrize("y", [LABELS, 1 - LABELS, TARGET], ids=["labels", "zeros", "numbers"])
def test_the_target_in_a_sparse_matrix_is_named(y, kind):
    X = kind(np.column_stack([NUMBERS[:, 0] > 0.9, LABELS if y.max() == 1 else y, NUMBERS[:, 1]]))
    with pytest.warns(UserWarning, match="Column 1 of X"):
        sksearch.model_selection.GridSearchCV(Takes(), {"a": [1]}, cv=2).fit(X, y)


@pytest.mark.filterwarnings("error")
def test_columns_that_have_something_to_do_with_the_target_are_not_named():
    rare = np.where(np.arange(40) == 7, 1, 0)
    search = sksearch.model_selection.GridSearchCV(Takes(), {"a": [1]}, cv=2)
    search.fit(np.column_stack([NUMBERS, TARGET > 3]), TARGET)
    search.fit(NUMBERS, LABELS)  # the first column parts the labels
    search.fit(np.column_stack([NUMBERS, 1 - rare]), rare)
    search.fit(TARGET[:, None], 2 * TARGET + 3)


@pytest.mark.parametrize("path", ["s3://bucket/run", "gs://b", "hdfs://a/b", "file:///tmp/x"])
def test_an_address_is_not_a_folder(path):
    search = sksearch.model_selection.GridSearchCV(SVR(), {"C": [1.0]}, cv=2, checkpoint_dir=path)
    with pytest.raises(ValueError, match=r"is a URL.*mounted"):
        search.fit(NUMBERS, TARGET)


def test_names_that_belong_to_the_search_are_named():
    search = sksearch.RandomSearchCV(SVR(), {"C": [1.0]}, n_iter=1)
    with pytest.raises(ValueError, match=r"fit got time_budget.*pass timeout=5"):
        search.fit(NUMBERS, TARGET, time_budget=5)
    with pytest.raises(TypeError, match=r"fit\(X.drop\(columns='cell'\), X\['cell'\]\)"):
        search.fit(of_cells(TARGET), "cell")
    with pytest.raises(TypeError, match=r"estimator='automatic' is a string.*'auto' chooses"):
        sksearch.SearchCV("automatic", n_iter=1).fit(NUMBERS, TARGET)
    with pytest.raises(TypeError, match=r"tune\(estimator, X, y\)"):
        sksearch.tune(NUMBERS, TARGET)
