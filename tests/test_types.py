"""Type annotations: complete on the public surface, and of use to a type checker."""

import ast
import inspect
import re
import sys
from importlib.util import find_spec
from subprocess import run
from typing import Any

import pytest

import sksearch
from sksearch._utils import _typing
from tests.test_docs import ROOT, public_objects

SPECIAL = ("__init__", "__call__")  # the methods with underscores that users call


def functions(cls):
    """Yield the public methods and properties that a class has from this package."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] != "sksearch":
            continue
        for name, member in vars(base).items():
            if name[0] == "_" and name not in SPECIAL:
                continue
            if isinstance(member, property):
                member = member.fget
            member = inspect.unwrap(getattr(member, "__func__", member))
            if inspect.isfunction(member):
                yield f"{base.__module__}.{base.__qualname__}.{name}", member


def public_functions():
    found = {}
    for path, obj in public_objects():
        found.update(functions(obj) if inspect.isclass(obj) else {path: inspect.unwrap(obj)})
    return found


FUNCTIONS = public_functions()


def test_public_signatures_are_annotated():
    assert {path: missing for path in FUNCTIONS if (missing := not_annotated(path))} == {}


def not_annotated(path):
    """Names of parameters without an annotation, and "return"."""
    function = FUNCTIONS[path]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    bound = names[:1] if names[:1] in (("self",), ("cls",)) else ()
    parameters = inspect.Signature.from_callable(function).parameters
    needed = {name for name in parameters if name not in bound}
    if not (path.endswith(".__init__") and function.__annotations__):
        needed.add("return")
    return needed - set(function.__annotations__)


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "sksearch/py.typed").exists()


@pytest.mark.whole
@pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy")
def test_a_type_checker_knows_the_parameters_of_searches(tmp_path):
    files = ("tests/typing_example.py", "tests/typing_scripts.py")
    options = ("--strict", "--follow-imports=silent", "--cache-dir", tmp_path)
    command = [sys.executable, "-m", "mypy", *options, *files]
    done = run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.few(1)
@pytest.mark.parametrize("search", ["SearchCV", "GridSearchCV", "DEHBSearchCV"])
def test_an_editor_shows_the_written_signature_and_the_whole_text(search):
    """By jedi, which reads the source and runs nothing, as pyright and others do."""
    jedi = pytest.importorskip("jedi")
    cls = getattr(sksearch.search, search)
    script = jedi.Script(
        f"from sksearch.search import {search}\n{search}(", project=jedi.Project(ROOT)
    )
    (found,) = script.get_signatures()
    parameters = inspect.signature(cls).parameters
    assert [each.name for each in found.params] == [*parameters]
    assert "timeout: float | None=None" in found.to_string()
    assert not re.search(r"Annotated|field\(|\*\*\w|\*args", found.to_string())
    assert inspect.getdoc(cls) in found.docstring()


# ---- the rooms of a fit, and what hands something to it

ROOMS = ("search", "fitting", "checkpoint", "executors")


def parameters(path):
    """Yield the functions of a file and the annotations of their parameters, None without any."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            args = node.args
            rest = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
            for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs, *rest):
                if arg.arg not in ("self", "cls"):
                    yield f"{node.name}({arg.arg})", arg.annotation


def says_nothing(annotation):
    """Whether it is absent, ``Any``, or a union with ``Any``: whatever is passed passes."""
    if isinstance(annotation, ast.BinOp):
        return says_nothing(annotation.left) or says_nothing(annotation.right)
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return says_nothing(ast.parse(annotation.value, mode="eval").body)
    return annotation is None or getattr(annotation, "id", "") == "Any"


@pytest.mark.parametrize("room", ROOMS)
def test_nine_parameters_of_ten_have_types_that_say_something(room):
    bare, n = {}, 0
    for path in (ROOT / "sksearch" / room).rglob("*.py"):
        if path.parent.name == "identity":
            continue  # values of any kind are what it describes
        found = list(parameters(path))
        bare[path.name] = [name for name, annotation in found if says_nothing(annotation)]
        n += len(found)
    worst = sorted(bare.items(), key=lambda each: -len(each[1]))[:5]
    assert sum(map(len, bare.values())) <= 0.1 * n, worst


def test_no_name_of_a_type_of_what_users_pass_stands_for_anything():
    """Else the test above would count it as a type."""
    own = {name for name in vars(_typing) if name != "Any" and name[0] != "_"}
    assert not [name for name in own if getattr(_typing, name) is Any]
