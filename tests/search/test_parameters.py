"""Parameters of searches: what subclasses and other tools make of them."""

import inspect
import pickle
import pydoc

import pytest
from dask.base import tokenize
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils._param_validation import InvalidParameterError

import sksearch
from sksearch import BOHBSearchCV, RandomSearchCV
from sksearch.search import COUNT, inherits_parameters
from tests.fakes import Curve

X, y = load_iris(return_X_y=True)
SPACE = {"quality": uniform()}


@inherits_parameters
class Own(RandomSearchCV):
    """It has parameters of its own, one of them with a constraint.

    Parameters
    ----------
    count : int or None, default=None
        Any number from 1 on.
    """

    _parameter_constraints = RandomSearchCV._parameter_constraints | {"count": [COUNT, None]}

    def __init__(self, estimator, param_distributions=None, *, count=None, table=None, **params):
        super().__init__(estimator, param_distributions, **params)
        self.count = count
        self.table = table


@inherits_parameters
class Derived(Own):
    """Its base class has inherited parameters, too, and one has another default."""

    def __init__(self, estimator, *, n_iter=3, **params):
        super().__init__(estimator, n_iter=n_iter, **params)


class Plain(RandomSearchCV):
    """It names all that it takes."""

    def __init__(self, estimator, param_distributions, *, share: float = 1.0, n_iter=3):
        super().__init__(estimator, param_distributions, n_iter=n_iter)
        self.share = share


class Fixed(RandomSearchCV):
    """It fixes one parameter, and hands on the others, which it does not list."""

    def __init__(self, estimator, param_distributions=None, **params):
        super().__init__(estimator, param_distributions, n_iter=2, **params)


class Relaxed(RandomSearchCV):
    """It says itself what its parameters may be."""

    _parameter_constraints = RandomSearchCV._parameter_constraints | {"timeout": [str]}


@pytest.mark.parametrize("wrong", [{"count": 0}, {"count": 1.5}, {"timeout": 0}, {"n_iter": 0}])
@pytest.mark.parametrize("cls", [Own, Derived])
def test_parameters_of_a_subclass_are_validated(cls, wrong):
    search = cls(Curve(), param_distributions=SPACE, **wrong)
    with pytest.raises(
        InvalidParameterError, match=f"'{next(iter(wrong))}' parameter of {cls.__name__}"
    ):
        search.fit(X, y)


def test_a_subclass_inherits_all_parameters():
    search = Own(Curve(), SPACE, count=2, n_iter=2, table=["a"]).fit(X, y)
    assert clone(search).get_params()["table"] == ["a"]
    assert search.get_params(deep=False).keys() == {
        "count", "table", *RandomSearchCV(Curve()).get_params(deep=False)
    }  # fmt: skip
    assert pickle.loads(pickle.dumps(search)).n_iter == 2
    assert "count=2" in repr(search)
    assert "timeout" not in repr(search)
    assert clone(Derived(Curve(), param_distributions=SPACE, timeout=3)).timeout == 3
    assert Derived(Curve()).get_params()["n_iter"] == 3


@pytest.mark.parametrize(
    ("cls", "begin"),
    [
        (Own, "(estimator, param_distributions=None, *, count=None, table=None, n_iter: int"),
        (
            Derived,
            "(estimator, *, n_iter=3, param_distributions=None, count=None, table=None, scor",
        ),
        (Plain, "(estimator, param_distributions, *, share: float = 1.0, n_iter=3)"),
        (
            RandomSearchCV,
            "(estimator: Any, param_distributions: dict | list | tuple | None = None",
        ),
    ],
)
def test_a_signature_is_the_same_for_python_and_for_sphinx(cls, begin):
    from sphinx.util.inspect import signature, stringify_signature

    assert str(inspect.signature(cls)).startswith(begin)
    for_sphinx = signature(cls.__init__, bound_method=True)
    assert list(for_sphinx.parameters) == list(inspect.signature(cls).parameters)
    assert "**" not in stringify_signature(for_sphinx)
    assert "__new__" not in {name for base in cls.__mro__[:-1] for name in vars(base)}
    assert "**" not in str(inspect.signature(cls))
    assert cls.__name__ + str(inspect.signature(cls)) in pydoc.plain(pydoc.render_doc(cls))


@pytest.mark.parametrize("cls", [Own, Derived, Plain, Fixed])
def test_a_misspelt_parameter_of_a_subclass_is_refused(cls):
    with pytest.raises(
        TypeError, match=f"{cls.__name__} has no parameter n_itr: did you mean n_it"
    ):
        cls(Curve(), param_distributions=SPACE, n_itr=3)
    with pytest.raises(TypeError, match=f"{cls.__name__} takes estimator.* by position"):
        cls(Curve(), SPACE, 20)


@pytest.mark.parametrize("body", [{}, {"__init__": lambda self, estimator: None}])
def test_there_must_be_params_to_replace(body):
    with pytest.raises(TypeError, match="Wrong has no __init__ with"):
        inherits_parameters(type("Wrong", (RandomSearchCV,), body))


def test_parameters_that_are_handed_on_without_a_name_are_no_parameters():
    """As in scikit-learn; a clone could not pass those that the class fixes."""
    search = Fixed(Curve(), SPACE, random_state=0)
    assert search.get_params(deep=False).keys() == {"estimator", "param_distributions"}
    assert clone(search).n_iter == 2


def test_a_subclass_with_an_own_init_has_the_parameters_that_it_names():
    search = Plain(Curve(), SPACE, share=1).fit(X, y)
    assert len(search.cv_results_["params"]) == 3
    assert set(search.get_params(deep=False)) == {
        "estimator", "param_distributions", "share", "n_iter",
    }  # fmt: skip


def test_constraints_that_a_subclass_writes_are_its_own():
    with pytest.raises(InvalidParameterError, match="timeout"):
        Relaxed(Curve(), SPACE, timeout=3).fit(X, y)
    assert RandomSearchCV(Curve(), SPACE, n_iter=2, timeout=3).fit(X, y).best_score_ <= 1


def test_dask_tells_a_fitted_search_from_one_that_is_not():
    search = RandomSearchCV(Curve(), SPACE, n_iter=2, random_state=0)
    token = tokenize(search)
    assert tokenize(search.fit(X, y)) != token
    other = clone(search).fit(X[:100], y[:100])
    assert tokenize(other) != tokenize(search)


def test_what_stands_in_for_rungs_does_not_shorten_the_initial_design():
    search = BOHBSearchCV(Curve(), SPACE, resource="epochs", max_resources=1, random_state=0)
    assert search.fit(X, y).n_candidates_ == [10]
    assert search.history_.problem.n_candidates is None


@pytest.mark.parametrize("name", [n for n in sksearch.search.__all__ if n.endswith("SearchCV")])
def test_each_parameter_has_a_constraint_and_nothing_else_has(name):
    search = getattr(sksearch.search, name)
    assert set(search._parameter_constraints) == set(inspect.signature(search).parameters)
