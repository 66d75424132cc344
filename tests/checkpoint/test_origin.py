"""Where the value of a global comes from: modules written by hand."""

import importlib
import sys
import types

import pytest

from sksearch.checkpoint._origin import Origin, origin_of


@pytest.fixture
def origin(tmp_path, monkeypatch):
    """What sets a name in a module of such a text."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    names = []

    def find(source, *path):
        name = f"origin_{len(names)}"
        names.append(name)
        (tmp_path / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        importlib.import_module(name)
        return origin_of(name, path)

    yield find
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("source", "text", "is_computed"),
    [
        ("X = 1", "X = 1", False),
        ("X = 1  # a comment\nY = 2", "X = 1", False),
        ("X: int = 1", "X: int = 1", False),
        ("X = Y = 1", "X = Y = 1", False),
        ("X, Y = 1, 2", "X, Y = (1, 2)", False),
        ("X = 1\nX += 2", "X = 1; X += 2", False),
        ("if True:\n    X = 1\nelse:\n    X = 2", "X = 1; X = 2", False),
        ("try:\n    X = 1\nfinally:\n    pass", "X = 1", False),
        ("for _ in range(2):\n    X = 1", "X = 1", False),
        ("X = -1", "X = -1", False),
        ("import time\nX = time.time()", "X = time.time()", True),
        ("import sys\nX = sys.argv", "X = sys.argv", True),
        ("import sys\nX = [sys]", "X = [sys]", False),
        ("X = abs(1)", "X = abs(1)", True),
        ("Y = 1\nX = Y + 1", "X = Y + 1; Y = 1", False),
        ("import time\nY = time.time()\nX = Y + 1", "X = Y + 1; Y = time.time()", True),
        ("Z = 1\nY = Z\nX = Y, Z", "X = (Y, Z); Y = Z; Z = 1; ", False),
        ("X = 1\nX = X + 1", "X = 1; X = X + 1", False),
        ("import math as m\nX = m.pi", "X = m.pi", True),
    ],
)
def test_a_global_is_told_by_the_statements_that_set_it(source, text, is_computed, origin):
    found = origin(source, "X")
    assert found == Origin(text.removesuffix("; "), is_computed)


def test_a_function_of_the_users_own_is_told_by_its_code(origin):
    one = origin("def f():\n    return 1\nX = f()", "X")
    other = origin("def f():\n    return 2\nX = f()", "X")
    assert one.is_computed
    assert one.text.startswith("X = f(); ")
    assert one.text != other.text


@pytest.mark.parametrize(
    "source",
    [
        "globals()['X'] = 1",
        "def X():\n    pass",
        "class X:\n    pass",
        "X: int\nglobals()['X'] = 1",
        "def f():\n    X = 1\n    return X\nglobals()['X'] = 1",
        "class A:\n    X = 1\nglobals()['X'] = 1",
        "globals()['Y'] = 1\nX = Y",
        "from origin_own import Y\nX = Y",
        "import origin_own\nX = origin_own.Y",
    ],
)
def test_what_no_statement_sets_has_no_origin(source, origin, tmp_path):
    (tmp_path / "origin_own.py").write_text("Y = 1")
    try:
        assert origin(source, "X") is None
    finally:
        sys.modules.pop("origin_own", None)


def test_an_attribute_of_a_class_is_set_in_its_body(origin):
    source = "X = 0\nclass A:\n    X = 1\n    class B:\n        X = 2\nclass C:\n    X = 3\n"
    found = [origin(source, *path).text for path in (["X"], ["A", "X"], ["A", "B", "X"])]
    assert found == ["X = 0", "X = 1", "X = 2"]
    assert origin(source, "A", "Y") is None
    assert origin(source, "D", "X") is None


def test_a_module_without_a_text_has_no_origins(origin, tmp_path, monkeypatch):
    assert origin_of("no_such_module", ("X",)) is None
    module = types.ModuleType("origin_of_nothing")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert origin_of(module.__name__, ("X",)) is None
    for name, text in {"a.so": b"X = 1", "b.py": b"X = = 1", "c.py": b"X = '\xff'"}.items():
        module.__file__ = str(tmp_path / name)
        (tmp_path / name).write_bytes(text)
        assert origin_of(module.__name__, ("X",)) is None
    module.__file__ = str(tmp_path / "gone.py")
    assert origin_of(module.__name__, ("X",)) is None
    (tmp_path / "gone.py").write_text("X = 1")
    assert origin_of(module.__name__, ("X",)) == Origin("X = 1", False)


def test_in_a_notebook_the_cells_are_looked_at(monkeypatch):
    notebook = types.ModuleType("__main__")
    notebook.In = ["", "%time pass\nX = 1", "!ls", "this is no python", "Y = X\nY"]
    notebook.X = notebook.Y = 1
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    assert origin_of("__main__", ("X",)) is None  # a script with a list of this name
    notebook.get_ipython = print
    assert origin_of("__main__", ("X",)) == Origin("X = 1", False)
    assert origin_of("__main__", ("Y",)) == Origin("Y = X; X = 1", False)
    notebook.In = "X = 1"
    assert origin_of("__main__", ("X",)) is None
    other = types.ModuleType("origin_of_cells")
    other.In, other.get_ipython = ["X = 1"], print
    monkeypatch.setitem(sys.modules, other.__name__, other)
    assert origin_of(other.__name__, ("X",)) is None
