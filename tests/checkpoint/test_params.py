"""Candidates in a journal: plain data there, the user's own objects again here."""

import pickle

import numpy as np
import pytest
from scipy.stats import loguniform, norm, poisson, randint, uniform
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from sksearch import When
from sksearch.checkpoint._lines import decode, encode
from sksearch.checkpoint._params import contradicts, decode_params, encode_params, readable
from sksearch.space import LogRandInt, Space
from tests import scripts


def through_a_line(encoded):
    """What is left of a record in a journal."""
    return decode(encode({"p": encoded}))["p"]


def again(space, params, other=None):
    encoded = through_a_line(encode_params(space, params))
    return decode_params(other or space, encoded)


def named(x):
    return x


ARRAY = np.arange(3)
CHOICES = [
    "l2", 1, 1.0, True, None, 2**70, 0.1, "", "é\udc80\n",
    (1, 2), (1, (None, "a")), [1, 2], [], {"balanced": 1}, {0: 1, 1: 2.5}, b"\x00\xff", 1 + 2j,
    ARRAY, np.ones((2, 2)), SVC(C=2), SVC(C=3), LogisticRegression, named, lambda x: x,
    lambda x: x + 1, np.dtype("int8"), range(3), {1, 2},
]  # fmt: skip


class Draws:
    """A distribution of the user's own, of which only ``rvs`` is known."""

    def __init__(self, draw):
        self.draw = draw

    def rvs(self, random_state=None):
        return self.draw(random_state)


# ---- choices


@pytest.mark.parametrize("i", range(len(CHOICES)), ids=lambda i: type(CHOICES[i]).__name__)
def test_a_choice_comes_back_as_the_very_object(i):
    space = Space({"a": CHOICES, "b": [0]})
    params = {"a": space.dimensions[0].choices[i], "b": 0}
    found = again(space, params)
    assert found["a"] is params["a"]
    assert list(found) == ["a", "b"]
    assert space.key(found) == space.key(params)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_choices_that_json_does_not_have(value):
    space = Space({"missing_values": [0, value, None]}, accepts=lambda name, value: True)
    encoded = encode_params(space, {"missing_values": value})
    found = decode_params(space, through_a_line(encoded))["missing_values"]
    assert found is space.dimensions[0].choices[1]
    # Equal as records, unlike NaN itself: so a resumed search knows its candidates.
    assert through_a_line(encoded) == encode_params(space, {"missing_values": value})
    np.testing.assert_equal(readable(encoded["missing_values"]), value)


def test_a_copy_of_the_space_gives_its_own_objects():
    mine = {"a": CHOICES[:-5], "model": [SVC(C=2), SVC(C=3)]}
    space, other = Space(mine), Space(pickle.loads(pickle.dumps(mine)))
    found = again(space, {"a": "l2", "model": mine["model"][1]}, other)
    assert found["model"] is other.dimensions[1].choices[1]
    assert found["model"] is not mine["model"][1]


def test_dicts_of_a_union_have_choices_of_their_own():
    models = [SVC(C=2), SVC(C=2), LogisticRegression()]
    space = Space([
        {"model": models[:1], "C": [1, 2]}, {"model": models[1:], "C": uniform(0, 1)},
    ])  # fmt: skip
    for model in models:
        assert again(space, {"model": model, "C": 2})["model"] is model
    assert again(space, {"model": models[1], "C": 0.25})["C"] == 0.25


def test_a_clone_that_shares_less_between_its_dicts_mixes_nothing_up():
    shared = [SVC(C=2), SVC(C=3)]
    dicts = [{"m": shared}, {"m": shared, "k": [1]}, {"m": [LogisticRegression(), SVC()]}]
    space, other = Space(dicts), Space([clone(each, safe=False) for each in dicts])
    for model in [*shared, *dicts[2]["m"]]:
        found = again(space, {"m": model}, other)
        assert found is None or repr(found["m"]) == repr(model)
    for dimension in other.dimensions:
        for model in dimension.choices if dimension.name == "m" else ():
            found = again(other, {"m": model}, space)
            assert found is None or repr(found["m"]) == repr(model)


def test_a_list_of_candidates_and_conditions():
    listed = Space([{"a": [1], "m": [SVC()]}, {"a": [2]}, {"m": [(1, 2)], "a": [1]}])
    for i in range(3):
        params = listed.candidate(i)
        found = again(listed, params)
        assert list(found) == list(params)
        assert all(found[name] is params[name] for name in params)
    space = Space({"n": [1, 2], "units": When([(8,), (16,)], "n", "==", 2)})
    assert again(space, {"n": 1}) == {"n": 1}
    assert again(space, {"n": 2, "units": (16,)}) == {"n": 2, "units": (16,)}


def test_a_guess_becomes_the_choice_that_it_equals():
    space = Space({"n": [1, 2], "m": [SVC(C=2), SVC(C=3)], "x": uniform(0, 1)})
    guess = {"n": np.int64(2), "m": SVC(C=3), "x": np.float32(0.1)}
    found = again(space, guess)
    assert type(found["n"]) is int
    assert found["m"] is space.dimensions[0].choices[1]
    assert type(found["x"]) is np.float32
    assert found["x"] == guess["x"]


def test_what_another_space_does_not_have_is_proposed_again():
    space = Space({"m": [SVC(C=2), SVC(C=3)]})
    encoded = encode_params(space, {"m": space.dimensions[0].choices[1]})
    assert decode_params(Space({"m": [SVC(C=2)]}), encoded) is None
    assert decode_params(Space({"m": [SVC(C=2), SVC(C=4)]}), encoded) is None
    assert decode_params(Space({"other": [1]}), encoded) is None


# ---- draws


@pytest.mark.parametrize("seed", range(20))
def test_numbers_come_back_with_their_type_and_bits(seed):
    space = Space({
        "a": loguniform(1e-9, 1e9), "b": uniform(-1, 2), "c": norm(0, 1e300), "d": randint(0, 99),
        "e": poisson(3), "f": LogRandInt(1, 2**60), "g": randint(-3, 3), "h": [0.1, 1, True],
    })  # fmt: skip
    params = space.sample(np.random.default_rng(seed))
    found = again(space, params)
    assert found == params
    assert [type(value) for value in found.values()] == [type(v) for v in params.values()]


def anything(rng, depth=3):
    """A plain value, or a container of such."""
    kind = rng.integers(12 if depth else 8)
    items = [anything(rng, depth - 1) for _ in range(rng.integers(4))] if kind >= 8 else None
    makers = (
        lambda: None,
        lambda: bool(rng.integers(2)),
        lambda: int(rng.integers(-9, 9)) * 10 ** int(rng.integers(30)),
        lambda: float(rng.normal() * 10.0 ** rng.integers(-300, 300)),
        lambda: -0.0,
        lambda: "".join(map(chr, rng.integers(1, 0x3000, rng.integers(5)))) + "$f",
        lambda: rng.bytes(3),
        lambda: complex(*rng.normal(size=2)),
        lambda: items,
        lambda: tuple(items),
        lambda: {f"${i}": item for i, item in enumerate(items)},
        lambda: {(i, "k"): item for i, item in enumerate(items)},
    )
    return makers[kind]()


@pytest.mark.parametrize("seed", range(100))
def test_whatever_an_own_distribution_draws_of_plain_values_comes_back(seed):
    value = anything(np.random.default_rng(seed))
    space = Space({"a": Draws(lambda random_state: 0)})
    encoded = encode_params(space, {"a": value})
    found = decode_params(space, through_a_line(encoded))["a"]
    assert found == value
    assert repr(found) == repr(value)
    assert through_a_line(encoded) == encoded
    readable(encoded["a"])


@pytest.mark.parametrize("value", [SVC(), np.arange(3), named, (1, np.arange(2)), {"a": SVC()}])
def test_unstorable_values_are_texts_and_are_proposed_again(value):
    space = Space({"a": Draws(lambda random_state: 0), "b": [1]})
    encoded = through_a_line(encode_params(space, {"a": value, "b": 1}))
    assert decode_params(space, encoded) is None
    assert "at 0x" not in str(readable(encoded["a"]))


@pytest.mark.parametrize("dtype", ["<U3", "object", "<M8[s]", "void"])
def test_a_number_of_what_is_not_a_number_is_refused(dtype):
    space = Space({"a": Draws(lambda random_state: 0)})
    with pytest.raises(ValueError, match="is not a type of numbers"):
        decode_params(space, {"a": {"is": "numpy", "t": dtype, "v": "1"}})


# ---- tables


def test_tables_show_scalars_as_they_are_and_objects_as_texts():
    space = Space({"a": CHOICES})
    shown = [readable(encode_params(space, {"a": c})["a"]) for c in space.dimensions[0].choices]
    assert shown[:9] == CHOICES[:9]
    assert shown[9:11] == ["(1, 2)", "(1, (None, 'a'))"]
    assert shown[17] == "array([0, 1, 2])"
    assert shown[19:23] == [
        "SVC(C=2)",
        "SVC(C=3)",
        "<class 'sklearn.linear_model._logistic.LogisticRegression'>",
        "<function named>",
    ]
    long = Space({"a": [tuple(range(1000)), 1]})
    assert len(readable(encode_params(long, {"a": tuple(range(1000))})["a"])) <= 200


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from tests.checkpoint.test_params import (
    CHOICES, Space, decode, decode_params, encode, encode_params
)
space = Space({{"a": CHOICES}})
choices = space.dimensions[0].choices
lines = open({path!r}, "rb").readlines()
assert len(lines) == len(choices)
for line, choice in zip(lines, choices):
    assert decode_params(space, decode(line)["p"])["a"] is choice, choice
    assert encode({{"p": encode_params(space, {{"a": choice}})}}) == line, choice
print("ok")
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_another_process_reads_what_this_one_wrote(tmp_path, request):
    space = Space({"a": CHOICES})
    lines = [encode({"p": encode_params(space, {"a": c})}) for c in space.dimensions[0].choices]
    (tmp_path / "lines").write_bytes(b"".join(lines))
    script = SCRIPT.format(root=str(request.config.rootpath), path=str(tmp_path / "lines"))
    done = scripts.run(["-c", script], timeout=60)  # its strings have other hashes
    assert done.stdout == "ok\n", done.stderr


def test_a_candidate_that_is_proposed_again_must_be_the_one_that_was_stored():
    space = Space({"a": uniform(), "b": uniform()})
    stored = {"a": 0.25, "b": {"is": "text", "t": "an object"}}
    assert not contradicts(space, stored, {"a": 0.25, "b": object()})
    assert contradicts(space, stored, {"a": 0.26, "b": object()})
    assert contradicts(space, stored, {"a": 0.25})


def test_a_choice_is_compared_by_its_numbers_where_its_text_has_changed():
    space = Space({"a": CHOICES})
    stored = encode_params(space, {"a": named})
    stored["a"]["t"] = "as another process would write it"
    assert not contradicts(space, stored, {"a": named})
    assert contradicts(space, stored, {"a": LogisticRegression})
    assert contradicts(space, stored, {"a": "l2"})
