"""What a value in a record may be, by examples on both sides of each border."""

import math

import pytest

from sksearch.checkpoint import _kinds as kinds
from sksearch.checkpoint._kinds import LARGEST, LONGEST, MOST_FOLDS

HUGE = 2**1023
POINT = [1, 0.5, None]
BOUND = ["score", "<=", 0.5]
SPAN = [0.0, 1.5, "worker"]
PREDICTION = [0.5, 0.4, 0.6, 1, 1.0]
RUNG = [0, 0, 0, 0, 0, 0]

#: By kind: what is of it, and what is not.
EXAMPLES = {
    "text": (["", "a"], [None, 1, b"a", ["a"]]),
    "texts": ([[], ["a", ""]], [None, "a", ("a",), [1], ["a", None]]),
    "flag": ([True, False], [None, 0, 1, "True"]),
    "count": ([0, 1, LARGEST - 1], [None, -1, LARGEST, True, 1.0, "1"]),
    "positive": ([1, LARGEST - 1], [None, 0, -1, LARGEST, True, 1.0]),
    "n_splits": ([1, MOST_FOLDS], [None, 0, MOST_FOLDS + 1, True]),
    "number": (
        [0, -1, HUGE - 1, 1 - HUGE, 0.5, math.nan, -math.inf, True],
        [None, HUGE, -HUGE, "1", [1]],
    ),
    "seconds": (
        [0, -1.5, LONGEST / 2, -LONGEST / 2],
        [None, LONGEST, -LONGEST, math.nan, math.inf, "1"],
    ),
    "duration": (
        [0, 0.0, 1, LONGEST / 2],
        [None, -1e-9, -1, LONGEST, math.nan, math.inf, True, "1"],
    ),
    "span": (
        [SPAN, [1.0, 1.0, ""], [-2, -1, "w"]],
        [None, tuple(SPAN), SPAN[:2], [*SPAN, 1], [1.5, 1.0, "w"], [0.0, 1.0, 1],
         [None, 1.0, "w"], [0.0, None, "w"]],
    ),
    "prediction": (
        [PREDICTION, [-1.0, 0.0, 1.0, 9, 2.0]],
        [None, tuple(PREDICTION), PREDICTION[:4], [*PREDICTION, 1], [0.5, 0.4, 0.6, 0, 1.0],
         [0.5, 0.4, 0.6, 1.0, 1.0], [1, 0.4, 0.6, 1, 1.0], [0.5, math.nan, 0.6, 1, 1.0],
         [0.5, 0.4, math.inf, 1, 1.0], [0.5, 0.4, 0.6, 1, 1], [0.5, 0.4, 0.6, 1, math.nan]],
    ),
    "status": (["ok", "error", "memory", "nan", "crash", "timeout"], [None, "OK", "fine", 1]),
    "scores": ([0.5, 1, math.nan, {"a": 1.0, "b": 2}], [None, {}, {"a": None}, "1", [1.0]]),
    "numbers": ([{}, {"a": 1.0}], [None, 1.0, {"a": "1"}, [1.0]]),
    "bounds": (
        [[], [BOUND], [BOUND, ["b", ">=", -1.0]]],
        [None, BOUND, (BOUND,), [BOUND[:2]], [[*BOUND, 1]], [[1, "<=", 0.5]], [["a", "<", 0.5]],
         [["a", "<=", 1]], [["a", ">=", math.nan]], [["a", ">=", math.inf]], [tuple(BOUND)]],
    ),
    "sample": (
        [[10, 1, 2, 3, 0], [1, 0.5, None, 2, None]],
        [None, (10, 1, 2, 3, 0), [10, 1, 2, 3], [1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 0],
         [1.5, 1, 2, 3, 0], [10, "1", 2, 3, 0], []],
    ),
    "rows": (
        ["", "AAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAA=="],
        [None, "AAA=", "A", "AAAAAA==", "AAAAAAAAAAA=!", b"AAAAAAAAAAA="],
    ),
    "curve": (
        [[POINT], [POINT, [0, {"a": 1.0}, {"a": 1}]]],
        [None, [], POINT, (POINT,), [POINT[:2]], [[*POINT, 1]], [[-1, 0.5, None]],
         [[1, None, None]], [[1, 0.5, "1"]], [tuple(POINT)]],
    ),
    "record": ([{}, {"f": "1.2.3"}], [None, [], [{}], "f"]),
    "records": ([[], [{}, {"f": "1.2.3"}]], [None, {}, ({},), [None], [[]]]),
    "state_name": (
        ["1.2.3", "1.2.3.0123456789abcdef"], [None, 1, "", "1.2", "../1.2.3", "1.2.3.01"],
    ),
    "sha": (["0" * 64, "0123456789abcdef" * 4], [None, 0, "", "0" * 63, "0" * 65, "G" * 64]),
    "ascii_text": (["", "ab"], [None, 1, "é"]),
    "random_state": (
        [0, 7, {"state": []}, {"state": ["MT19937", [1]]}],
        [None, -1, {}, {"state": "MT19937"}, {"state": None}, [1]],
    ),
    "versions": (
        [{"sklearn": "1.8"}, {"sklearn": "1", "numpy": "2"}],
        [None, {}, {"numpy": "2"}, {"sklearn": 1}, ["sklearn"]],
    ),
    "parts": (
        [{}, {"space": {}}, {"space": {"C": "1"}, "cv": {"": "5"}}],
        [None, [], {"space": None}, {"space": ["C"]}, {"space": {"C": 1}}],
    ),
    "plan": (
        [[], [RUNG], [RUNG, [1, 2, 3, 4, 5, 6]]],
        [None, RUNG, (RUNG,), [RUNG[:5]], [[*RUNG, 0]], [[-1, *RUNG[1:]]], [[0.5, *RUNG[1:]]]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_kind_knows_its_own(name):
    kind, (own, others) = getattr(kinds, name), EXAMPLES[name]
    assert [value for value in own if kind(value) is not True] == []
    assert [value for value in others if kind(value) is not False] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_is_an_example_of_an_optional_kind(name):
    kind, (own, others) = kinds.optional(getattr(kinds, name)), EXAMPLES[name]
    assert all(map(kind, [None, *own]))
    assert [value for value in others if kind(value)] == [None]
