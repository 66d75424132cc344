"""Parameters of searches as fields: what subclasses and other tools make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from dask.base import tokenize
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils._param_validation import InvalidParameterError

from sksearch import BOHBSearchCV, RandomSearchCV
from sksearch.search import Count
from tests.fakes import Curve

if TYPE_CHECKING:
    import pandas as pd

X, y = load_iris(return_X_y=True)
SPACE = {"quality": uniform()}


@dataclass(kw_only=True, eq=False, repr=False)
class Fielded(RandomSearchCV):
    """Its parameters are fields, whose annotations are texts here."""

    count: Count | None = None
    share: float = 1.0
    names: list[str] | None = None
    table: pd.DataFrame | None = None  # a name that only type checkers see


class Plain(RandomSearchCV):
    """Its parameter is in an own __init__, and its annotations are no fields."""

    table_: pd.DataFrame
    parent: Plain | None = None

    def __init__(self, estimator, param_distributions, *, share: float = 1.0, n_iter=3):
        super().__init__(estimator, param_distributions, n_iter=n_iter)
        self.share = share


class Relaxed(RandomSearchCV):
    """It says itself what its parameters may be."""

    _parameter_constraints = RandomSearchCV._parameter_constraints | {"timeout": [str]}


@pytest.mark.parametrize("wrong", [{"count": 0}, {"share": "all"}, {"names": 3}, {"timeout": 0}])
def test_annotations_of_fields_are_validated(wrong):
    with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
        Fielded(Curve(), SPACE, **wrong).fit(X, y)


def test_numbers_are_what_scikit_learn_takes_for_numbers():
    search = Fielded(Curve(), SPACE, count=2, share=1, names=["a"], table=object(), n_iter=2)
    assert clone(search.fit(X, y)).share == 1


def test_annotations_that_are_no_fields_are_left_alone():
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
