"""Signatures and docstrings of the searches: ``python -m docs.signatures`` writes shared parts.

``docs/guide/parameters.md`` explains the parameters and attributes that searches share. Their
types and first paragraphs, with a list that follows, are copied into the docstrings of the
classes, and the parameters of `BaseSearch` into each ``__init__``, so that editors, ``help`` and
these pages show the same text.
A test fails if a file is not up to date.
"""

import ast
import re
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/guide/parameters.md"
BASE = ROOT / "sksearch/search/_base.py"
FILES = sorted(BASE.parent.glob("*.py"))
#: Shared names that a class explains itself.
HALVING = {"resource", "min_resources", "max_resources", "return_train_score"}
OWN = {
    "FabolasSearchCV": {"n_initial"},
    "HalvingGridSearchCV": HALVING,
    "HalvingRandomSearchCV": HALVING,
    "HypergradientSearchCV": {"estimator", "param_distributions"},
    "IncrementalEvaluationSearchCV": {"min_resources"},
    "PBTSearchCV": {"population_size", "resource"},
    "SearchCV": {"resource"},
}
#: Type of the workers of searches that learn, and a key that others do not have.
BATCHES, BATCH_SIZE = "BatchWorkersDict", '- ``"batch_size"``:'
WIDTH = 99  # of a line
#: Name, type, and a paragraph with or without a list.
ENTRY = r"^### (.*)\n\n(.*)\n\n((?:.+\n)+(?:\n- (?:.+\n)+)?)"

Entries = dict[str, list[str]]  # lines of a docstring by name


class Parameter(NamedTuple):
    """A parameter of an ``__init__``, as code."""

    name: str
    annotation: str
    default: str
    needs_name: bool

    def __str__(self) -> str:
        default = f" = {self.default}" if self.default else ""
        return f"{self.name}: {self.annotation}{default}"


def written(path: Path) -> str:
    """Return the text of a file with signatures and docstrings up to date."""
    text = path.read_text(encoding="utf-8")
    for rewrite in (_write_signature, _write_docstring):
        lines = text.splitlines()
        for cls in reversed(_searches(text)):
            rewrite(cls, lines)
        text = "\n".join(lines) + "\n"
    return text


def stale() -> list[str]:
    """Return the names of the files that are not up to date."""
    return [path.name for path in FILES if path.read_text(encoding="utf-8") != written(path)]


def _searches(text: str) -> list[ast.ClassDef]:
    classes = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    return [cls for cls in classes if re.fullmatch(r"BaseSearch|\w*SearchCV", cls.name)]


# ---- signatures


def _parameters(cls: ast.ClassDef) -> dict[str, Parameter]:
    """Parameters of a class, or of the one that it is derived from."""
    init = _init(cls)
    if init is None:
        (base,) = (node.id for node in cls.bases if isinstance(node, ast.Name))
        return _parameters_of(base)
    args = init.args
    missing: list = [None] * (len(args.args) - len(args.defaults))
    pairs = [*zip(args.args, missing + args.defaults, strict=True)][1:]
    found = [Parameter(arg.arg, _code(arg.annotation), _code(d), False) for arg, d in pairs]
    for arg, d in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        found.append(Parameter(arg.arg, _code(arg.annotation), _code(d), True))
    return {parameter.name: parameter for parameter in found}


def _parameters_of(name: str) -> dict[str, Parameter]:
    classes = (cls for path in FILES for cls in _searches(path.read_text(encoding="utf-8")))
    return _parameters(next(cls for cls in classes if cls.name == name))


def _init(cls: ast.ClassDef) -> ast.FunctionDef | None:
    functions = (node for node in cls.body if isinstance(node, ast.FunctionDef))
    return next((function for function in functions if function.name == "__init__"), None)


def _code(node: ast.expr | None) -> str:
    return ast.unparse(node).replace("'", '"') if node else ""


def _write_signature(cls: ast.ClassDef, lines: list[str]) -> None:
    """Write the parameters of `BaseSearch` in one block; own ones stay before or after it."""
    init = _init(cls)
    if init is None or cls.name == "BaseSearch":
        return
    found, shared = _parameters(cls), _parameters_of("BaseSearch")
    block = [name for name, each in shared.items() if each.needs_name]
    names = list(found)
    at = next(i for i, name in enumerate(names) if name in block)
    names[at:at] = block
    names = list(dict.fromkeys(names))
    own = OWN.get(cls.name, set())
    own = own | {name for name, each in found.items() if BATCHES in each.annotation}
    new = [found[n] if n not in shared or n in own else shared[n] for n in names]
    places = [str(each) for each in new if not each.needs_name]
    texts = ["self", *places, "*", *(str(each) for each in new if each.needs_name)]
    lines[init.lineno - 1 : init.body[0].lineno - 1] = [
        "    def __init__(",
        *(f"        {each}," for each in texts),
        "    ) -> None:",
    ]


# ---- docstrings


def shared_entries() -> dict[str, dict[str, tuple[str, str]]]:
    """Return type and first paragraph of each name on the page, with its list, by section."""
    sections = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        found = re.findall(ENTRY, section, flags=re.MULTILINE)
        sections[section.partition("\n")[0]] = {
            heading.replace("`", ""): (kind.partition(", default=")[0], _as_rst(text))
            for heading, kind, text in found
        }
    return sections


def _as_rst(text: str) -> str:
    """Code of Markdown: names stay between single backticks, other code gets double ones.

    Each line is a paragraph or an item of a list.
    """
    lines = [" ".join(each.split()) for each in re.split(r"\n+(?=- )", text)]
    text = re.sub(r"`([^`]*)`", r"``\1``", "\n".join(lines))
    return re.sub(r"``([\w.]+)``", r"`\1`", text)


def _write_docstring(cls: ast.ClassDef, lines: list[str]) -> None:
    """Write the entries of shared names; a private base is not documented."""
    if cls.name.startswith("_"):
        return
    sections, parameters = shared_entries(), _parameters(cls)
    of_resource = sections["Attributes of searches that spend a resource"]
    attributes = sections["Attributes of all searches"]
    if parameters.keys() & {"select", "scheduler"}:
        attributes = attributes | of_resource
    if "audit" not in parameters:
        attributes = {name: entry for name, entry in attributes.items() if name != "audited_"}
    shared = {name: entry for each in sections.values() for name, entry in each.items()}

    def parameter_entries(found: Entries) -> Iterator[list[str]]:
        for name, parameter in parameters.items():
            if name in OWN.get(cls.name, set()) or name not in shared:
                yield found[name]
            else:
                kind, text = shared[name]
                if name == "workers" and BATCHES not in parameter.annotation:
                    lines = text.splitlines()
                    text = "\n".join(line for line in lines if not line.startswith(BATCH_SIZE))
                default = f", default={parameter.default}" if parameter.default else ""
                yield _entry(name, kind + default, text)

    def attribute_entries(found: Entries) -> Iterator[list[str]]:
        yield from (entry for name, entry in found.items() if name not in attributes)
        yield from (_entry(name, *entry) for name, entry in attributes.items())

    _write_section(cls, lines, "Attributes", attribute_entries)
    _write_section(cls, lines, "Parameters", parameter_entries)


def _write_section(
    cls: ast.ClassDef,
    lines: list[str],
    title: str,
    make: Callable[[Entries], Iterator[list[str]]],
) -> None:
    """Replace the entries of a section of a docstring."""
    start = lines.index(f"    {title}", cls.lineno) + 2
    end = next(i for i in range(start, len(lines)) if _is_end(lines, i))
    found: Entries = {}
    name = ""
    for line in lines[start:end]:
        if line[4:5].strip():
            name = line.partition(" : ")[0].strip()
        found.setdefault(name, []).append(line)
    lines[start:end] = [line for entry in make(found) for line in entry]


def _is_end(lines: list[str], i: int) -> bool:
    """Return whether a section ends at a line; a blank one may also lead to a list."""
    is_last = lines[i].strip() == '"""'
    return is_last or (not lines[i] and not lines[i + 1].startswith(" " * 8))


def _entry(name: str, kind: str, text: str) -> list[str]:
    """Lines of an entry: a paragraph, and perhaps a list."""
    first, *items = text.splitlines()
    wrap = partial(textwrap.wrap, break_long_words=False, break_on_hyphens=False)
    found = wrap(first, WIDTH - 8)
    for i, item in enumerate(items):
        found += [""] * (i == 0) + wrap(item, WIDTH - 8, subsequent_indent="  ")
    return [f"    {name} : {kind}", *(f"        {line}".rstrip() for line in found)]


if __name__ == "__main__":
    for each in FILES:
        each.write_text(written(each), encoding="utf-8")
