"""Canonical points and cells, by array, against candidates one by one."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import loguniform, norm, poisson, randint, uniform

from sksearch import When
from sksearch.space import LogRandInt, Space


class Draws:
    """What only has ``rvs``: real numbers, few numbers, or values that have no order."""

    def __init__(self, kind):
        self.kind = kind

    def rvs(self, random_state=None):
        if self.kind == "real":
            return float(random_state.normal())
        if self.kind == "few":
            return int(random_state.randint(4))
        return (None, "a", 1.5)[random_state.randint(3)]


KINDS = {
    "uniform": uniform(-3, 5),
    "log-uniform": loguniform(1e-5, 1e3),
    "normal": norm(2, 3),
    "heavy tail": stats.cauchy(),
    "beta": stats.beta(0.3, 4),
    "truncated": stats.truncnorm(-np.inf, 1),
    "integers": randint(-3, 8),
    "many integers": randint(0, 10**9),
    "log integers": LogRandInt(1, 1000),
    "few log integers": LogRandInt(1, 4),
    "poisson": poisson(3),
    "binomial": stats.binom(12, 0.2),
    "one integer": randint(4, 5),
    "choices": ["a", "b", None, (1, 2)],
    "seven choices": list("abcdefg"),
    "ordered choices": [1, 10, 100, 1000, 10_000, 100_000, 10**6],
    "falling choices": [3.0, 2.5, 1.0],
    "one choice": ["a"],
    "one number": [5],
    "opaque real": Draws("real"),
    "opaque few": Draws("few"),
    "opaque odd": Draws("odd"),
}
REPEATED = pytest.mark.xfail(
    strict=True, reason="cells are those of the table, of which several have the same value"
)
ONE_BY_ONE = {"opaque odd"}
KIND_NAMES = [pytest.param(name, marks=REPEATED) if name in ONE_BY_ONE else name for name in KINDS]

LINKED = {
    "conditions": {
        "kind": ["a", "b", "c"],
        "depth": When(randint(1, 9), "kind", "in", ["a", "b"]),
        "deep": When(uniform(0, 1), "depth", ">=", 5),
        "rate": When(loguniform(1e-3, 1), "kind", "!=", "a"),
        "both": When(When(["x", "y"], "kind", "==", "b"), "depth", "<", 4),
    },
    "a real parent": {
        "gate": loguniform(1e-3, 1e3),
        "above": When(uniform(0, 1), "gate", ">", 1.0),
        "below": When(randint(0, 5), "gate", "<=", 1.0),
    },
    "an unbounded parent": {"k": poisson(3), "x": When(uniform(0, 1), "k", ">=", 3)},
    "an ordered parent": {"n": [1, 2, 4, 8], "x": When(uniform(0, 1), "n", ">", 2)},
    "seldom active": {"n": [1, 2], "x": When(uniform(0, 1), "n", ">", 1), "y": uniform(0, 1)},
    "union": [
        {"kernel": ["rbf"], "C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1)},
        {"kernel": ["linear"], "C": loguniform(1e-3, 1e3)},
        {"kernel": ["poly"], "C": loguniform(1e-1, 1e1), "degree": randint(2, 5)},
    ],
    "union with conditions": [
        {"a": [1, 2, 3], "b": When(uniform(0, 1), "a", ">=", 2)},
        {"a": [1, 2, 3], "c": When([True, False], "a", "==", 1)},
        {},
    ],
    "seven dicts": [{f"x{i}": uniform(0, 1)} for i in range(7)],
    "nothing": {},
}


def points(space, n=400, seed=0):
    """Random points, the corners and the middle of the cube."""
    U = np.random.default_rng(seed).random((n, space.n_dims))
    ends = np.array([[0.0], [1.0], [0.5]]) * np.ones((3, space.n_dims))
    return np.vstack([U, ends])


def one_by_one(space, U):
    return np.array([space.to_unit(space.from_unit(u)) for u in U]).reshape(U.shape)


def same(one, two):
    """Whether two candidates are equal but for rounding errors of real numbers."""
    return one.keys() == two.keys() and all(
        value == pytest.approx(two[name], rel=1e-9) if type(value) is float else value == two[name]
        for name, value in one.items()
    )


# ---- canonical points


@pytest.mark.parametrize("name", KIND_NAMES)
def test_canonical_points_match_the_candidates_whatever_the_kind(name):
    space = Space({"x": KINDS[name], "other": uniform(0, 1)})
    U = points(space)
    np.testing.assert_allclose(space.canonical(U), one_by_one(space, U), atol=1e-9)


@pytest.mark.parametrize("name", LINKED)
def test_canonical_points_are_nan_where_a_parameter_is_inactive(name):
    space = Space(LINKED[name])
    U = points(space)
    found, expected = space.canonical(U), one_by_one(space, U)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_all_kinds_at_once():
    space = Space({name: kind for name, kind in KINDS.items() if name not in ONE_BY_ONE})
    U = points(space)
    np.testing.assert_allclose(space.canonical(U), one_by_one(space, U), atol=1e-9)


@pytest.mark.parametrize("name", [*KINDS, *LINKED])
def test_a_canonical_point_stands_for_the_same_candidate(name):
    space = Space({"x": KINDS[name]} if name in KINDS else LINKED[name])
    U = points(space)
    for u, v in zip(U, space.canonical(U), strict=True):
        assert same(space.from_unit(v), space.from_unit(u))


@pytest.mark.parametrize("name", [*KINDS, *LINKED])
def test_canonical_points_are_in_the_cube_and_stay_where_they_are(name):
    space = Space({"x": KINDS[name]} if name in KINDS else LINKED[name])
    V = space.canonical(points(space))
    assert (np.isnan(V) | ((V >= 0) & (V <= 1))).all()
    again = space.canonical(np.where(np.isnan(V), 0.3, V))
    np.testing.assert_allclose(again, V, atol=1e-9)


def test_the_input_is_left_alone_and_may_be_a_list():
    space = Space(LINKED["conditions"])
    U = points(space)
    before = U.copy()
    found = space.canonical(U)
    np.testing.assert_array_equal(U, before)
    np.testing.assert_array_equal(space.canonical(U.tolist()), found)
    space.cells(U)
    np.testing.assert_array_equal(U, before)
    space = Space({"x": uniform(0, 1)})
    space.canonical(U[:, :1])[:] = 7.0
    np.testing.assert_array_equal(U, before)


@pytest.mark.parametrize("name", ["conditions", "union", "nothing"])
def test_no_point_has_no_candidate(name):
    space = Space(LINKED[name])
    empty = np.empty((0, space.n_dims))
    assert space.canonical(empty).shape == empty.shape


def test_what_is_outside_of_the_cube_is_moved_to_its_side():
    space = Space({"x": uniform(0, 1), "k": randint(0, 4), "c": ["a", "b"]})
    U = np.array([[-0.5, -0.1, -2.0], [1.5, 1.1, 3.0]])
    np.testing.assert_allclose(space.canonical(U), space.canonical(np.clip(U, 0, 1)))


@pytest.mark.parametrize("ordered", [False, True])
def test_canonical_choices_match_the_candidates_to_the_last_bit(ordered):
    for n in range(1, 60):
        space = Space({"x": list(range(n)) if ordered else [str(i) for i in range(n)]})
        U = np.array([space.to_unit(space.candidate(i)) for i in range(n)])
        np.testing.assert_array_equal(space.canonical(U), U, err_msg=f"{n} choices")


# ---- cells


@pytest.mark.parametrize("name", KIND_NAMES)
def test_a_cell_contains_its_point_and_stands_for_one_value(name):
    space = Space({"x": KINDS[name]})
    (dimension,) = space.all_dimensions
    if space.constants:
        assert space.n_dims == 0
        return
    U = points(space)
    lower, upper = space.cells(U)
    inside = 1 - 1e-9  # the clip of unbounded integers
    if name == "poisson":
        U = U.clip(1e-9, inside)
    assert (lower <= U + 1e-12).all()
    assert (upper >= U - 1e-12).all()
    for u, low, high in zip(U[:, 0], lower[:, 0], upper[:, 0], strict=True):
        value = dimension.from_unit(u)
        if dimension.kind == "real":
            assert low == high
            continue
        # Not at the ends themselves, which belong to one of two cells.
        for t in (1e-6, 0.3, 0.7, 1 - 1e-6):
            within = dimension.from_unit(low + t * (high - low))
            assert within == value if name != "opaque odd" else within is value
        middle = (low + high) / 2
        assert dimension.to_unit(value) == pytest.approx(middle, abs=1e-9)


@pytest.mark.parametrize(
    "name", ["integers", "log integers", "few log integers", "binomial", "choices"]
)
def test_the_cells_of_all_values_tile_the_range(name):
    space = Space({"x": KINDS[name]})
    (dimension,) = space.dimensions
    U = np.array([[dimension.to_unit(dimension.value(i))] for i in range(dimension.size)])
    lower, upper = space.cells(U)
    np.testing.assert_allclose(lower[0], 0, atol=1e-12)
    np.testing.assert_allclose(upper[-1], 1, atol=1e-12)
    np.testing.assert_allclose(upper[:-1], lower[1:], atol=1e-12)


def test_the_width_of_a_cell_is_the_probability_of_its_value():
    for name, distribution in (("poisson", poisson(3)), ("binomial", stats.binom(12, 0.2))):
        space = Space({"x": KINDS[name]})
        U = points(space, 50)[:50]
        lower, upper = space.cells(U)
        values = [space.from_unit(u)["x"] for u in U]
        np.testing.assert_allclose((upper - lower)[:, 0], distribution.pmf(values))


@pytest.mark.parametrize("name", [*KINDS, *LINKED])
def test_nan_stays_nan(name):
    space = Space({"x": KINDS[name]} if name in KINDS else LINKED[name])
    U = points(space, 20)
    U[::3] = np.nan
    for ends in space.cells(U):
        np.testing.assert_array_equal(np.isnan(ends), np.isnan(U))


# ---- kinds of coordinates


def test_coordinates_know_their_kind():
    space = Space(
        {
            "a": uniform(0, 1),
            "b": randint(0, 5),
            "c": ["x", "y"],
            "d": [1, 2, 4],
            "e": Draws("real"),
            "f": norm(0, 1),
        }
    )
    assert space.categorical.tolist() == [False, False, True, False, False, False]
    assert space.continuous.tolist() == [True, False, False, False, False, True]
    assert Space({}).categorical.shape == Space({}).continuous.shape == (0,)
    assert Space({}).categorical.dtype == Space({}).continuous.dtype == bool


def test_the_dict_of_a_union_is_an_unordered_choice():
    space = Space(LINKED["union"])
    assert space.dimensions[0].name == "(dict)"
    assert space.categorical[0]


def test_spaces_beyond_the_largest_float_are_finite():
    space = Space({f"feature_{i:04}": [False, True] for i in range(1100)})
    assert space.size == 2**1100
    space.sample_unseen(set(), np.random.default_rng(0))
