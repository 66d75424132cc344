"""Numbers that are none: each search refuses them by the option's name, or trains with them."""

import math
import resource
from decimal import Decimal
from fractions import Fraction
from inspect import signature

import numpy as np
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval

import sksearch
from sksearch.search._groups import Group
from tests.faults.estimators import X, Y

HUGE = 10**400
#: Values that no option can take.
NEVER = [
    math.nan, -math.inf, np.float64("nan"), -HUGE, HUGE, 2**63, True, np.True_, np.False_, "3",
    b"1", 1j, [1], np.array([1]), Fraction(1, 3), Decimal("NaN"), Decimal(2),
    np.datetime64("2020-01-01"),
]  # fmt: skip
#: Values that one option can take and another one cannot.
AT_TIMES = [
    math.inf, np.float32("inf"), None, -1, 0, 1, 1.5, 1e-320, 1e308, 2**62, 10**9, 10**6,
    np.int64(-1), np.int64(0), np.uint8(255), np.float64(3.0), np.array(2),
]  # fmt: skip
CLASSES = [
    getattr(sksearch.search, name) for name in sksearch.search.__all__ if name.endswith("SearchCV")
]
# Its estimators differ; in a grid there is no number but those that halving has.
CLASSES.remove(sksearch.search.HypergradientSearchCV)


class TrainingBeginsError(Exception):
    """How each legal fit ends."""


class Untrained(BaseEstimator):
    """Says that it is trained, and is not."""

    def __init__(self, quality=0.5):
        self.quality = quality

    def fit(self, X, y=None):
        raise TrainingBeginsError

    def partial_fit(self, X, y=None):
        raise TrainingBeginsError

    def score(self, X, y=None):
        return 0.0


def constraints_of(cls):
    """Constraints by name, those of groups by the names that messages have."""
    found = {name: cls._parameter_constraints.get(name, ()) for name in signature(cls).parameters}
    for name, constraints in list(found.items()):
        for group in (each for each in constraints if isinstance(each, Group)):
            found |= {f'{name}["{key}"]': each for key, (_, each) in group.keys.items()}
    return found


COMMON = constraints_of(sksearch.RandomSearchCV)


def numbers_of(cls):
    """Names of a search's own parameters that are numbers, by their constraints."""
    return [
        name
        for name, constraints in constraints_of(cls).items()
        if any(isinstance(each, Interval) for each in constraints)
        and (cls is sksearch.RandomSearchCV or name not in COMMON)
    ]


CASES = [(cls, name) for cls in CLASSES for name in numbers_of(cls)]


def what_comes(cls, name, value):
    """ "training", or the error before it."""
    space = {"quality": [0.1, 0.2] if "Grid" in cls.__name__ else uniform(0, 1)}
    has_resource = "resource" in signature(cls).parameters
    kwargs = {"resource": "epochs"} if has_resource else {}
    group, is_key, key = name.removesuffix('"]').partition('["')
    kwargs[group] = {key: value} if is_key else value
    # One split and one training: those that begin are many for some numbers.
    search = cls(
        Untrained(), space, cv=2, random_state=0, error_score="raise",
        scoring=lambda *args: 0.0, **kwargs,
    )  # fmt: skip
    with pytest.raises((TrainingBeginsError, ValueError, TypeError)) as caught:
        search.fit(X, Y)
    return "training" if caught.type is TrainingBeginsError else str(caught.value)


@pytest.fixture(autouse=True)
def little_memory():
    """What asks for more than gigabytes fails, and fails at once."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (2**34, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


#: Whose tasks need worker processes, which are started to begin a training.
SLOW = {'workers["timeout"]', 'workers["memory"]', 'stop["overtime"]'}
#: Options that may be a truth value, too.
FLAGS = {"ensemble"}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("cls", "name"), CASES)
def test_a_number_that_is_none_is_refused_by_the_name_of_its_option(cls, name):
    for value in NEVER:
        if name not in FLAGS or not isinstance(value, bool | np.bool_):
            assert name in what_comes(cls, name, value), value


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("cls", "name"), [case for case in CASES if case[1] not in SLOW])
def test_any_number_is_refused_by_the_name_of_its_option_or_trained_with(cls, name):
    for value in AT_TIMES:
        came = what_comes(cls, name, value)
        assert came == "training" or name in came or "would never end" in came, value


def test_each_search_with_its_own_numbers_is_looked_at():
    assert len({cls for cls, _ in CASES}) == 18
