"""Docstrings and documents: complete, and true to the code."""

import importlib
import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from numpydoc.validate import validate

from sksearch import base

ROOT = Path(__file__).parents[1]
MODULES = [
    "sksearch",
    "sksearch.base",
    "sksearch.datasets",
    "sksearch.executors",
    "sksearch.experiment",
    "sksearch.history",
    "sksearch.checkpoint",
    "sksearch.fitting",
    "sksearch.progress",
    "sksearch.plotting",
    "sksearch.resources",
    "sksearch.samplers",
    "sksearch.schedulers",
    "sksearch.search",
    "sksearch.simulators",
    "sksearch.space",
    "sksearch.stats",
    "sksearch.study",
    *(["sksearch.neural"] if find_spec("torch") and find_spec("skorch") else []),
]
# What numpydoc asks of pandas' pages rather than of a docstring's truth: where the quotes are,
# a second paragraph, cross-references and examples on every method, unnamed return values.
STYLE = {"GL01", "GL02", "GL03", "ES01", "SA01", "EX01", "RT02"}
PROTOCOLS = (base.Sampler, base.Scheduler, base.Resource)


def public_objects():
    seen = set()
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        own = [n for n, o in vars(module).items() if getattr(o, "__module__", "") == module_name]
        for name in getattr(module, "__all__", [n for n in own if n[0] != "_"]):
            obj = getattr(module, name)
            if (inspect.isclass(obj) or inspect.isfunction(obj)) and obj not in seen:
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


@pytest.mark.parametrize("target", sorted(targets()))
def test_docstrings_name_parameters_returns_and_errors(target):
    problems = [error for error in validate(target)["errors"] if error[0] not in STYLE]
    if len(inspect.getdoc(eval_path(target)).splitlines()) == 1:
        # One line says it all where names and annotations do; nothing may be half documented.
        problems = [error for error in problems if error[0] not in ("PR01", "RT01", "YD01")]
    assert problems == []


def eval_path(path):
    module = next(m for m in sorted(MODULES, key=len, reverse=True) if path.startswith(f"{m}."))
    obj = importlib.import_module(module)
    for name in path.removeprefix(f"{module}.").split("."):
        obj = getattr(obj, name)
    return obj


def is_error(obj):
    return inspect.isclass(obj) and issubclass(obj, Exception)


@pytest.mark.parametrize(
    "path",
    [p for p, o in public_objects() if p.startswith("sksearch.") and not is_error(o)],
)
def test_documented_defaults_are_those_of_the_signature(path):
    obj = eval_path(path)
    doc = inspect.getdoc(obj) or ""
    for name, parameter in inspect.signature(obj).parameters.items():
        found = re.search(rf"^{name} : .*default=(\S+)$", doc, flags=re.MULTILINE)
        if found and parameter.default is not inspect.Parameter.empty:
            written = found[1].replace("np.nan", "nan").replace('"', "'")
            assert written == repr(parameter.default)


def test_every_search_documents_every_parameter_and_attribute():
    import sksearch

    for name in sksearch.__all__:
        obj = getattr(sksearch, name)
        if name.endswith("SearchCV"):
            doc = inspect.getdoc(obj)
            assert "{" not in re.sub(r"\{[^}]*\"[^}]*\}", "", doc), "a part was not filled in"
            for parameter in inspect.signature(obj).parameters:
                assert re.search(rf"^{parameter} : ", doc, flags=re.MULTILINE), parameter
            for attribute in ("cv_results_", "best_params_", "history_", "plan_"):
                assert re.search(rf"^{attribute} : ", doc, flags=re.MULTILINE), attribute


@pytest.mark.parametrize(
    "document", ["README.md", *sorted(p.name for p in ROOT.glob("docs/*.md"))]
)
def test_links_lead_to_files(document):
    path = ROOT / document if document == "README.md" else ROOT / "docs" / document
    for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


def test_files_and_functions_are_short():
    for path in ROOT.glob("sksearch/**/*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 500, path
