"""Which cases and files of tests run by default, and which for a change."""

import json
import re
from itertools import product

import pytest

from tests import changing, times
from tests.choosing import ENOUGH_CASES, choose

CUBE = [{"a": a, "b": b, "c": c} for a, b, c in product(range(4), "xyz", [[0], [1]])]


def values_of(cases, *names):
    return {tuple(repr(case[name]) for name in names) for case in cases}


@pytest.mark.parametrize(
    "cases",
    [
        [{"name": i} for i in range(124)],
        [{"sampler": i, "space": j} for i in range(20) for j in range(5)],
        [{"sampler": i, "space": j} for i in range(2) for j in range(50)],
        [{"params": {"a": i}, "error": i % 2} for i in range(30)],
        [{"cls": int, "value": v} for v in (0, 1, 2, 0.0, 1.0, True, False, None, "0", "1", ())],
        CUBE,
    ],
    ids=str,
)
def test_each_value_runs_at_least_once_and_no_more_cases_than_that_needs(cases):
    chosen = [cases[i] for i in choose(cases)]
    largest = 0
    for name in cases[0]:
        assert values_of(chosen, name) == values_of(cases, name)
        largest = max(largest, len(values_of(cases, name)))
    assert len(chosen) <= max(ENOUGH_CASES, largest) or cases is CUBE
    assert choose(cases) == choose(cases) == sorted(choose(cases))


def test_each_pair_of_a_cube_runs_and_not_each_triple():
    chosen = [CUBE[i] for i in choose(CUBE)]
    for pair in ("ab", "ac", "bc"):
        assert values_of(chosen, *pair) == values_of(CUBE, *pair)
    assert len(chosen) < len(CUBE)


def test_seeds_only_repeat_a_test_and_dear_cases_may_be_few():
    cases = [{"seed": seed} for seed in range(100)]
    assert len(choose(cases)) == ENOUGH_CASES
    assert choose([{"name": name} for name in range(16)], few=4) == [0, 4, 8, 12]


def test_a_few_cases_all_run():
    assert choose([{"seed": 0}] * 3) == [0, 1, 2]


@pytest.mark.parametrize(
    ("changed", "near"),
    [
        ("sksearch/samplers/_tpe.py", "tests/samplers/test_tpe.py"),
        ("sksearch/checkpoint/_lines.py", "tests/checkpoint/test_lines.py"),
        ("sksearch/_utils/_fronts.py", "tests/search/test_objectives.py"),
        ("sksearch/watch.py", "tests/test_watch.py"),
        ("sksearch/space/__init__.py", "tests/space/test_space.py"),
        ("tests/interrupted.py", "tests/checkpoint/test_resume.py"),
        ("tests/contracts/learners.py", "tests/contracts/test_samplers.py"),
    ],
)
def test_a_change_is_near_to_its_tests(changed, near):
    distances = changing.distances_from([changed])
    assert distances[changed] == 0
    assert distances[near] == 1
    assert "tests/test_choosing.py" not in distances


def test_data_are_next_to_their_tests_and_a_changed_test_runs():
    distances = changing.distances_from(["tests/frozen/frozen.json", "tests/test_study.py"])
    assert distances["tests/frozen/test_frozen.py"] == distances["tests/test_study.py"] == 0


def test_what_does_not_fit_into_a_minute_is_left_out_the_farthest_first(monkeypatch):
    monkeypatch.setattr(changing, "changed_files", lambda: ["sksearch/samplers/_tpe.py"])
    seconds = dict.fromkeys(changing._modules(), 5.0)
    changed, chosen, n_left_out = changing.choose_files(2, seconds)
    assert changed == ["sksearch/samplers/_tpe.py"] == chosen[:1]
    assert 5 * len(chosen) <= 2 * changing.BUDGET
    assert n_left_out > 0
    distances = changing.distances_from(changed)
    assert max(distances[path] for path in chosen) <= 1


def test_the_times_of_commands_match_the_record():
    page = changing.ROOT.joinpath("CONTRIBUTING.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\|[^|]*\| `(pytest[^`]*)` \| (.*?) \|$", page, flags=re.MULTILINE)
    names = {
        "--changed": "changed",
        "loadgroup": "default",
        'matrix"': "further",
        "matrix": "matrix",
    }
    for command, text in shown:
        found = times.read()["commands"].get(names[command.split()[-1]])
        expected = f"{max(1, round(found['seconds'] / 60))} min" if found else "not measured"
        assert text.startswith(expected), (command, json.dumps(found))
    assert len(shown) == 4
