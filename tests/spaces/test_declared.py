"""A class that says itself what is searched of it."""

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import SearchCV
from sksearch.space import default_space

X, Y = load_iris(return_X_y=True)


class Centres(ClassifierMixin, BaseEstimator):
    """The class of the nearest mean, each of which is drawn to the mean of all."""

    def __init__(self, shrinkage=0.0):
        self.shrinkage = shrinkage

    def __sksearch_space__(self, n_samples, n_features):
        assert n_samples is None or n_samples > 0
        assert n_features is None or n_features > 0
        return {"shrinkage": uniform(0, 0.9)}

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        means = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        self.means_ = means + self.shrinkage * (X.mean(axis=0) - means)
        return self

    def predict(self, X):
        distances = ((np.asarray(X)[:, None] - self.means_) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


class Heir(Centres):
    pass


@pytest.mark.parametrize("kind", [Centres, Heir])
def test_its_space_is_the_default_one(kind):
    assert list(default_space(kind())) == ["shrinkage"]
    assert list(default_space(make_pipeline(StandardScaler(), kind()))) == [
        f"{kind.__name__.lower()}__shrinkage"
    ]


def test_it_is_searched_alone_in_a_pipeline_and_with_others():
    for estimator in (Centres(), make_pipeline(StandardScaler(), Centres()), [SVC(), Centres()]):
        search = SearchCV(estimator, n_iter=6, cv=3, random_state=0).fit(X, Y)
        names = {name for params in search.cv_results_["params"] for name in params}
        assert any(name.endswith("shrinkage") for name in names)
        assert search.best_score_ > 0.8


def test_anything_but_a_space_is_refused():
    class Wrong(Centres):
        def __sksearch_space__(self, n_samples, n_features):
            return ["shrinkage"]

    with pytest.raises(TypeError, match=r"Wrong\.__sksearch_space__ returned .* return a dict"):
        SearchCV(Wrong(), n_iter=2).fit(X, Y)
