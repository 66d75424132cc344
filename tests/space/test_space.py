"""Spaces: sampling, the unit cube, numbering, keys, errors."""

import copy
import math
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.stats import loguniform, norm, randint, uniform
from sklearn.model_selection import ParameterGrid
from sklearn.svm import SVC

from sksearch import When
from sksearch.space import LogRandInt, Space
from tests import scripts

SIMPLE = {
    "C": loguniform(1e-3, 1e3),
    "alpha": uniform(0, 1),
    "depth": randint(1, 10),
    "kernel": ["rbf", "linear"],
    "leaf": LogRandInt(1, 100),
    "power": [1, 2, 3],
}

UNION = [
    {"kernel": ["rbf"], "C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1)},
    {"kernel": ["linear"], "C": loguniform(1e-3, 1e3)},
    {"kernel": ["poly"], "C": loguniform(1e-1, 1e1), "degree": randint(2, 5)},
]

GRIDS = {
    "one name": {"b": [3, 1, 2]},
    "empty": {},
    "three names": {"c": [1, 2], "a": ["x", "y", "z"], "b": [True, None]},
    "numpy": {"c": np.arange(3), "a": range(2, 8, 2), "b": (0.2, 0.1)},
    "list of dicts": [{"k": ["rbf"], "C": [1, 10, 100]}, {"k": ["linear", "poly"]}, {}],
}


# --- numbering ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GRIDS)
def test_points_are_in_the_order_of_parameter_grid(name):
    space, grid = Space(GRIDS[name]), ParameterGrid(GRIDS[name])
    assert space.size == len(grid)
    assert [space.candidate(i) for i in range(space.size)] == list(grid)
    assert [list(space.candidate(i)) for i in range(space.size)] == [list(p) for p in grid]


def test_finite_distributions_are_numbered_like_lists():
    space = Space({"b": randint(3, 6), "a": LogRandInt(1, 3)})
    grid = ParameterGrid({"b": [3, 4, 5], "a": [1, 2]})
    assert [space.candidate(i) for i in range(space.size)] == list(grid)


def test_points_of_large_spaces_are_not_enumerated():
    space = Space({f"p{i}": range(100) for i in range(50)} | {"q": randint(0, 2**62)})
    assert space.size == 100**50 * 2**62
    assert space.candidate(space.size - 1)["q"] == 2**62 - 1


def test_points_out_of_range_and_of_infinite_spaces_are_refused():
    space = Space({"a": [1, 2]})
    for i in (2, -1):
        with pytest.raises(IndexError, match="the space has 2"):
            space.candidate(i)
    with pytest.raises(ValueError, match="infinite space"):
        Space({"a": uniform()}).candidate(0)


def test_sizes():
    assert Space({}).size == 1
    assert Space(SIMPLE).size == math.inf
    assert Space({"a": stats.poisson(3)}).size == math.inf
    assert Space({"a": stats.binom(3, 0.5), "b": [1, 2]}).size == 8
    assert Space([{"a": [1, 2]}, {"a": [1]}]).size == 3
    assert Space([{"a": [1, 2]}, {"b": uniform()}]).size == math.inf
    assert type(Space({"a": np.arange(3)}).size) is int


# --- the cube -------------------------------------------------------------------------------


def test_coordinates_are_sorted_by_name():
    space = Space(SIMPLE)
    assert space.names == sorted(SIMPLE)
    assert [dimension.name for dimension in space.dimensions] == space.names
    assert space.n_dims == 6


def test_a_single_value_needs_no_coordinate():
    for values in ([5], When([5], "b", "==", 1), randint(5, 6)):
        space = Space({"a": uniform(0, 1), "b": [1, 2], "c": values})
        assert [d.name for d in space.dimensions] == ["a", "b"]
        params = {"a": 0.5, "b": 1, "c": 5}
        assert space.from_unit([0.5, 0.2]) == params
        assert space.to_unit(params).tolist() == [0.5, 0.25]
        with pytest.raises(ValueError, match="sets 'c' to 9"):
            space.check(params | {"c": 9})
    assert Space({"c": [5]}).from_unit([]) == {"c": 5}
    assert Space({"c": [5], "x": When([1, 2], "c", "==", 5)}).from_unit([0.9]) == {"c": 5, "x": 2}


def test_a_single_value_that_some_dicts_share_has_a_coordinate():
    space = Space([{"k": ["rbf"], "a": [1, 2]}, {"k": ["rbf"], "b": [1, 2]}, {"k": ["linear"]}])
    assert [d.name for d in space.dimensions] == ["(dict)", "a", "b", "k"]
    assert [d.name for d in space.constants] == ["k"]


def test_dicts_of_a_union_share_coordinates_of_the_same_distribution():
    space = Space(UNION)
    assert space.names == ["C", "degree", "gamma", "kernel"]
    names = [dimension.name for dimension in space.dimensions]
    assert names == ["(dict)", "C", "C", "degree", "gamma"]
    u = space.to_unit({"kernel": "linear", "C": 1.0})
    np.testing.assert_allclose(u, [0.5, 0.5, *[np.nan] * 3])
    assert space.from_unit(u) == {"kernel": "linear", "C": pytest.approx(1.0)}


def test_histograms_are_not_taken_for_each_other():
    first = stats.rv_discrete(values=([1, 2], [0.5, 0.5]))()
    second = stats.rv_discrete(values=([1, 2], [0.1, 0.9]))()
    assert Space([{"a": first}, {"a": second}]).n_dims == 3
    assert Space([{"a": first}, {"a": first}]).n_dims == 2


@pytest.mark.parametrize("params", [SIMPLE, UNION, GRIDS["list of dicts"], {}, {"x": norm()}])
def test_candidates_survive_the_way_to_the_cube_and_back(params):
    space = Space(params)
    rng = np.random.default_rng(0)
    for _ in range(200):
        candidate = space.sample(rng)
        space.check(candidate)
        again = space.from_unit(space.to_unit(candidate))
        assert again == pytest.approx(candidate)
        assert list(again) == list(candidate) == sorted(candidate)


@pytest.mark.parametrize("params", [SIMPLE, UNION, {"x": norm(), "y": stats.poisson(3)}])
def test_corners_of_the_cube_are_candidates(params):
    space = Space(params)
    for corner in (np.zeros(space.n_dims), np.ones(space.n_dims)):
        space.check(space.from_unit(corner))


def test_to_unit_refuses_what_is_not_a_candidate():
    with pytest.raises(ValueError, match="'D' is unknown"):
        Space(SIMPLE).to_unit({"D": 1})
    with pytest.raises(ValueError, match="fits none of the 3 dicts"):
        Space(UNION).to_unit({"kernel": "rbf"})


def test_from_unit_refuses_another_shape():
    with pytest.raises(ValueError, match=r"shape \(2,\): this space needs \(6,\)"):
        Space(SIMPLE).from_unit([0.1, 0.2])


# --- sampling -------------------------------------------------------------------------------


def test_a_sample_is_the_candidate_at_a_uniform_point():
    space = Space(SIMPLE)
    u = np.random.default_rng(5).random(space.n_dims)
    assert space.sample(np.random.default_rng(5)) == space.from_unit(u)


def test_dicts_of_an_infinite_union_are_equally_likely():
    space = Space(UNION)
    rng = np.random.default_rng(1)
    kernels = [space.sample(rng)["kernel"] for _ in range(3000)]
    counts = [kernels.count(kernel) for kernel in ("rbf", "linear", "poly")]
    assert stats.chisquare(counts).pvalue > 1e-3


def test_candidates_of_a_finite_union_are_equally_likely():
    space = Space(GRIDS["list of dicts"])
    rng = np.random.default_rng(2)
    keys = [space.key(space.sample(rng)) for _ in range(3000)]
    counts = [keys.count(space.key(space.candidate(i))) for i in range(space.size)]
    assert sum(counts) == 3000
    assert stats.chisquare(counts).pvalue > 1e-3


def test_parameters_are_independent():
    space = Space({"a": uniform(), "b": uniform()})
    rng = np.random.default_rng(3)
    draws = np.array([list(space.sample(rng).values()) for _ in range(2000)])
    assert abs(np.corrcoef(draws.T)[0, 1]) < 0.08


# --- keys -----------------------------------------------------------------------------------


def test_keys_do_not_depend_on_the_order_of_names():
    space = Space(SIMPLE)
    params = space.sample(np.random.default_rng(0))
    assert space.key(params) == space.key(dict(reversed(params.items())))


def test_keys_tell_true_one_and_one_point_zero_apart():
    space = Space({"m": [True, 1, 1.0, (1,), (True,), (1.0,), [1]]})
    assert space.size == 7
    assert len({space.key(space.candidate(i)) for i in range(7)}) == 7
    assert space.key({"m": np.int64(1)}) == space.key({"m": 1})


def test_keys_of_unhashable_choices_survive_pickling():
    choices = [[1, 2], {"a": 1}, np.arange(3), np.arange(2), SVC(C=1), SVC(C=2), None, {1}]
    space = Space({"x": choices})
    points = [space.candidate(i) for i in range(space.size)]
    keys = [space.key(point) for point in points]
    assert len(set(keys)) == len(choices)
    revived, points_too = pickle.loads(pickle.dumps((space, points)))
    assert [revived.key(point) for point in points_too] == keys
    alone = [pickle.loads(pickle.dumps(point)) for point in points]
    assert [space.key(point) for point in alone] == keys


def test_keys_of_nan_survive_pickling():
    space = Space({"x": [math.nan, 0.0]}, accepts=lambda name, value: True)
    key = space.key({"x": math.nan})
    assert pickle.loads(pickle.dumps(key)) == key == space.key({"x": float("nan")})
    space.check({"x": float("nan")})


def test_keys_are_equal_across_the_dicts_of_a_union():
    svc = SVC()
    space = Space([{"a": [1, svc], "b": [2]}, {"b": [3, 2], "a": [svc, 1, SVC()]}])
    assert space.key(space.candidate(0)) == space.key({"b": 2, "a": 1})
    keys = {space.key(space.candidate(i)) for i in range(space.size)}
    assert space.size == 8
    assert len(keys) == 6


def test_keys_of_opaque_values_that_are_not_hashable():
    space = Space({"x": stats.dirichlet([1, 1])})
    first, second = (space.sample(np.random.default_rng(seed)) for seed in (0, 1))
    assert space.key(first) == space.key(copy.deepcopy(first)) != space.key(second)


# --- unseen ---------------------------------------------------------------------------------


def test_unseen_lists_a_finite_space_once():
    space = Space(GRIDS["list of dicts"])
    rng = np.random.default_rng(0)
    keys = set()
    for _ in range(space.size):
        params = space.sample_unseen(keys, rng)
        assert space.key(params) not in keys
        keys.add(space.key(params))
    assert space.sample_unseen(keys, rng) is None


def test_unseen_is_uniform_among_the_rest():
    space = Space({"a": range(1000)})
    keys = {space.key({"a": i}) for i in range(997)}
    rng = np.random.default_rng(1)
    draws = [space.sample_unseen(keys, rng)["a"] for _ in range(150)]
    assert stats.chisquare([draws.count(i) for i in (997, 998, 999)]).pvalue > 1e-3


def test_unseen_finds_the_last_candidate_of_a_large_space():
    space = Space({"a": randint(0, 100_001)})
    keys = {space.key({"a": i}) for i in range(100_001)} - {space.key({"a": 77})}
    assert space.sample_unseen(keys, np.random.default_rng(0)) == {"a": 77}


def test_unseen_is_drawn_from_what_is_allowed_of_a_large_space():
    space, rng = Space({name: range(100) for name in "abc"}), np.random.default_rng(0)
    drawn = [space.sample_unseen(set(), rng, lambda p: sum(p.values()) < 30) for _ in range(40)]
    means = np.mean([[*params.values()] for params in drawn], axis=0)
    assert (abs(means - 29 / 4) < 3).all(), means  # of one in 200
    assert space.sample_unseen(set(), rng, lambda params: False) is None


def test_unseen_of_an_infinite_space_gives_up_after_some_draws():
    space = Space({"a": stats.poisson(1e-9)})
    assert space.size == math.inf
    assert space.sample_unseen({space.key({"a": 0})}, np.random.default_rng(0)) is None
    assert space.sample_unseen(set(), np.random.default_rng(0)) == {"a": 0}


def test_unseen_draws_from_spaces_beyond_64_bits():
    space = Space({f"p{i:02}": range(10) for i in range(30)})
    params = space.sample_unseen(set(), np.random.default_rng(0))
    assert len(set(params.values())) > 3


# --- a user's guess -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"D": 1}, r"initial_params\[0\] sets 'D', which is unknown: the parameters are"),
        ({"kernel": "poly"}, r"sets 'kernel' to 'poly': it must be one of \['rbf', 'linear'\]"),
        ({"C": 0.0}, "sets 'C' to 0.0: it must be a number from 0.001 to 1000.0"),
        ({"C": "1"}, "sets 'C' to '1'"),
        ({"C": math.nan}, "sets 'C' to nan"),
        ({"alpha": True}, "sets 'alpha' to True"),
        ({"depth": 10}, "sets 'depth' to 10: it must be an integer from 1 to 9"),
        ({"depth": 2.0}, "sets 'depth' to 2.0"),
        ({"power": 1.0}, "sets 'power' to 1.0"),
    ],
)
def test_check_names_the_fault(change, message):
    space = Space(SIMPLE)
    params = space.sample(np.random.default_rng(0))
    space.check(params)
    with pytest.raises(ValueError, match=message):
        space.check(params | change)


def test_check_accepts_numpy_scalars_and_ints_for_reals():
    Space(SIMPLE).check(
        {
            "C": 1,
            "alpha": np.float64(0.5),
            "depth": np.int64(3),
            "kernel": np.str_("rbf"),
            "leaf": 7,
            "power": np.int32(2),
        }
    )


def test_check_names_where_and_what_is_missing():
    with pytest.raises(ValueError, match=r"guess lacks 'C': set it to a number"):
        Space({"C": uniform()}).check({}, "guess")
    with pytest.raises(TypeError, match="guess is 3: it must be a dict"):
        Space({"C": uniform()}).check(3, "guess")


def test_check_of_a_union_says_why_each_dict_does_not_fit():
    space = Space(UNION)
    space.check({"kernel": "linear", "C": 1})
    with pytest.raises(ValueError, match=r"for dict 0 it lacks 'gamma'.*for dict 2 it lacks"):
        space.check({"kernel": "rbf", "C": 1})


# --- errors ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        (3, TypeError, "param_distributions is 3: it must be a dict"),
        ("C", TypeError, "must be a dict"),
        ([], ValueError, "empty search space"),
        ([{}, 3], TypeError, "contains 3"),
        ({1: [1]}, TypeError, "key 1: names of parameters must be strings"),
        ({"C": []}, ValueError, "'C'.*is empty"),
        ({"C": np.array([])}, ValueError, "'C'.*is empty"),
        ({"C": "l2"}, TypeError, r"'C'.*wrap it in a list: \['l2'\]"),
        ({"C": 3}, TypeError, r"'C'.*wrap it in a list: \[3\]"),
        ({"C": np.array(3)}, ValueError, "'C'.*one dimension"),
        ({"C": {1, 2}}, TypeError, "'C'.*needs a list"),
        ({"C": np.ones((2, 2))}, ValueError, r"'C'.*shape \(2, 2\)"),
        ({"C": (1e-6, 1.0, "log-uniform")}, ValueError, r"scipy.stats.loguniform\(1e-06, 1.0\)"),
        ({"C": [1e-6, 1.0, "log-uniform"]}, ValueError, r"scipy.stats.loguniform\(1e-06, 1.0\)"),
        ({"C": (0, 1, "uniform")}, ValueError, r"scipy.stats.uniform\(0, 1\).*\(loc, scale\)"),
        ({"C": (1, 9, "log-uniform")}, ValueError, r"LogRandInt\(1, 10\)"),
        ({"C": [1, math.nan]}, ValueError, "'C'.*choice nan"),
        ({"C": [1, -math.inf]}, ValueError, "'C'.*choice -inf"),
        ({"C": np.array([1, np.nan])}, ValueError, "'C'.*choice nan"),
        ({"C": uniform(0, 0)}, ValueError, r"'C'.*uniform\(0, 0\).*\(loc, scale\)"),
        ({"C": uniform(0, -1)}, ValueError, "'C'"),
        ({"C": uniform(np.nan, 1)}, ValueError, "'C'"),
        ({"C": uniform(loc=0, scale=np.inf)}, ValueError, "'C'.*scale=inf"),
        ({"C": norm(0, np.inf)}, ValueError, "'C'"),
        ({"C": norm(np.inf, 1)}, ValueError, "'C'"),
        ({"C": loguniform(0, 1)}, ValueError, "'C'.*0 < low"),
        ({"C": loguniform(2, 1)}, ValueError, "'C'"),
        ({"C": randint(5, 5)}, ValueError, "'C'"),
        ({"C": stats.poisson(-1)}, ValueError, "'C'"),
        ({"C": uniform([0, 1], 1)}, ValueError, "'C'.*not arrays"),
        ({"C": stats.uniform}, TypeError, r"'C'.*frozen distribution, such as uniform\(0, 1\)"),
        (
            {"C": stats.randint},
            TypeError,
            r"'C'.*frozen distribution, such as randint\(low, high\)",
        ),
        ({"C": SVC}, TypeError, "'C'.*the class SVC: pass an instance"),
        ({"C": LogRandInt}, TypeError, "'C'.*the class LogRandInt"),
    ],
)
def test_errors_name_the_parameter_and_what_to_do(params, error, message):
    with pytest.raises(error, match=message):
        Space(params)
    if isinstance(params, dict) and "C" in params:
        with pytest.raises(error, match=message):
            Space([{"a": [1]}, params])


def test_accepts_is_asked_about_choices_that_are_not_finite():
    asked = []
    params = {"missing_values": [math.nan, 0], "C": [1.0]}
    Space(params, accepts=lambda name, value: asked.append((name, value)) or True)
    assert len(asked) == 1
    assert asked[0][0] == "missing_values"
    with pytest.raises(ValueError, match="'C'"):
        Space({"C": [math.inf]}, accepts=lambda name, value: name == "missing_values")


def test_tuples_that_merely_look_like_priors_are_choices():
    assert Space({"x": (1, 2, "auto")}).size == 3
    assert Space({"x": ("a", "b", "uniform")}).size == 3


def test_repeated_choices_are_dropped_with_one_warning():
    svc = SVC()
    with pytest.warns(UserWarning, match="'C'.*7 choices, of which only 5 are distinct") as record:
        space = Space({"C": [1, 1, 1.0, True, svc, svc, "a"], "b": [1, 2]})
    assert len(record) == 1
    assert space.size == 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Space({"C": [1, 1.0, True, np.arange(2), np.arange(2)]}).size == 5


# --- housekeeping ---------------------------------------------------------------------------


@pytest.mark.parametrize("params", [SIMPLE, UNION, GRIDS["list of dicts"]])
def test_spaces_survive_pickle_and_deepcopy(params):
    space = Space(params)
    for twin in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        draws = [s.sample(np.random.default_rng(4)) for s in (space, twin)]
        assert draws[0] == draws[1]
        assert space.key(draws[0]) == twin.key(draws[1])
        assert repr(twin) == repr(space)


def test_the_input_is_never_changed():
    choices = [3, 1, 2]
    params = {"b": choices, "a": When(choices, "b", ">", 1), "c": np.arange(3)}
    space = Space([params])
    rng = np.random.default_rng(0)
    space.sample_unseen({space.key(space.sample(rng))}, rng)
    assert list(params) == ["b", "a", "c"]
    assert params["b"] is choices
    assert choices == [3, 1, 2]
    assert params["a"] == When(choices, "b", ">", 1)


def test_repr_is_short():
    assert repr(Space({"a": [1, 2]})) == "Space(1 parameters, 2 candidates)"
    assert repr(Space(SIMPLE)) == "Space(6 parameters, infinitely many candidates)"


@pytest.mark.slow
def test_nothing_depends_on_the_hash_seed():
    code = (
        "import numpy as np\n"
        "from scipy.stats import uniform\n"
        "from sksearch import When; from sksearch.space import Space\n"
        "grids = [{c: list('xyz') for c in 'hgfedcba'}, {'a': uniform(), 'q': ['r', 's']},\n"
        "         {'b': When(['u'], 'w', 'in', {'v', 'y'}), 'w': ['v', 'x', 'y']}]\n"
        "space = Space(grids)\n"
        "rng = np.random.default_rng(0)\n"
        "print([d.name for d in space.dimensions], [space.sample(rng) for _ in range(9)])\n"
        "print([Space(grids[2]).candidate(i) for i in range(3)])\n"
    )
    new = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert new.stdout == scripts.run(["-c", code], check=True).stdout != ""
