"""Two fingerprints compared, by hand: what counts, and what is said."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from sksearch import When
from sksearch._digests import cut
from sksearch.checkpoint import SearchMismatchError
from sksearch.checkpoint import _fingerprint as fp
from sksearch.checkpoint._fingerprint import GLOBALS, check_same, compared
from sksearch.checkpoint._globals import OF_START, is_of_start, value_of


def part(sha, text="", bare=None, **items):
    made = {"sha": sha, "text": text or sha}
    if bare is not None:
        made["bare"] = bare
    return made | ({"items": items} if items else {})


def message(old, new, **kwargs):
    with pytest.raises(SearchMismatchError) as caught:
        check_same(old, new, "runs/a", **kwargs)
    return str(caught.value)


#: A journal that knows the data of the user's code; code is not compared in others.
OLD = {GLOBALS: part("a", x="1", y="f#0123456789abcdef")}


# ---- equal or not


@pytest.mark.parametrize(
    ("name", "old", "new", "with_code", "is_equal"),
    [
        ("space", part("a"), part("a"), True, True),
        ("space", part("a"), part("b"), True, False),
        ("space", part("a", bare="x"), part("b", bare="x"), True, False),
        ("space", part("a", bare="x"), part("b", bare="x"), False, True),
        ("space", part("a", bare="x"), part("b", bare="y"), False, False),
        ("space", part("a"), part("a", bare="x"), False, True),
        ("space", part("a"), part("b", bare="x"), False, False),
        ("random_state", part("a"), part("", "drawn"), True, True),
        ("random_state", part("a"), part("b", "drawn by hand"), True, False),
        ("space", part("a"), part("b", "drawn"), True, False),
        ("cv", part("a", "given: 3 folds"), part("b", "given <opaque>: 3 folds"), True, True),
        ("cv", part("a", "given <opaque>: 3 folds"), part("b", "given: 3 folds"), True, True),
        ("cv", part("a", "given: 3 folds"), part("b", "given: 2 folds"), True, False),
        ("cv", part("a", "5: 5 folds"), part("b", "5: 5 folds"), True, False),
        ("space", part("a", "given"), part("b", "given"), True, False),
    ],
)
def test_a_part_is_equal_where_its_digest_is(name, old, new, with_code, is_equal, monkeypatch):
    monkeypatch.setattr(fp, "OPAQUE", "<opaque>")
    assert fp._is_equal(name, old, new, with_code) is is_equal


@pytest.mark.parametrize(
    ("name", "was", "now", "has_grown"),
    [
        ("n_iter", "5", "6", True), ("n_iter", "5", "5", False), ("n_iter", "5", "4", False),
        ("n_iter", "None", "5", False), ("n_iter", "5", "'auto'", False),
        ("scheduler.n_candidates", "5", "6", True), ("scheduler.factor", "3", "4", False),
        ("error_score", "0", "1", False), (None, "5", "6", False), ("n_iter", None, "6", False),
    ],
)  # fmt: skip
def test_only_some_settings_may_grow(name, was, now, has_grown):
    assert fp._has_grown(name, was, now) is has_grown


def test_differences_are_listed_by_name():
    assert fp._changes(part("a", C="1", D="2", E="3"), part("b", C="1", D="4", F="5")) == [
        ("D", "2", "4"), ("F", None, "5"), ("E", "3", None),
    ]  # fmt: skip
    whole = [(None, "old", "new")]
    assert fp._changes(part("a", "old"), part("b", "new", C="1")) == whole
    assert fp._changes(part("a", "old", C="1"), part("b", "new")) == whole
    assert fp._changes(part("a", "old", C="1"), part("b", "new", C="1")) == whole
    long = [(None, cut("o" * 999, 300), cut("n" * 999, 300))]
    assert fp._changes(part("a", "o" * 999), part("b", "n" * 999)) == long


def test_a_difference_is_told_in_a_sentence():
    assert fp._sentence("C", None, "2") == "C is new, 2"
    assert fp._sentence("C", "1", None) == "C is gone, it was 1"
    assert fp._sentence("C", "1", "2") == "C was 1, now 2"
    assert fp._sentence(None, "1", "2") == "it was 1, now 2"
    old, new = "Net#0123456789abcdef(C=1)", "Net#fedcba9876543210(C=1)"
    assert fp._sentence(None, old, new) == "the code of Net(C=1) is another one"


# ---- as a whole


def test_equal_searches_are_the_same():
    parts = {"space": part("a"), "settings": part("b", n_iter="5")}
    assert check_same(parts, parts, "runs/a") is False
    assert check_same({}, parts, "runs/a") is False  # which an older version did not look at
    assert check_same(parts, {"space": part("a")}, "runs/a") is False


def test_a_search_that_has_grown_goes_on():
    old = {"settings": part("a", n_iter="5", error_score="0")}
    assert check_same(old, {"settings": part("b", n_iter="6", error_score="0")}, "a") is True
    text = message(old, {"settings": part("b", n_iter="6", error_score="1")})
    assert "settings differs: error_score was 0, now 1\n" in text
    assert "n_iter was 5" in message(old, {"settings": part("b", n_iter="4", error_score="0")})
    assert "space differs: n_iter was 5" in message(
        {"space": part("a", n_iter="5")}, {"space": part("b", n_iter="6")}
    )


@pytest.mark.parametrize(("name", "counts"), [("settings", 0), ("estimator", 0), ("space", 1)])
def test_what_one_side_does_not_know_counts_in_a_space_only(name, counts):
    old, new = {name: part("a", C="1")}, {name: part("b", C="1", D="2")}
    if counts:
        assert "D is new, 2" in message(old, new)
        assert "D is gone, it was 2" in message(new, old)
    else:
        assert check_same(old, new, "a") is False
        assert check_same(new, old, "a") is False


def test_code_that_is_accepted_begins_a_search_that_goes_on():
    old, new = OLD | {"scoring": part("a", bare="x")}, OLD | {"scoring": part("b", bare="x")}
    assert "scoring differs" in message(old, new)
    assert check_same(old, new, "a", accepted={"code"}) is True
    other = OLD | {"scoring": part("b", bare="y")}
    assert "scoring differs" in message(old, other, accepted={"code"})
    without = OLD | {"scoring": part("a")}, OLD | {"scoring": part("b")}
    assert "scoring differs" in message(*without, accepted={"code"})


def test_a_global_that_is_accepted_may_change():
    new = {GLOBALS: part("b", x="2", y="f#0123456789abcdef")}
    text = message(OLD, new)
    assert "globals differs: x was 1, now 2\n" in text
    assert text.endswith(
        "accept it and fit again: sksearch.checkpoint.accept_changes('runs/a', 'x')"
    )
    assert check_same(OLD, new, "runs/a", accepted={"x"}) is False
    assert "x was 1" in message(OLD, new, accepted={"y"})


def test_code_in_a_global_is_accepted_with_code_and_not_compared_between_pythons():
    new = {GLOBALS: part("b", x="1", y="f#fedcba9876543210")}
    assert "the code of f is another one" in message(OLD, new)
    assert check_same(OLD, new, "a", accepted={"code"}) is False
    assert check_same(OLD, new, "a", same_python=False) is False
    other = {GLOBALS: part("b", x="2", y="f#fedcba9876543210")}
    assert "x was 1" in message(OLD, other, accepted={"code"})
    assert "x was 1" in message(OLD, other, same_python=False)


def test_a_global_that_is_new_or_gone_is_no_difference():
    assert check_same(OLD, {GLOBALS: part("b", x="1", z="3")}, "a") is False


def test_what_each_start_makes_anew_is_warned_of():
    old = {GLOBALS: part("a", x=f"1.5{OF_START}time()", y="2")}
    with pytest.warns(UserWarning, match=r"'runs/a' goes on.*: x was 1\.5, now 2\.5\.$"):
        assert (
            check_same(old, {GLOBALS: part("b", x=f"2.5{OF_START}time()", y="2")}, "runs/a")
            is False
        )
    assert "x was 1.5" in message(old, {GLOBALS: part("b", x=f"2.5{OF_START}now()", y="2")})


@pytest.mark.parametrize(
    ("was", "now", "is_so"),
    [
        (f"1{OF_START}f()", f"2{OF_START}f()", True),
        (f"1{OF_START}f()", f"2{OF_START}g()", False),
        ("1", "2", False), ("1", f"2{OF_START}f()", False), (f"1{OF_START}f()", "2", False),
    ],
)  # fmt: skip
def test_a_value_of_a_start_is_told_by_its_statement(was, now, is_so):
    assert is_of_start(was, now) is is_so
    assert value_of(was) == "1"


def test_globals_that_are_too_many_to_be_listed_are_compared_as_a_whole():
    old, new = (part(sha, f"x: {sha}{OF_START}time()") for sha in ("1", "2"))
    text = message({GLOBALS: old}, {GLOBALS: new})
    assert "globals differs: it was x: 1" in text
    assert text.endswith("sksearch.checkpoint.accept_changes('runs/a', 'globals')")
    assert check_same({GLOBALS: old}, {GLOBALS: new}, "a", accepted={GLOBALS}) is False


def test_the_way_out_is_named_where_only_code_and_globals_differ():
    code = OLD | {"scoring": part("a", bare="x")}, OLD | {"scoring": part("b", bare="x")}
    assert message(*code).endswith("accept_changes('runs/a', 'code')")
    both = message(code[0], code[1] | {GLOBALS: part("b", x="2", y="f#0123456789abcdef")})
    assert both.endswith("accept_changes('runs/a', 'x', 'code')")
    old, new = code[0] | {"space": part("c")}, code[1] | {"space": part("d")}
    assert "accept_changes" not in message(old, new)
    assert "accept_changes" not in message({"a": part("a", bare="x")}, {"a": part("b", bare="y")})
    assert "accept_changes" not in message({"a": part("a")}, {"a": part("b")})


def test_who_has_other_data_is_told_of_a_directory_for_each_data_set():
    assert "{data}" in message({"data": part("a")}, {"data": part("b")})
    assert "{data}" not in message({"space": part("a")}, {"space": part("b")})


def test_the_message_says_what_was_compared(monkeypatch):
    monkeypatch.setattr(fp, "OPAQUE", "<opaque>")
    new = {"space": part("b", "d"), "data": part("x")}
    assert message({"space": part("a", "c")}, new).splitlines() == [
        "The checkpoint in 'runs/a' is of another search:",
        "  space differs: it was c, now d",
        "Compared were space, data.",
        "Pass another checkpoint_dir, or delete this one to start from the beginning.",
    ]
    opaque = {
        "cv": part("a", "given <opaque>"), "random_state": part("", "drawn"),
        GLOBALS: part("b", x="<opaque>", y="1"), "space": part("c", C="<opaque>", D="2"),
    }  # fmt: skip
    assert compared(opaque) == (
        "Compared were cv, random_state, globals, space. What cannot be looked into is not: "
        "cv, random_state, x, space C."
    )


# ---- parts


def test_a_part_has_its_items_unless_there_are_very_many():
    found = fp._items({"b": "2", "a": "1" * 999})
    assert found["text"].startswith("a: 111")
    assert found["items"] == {"b": "2", "a": cut("1" * 999, 300)}
    assert len(fp._items({str(i): "" for i in range(1000)})["items"]) == 1000
    assert "items" not in fp._items({str(i): "" for i in range(1001)})
    assert fp._items({"a": "1", "b": "2"})["sha"] == fp._items({"b": "2", "a": "1"})["sha"]
    assert fp._items({"a": "1"})["sha"] != fp._items({"a": "2"})["sha"]
    assert fp._part("\udc80")["sha"] != fp._part("é")["sha"]


def test_the_values_of_a_space_are_told_whatever_holds_them():
    for values in ([1, 2], (1, 2), range(1, 3), np.array([1, 2])):
        assert fp._values(repr, values) == "[1, 2]"
    assert fp._values(repr, {1}) == "{1}"
    assert fp._values(repr, When([1, 2], "kind", "==", "a")) == "[1, 2] when kind == 'a'"
    assert fp._space(repr, {"C": [1], "D": (2,)}) == {"C": "[1]", "D": "[2]"}
    union = [{"C": [1]}, {"C": [2], "D": [3]}]
    assert fp._space(repr, union) == {
        "C (dict 0)": "[1]",
        "C (dict 1)": "[2]",
        "D (dict 1)": "[3]",
    }


def test_a_splitter_is_told_by_what_it_is():
    assert fp._splitter(repr, None) == "5"
    assert fp._splitter(repr, 3) == "3"
    assert fp._splitter(repr, np.int64(3)) == "3"
    assert fp._splitter(repr, KFold(3)) == repr(KFold(3))
    assert fp._splitter(repr, [([0], [1])]) == "given"
    assert fp._splitter(repr, iter([([0], [1])])) == f"given {fp.OPAQUE}"


def test_a_seed_is_told_by_its_number():
    assert fp._random_state(3) == fp._random_state(np.int64(3)) == fp._part("3")
    assert "another generator" in fp._random_state(np.random.RandomState(0))["text"]
    assert fp._random_state({"state": []}) == {"sha": "", "text": "drawn"}
