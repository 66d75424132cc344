"""Parameters that are active only at times."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy.stats import randint, uniform

from sksearch import When
from sksearch.space import LogRandInt, Space

LAYERS = {
    "n_layers": [1, 2, 3],
    "units_2": When(randint(16, 20), "n_layers", ">=", 2),
    "units_3": When(randint(16, 20), "n_layers", ">=", 3),
}

NESTED = {
    "a_child": When(["x", "y"], "m_middle", "==", True),
    "m_middle": When([True, False], "z_root", "in", ["on", "auto"]),
    "z_root": ["off", "on", "auto"],
    "free": [1, 2, 3],
    "both": When(When([7, 8], "free", ">", 1), "z_root", "!=", "off"),
}

NUMBERS = {
    "k": randint(0, 1000),
    "few": When([1, 2], "k", "<", 10.5),
    "many": When(LogRandInt(1, 4), "k", ">=", 900),
    "some": When(["s", "t"], "k", "not in", [3, 4]),
}

SPACES = {"layers": LAYERS, "nested": NESTED, "numbers": NUMBERS}


def test_an_inactive_parameter_is_absent():
    space = Space(LAYERS)
    assert space.from_unit([0.1, 0.5, 0.5]) == {"n_layers": 1}
    assert space.from_unit([0.5, 0.5, 0.5]) == {"n_layers": 2, "units_2": 18}
    assert list(space.from_unit([0.9, 0, 1])) == ["n_layers", "units_2", "units_3"]


def test_inactive_coordinates_are_nan_and_ignored():
    space = Space(LAYERS)
    u = space.to_unit({"n_layers": 1})
    np.testing.assert_array_equal(np.isnan(u), [False, True, True])
    assert space.from_unit(u) == {"n_layers": 1}


def test_the_child_of_an_inactive_parent_is_inactive():
    space = Space(NESTED)
    for i in range(space.size):
        params = space.candidate(i)
        assert ("m_middle" in params) == (params["z_root"] != "off")
        assert ("a_child" in params) == params.get("m_middle", False)
        assert ("both" in params) == (params["free"] > 1 and params["z_root"] != "off")


def test_the_size_counts_distinct_candidates():
    assert Space(LAYERS).size == 1 + 4 + 16
    # off: 3 free. on, auto: (2 children + 1) * (1 + 2 * 2 of free and both)
    assert Space(NESTED).size == 3 + 2 * 3 * (1 + 2 * 2)
    # k < 10.5 without 3, 4; k = 3, 4; between; k >= 900
    assert Space(NUMBERS).size == 9 * 2 * 2 + 2 * 2 + 889 * 2 + 100 * 3 * 2
    assert Space({"a": [1, 2], "b": When(uniform(), "a", "==", 1)}).size == math.inf


@pytest.mark.parametrize("name", SPACES)
def test_every_candidate_has_one_number(name):
    space = Space(SPACES[name])
    keys = {space.key(space.candidate(i)) for i in range(space.size)}
    assert len(keys) == space.size
    rng = np.random.default_rng(0)
    assert all(space.key(space.sample(rng)) in keys for _ in range(500))


@pytest.mark.parametrize("name", SPACES)
def test_candidates_survive_the_way_to_the_cube_and_back(name):
    space = Space(SPACES[name])
    rng = np.random.default_rng(1)
    for _ in range(200):
        params = space.sample(rng)
        space.check(params)
        assert space.from_unit(space.to_unit(params)) == params


def test_independent_conditions_are_not_multiplied_out():
    grid = {f"step{i}": [0, 1] for i in range(40)}
    grid |= {f"step{i}_k": When(range(9), f"step{i}", "==", 1) for i in range(40)}
    space = Space(grid)
    assert space.size == 10**40
    assert space.candidate(0) == {f"step{i}": 0 for i in range(40)}
    assert len(space.candidate(space.size - 1)) == 80


def test_a_parent_with_many_integers_is_not_enumerated():
    space = Space({"seed": randint(0, 2**31), "x": When([1, 2], "seed", ">", 5)})
    assert space.size == 6 + 2 * (2**31 - 6)
    assert space.candidate(5) == {"seed": 5}
    assert space.candidate(6) == {"seed": 6, "x": 1}


def test_check_refuses_inactive_parameters_and_what_is_missing():
    space = Space(LAYERS)
    with pytest.raises(ValueError, match="'units_2', which is active only when n_layers >= 2"):
        space.check({"n_layers": 1, "units_2": 16})
    with pytest.raises(ValueError, match="lacks 'units_2': set it to an integer from 16 to 19"):
        space.check({"n_layers": 2})


def test_conditions_work_within_a_union():
    space = Space([LAYERS, {"n_layers": [0]}])
    assert space.size == 22
    assert space.candidate(21) == {"n_layers": 0}
    rng = np.random.default_rng(2)
    for _ in range(50):
        params = space.sample(rng)
        assert space.from_unit(space.to_unit(params)) == params


@pytest.mark.parametrize(
    ("when", "message"),
    [
        (When([1], "a", "=>", 1), "'b'.*'=>' is not an operator"),
        (When([1], "c", "==", 1), "'b'.*does not contain 'c'"),
        (When([1], "b", "==", 1), "'b'.*cycle"),
        (When([1], "a", "in", "12"), "'b'.*needs a list of values"),
        (When([1], "a", "in", 1), "'b'.*needs a list of values"),
        (When([1], "a", "<", "x"), "'b'.*cannot be compared"),
        (When([], "a", "==", 1), "'b'.*is empty"),
    ],
)
def test_invalid_conditions_are_refused_by_name(when, message):
    with pytest.raises(ValueError, match=message):
        Space({"a": [1, 2], "b": when})


def test_a_parent_that_may_be_none_has_no_order():
    with pytest.raises(ValueError, match="max_depth can be None"):
        Space({"max_depth": [None, 3], "b": When([1], "max_depth", ">", 2)})


def test_cycles_are_refused():
    with pytest.raises(ValueError, match=r"\['a', 'b'\] form a cycle"):
        Space({"a": When([1], "b", "==", 1), "b": When([1], "a", "==", 1), "c": [1]})


def test_when_is_a_value():
    when = When([1, 2], "a", ">", 3)
    assert when == When([1, 2], "a", ">", 3)
    assert repr(when) == "When(values=[1, 2], parent='a', op='>', threshold=3)"
    assert pickle.loads(pickle.dumps(when)) == copy.deepcopy(when) == when
    with pytest.raises(AttributeError):
        when.op = "<"


def chain(n, values=(0, 1)):
    """Each parameter is active where the one before it is 1."""
    names = [f"p{i}" for i in range(n)]
    whens = [When(list(values), parent, "==", 1) for parent in names]
    return {"p0": list(values), **dict(zip(names[1:], whens, strict=False))}


def test_a_chain_of_thousands_of_conditions_has_a_candidate_for_each_end():
    space = Space(chain(5000))
    assert space.size == 5001
    assert [len(space.candidate(i)) for i in (0, 1, 1234, 4999, 5000)] == [1, 2, 1235, 5000, 5000]
    params = space.sample(np.random.default_rng(0))
    assert space.from_unit(space.to_unit(params)) == params


def test_thousands_of_children_of_one_parent_are_counted_and_not_listed():
    space = Space({"p0": [0, 1]} | {f"c{i}": When([3, 4], "p0", "==", 1) for i in range(5000)})
    assert space.size == 1 + 2**5000
    assert space.candidate(0) == {"p0": 0}
    assert space.candidate(1)["c0"] == 3
    assert set(space.candidate(space.size - 1).values()) == {1, 4}


@pytest.mark.whole
@pytest.mark.timeout(30)
def test_thousands_of_choices_with_a_parameter_each_are_read_in_seconds():
    kinds = [f"kind {i}" for i in range(3000)]
    own = {f"p{i}": When(uniform(), "kind", "==", kind) for i, kind in enumerate(kinds)}
    space = Space({"kind": kinds} | own)
    assert len(space.sample(np.random.default_rng(0))) == 2


def test_gates_below_one_parent_are_not_multiplied_out():
    gates = {f"gate{i}": When([0, 1], "root", "==", "on") for i in range(60)}
    below = {f"k{i}": When(range(9), f"gate{i}", "==", 1) for i in range(60)}
    space = Space({"root": ["off", "on"]} | gates | below)
    assert space.size == 1 + 10**60
    assert len(space.candidate(space.size - 1)) == 121


def test_more_boxes_than_can_be_listed_are_an_infinite_space():
    pairs = {
        f"b{i}": When(When([0, 1], f"a{i}", "!=", 5), f"a{i + 1}", "!=", 5) for i in range(60)
    }
    space = Space({f"a{i}": [0, 1] for i in range(61)} | pairs)
    assert space.size == math.inf
    params = space.sample(np.random.default_rng(0))
    assert len(params) == 121
    space.check(params)


def test_the_order_of_candidates_matches_their_boxes():
    space = Space({"a": [0, 1], "b": When([5, 6], "a", "==", 0), "c": When([7], "b", "==", 6)})
    assert [space.candidate(i) for i in range(space.size)] == [
        {"a": 0, "b": 5}, {"a": 0, "b": 6, "c": 7}, {"a": 1},
    ]  # fmt: skip
