"""A record comes back from its line as it was, or not at all."""

import gc
import math
import random
import struct

import numpy as np
import pytest

from sksearch.checkpoint._lines import decode, encode, scan


def random_value(rng, depth):
    kind = rng.randrange(9 if depth else 7)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice([0, -1, 2**63, -(2**80), rng.randrange(10**9)])
    if kind in (2, 3):  # any bits: infinities, NaN, -0.0 and denormal numbers are among them
        return struct.unpack("<d", rng.randbytes(8))[0]
    if kind == 4:
        return rng.choice([math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1 + 0.2])
    if kind in (5, 6):
        return random_text(rng)
    if kind == 7:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {random_text(rng): random_value(rng, depth - 1) for _ in range(rng.randrange(5))}


def random_text(rng):
    letters = [
        "a",
        "$",
        "$f",
        "$$",
        '"',
        "\\",
        "\n",
        "\r",
        "\0",
        "\u2028",
        "é",
        "𝄞",
        "\udc80",
        "nan",
    ]
    return "".join(rng.choice(letters) for _ in range(rng.randrange(4)))


def same(a, b):
    if isinstance(a, float):
        equal = math.copysign(1, a) == math.copysign(1, b) and a == b
        return isinstance(b, float) and (equal or (math.isnan(a) and math.isnan(b)))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def test_three_thousand_random_records_come_back_exactly():
    rng = random.Random(0)
    for number in range(3000):
        record = {"k": number, random_text(rng): random_value(rng, 4)}
        line = encode(record)
        assert line.count(b"\n") == 1
        assert same(decode(line), record)


@pytest.mark.parametrize(
    "value",
    [{"$f": "nan"}, {"$f": 1}, {"$$f": "nan"}, {"$": 1, "$$": 2, "$c": [3]}, {"a": {"$f": "inf"}}],
)
def test_a_users_dollar_keys_survive_next_to_nan(value):
    assert same(decode(encode({"p": value, "score": math.nan})), {"p": value, "score": math.nan})


def test_scalars_of_numpy_come_back_as_pythons():
    record = decode(
        encode(
            {
                "float64": np.float64(0.1),
                "float32": np.float32(0.1),
                "nan": np.float32("nan"),
                "int": np.int32(-3),
                "uint64": np.uint64(2**64 - 1),
                "bool": np.True_,
                "str": np.str_("é"),
                "tuple": (1, np.int8(2)),
            }
        )
    )
    assert same(
        record,
        {
            "float64": 0.1,
            "float32": float(np.float32(0.1)),
            "nan": math.nan,
            "int": -3,
            "uint64": 2**64 - 1,
            "bool": True,
            "str": "é",
            "tuple": [1, 2],
        },
    )


@pytest.mark.parametrize(
    "value",
    [
        b"bytes",
        {1, 2},
        np.arange(3),
        np.array(1.0),
        np.timedelta64(1, "s"),
        np.datetime64("2020"),
        1j,
        object(),
        len,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_hold_is_named(value):
    with pytest.raises(TypeError, match=r"'alpha' holds .*" + type(value).__name__):
        encode({"k": "ask", "p": {"alpha": [1, value]}})


def test_keys_that_would_come_back_as_strings_are_refused():
    with pytest.raises(TypeError, match="'p' has the key 1 of <class 'int'>"):
        encode({"p": {1: "one"}})


def test_a_record_is_a_dict():
    with pytest.raises(TypeError, match="must be a dict"):
        encode([1, 2])


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"00000000 \n",
        b"\0" * 40 + b"\n",
        b"8d5ac2e1 [1]\n",
        encode({"k": 1})[:-1],
        encode({"k": 1}).replace(b" ", b"\t"),
        encode({"k": 1}).upper(),
        encode({"k": 1}).replace(b"1", b"2"),
    ],
)
def test_a_damaged_line_is_not_a_record(line):
    assert decode(line) is None


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_after_a_look_as_before_it(enabled, tmp_path):
    (tmp_path / "lines").write_bytes(encode({"k": "ask"}))
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        scan(tmp_path / "lines")
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
