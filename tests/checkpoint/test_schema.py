"""How a class stands in a record: what is written comes back, and what is not of it is named."""

from dataclasses import dataclass, field
from typing import Annotated

import pytest

from sksearch.checkpoint import _kinds as kinds
from sksearch.checkpoint._records import STATE
from sksearch.checkpoint._schema import Entry, Schema
from sksearch.fitting.run._states import SavedState


@dataclass
class Meal:
    """Anything with fields."""

    n_plates: Annotated[int, Entry("n", kinds.count)]
    guest: Annotated[str | None, Entry("guest", kinds.optional(kinds.text), str.upper, str.lower)]
    is_hot: Annotated[bool, Entry("hot", kinds.flag)] = True
    dishes: Annotated[list, Entry("d", kinds.texts, is_sparse=True)] = field(default_factory=list)


SCHEMA, CLOSED = Schema(Meal), Schema(Meal, is_closed=True)


@pytest.mark.parametrize(
    ("meal", "record"),
    [
        (Meal(2, "ann"), {"n": 2, "guest": "ANN", "hot": True}),
        (Meal(0, None, False, ["rice"]), {"n": 0, "guest": None, "hot": False, "d": ["rice"]}),
    ],
)
def test_what_is_written_comes_back(meal, record):
    assert SCHEMA.write(meal) == record
    assert list(SCHEMA.write(meal)) == list(record)
    assert SCHEMA.read(record) == CLOSED.read(record) == meal


def test_what_is_missing_has_its_default_or_is_none():
    first, second = SCHEMA.read({"n": 1}), SCHEMA.read({"n": 1})
    assert first == second == Meal(1, None)
    assert first.dishes is not second.dishes


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"n": -1}, r"^'n' is -1$"),
        ({"n": 1, "guest": 1}, "^'guest' is 1$"),
        ({"n": 1, "hot": None}, "^'hot' is None$"),
        ({"guest": "ANN"}, "^'n' is missing$"),
        ([1], r"^\[1\] is not a record$"),
        ({"n": "x" * 1000}, "^'n' is .{60,80}$"),
    ],
)
def test_an_entry_that_is_of_another_kind_or_missing_is_named(record, words):
    with pytest.raises(ValueError, match=words):
        SCHEMA.read(record)


def test_entries_of_later_versions_are_passed_over_but_where_none_can_be():
    assert SCHEMA.read({"n": 1, "more": 1}) == Meal(1, None)
    with pytest.raises(ValueError, match="'more' is unknown"):
        CLOSED.read({"n": 1, "more": 1})


OF_STATE = {"f": "1.2.3", "h": "0" * 64, "n": 5}


def test_a_state_is_known_by_a_name_and_not_by_a_path():
    state = STATE.read(OF_STATE)
    assert (state.path.name, state.sha, state.size, state.signature) == (*OF_STATE.values(), "")
    signed = SavedState(state.path.absolute(), state.sha, state.size, "ab")
    assert STATE.write(signed) == OF_STATE | {"s": "ab"}


@pytest.mark.parametrize("other", [{"f": "../1.2.3"}, {"h": ""}, {"n": -1}, {"s": None}])
def test_a_state_that_is_none_is_an_error(other):
    with pytest.raises(ValueError, match=f"'{next(iter(other))}' is "):
        STATE.read(OF_STATE | other)
