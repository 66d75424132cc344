"""Arguments of ``fit`` are refused by the signature that is called, and not by a type."""

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import sksearch
from sksearch._utils._terminal import say

X, y = make_classification(120, 5, random_state=0)
WEIGHTS = np.linspace(0.1, 2, 120)


class Weighted(Pipeline):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, y, m__sample_weight=sample_weight)


class Anything(Pipeline):
    def fit(self, X, y=None, **params):
        return super().fit(X, y, m__sample_weight=params.get("sample_weight"))


class Scaled(Pipeline):
    def fit(self, X, y=None, *, scale=1.0, **params):
        return super().fit(np.asarray(X) * scale, y, **params)


class Words(ClassifierMixin, BaseEstimator):
    """Understands a word, a function or weights."""

    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y, sample_weight=None):
        weights = sample_weight
        if isinstance(weights, str):
            weights = 1 + (y == 1) * 3.0
        if callable(weights):
            weights = weights(X)
        self.model_ = LogisticRegression(C=self.C).fit(X, y, weights)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def score(self, X, y, sample_weight=None):
        return self.model_.score(X, y)


class Named(Words):
    """Understands the names of weights, and missing ones."""

    def fit(self, X, y, sample_weight=None):
        known = {"high": 3.0, "low": 0.1}
        weights = [known.get(w, 1.0 if w == w else 0.2) for w in sample_weight]
        return super().fit(X, y, np.array(weights))


def steps(kind, model=None):
    return kind([("s", StandardScaler()), ("m", model or LogisticRegression())])


def of_rows(X):
    return np.abs(X[:, 0])


@pytest.mark.parametrize(
    ("estimator", "name", "params"),
    [
        (steps(Weighted), "m__C", {"sample_weight": WEIGHTS}),
        (steps(Anything), "m__C", {"sample_weight": WEIGHTS}),
        (steps(Scaled), "m__C", {"m__sample_weight": WEIGHTS, "scale": 0.3}),
        (Pipeline([("m", steps(Weighted))]), "m__m__C", {"m__sample_weight": WEIGHTS}),
        (Words(), "C", {"sample_weight": "positive"}),
        (Words(), "C", {"sample_weight": of_rows}),
        (steps(Pipeline, Words()), "m__C", {"m__sample_weight": "positive"}),
        (steps(Pipeline), "m__C", {"m__sample_weight": WEIGHTS}),
        (Named(), "C", {"sample_weight": ["high", "low"] * 60}),
        (Named(), "C", {"sample_weight": np.where(y, np.nan, 1.0)}),
    ],
    ids=lambda v: "+".join(v) if isinstance(v, dict) else str(v)[:30],
)
def test_what_scikit_learn_passes_on_is_passed_on(estimator, name, params):
    ours, theirs = (
        module.GridSearchCV(estimator, {name: [1e-3, 1e-2, 1]}, cv=3).fit(X, y, **params)
        for module in (sksearch.model_selection, model_selection)
    )
    for column in ("mean_test_score", "rank_test_score"):
        np.testing.assert_array_equal(ours.cv_results_[column], theirs.cv_results_[column])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_what_no_signature_takes_is_refused_with_the_one_that_is_called():
    grid = {"m__C": [1, 2]}
    for kind, params, match in (
        (Pipeline, {"sample_weight": WEIGHTS}, "does not belong to a step of the pipeline"),
        (Weighted, {"weights": WEIGHTS}, "fit of Weighted does not accept"),
    ):
        with pytest.raises(ValueError, match=match):
            sksearch.model_selection.GridSearchCV(steps(kind), grid).fit(X, y, **params)
    models = [steps(Pipeline), steps(Pipeline)]
    with pytest.raises(ValueError, match=r"the last step of each.*: write sample_weight"):
        sksearch.SearchCV(models, n_iter=2).fit(X, y, m__sample_weight=WEIGHTS)
    with pytest.raises(TypeError, match="is the name of a column: pass the column"):
        sksearch.model_selection.GridSearchCV(LogisticRegression(), {"C": [1, 2]}).fit(
            X, y, sample_weight="w"
        )


class Broken:
    def __init__(self, error):
        self.error = error

    def write(self, text):
        raise self.error

    def flush(self):
        raise self.error

    def isatty(self):
        return False


@pytest.mark.parametrize(
    "error",
    [BrokenPipeError(), OSError(28, "No space left"), ValueError("closed"), RuntimeError("gone")],
)
@pytest.mark.parametrize("verbose", [1, 3, 10])
def test_lines_that_cannot_be_written_are_dropped(error, verbose, monkeypatch):
    monkeypatch.setattr("sys.stdout", Broken(error))
    monkeypatch.setattr("sys.stderr", Broken(error))
    say("a line")
    search = sksearch.model_selection.GridSearchCV(
        LogisticRegression(), {"C": [1, 2]}, cv=2, verbose=verbose
    )
    assert search.fit(X, y).best_score_ > 0.5
