"""Two fingerprints compared, by hand: what counts, and what is said."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import KFold

from sksearch import When
from sksearch.checkpoint import _fingerprint as fp
from sksearch.checkpoint._fingerprint import check_same, compared, note_changes
from sksearch.checkpoint.identity._digests import OPAQUE, cut
from sksearch.checkpoint.identity._of_start import mark
from sksearch.search import SearchMismatchError

OLD = {"space": {"C": "1"}, "code": {"f": "1", "g": "2"}, "globals": {"x": "1", "y": "2"}}


def message(old, new, **kwargs):
    with pytest.raises(SearchMismatchError) as caught:
        check_same(old, new, "runs/a", **kwargs)
    return str(caught.value)


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ({"space": {"C": "2"}}, "space differs: C was 1, now 2"),
        ({"space": {"C": "1", "D": "2"}}, "space differs: D is new, 2"),
        ({"space": {}}, "space differs: C was removed, it was 1"),
        ({"code": {"f": "3", "g": "2"}}, "code differs: the code of f has changed"),
        ({"globals": {"x": "3", "y": "2"}}, "globals differs: x was 1, now 3"),
        ({"globals": {"x": "1"}}, "globals differs: y was removed, it was 2"),
        ({"globals": {"x": "1", "y": "2", "z": "3"}}, "globals differs: z is new, 3"),
    ],
)
def test_each_difference_is_named(new, says):
    assert f"  {says}\n" in message(OLD, OLD | new)


@pytest.mark.parametrize(
    ("new", "accepted", "extended"),
    [
        ({}, (), False),
        ({"code": {"f": "1", "g": "2", "h": "3"}}, (), False),  # named by what is no longer equal
        ({"code": {"f": "3"}}, {"code"}, True),
        ({"globals": {"x": "3", "y": "2"}}, {"x"}, False),
        ({"globals": {"x": "1", "y": "2", "z": "3"}}, {"code"}, True),
        ({"globals": {"x": mark("time", "1")}}, {"x", "y"}, False),
    ],
)
def test_equal_or_accepted_searches_resume(new, accepted, extended):
    assert check_same(OLD, OLD | new, "a", accepted=accepted) is extended


def test_the_way_out_is_named_where_only_code_and_globals_differ():
    new = OLD | {"code": {"f": "3"}, "globals": {"x": "4", "y": "2"}}
    assert message(OLD, new).endswith("accept_changes('runs/a', 'x', 'code')")
    assert "accept_changes" not in message(OLD, new | {"space": {"C": "2"}})
    assert "x was 1" in message(OLD, new, accepted={"code"})


def test_code_is_not_compared_between_versions_of_python():
    assert check_same(OLD, OLD | {"code": {"f": "3"}}, "a", same_python=False) is False
    assert "x was 1" in message(OLD, OLD | {"globals": {"x": "3"}}, same_python=False)


def test_what_differs_by_its_nature_gives_a_warning():
    old, new = (
        {"globals": {"t": mark("time", t), "n": n}} for t, n in (("1.5", "7"), ("2.5", "8"))
    )
    with pytest.warns(
        UserWarning, match=r"'runs/a' is resumed.* between starts: t was 1\.5, now 2\.5"
    ):
        check_same(old, new | {"globals": {"t": mark("time", "2.5"), "n": "7"}}, "runs/a")
    assert "n was 7, now 8" in message(old, new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_same({"globals": {"n": mark("process", "7")}}, {"globals": {"n": "7"}}, "runs/a")


def test_what_is_not_compared_is_named():
    parts = {"cv": {"": f"given {OPAQUE}"}, "globals": {"x": OPAQUE, "y": "1"}}
    parts |= {"space": {"C": OPAQUE}, "estimator": {"": f"E(a={OPAQUE})", "a": OPAQUE}}
    names = "cv, x, space C, estimator a"
    assert compared(parts).endswith(f"Not compared, because opaque: {names}.")
    with pytest.warns(UserWarning, match=f"opaque objects are not compared: {names}"):
        check_same(parts, parts, "a")


def test_only_some_settings_may_grow():
    old = {"settings": {"n_iter": "5", "error_score": "0"}}
    assert check_same(old, {"settings": {"n_iter": "6", "error_score": "0"}}, "a") is True
    assert check_same(old, {"settings": {"n_iter": "5"}}, "a") is False
    for changed in ({"n_iter": "4"}, {"n_iter": "'auto'"}, {"n_iter": "6", "error_score": "1"}):
        assert "settings differs" in message(old, {"settings": old["settings"] | changed})


def test_a_whole_estimator_counts_where_no_parameter_differs():
    old, new = ({"estimator": {"": f"E({x})", "a": "1"}} for x in "12")
    assert "estimator differs: it was E(1), now E(2)" in message(old, new)
    assert "estimator differs: a was 1, now 2\n" in message(
        old, {"estimator": {"": "E(2)", "a": "2"}}
    )
    assert check_same(old, {"estimator": {"": "E(2)", "a": "1", "b": "0"}}, "a") is False


def test_what_a_fit_changes_itself_is_as_before_for_the_next_fit(monkeypatch):
    monkeypatch.setattr(fp, "_changed_by_fits", {})
    note_changes({"globals": {"n": "0"}}, {"globals": {"n": "6", "new": "1"}})
    assert fp._changed_by_fits == {("globals", "n", "6"): "0", ("globals", "new", "1"): None}


def test_an_error_of_other_data_suggests_a_directory_for_each_data_set():
    assert "{data}" in message({"data": {"X": "1"}}, {"data": {"X": "2"}})
    assert "{data}" not in message({"space": {"C": "1"}}, {"space": {"C": "2"}})


def test_a_part_has_its_items_unless_there_are_very_many():
    assert fp._items({"b": "2", "a": "1" * 999}) == {"a": cut("1" * 999, 300), "b": "2"}
    assert len(fp._items({str(i): "" for i in range(1000)})) == 1000
    assert list(fp._items({str(i): "" for i in range(1001)})) == [""]


def test_values_and_splitters_are_compared_by_what_they_are():
    for values in ([1, 2], (1, 2), range(1, 3), np.array([1, 2])):
        assert fp._values(repr, values) == "[1, 2]"
    assert fp._values(repr, When([1, 2], "kind", "==", "a")) == "[1, 2] when kind == 'a'"
    assert fp._space(repr, [{"C": [1]}, {"C": [2]}]) == {"C (dict 0)": "[1]", "C (dict 1)": "[2]"}
    splitters = {None: "5", 3: "3", KFold(3): repr(KFold(3))}
    assert all(fp._splitter(repr, cv) == text for cv, text in splitters.items())
    assert fp._splitter(repr, iter([([0], [1])])) == f"given {OPAQUE}"
