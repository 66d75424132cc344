"""Type annotations: complete on the public surface, and of use to who has a type checker."""

import inspect
import sys
from importlib.util import find_spec
from subprocess import run

import pytest

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


@pytest.mark.parametrize("path", sorted(FUNCTIONS))
def test_public_signatures_are_annotated(path):
    function = FUNCTIONS[path]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    bound = names[:1] if names[:1] in (("self",), ("cls",)) else ()
    parameters = inspect.Signature.from_callable(function).parameters
    missing = {name for name in parameters if name not in bound} - set(function.__annotations__)
    assert not missing
    if not (path.endswith(".__init__") and function.__annotations__):
        assert "return" in function.__annotations__


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "sksearch/py.typed").exists()


@pytest.mark.skipif(find_spec("mypy") is None, reason="needs mypy")
def test_a_type_checker_knows_the_parameters_of_searches(tmp_path):
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path, "tests/typing_example.py"]
    done = run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
