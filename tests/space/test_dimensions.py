"""Each distribution maps its values to [0, 1] and back, and draws with the right frequencies."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import SVC

from sksearch.space import LogRandInt, Space


class Coin:
    """Has only rvs, and takes a random_state."""

    def __init__(self, faces=("heads", "tails")):
        self.faces = faces

    def rvs(self, random_state=None):
        return self.faces[random_state.randint(len(self.faces))]


class Unseedable:
    """Has only rvs, without arguments."""

    def rvs(self):
        return 4


DISTRIBUTIONS = {
    "uniform": stats.uniform(-2, 5),
    "loguniform": stats.loguniform(1e-6, 1e3),
    "reciprocal": stats.reciprocal(a=1, b=2),
    "scaled loguniform": stats.loguniform(1, 10, scale=5),
    "shifted loguniform": stats.loguniform(1, 10, loc=2),
    "norm": stats.norm(3, 2),
    "truncnorm": stats.truncnorm(-np.inf, 1),
    "beta": stats.beta(0.5, 0.5, 1, 2),
    "cauchy": stats.cauchy(),
    "heavy tail": stats.pareto(0.01),
    "randint": stats.randint(-3, 8),
    "one integer": stats.randint(3, 4),
    "binom": stats.binom(10, 0.3),
    "poisson": stats.poisson(4),
    "rv_discrete": stats.rv_discrete(values=([1, 2, 3], [0.2, 0.3, 0.5]))(),
    "LogRandInt": LogRandInt(1, 1000),
    "large LogRandInt": LogRandInt(1, 10**9),
    "list": ["a", 1, 1.0, True, None, (1, 2), [1, 2], {"a": 1}],
    "tuple": (1, 2, 4),
    "range": range(2, 20, 3),
    "array": np.linspace(0, 1, 7),
    "one choice": ["only"],
    "opaque": Coin(),
    "opaque numbers": Coin((3, 1, 2)),
    "opaque lists": Coin(({"a": [1]}, {"b": [2]})),
}


def dimension_of(values):
    (dimension,) = Space({"x": values}).all_dimensions
    return dimension


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_values_survive_the_way_to_the_unit_interval_and_back(name):
    dimension = dimension_of(DISTRIBUTIONS[name])
    rng = np.random.default_rng(0)
    for u in [0.0, 1.0, *rng.random(100)]:
        value = dimension.from_unit(u)
        assert 0 <= dimension.to_unit(value) <= 1
        again = dimension.from_unit(dimension.to_unit(value))
        if dimension.kind == "real":
            # relative to the tail: a cdf near 1 has lost the digits of x
            if 1e-3 < u < 1 - 1e-3:
                assert again == pytest.approx(value, rel=1e-9, abs=1e-12)
        else:
            assert again == value
            assert type(again) is type(value)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_the_ends_of_the_unit_interval_are_finite_and_in_bounds(name):
    dimension = dimension_of(DISTRIBUTIONS[name])
    for u in (0.0, 5e-324, 2.0**-60, 1 - 2.0**-53, 1.0):
        value = dimension.from_unit(u)
        assert dimension.contains(value)
        if dimension.bounds:
            assert math.isfinite(value)
            assert dimension.bounds[0] <= value <= dimension.bounds[1]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_dimensions_survive_pickle_and_deepcopy(name):
    dimension = dimension_of(DISTRIBUTIONS[name])
    for twin in (pickle.loads(pickle.dumps(dimension)), copy.deepcopy(dimension)):
        assert repr(twin) == repr(dimension)
        for u in (0.1, 0.5, 0.9):
            assert twin.from_unit(u) == dimension.from_unit(u)


@pytest.mark.parametrize("name", ["uniform", "loguniform", "norm", "beta", "shifted loguniform"])
def test_reals_are_drawn_with_their_distribution(name):
    dimension = dimension_of(DISTRIBUTIONS[name])
    rng = np.random.default_rng(1)
    draws = [dimension.sample(rng) for _ in range(2000)]
    assert stats.kstest(draws, DISTRIBUTIONS[name].cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    "distribution",
    [stats.randint(2, 9), LogRandInt(1, 9), stats.binom(4, 0.4), LogRandInt(5, 9)],
    ids=["randint", "LogRandInt from 1", "binom", "LogRandInt from 5"],
)
def test_integers_are_drawn_with_their_distribution(distribution):
    dimension = dimension_of(distribution)
    low, high = dimension.bounds
    rng = np.random.default_rng(2)
    counts = np.bincount([dimension.sample(rng) for _ in range(4000)], minlength=high + 1)
    expected = 4000 * distribution.pmf(np.arange(low, high + 1))
    assert stats.chisquare(counts[low:], expected).pvalue > 1e-3


def test_choices_are_equally_likely():
    dimension = dimension_of(list("abcde"))
    rng = np.random.default_rng(3)
    draws = [dimension.sample(rng) for _ in range(2000)]
    assert stats.chisquare([draws.count(letter) for letter in "abcde"]).pvalue > 1e-3


def test_closed_forms_agree_with_scipy():
    for distribution in (stats.uniform(-2, 5), stats.loguniform(1e-6, 1e3), stats.randint(-3, 8)):
        dimension = dimension_of(distribution)
        u = np.linspace(0.0013, 0.9987, 50)
        values = [dimension.from_unit(x) for x in u]
        np.testing.assert_allclose(values, distribution.ppf(u), rtol=1e-9, atol=1e-9)


def test_an_integer_sits_in_the_middle_of_its_probability():
    for distribution in (stats.randint(1, 5), LogRandInt(2, 9), stats.poisson(2)):
        dimension = dimension_of(distribution)
        middle = (distribution.cdf(2) + distribution.cdf(3)) / 2
        assert dimension.to_unit(3) == pytest.approx(middle)


def test_a_choice_sits_in_the_middle_of_its_cell():
    dimension = dimension_of(["a", "b", "c", "d"])
    assert [dimension.to_unit(value) for value in "abcd"] == [0.125, 0.375, 0.625, 0.875]
    with pytest.raises(ValueError, match="x='e' is not a choice: it must be one of"):
        dimension.to_unit("e")


@pytest.mark.parametrize(
    ("values", "kind", "log", "size", "bounds"),
    [
        (stats.uniform(1, 2), "real", False, math.inf, (1, 3)),
        (stats.loguniform(1, 2), "real", True, math.inf, (1, 2)),
        (stats.loguniform(1, 10, loc=2), "real", False, math.inf, (3, 12)),
        (stats.norm(), "real", False, math.inf, (-math.inf, math.inf)),
        (stats.randint(1, 5), "integer", False, 4, (1, 4)),
        (stats.randint(1, 5, loc=2), "integer", False, 4, (3, 6)),
        (stats.poisson(3), "integer", False, math.inf, (0, math.inf)),
        (stats.binom(3, 0.5), "integer", False, 4, (0, 3)),
        (LogRandInt(1, 5), "integer", True, 4, (1, 4)),
        (["a", "b"], "categorical", False, 2, None),
        (Coin(), "opaque", False, math.inf, None),
    ],
)
def test_dimensions_describe_themselves(values, kind, log, size, bounds):
    dimension = dimension_of(values)
    assert dimension.name == "x"
    assert (dimension.kind, dimension.log, dimension.size) == (kind, log, size)
    assert dimension.bounds == bounds


def test_only_strictly_monotone_numbers_are_ordered():
    assert dimension_of([1, 2.5, 10]).ordered
    assert dimension_of([3, 2, 1]).ordered
    assert not dimension_of([1, 3, 2]).ordered
    assert not dimension_of([False, True]).ordered
    assert not dimension_of([1, None]).ordered
    assert not dimension_of(["a", "b"]).ordered


def test_values_are_native_numbers():
    pd = pytest.importorskip("pandas")
    for values in (np.arange(3), [np.int64(1), np.int64(2)], pd.Series([1, 2]), LogRandInt(1, 4)):
        assert type(dimension_of(values).from_unit(0.5)) is int
    for values in (np.linspace(0, 1, 3), stats.norm(), stats.uniform(), stats.loguniform(1, 2)):
        assert type(dimension_of(values).from_unit(0.5)) is float
    assert type(dimension_of(stats.binom(3, 0.5)).from_unit(0.5)) is int
    assert type(dimension_of(np.array(["a", "b"])).from_unit(0.5)) is str


def test_choices_are_handed_out_by_identity():
    choices = [SVC(), np.arange(2), [1, 2], {"a": 1}]
    dimension = dimension_of(choices)
    assert all(dimension.from_unit((i + 0.5) / 4) is choices[i] for i in range(4))
    assert [dimension.index(choice) for choice in choices] == [0, 1, 2, 3]


def test_an_estimator_from_a_pickle_is_found_among_the_choices():
    dimension = dimension_of([SVC(C=1), SVC(C=2), np.arange(3), np.arange(4)])
    for i, choice in enumerate(dimension.choices):
        assert dimension.index(pickle.loads(pickle.dumps(choice))) == i
    assert dimension.index(SVC(C=3)) is None


def test_an_opaque_distribution_is_drawn_with_the_generator():
    dimension = dimension_of(Coin(tuple(range(1000))))
    draws = [dimension.sample(np.random.default_rng(seed)) for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    assert dimension_of(Coin(tuple(range(1000)))).from_unit(0.3) == dimension.from_unit(0.3)


def test_an_opaque_distribution_need_not_take_a_seed():
    dimension = dimension_of(Unseedable())
    assert dimension.sample(np.random.default_rng(0)) == 4
    assert dimension.from_unit(dimension.to_unit(4)) == 4


def test_an_unknown_opaque_value_has_a_place():
    assert dimension_of(Coin((1, 3))).to_unit(2) == pytest.approx(0.5, abs=0.05)
    assert 0 < dimension_of(Coin((1, 3))).to_unit(None) < 1
    lists = dimension_of(Coin(({"a": 1}, {"b": 2})))
    assert lists.to_unit({"c": 3}) == lists.to_unit({"c": 3})


def test_points_of_rv_discrete_that_are_not_consecutive_are_never_invented():
    dimension = dimension_of(stats.rv_discrete(values=([1, 10, 100], [0.2, 0.3, 0.5]))())
    assert {dimension.from_unit(u) for u in np.linspace(0, 1, 50)} == {1, 10, 100}


def test_heavy_tails_of_integers_do_not_exhaust_memory():
    assert dimension_of(stats.zipf(1.5)).kind == "opaque"
    assert dimension_of(stats.zipf(3.5)).kind == "integer"
    assert dimension_of(stats.zipf(3.5)).from_unit(1.0) < 10_000


def test_lograndint_is_a_distribution():
    distribution = LogRandInt(3, 50)
    k = np.arange(3, 50)
    assert distribution.support() == (3, 49)
    assert distribution.pmf(k).sum() == pytest.approx(1)
    np.testing.assert_allclose(np.cumsum(distribution.pmf(k)), distribution.cdf(k))
    np.testing.assert_array_equal(distribution.ppf(distribution.cdf(k)), k)
    np.testing.assert_array_equal(distribution.ppf([0, 1]), [3, 49])
    np.testing.assert_array_equal(distribution.pmf([2, 3.5, 50]), 0)
    np.testing.assert_array_equal(distribution.cdf([0, 2.9, 49, 100]), [0, 0, 1, 1])
    assert repr(distribution) == "LogRandInt(3, 50)"
    assert distribution == LogRandInt(3, 50) != LogRandInt(3, 51)
    assert hash(distribution) == hash(LogRandInt(3, 50))


@pytest.mark.parametrize("source", [0, np.random.RandomState(0), np.random.default_rng(0)])
def test_lograndint_draws_with_its_distribution(source):
    distribution = LogRandInt(1, 6)
    draws = distribution.rvs(size=3000, random_state=source)
    expected = 3000 * distribution.pmf(np.arange(1, 6))
    assert stats.chisquare(np.bincount(draws)[1:], expected).pvalue > 1e-3
    assert distribution.rvs(size=(2, 3)).shape == (2, 3)
    assert type(distribution.rvs()) is int


def test_lograndint_works_in_scikit_learn():
    from sklearn.model_selection import ParameterSampler

    draws = list(ParameterSampler({"k": LogRandInt(1, 9)}, 50, random_state=0))
    assert {1} < {draw["k"] for draw in draws} <= set(range(1, 9))


@pytest.mark.parametrize(("low", "high"), [(0, 5), (5, 5), (5, 4)])
def test_lograndint_refuses_what_is_empty(low, high):
    with pytest.raises(ValueError, match="1 <= low < high"):
        LogRandInt(low, high)


def test_lograndint_refuses_floats():
    with pytest.raises(TypeError, match="two integers"):
        LogRandInt(1.0, 5)


@pytest.mark.parametrize(
    ("distribution", "possible"),
    [
        (stats.rv_discrete(values=([0, 1, 2], [0.5, 0, 0.5]))(), {0, 2}),
        (stats.binom(3, 1.0), {3}),
        (stats.randint(2, 5), {2, 3, 4}),
    ],
)
def test_values_that_are_never_drawn_are_no_candidates(distribution, possible):
    dimension = dimension_of(distribution)
    assert dimension.size == len(possible)
    assert {dimension.value(i) for i in range(dimension.size)} == possible
    assert {type(dimension.value(i)) for i in range(dimension.size)} == {int}
