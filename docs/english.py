"""Turns of phrase to avoid: ``python -m docs.english`` prints how often each occurs.

Rates are per 1,000 words of user pages, other pages, docstrings and messages (the strings of
errors and warnings). Code and literal names are not counted. With paths as arguments, such as
``docs/guide/spaces.md``, the sentences are printed.
"""

import ast
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
OTHERS = r"(skorch|pandas|scikit-learn|sktime|skrub|PyTorch|joblib|MLflow|Optuna|imbalanced-learn)"
THINGS = r"(?<!\byou )(?<!\bpeople )(?<!\bto )"  # before a verb of which only people are subjects


class Tic(NamedTuple):
    """A turn of phrase, its rate in Optuna's docstrings, and the usual way to write it."""

    pattern: str
    limit: float
    instead: str


TICS = {
    "count of": Tic(r"\bcounts? of\b", 0, "number of"),
    "what": Tic(r"\bwhat\b(?!.*\?)", 0.02, "a noun: the result, the reason"),
    "that is": Tic(
        r"\b(that|which) (have|has|are|is|were|was)\b", 1.6, "a participle or a compound"
    ),
    "where": Tic(r"\bwhere\b(?!.*\?)", 0.7, "if, when"),
    "it says": Tic(rf"{THINGS}\b(says?|said|tells?|told|knows?|wants?)\b", 0.5, "shows, explains"),
    "params": Tic(r"\bparams\b", 1.2, "parameters, values"),
    "is no": Tic(r"\b(is|are|be) (no|none of)\b(?! longer)", 0.1, "is not a"),
    "there is none": Tic(
        r"\bthere (is|are) none\b|\bNone where\b|\bnobody knows\b", 0, "otherwise None"
    ),
    "trainings": Tic(
        r"\ba training\b(?! (fold|set|loss|row|score|part|time))|\btrainings\b", 0, "fit, fits"
    ),
    "nets of skorch": Tic(rf"\b\w+s? of {OTHERS}\b(?! ?[\d.]*'s)", 0.1, "skorch nets"),
    "goes on": Tic(r"\b(go|goes|going|went) on\b", 0, "continues, resumes"),
    "the page has": Tic(r"\bpages? (has|have)\b", 0.1, "lists, contains"),
    "too": Tic(r", too\b|\balso (if|when|while)\b", 0, "also, before the verb; even if"),
    "beside": Tic(r"\bbeside\b", 0, "next to, compared with"),
    "as it is": Tic(
        r"(?<!soon )(?<!long )\bas (it is|they are)\b|\bto the bit\b|\bof your own\b",
        0.1,
        "untuned, custom",
    ),
    "who": Tic(r"\b(who|whose|whoever|nobody|somebody)\b", 0.6, "which, no candidate, unknown"),
    "that of": Tic(r"\b(that|those) of\b(?! these)", 0.07, "repeat the noun"),
    "Of ...": Tic(r"^(Of|By(?! default)|Without|Beyond)\b", 0.2, "begin with the subject"),
    "so many": Tic(r"\b(so|as) many\b|\bthe more,", 0.1, "a number, increases with"),
    "foretell": Tic(
        r"\bforet(ell|old)\w*|\bseldom\b|\bdear(er)?\b|\bbeforehand\b|\banew\b|\blearnt\b",
        0,
        "predict, rarely, expensive, in advance, again, learned",
    ),
    "else": Tic(r"(?<!thing )\belse\b(?!')|\band so on\b", 0, "otherwise; name them"),
}
#: Highest sum of the rates in texts not yet rewritten; lower it as they improve.
CEILINGS = {"other pages": 5.5, "docstrings": 2.3, "messages": 2.8}
USER_PAGES = [
    *("README.md", "docs/index.md", "docs/tutorial.md", "docs/migration.md", "docs/glossary.md"),
    *("docs/benchmarks.md", "docs/background.md", "docs/guide/*.md", "docs/howto/*.md"),
]
MADE = {"_build", "gallery", "generated", "api.md"}  # by Sphinx


def groups() -> dict[str, list[Path]]:
    """Return the files of each group of texts; messages have those of docstrings."""
    user = [path for pattern in USER_PAGES for path in sorted(ROOT.glob(pattern))]
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    other = [path for path in pages if path not in user and not MADE & {*path.parts}]
    return {
        "user pages": user,
        "other pages": sorted(other),
        "docstrings": sorted(ROOT.glob("sksearch/**/*.py")),
        "messages": sorted(ROOT.glob("sksearch/**/*.py")),
    }


def sentences(path: Path, group: str = "docstrings") -> list[str]:
    """Return the sentences of a page, or of the docstrings or messages of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py" and group == "messages":
        blocks: Iterable[str] = _messages(text)
    elif path.suffix == ".py":
        blocks = [each for doc in _docstrings(text) for each in _blocks_of_docstring(doc)]
    else:
        blocks = [*_blocks_of_page(text)]
    plain = (" ".join(re.sub(r"``[^`]*``|`[^`]*`", "_", block).split()) for block in blocks)
    return [each for block in plain for each in re.split(r"(?<=[.?!:])\s+", block) if each]


def n_words(lines: Iterable[str]) -> int:
    """Return the number of words, without literal names."""
    return sum(len(re.findall(r"(?<![\w.])[A-Za-z][a-z'-]*(?![\w(])", line)) for line in lines)


def found(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each turn of phrase with the sentence in which it occurs."""
    for line in lines:
        for name, (pattern, _, _) in TICS.items():
            ignored = 0 if name in ("params", "Of ...") else re.IGNORECASE
            yield from ((name, line) for _ in re.finditer(pattern, line, ignored))


def rates(group: str) -> dict[str, float]:
    """Return the rate per 1,000 words of each turn of phrase in a group of texts."""
    lines = [line for path in groups()[group] for line in sentences(path, group)]
    counts, n = Counter(name for name, _ in found(lines)), n_words(lines)
    return {name: 1000 * counts[name] / n for name in TICS}


def _docstrings(text: str) -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and (doc := ast.get_docstring(node)):
            yield doc


def _messages(text: str) -> Iterator[str]:
    """Yield the strings of errors and warnings, with a literal name for each formatted value."""
    for node in ast.walk(ast.parse(text)):
        called = getattr(node, "func", None)
        is_warning = "warn" in getattr(called, "id", getattr(called, "attr", ""))
        if is_warning or isinstance(node, ast.Raise):
            yield from _strings(node)


def _strings(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "`_`" for part in node.values)
        yield "".join(map(str, parts))
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _strings(child)


def _blocks_of_docstring(doc: str) -> Iterator[str]:
    """Yield paragraphs without examples, references, formulas and the types of parameters."""
    doc = re.sub(r"\n(Examples|References)\n-+\n.*?(?=\n\w+\n-+\n|\Z)", "", doc, flags=re.DOTALL)
    doc = re.sub(r"^.*\n-+$|^\.\. math::.*(\n .*)*|^\s*>>>.*(\n.+)*", "", doc, flags=re.MULTILINE)
    doc = re.sub(r"^[\w*, ]+ : .*$", "\n", doc, flags=re.MULTILINE)
    yield from re.split(r"\n\s*\n", doc)


def _blocks_of_page(text: str) -> Iterator[str]:
    """Yield paragraphs, headings, items and cells without blocks of code and targets of links."""
    text = re.sub(r"\A---\n.*?\n---\n|^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^:.*$|^\|[-:| ]+\|$|^#+ ", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)|!?\[|\*\*", "", text)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-|]|\d\.) ?)", text):
        cells = re.sub(r"`[^`]*`", "_", block).split("|")
        yield from (re.sub(r"^\s*(-|\d+\.) ", "", cell) for cell in cells)


def _print_rates() -> None:
    by_group = {group: rates(group) for group in groups()}
    print(f"{'per 1,000 words':16}" + "".join(f"{group:>13}" for group in by_group) + "  limit")
    for name, (_, limit, instead) in TICS.items():
        shown = "".join(f"{each[name]:13.2f}" for each in by_group.values())
        print(f"{name:16}{shown}{limit:7}  {instead}")
    print(f"{'all':16}" + "".join(f"{sum(each.values()):13.2f}" for each in by_group.values()))
    lines = [line for path in groups()["user pages"] for line in sentences(path)]
    print(f"{n_words(lines):,} words in user pages")


if __name__ == "__main__":
    for argument, group in itertools.product(sys.argv[1:], ("docstrings", "messages")):
        if group == "docstrings" or argument.endswith(".py"):
            for tic, sentence in found(sentences(Path(argument), group)):
                print(f"{argument}: {tic}: {sentence}")
    if not sys.argv[1:]:
        _print_rates()
