"""Docstrings and documents: complete, and true to the code."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from contextlib import redirect_stdout
from functools import cache
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sksearch
from docs import english, outputs, public_lists, signatures
from sksearch.search import BaseSearch

ROOT = Path(__file__).parents[1]
HAS_TORCH = bool(find_spec("torch") and find_spec("skorch"))
#: Without public names: helpers, and two commands.
PRIVATE = {"_utils", "chaos", "fitting", "progress", "reader", "watch"}
MODULES = [
    "sksearch",
    *(
        f"sksearch.{module.name}"
        for module in pkgutil.iter_modules(sksearch.__path__)
        if module.name not in PRIVATE and (module.name != "neural" or HAS_TORCH)
    ),
]
SEARCHES = [
    getattr(sksearch.search, name) for name in sksearch.search.__all__ if name.endswith("SearchCV")
]
MADE = {"_build", "gallery", "generated"}  # by Sphinx, as is docs/api.md
PAGES = [
    *("README.md", "CONTRIBUTING.md"),
    *(
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.glob("docs/**/*.md"))
        if not MADE & set(path.parts) and path.name != "api.md"
    ),
]
# What numpydoc asks of pandas' pages rather than of a docstring's truth: where the quotes are,
# a second paragraph, cross-references and examples on every method, unnamed return values.
STYLE = {"GL01", "GL02", "GL03", "ES01", "SA01", "EX01", "RT02"}


FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def public_objects():
    seen = set()
    for module_name in MODULES:
        for name, obj in public_lists.public_objects(module_name).items():
            if obj not in seen:
                seen.add(obj)
                yield f"{module_name}.{name}", obj


def targets():
    for path, obj in public_objects():
        yield path
        if inspect.isclass(obj):
            for name, member in vars(obj).items():
                documented_above = any(
                    name in vars(cls) for cls in obj.__mro__[1:] if cls is not object
                )
                if name[0] != "_" and inspect.isfunction(member) and not documented_above:
                    yield f"{path}.{name}"


def test_docstrings_name_parameters_returns_and_errors():
    assert found(problems_of_docstring, targets()) == {}


def found(check, paths):
    """What a check finds, by the path of each object in which it finds something."""
    return {path: problems for path in paths if (problems := check(path))}


def problems_of_docstring(target):
    problems = [error for error in validate(target)["errors"] if error[0] not in STYLE]
    if "\n" not in inspect.getdoc(eval_path(target)).partition("\n\nExamples\n")[0]:
        # One line says it all where names and annotations do; nothing may be half documented.
        problems = [error for error in problems if error[0] not in ("PR01", "RT01", "YD01")]
    return problems


def eval_path(path):
    module = next(m for m in sorted(MODULES, key=len, reverse=True) if path.startswith(f"{m}."))
    obj = importlib.import_module(module)
    for name in path.removeprefix(f"{module}.").split("."):
        obj = getattr(obj, name)
    return obj


def test_every_public_name_has_an_example():
    assert found(has_no_example, [path for path, _ in public_objects()]) == {}


def has_no_example(path):
    own = vars(eval_path(path)).get("__doc__") if inspect.isclass(eval_path(path)) else None
    return ">>> " not in (own or eval_path(path).__doc__)


def is_error(obj):
    return inspect.isclass(obj) and issubclass(obj, Exception)


def test_documented_defaults_match_the_signature():
    paths = [p for p, o in public_objects() if p.startswith("sksearch.") and not is_error(o)]
    assert found(wrong_defaults, paths) == {}


def wrong_defaults(path):
    obj, wrong = eval_path(path), []
    doc = inspect.getdoc(obj) or ""
    for name, parameter in inspect.signature(obj).parameters.items():
        match = re.search(rf"^{name} : .*default=(\S+)$", doc, flags=re.MULTILINE)
        if match and parameter.default is not inspect.Parameter.empty:
            text = match[1].replace("np.nan", "nan").replace('"', "'").replace("5/6", str(5 / 6))
            if text != repr(parameter.default):
                wrong.append((name, text))
    return wrong


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_documents_every_parameter_and_attribute(search):
    doc = inspect.getdoc(search)
    for parameter in inspect.signature(search).parameters:
        assert re.search(rf"^{parameter} : ", doc, flags=re.MULTILINE), parameter
    for attribute in ("cv_results_", "best_params_", "history_", "plan_"):
        assert re.search(rf"^{attribute} : ", doc, flags=re.MULTILINE), attribute


# ---- the limits of the house


@cache
def nodes_by_file():
    """Every function and class of the package, by its file."""
    return {
        path: [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.ClassDef | FUNCTION)
        ]
        for path in sorted(ROOT.glob("sksearch/**/*.py"))
    }


def functions_and_classes():
    """Every function and class of the package, with its file."""
    for path, nodes in nodes_by_file().items():
        for node in nodes:
            yield f"{path.relative_to(ROOT)}: {node.name}", node


def n_lines(node):
    return node.end_lineno - node.lineno + 1


def has_docstring(function):
    return ast.get_docstring(function) is not None


def lines_of_docstrings(nodes):
    return sum(n_lines(node.body[0]) for node in nodes if has_docstring(node))


def test_files_have_at_most_470_lines_without_their_docstrings():
    too_long = {}
    for path, nodes in nodes_by_file().items():
        n = len(path.read_text(encoding="utf-8").splitlines()) - lines_of_docstrings(nodes)
        too_long |= {str(path): n} if n > 470 else {}
    assert too_long == {}


def test_functions_have_at_most_50_lines_below_their_signature_and_docstring():
    too_long = {}
    for name, node in functions_and_classes():
        if not isinstance(node, ast.ClassDef):
            body = node.body[has_docstring(node) :]
            n = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            too_long |= {name: n} if n > 50 else {}
    assert too_long == {}


def test_private_functions_of_more_than_12_lines_have_a_docstring():
    """What public ones have is validated above; classes describe their `__init__`."""
    assert [
        name
        for name, node in functions_and_classes()
        if isinstance(node, ast.FunctionDef)
        and re.match("_(?!_)", node.name)
        and n_lines(node) > 12
        and not has_docstring(node)
    ] == []


def test_signatures_and_docstrings_of_searches_are_up_to_date():
    assert signatures.stale() == [], "run python -m docs.signatures"


def test_the_page_of_common_parameters_explains_each_of_them_once():
    sections = signatures.shared_entries()
    names = [name for section in sections.values() for name in section]
    assert len(set(names)) == len(names)
    common = {*inspect.signature(BaseSearch.__init__).parameters} - {"self"}
    assert {*sections["Parameters of all searches"]} == common
    text = signatures.PAGE.read_text(encoding="utf-8")
    assert text.count("\n### ") == len(names), "a heading, a type and a paragraph"
    for name, default in re.findall(r"### `(\w+)`\n\n.*, default=(.*)\n", text):
        if name in common:
            assert repr(inspect.signature(BaseSearch).parameters[name].default) == (
                default.replace('"', "'").replace("np.nan", "nan")
            )


def test_no_description_of_a_parameter_begins_with_of():
    assert [
        f"{target}: {parameter.name}"
        for target in targets()
        for parameter in NumpyDocString(inspect.getdoc(eval_path(target)))["Parameters"]
        if " ".join(parameter.desc).startswith("Of ")
    ] == []


# ---- pages


def test_user_pages_avoid_turns_of_phrase_at_least_as_well_as_optuna():
    pages = english.groups()["user pages"]
    too_many = {
        tic for tic, rate in english.rates("user pages").items() if rate > english.TICS[tic].limit
    }
    lines = [(page, line) for page in pages for line in english.sentences(page)]
    assert [
        f"{page.relative_to(ROOT)}: {tic}: {line}"
        for page, line in lines
        for tic, _ in english.found([line])
        if tic in too_many
    ] == []


@pytest.mark.parametrize("group", english.CEILINGS)
def test_other_texts_get_no_worse(group):
    rate = sum(english.rates(group).values())
    assert rate <= english.CEILINGS[group], "run python -m docs.english FILE"


@pytest.mark.parametrize(
    ("sentence", "tics"),
    [
        ("The count of candidates is fixed.", ["count of"]),
        ("It returns what was found.", ["what"]),
        ("What won?", []),
        ("Candidates that have a score are kept.", ["that is"]),
        ("Return zero where the score is NaN.", ["where"]),
        ("The plan says how many fits there are.", ["it says"]),
        ("You know the limit, and you want to say so.", []),
        ("The params of a candidate; `params` in code.", ["params"]),
        ("A net is no estimator.", ["is no"]),
        ("It is no longer needed.", []),
        ("A hundred trainings, or a training of an hour.", ["trainings"] * 2),
        ("A training fold has all rows.", []),
        ("A table of pandas or a net of skorch.", ["nets of skorch"] * 2),
        ("The search goes on, too.", ["goes on", "too"]),
        ("It drops candidates as soon as it is sure.", []),
        ("The score is that of the best.", ["that of"]),
        ("Of two candidates the first wins.", ["Of ..."]),
        ("By default the first wins.", []),
        ("It trains everything anew, seldom beforehand.", ["foretell"] * 3),
        ("Nothing else changes, or else it fails.", ["else"]),
    ],
)
def test_turns_of_phrase_are_found(sentence, tics, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        f"# Page\n\n```python\ncount of\n```\n\n- [{sentence}](trainings.md)\n| `params` |\n"
    )
    assert [tic for tic, _ in english.found(english.sentences(page))] == tics


def test_messages_are_strings_of_errors_and_warnings(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(
        'def f(n):\n    """A docstring."""\n    warn(f"{n} trainings.", UserWarning)\n'
        '    raise ValueError("A count of " + g("two.") + f"{h(\'else\')} words.")\n'
        '    print("anew")\n'
    )
    lines = english.sentences(module, "messages")
    assert lines == ["A count of", "two.", "_ words.", "_ trainings."]
    assert [tic for tic, _ in english.found(lines)] == ["count of", "trainings"]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings(page):
    path = ROOT / page
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", path.read_text(encoding="utf-8")):
        if not target.startswith("http") and not target.endswith(("api.md", "gallery/index.rst")):
            linked = path.parent / target if target else path
            assert linked.exists(), target
            assert not anchor or anchor in anchors(linked), anchor


def test_examples_on_the_site_are_code_with_their_output_beneath():
    page = (
        "Text\n\n```python\n>>> import a\n>>> _ = a.f(\n...     1\n... )  # doctest: +SKIP\n"
        ">>> bool(x > 1)\nTrue\n>>> with y:\n...     _ = 2\n\n```\n\n```python\nz\n```\n"
    )
    assert outputs.without_prompts(page) == (
        "Text\n\n```python\nimport a\n\na.f(\n    1\n)\nx > 1\n```\n\n"
        "```{code-block} text\n:class: output\n\nTrue\n```\n\n"
        "```python\nwith y:\n    2\n```\n\n```python\nz\n```\n"
    )
    assert [name for name in PAGES if ">>> " in outputs.without_prompts(read(name))] == []


def test_the_report_of_the_tutorial_matches_its_search():
    names = {}
    for example in doctest.DocTestParser().get_examples(read("docs/tutorial.md")):
        if "search.report()" in example.source:
            break
        with redirect_stdout(StringIO()):
            exec(example.source, names)
    assert shape_of(example.want) == shape_of(str(names["search"].report()))


def shape_of(report):
    """First and second words of the sections, without numbers, which machines round."""
    return re.findall(r"^\w+ +[a-z]*", re.sub(r"[\d.]+", "", report), flags=re.MULTILINE)


def blocks_without_prompts(page):
    """Code of a page that is no doctest; of a comparison what is there after the change."""
    for kind, block in re.findall(
        r"^```(python|diff)\n(.*?)^```", read(page), flags=re.DOTALL | re.MULTILINE
    ):
        if kind == "diff":
            ast.parse(_side(block, "-"))  # what others do is code, too
            yield _side(block, "+")
        elif not block.startswith(">>>"):
            yield block


def _side(diff, sign):
    return "".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] in {" ", sign})


@pytest.mark.parametrize("page", PAGES)
def test_code_is_valid(page):
    """Also of pages whose code runs before a release only."""
    for block in blocks_without_prompts(page):
        ast.parse(block)


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if page != "CONTRIBUTING.md"  # test_plugins.py does it
        and [*blocks_without_prompts(page)]
        and (HAS_TORCH or not re.search(r"sksearch.neural|torch", read(page)))
    ],
)
def test_code_without_prompts_runs(page, tmp_path, monkeypatch):
    """The blocks of a page run one after the other; no search gets more than a second."""
    monkeypatch.chdir(tmp_path)
    X, y = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
    distributions = {"sgdclassifier__alpha": loguniform(1e-6, 1)}
    names = {"X": X, "y": y, "pipe": pipe, "distributions": distributions, "__name__": "__main__"}
    for block in blocks_without_prompts(page):
        exec(re.sub(r"timeout=\d+", "timeout=1", block), names)


def anchors(page):
    """Anchors of the headings of a page, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_api_page_lists_every_public_object_once():
    assert sorted(public_lists.SECTIONS.values()) == sorted(MODULES)
    listed = re.findall(r"^   ([\w.]+)$", public_lists.api_page(), flags=re.MULTILINE)
    objects = [eval_path(f"sksearch.{name}") for name in listed]
    assert len(set(objects)) == len(objects)
    assert set(objects) == {obj for _, obj in public_objects()}


def test_the_table_of_the_architecture_names_every_public_class():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = public_lists.fill_table(page).partition("## The house")[0]
    for path, obj in public_objects():
        is_part = inspect.isclass(obj) and issubclass(obj, public_lists.PROTOCOLS)
        if is_part and not inspect.isabstract(obj):
            assert f"`~{path}`" in table


def test_the_architecture_is_read_in_five_minutes():
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert len(page.split()) < 1100
    # Every folder and file that it draws is there, and every one that is there is drawn.
    drawn = re.search(r"```\n(.*?)```", page, flags=re.DOTALL)[1]
    for path in (ROOT / "sksearch").iterdir():
        if path.suffix == ".py" and path.name != "__init__.py":
            assert path.name in drawn
        elif path.is_dir() and path.name != "__pycache__":
            assert f"{path.name}/" in drawn
    for name in re.findall(r"\b(\w+)(?=/|\.py)", drawn):
        found = [*ROOT.glob(f"sksearch/{name}*"), *ROOT.glob(f"sksearch/*/{name}")]
        assert found, name


def test_the_readme_lists_every_search():
    listed = re.findall(r"^\|.*\| \**`(\w+)`", read("README.md"), flags=re.MULTILINE)
    assert {search.__name__ for search in SEARCHES} <= set(listed)


@pytest.mark.parametrize("page", PAGES)
def test_no_page_names_what_is_not_in_the_repository(page):
    assert not re.search(r"(?<![\w-])(\.\./)*shared/", (ROOT / page).read_text(encoding="utf-8"))
