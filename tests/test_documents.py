"""The page on the literature names what there is, and tests that there are."""

import inspect
import pkgutil
import re
from pathlib import Path

import pytest

from tests.test_docs import HAS_TORCH, public_objects

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "docs" / "records"
PUBLIC = {path.rpartition(".")[2]: obj for path, obj in public_objects()}
#: Modules of other classes and functions: some parts of the literature are not for users.
HOMES = {
    name: ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted(ROOT.glob("sksearch/**/_*.py"))
    for name in re.findall(r"^(?:class|def) ([A-Za-z]\w*)", path.read_text("utf-8"), re.MULTILINE)
    if name not in PUBLIC
}
ROWS = {
    cells[0].strip(): [re.findall("`([^`]+)`", cell) for cell in cells[-2:]]
    for cells in (
        line.strip("|").split("|")
        for line in (RECORDS / "documents.md").read_text(encoding="utf-8").splitlines()
        if re.match(r"\| [A-E]\d+ ", line)
    )
}


def is_here(names):
    """Nets are public only where PyTorch is."""
    in_neural = (ROOT / "sksearch" / "neural" / "__init__.py").read_text(encoding="utf-8")
    return HAS_TORCH or not any(f'"{re.match("[A-Za-z_]*", n)[0]}"' in in_neural for n in names)


@pytest.mark.parametrize("part", [part for part, (names, _) in ROWS.items() if is_here(names)])
def test_names_of_the_literature_are_there_and_take_what_is_written(part):
    """A name is code such as ``GPSampler(warp=True)``, or ``timeout=`` of the name before it."""
    found = None
    for name in ROWS[part][0]:
        if name.endswith("="):
            assert name[:-1] in inspect.signature(found).parameters
        else:
            plain = re.match(r"\w+", name)[0]
            here = (
                {plain: pkgutil.resolve_name(f"{HOMES[plain]}:{plain}")} if plain in HOMES else {}
            )
            found = eval(name, PUBLIC | here)
    assert found


@pytest.mark.parametrize("part", ROWS)
def test_tests_of_the_literature_are_there(part):
    for test in ROWS[part][1]:
        path, _, name = test.partition("::")
        text = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, flags=re.MULTILINE), test
    assert ROWS[part][1]


def test_the_parts_of_each_document_are_in_order():
    assert list(ROWS) == sorted(ROWS, key=lambda part: (part[0], int(part[1:])))


def test_searches_that_are_judged_are_judged_once():
    page = (RECORDS / "criteria.md").read_text(encoding="utf-8")
    for part in page.partition("\n## Verdicts\n")[::2]:
        judged = re.findall(r"^\| `(\w+SearchCV)` \|", part, flags=re.MULTILINE)
        assert len(judged) > 15
        assert len(judged) == len(set(judged))
        assert set(judged) <= set(PUBLIC)
