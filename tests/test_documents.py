"""The page on the literature names what there is, and tests that there are."""

import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

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
PARTS, _, SIZES = (
    (RECORDS / "documents.md").read_text(encoding="utf-8").partition("\n## Sizes, commands")
)


def rows_of(text):
    """Cells of the rows that begin with a part."""
    return [line.strip("|").split("|") for line in text.splitlines() if ROW.match(line)]


ROW = re.compile(r"\| [A-E]\d+ ")
ROWS = {
    cells[0].strip(): [re.findall("`([^`]+)`", cell) for cell in cells[-2:]]
    for cells in rows_of(PARTS)
}


def is_here(names):
    """Nets are public only where PyTorch is."""
    in_neural = (ROOT / "sksearch" / "neural" / "__init__.py").read_text(encoding="utf-8")
    return HAS_TORCH or not any(f'"{re.match("[A-Za-z_]*", n)[0]}"' in in_neural for n in names)


@pytest.mark.parametrize("part", [part for part, (names, _) in ROWS.items() if is_here(names)])
def test_names_of_the_literature_are_there_and_take_what_is_written(part):
    """A name is code such as ``GPSampler(warp=True)``, or ``timeout=`` of the name before it.

    It may also be ``known={"params": ...}`` of that name.
    """
    found = None
    for name in ROWS[part][0]:
        parameter, is_parameter, keys = name.partition("=")
        if is_parameter and parameter.isidentifier():
            assert parameter in inspect.signature(found).parameters
            value = eval(keys or "{}")
            nested = [f"{parameter}__{key}" for key in value if isinstance(value, dict)]
            assert {*nested} <= {*found(LogisticRegression()).get_params()}
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


def test_each_part_has_its_size_command_and_page():
    rows = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows_of(SIZES)}
    assert list(rows) == list(ROWS)
    for part, (works, size, command, page) in rows.items():
        assert works in ("yes", "smaller"), part
        assert size, part
        if command != "its test":
            assert (ROOT / command.strip("`")).is_file(), part
        title, target = re.fullmatch(r"\[(.+)\]\((.+)\)", page).groups()
        path, _, anchor = target.partition("#")
        text = (RECORDS / path if path else RECORDS / "documents.md").read_text(encoding="utf-8")
        headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
        assert title in (headings[0], "above"), part
        slugs = [re.sub(r"[^\w -]", "", name.lower()).replace(" ", "-") for name in headings]
        assert not anchor or anchor in slugs, part
    # Experiments below the published size have their number of runs beside the figure.
    smaller = {part: size for part, (works, size, *_) in rows.items() if works == "smaller"}
    assert set(smaller) == {"C4", "D8"}
    assert all(re.search(r"\d+,000 images.* runs", size) for size in smaller.values())


def test_searches_that_are_judged_are_judged_once():
    page = (RECORDS / "criteria.md").read_text(encoding="utf-8")
    for part in page.partition("\n## Verdicts\n")[::2]:
        judged = re.findall(r"^\| `(\w+SearchCV\b.*?)` \|", part, flags=re.MULTILINE)
        assert len(judged) > 15
        assert len(judged) == len(set(judged))
        assert {name.partition("(")[0] for name in judged} <= set(PUBLIC)
    rows = re.findall(r"^\| `(\w+SearchCV)\b.*\| (\d+) \|$", page, flags=re.MULTILINE)
    names = {name: set(inspect.signature(PUBLIC[name]).parameters) for name, _ in rows}
    assert all(int(n) == len(names[name] - names["RandomSearchCV"]) for name, n in rows)
