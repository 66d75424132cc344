"""Versions on which fitted models depend."""

import platform
import sys

import numpy as np
import scipy
import sklearn
from scipy.stats import uniform
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import check_random_state

import sksearch as sks
from sksearch._utils._versions import differences, versions_of
from sksearch.checkpoint._fingerprint import versions_of_setup

ALWAYS = {
    "python": platform.python_version(),
    "numpy": np.__version__,
    "sklearn": sklearn.__version__,
}


def test_versions_are_of_python_and_of_the_packages_of_values():
    assert versions_of([]) == ALWAYS
    assert versions_of([1, "a", None]) == ALWAYS
    assert versions_of([uniform(0, 1)]) == ALWAYS | {"scipy": scipy.__version__}
    assert versions_of([sks.samplers.RandomSampler()]) == ALWAYS  # which the header has


def test_a_package_without_a_version_has_none(monkeypatch):
    class Own:
        pass

    Own.__module__ = "nowhere.at_all"
    assert versions_of([Own()]) == ALWAYS
    monkeypatch.setattr(sys.modules["sklearn"], "__version__", (1, 8))
    assert versions_of([]).keys() == {"python", "numpy"}


def of_search(estimator, space):
    search = sks.RandomSearchCV(estimator, space, n_iter=2, cv=2)
    X, y = np.arange(8.0).reshape(8, 1), np.tile([0, 1], 4)
    return versions_of_setup(search._prepare(X, y, {}, check_random_state(0)))


def test_versions_are_of_all_parts_of_an_estimator_and_of_choices():
    assert of_search(SVC(), {"C": uniform(1, 2)}) == ALWAYS
    inner = make_pipeline(StandardScaler(), SVC())
    assert of_search(inner, {"svc__C": [1, 2]}) == ALWAYS
    assert "scipy" in of_search(inner, {"svc__C": [1, uniform(0, 1)]})
    inner.set_params(svc__cache_size=uniform(0, 1))
    assert "scipy" in of_search(inner, {"svc__C": [1, 2]})


def test_versions_differ_in_their_first_two_parts():
    assert differences({"a": "1.2.3"}, {"a": "1.2.4"}) == {}
    assert differences({"a": "1.2"}, {"a": "1.2.4"}) == {}
    assert differences({"a": "1.2.3"}, {"a": "1.3.3"}) == {"a": "a 1.2.3 (now 1.3.3)"}
    assert differences({"a": "1.2.3"}, {"a": "2.2.3"}) == {"a": "a 1.2.3 (now 2.2.3)"}
    assert differences({"a": "1.2"}, {"b": "1.2"}) == {}
    found = differences({"sklearn": "1.7", "b": "1"}, {"sklearn": "1.8", "c": "1"})
    assert found == {"sklearn": "scikit-learn 1.7 (now 1.8)"}
