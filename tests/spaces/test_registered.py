"""A space for a class of others."""

import pytest
from scipy.stats import uniform
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sksearch import SearchCV
from sksearch.estimators import _registered
from sksearch.space import default_space, register_space
from tests.spaces.test_declared import Centres
from tests.spaces.test_unknown_parts import Mine

X, Y = load_iris(return_X_y=True)


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """Forget afterwards what a test has registered."""
    monkeypatch.setattr(_registered, "_SPACES", {})


def test_it_is_the_default_space_alone_and_in_a_pipeline():
    register_space(Mine, {"power": [1, 2, 3]})
    assert default_space(Mine()) == {"power": [1, 2, 3]}
    assert default_space(make_pipeline(StandardScaler(), Mine())) == {"mine__power": [1, 2, 3]}
    search = SearchCV(Mine(), n_iter=3, cv=3).fit(X, Y)
    assert {params["power"] for params in search.cv_results_["params"]} == {1, 2, 3}


def test_it_takes_the_place_of_what_is_known():
    for cls, name in ((SVC, "gamma"), (Centres, "shrinkage")):
        register_space(cls, {name: uniform(0.1, 0.2)})
        assert list(default_space(cls())) == [name]
        assert default_space(cls())[name].support() == pytest.approx((0.1, 0.3))


def test_a_callable_is_told_the_size():
    register_space(
        Mine, lambda estimator, n_samples, n_features: {"power": [n_samples, n_features]}
    )
    assert default_space(Mine(), n_samples=9, n_features=4) == {"power": [9, 4]}
    assert default_space(Mine()) == {"power": [None, None]}


def test_an_heir_has_it_unless_it_says_its_own():
    class Heir(Mine):
        pass

    class Speaker(Mine):
        def __sksearch_space__(self, n_samples, n_features):
            return {"power": [5]}

    register_space(Mine, {"power": [1]})
    assert default_space(Heir()) == {"power": [1]}
    assert default_space(Speaker()) == {"power": [5]}


def test_what_is_returned_may_be_edited():
    register_space(Mine, {"power": [1]})
    default_space(Mine())["power"] = [2]
    assert default_space(Mine()) == {"power": [1]}


@pytest.mark.parametrize(
    ("args", "message"),
    [((LogisticRegression(), {}), "not an instance"), ((Mine, ["power"]), "must be a dict")],
)
def test_an_invalid_class_or_space_is_refused(args, message):
    with pytest.raises(TypeError, match=message):
        register_space(*args)


def test_a_callable_that_returns_no_space_is_refused():
    register_space(Mine, lambda estimator, n_samples, n_features: ["power"])
    with pytest.raises(TypeError, match="registered for Mine returned"):
        default_space(Mine())
