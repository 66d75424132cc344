"""What users see is what is frozen; a file that has other cases than the list is no proof."""

import json

import pytest

from tests.frozen.cases import FILE, all_cases, difference, frozen, run

FROZEN = json.loads(FILE.read_text(encoding="utf-8"))
CASES = all_cases()
SLOW = {"timed: four workers share a time", "looks: the report in html"}
HOW = (
    "Where this change is meant, or where another version of a library has other numbers, "
    "`python tests/golden.py freeze` writes the file again: read its diff."
)


@pytest.mark.whole
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES],
)
@pytest.mark.filterwarnings("default")
def test_visible_behaviour_equals_the_frozen_cases(name):
    found, kept = run(CASES[name]), FROZEN["cases"][name]
    parts = sorted(found.keys() | kept.keys())
    told = [difference(part, found.get(part), kept.get(part)) for part in parts]
    told = [each for each in told if each]
    assert not told, "\n".join([f"{name} differs.", *told, f"Frozen with {FROZEN['with']}.", HOW])


def test_the_file_has_the_cases_of_the_list():
    assert list(FROZEN["cases"]) == sorted(CASES)


def test_a_difference_names_its_line_and_what_it_was():
    long = [f"line {i}" for i in range(30)]
    kept = json.loads(json.dumps(frozen(long)))
    assert difference("part", long, kept) == ""
    other = [*long[:2], "another", *long[3:]]
    assert difference("part", other, kept).startswith("part: line 3 is 'another'\n  was 'line 2'")
    assert "line 21 is 'another'" in difference("part", [*long[:20], "another", *long[21:]], kept)
    assert "30 lines were kept, 31 there are" in difference("part", [*long, "more"], kept)
    assert "line 1 is nothing" in difference("part", None, kept)
    assert difference("part", long, None).startswith("part is new")
