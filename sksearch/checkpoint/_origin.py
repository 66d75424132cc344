"""Where the value of a global comes from: the statements that set it, and what these depend on."""

import ast
import contextlib
import sys
import tokenize
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from sksearch._code import is_installed, is_installed_module
from sksearch._description import describe


class Origin(NamedTuple):
    """The statements that set a global."""

    text: str  # of them, and of what they use of the user's own
    is_computed: bool  # whether a call or a module gives the value, another at each start perhaps


def origin_of(module_name: str, path: tuple[str, ...]) -> Origin | None:
    """Find what sets a global, or an attribute of a class; None if that is not known.

    In a notebook the cells that were run are looked at, else the file of the module.
    """
    module = sys.modules.get(module_name)
    if module is None or (source := _source(module)) is None:
        return None
    return _find(module, ast.parse(source), path, set())


def _source(module: types.ModuleType) -> str | None:
    cells = vars(module).get("In")
    if module.__name__ == "__main__" and isinstance(cells, list) and "get_ipython" in vars(module):
        return "\n".join(filter(_is_python, map(_without_magic, map(str, cells))))
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        return None
    with contextlib.suppress(OSError, SyntaxError, UnicodeError):
        with tokenize.open(file) as stream:
            source = stream.read()
        return source if _is_python(source) else None
    return None


def _without_magic(cell: str) -> str:
    return "\n".join(line for line in cell.splitlines() if not line.startswith(("%", "!")))


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _find(
    module: types.ModuleType, tree: ast.AST, path: tuple[str, ...], seen: set
) -> Origin | None:
    """Find the statements in a tree, and what they depend on in turn."""
    if path in seen:
        return Origin("", False)
    seen.add(path)
    statements = _statements(tree, path)
    if not statements:
        return None
    texts = [ast.unparse(statement) for statement in statements]
    values = [statement.value for statement in statements]
    nodes = [node for value in values for node in ast.walk(value)]
    is_computed = any(isinstance(node, (ast.Call, ast.Attribute)) for node in nodes)
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    for name in sorted(names & vars(module).keys()):
        value = vars(module)[name]
        of_module = isinstance(value, types.ModuleType)
        if is_installed_module(value) if of_module else is_installed(value):
            continue
        if isinstance(value, (types.FunctionType, type)):
            texts.append(describe(value))
            continue
        # What is taken from another module of the user's own is not followed.
        inner = None if of_module else _find(module, tree, (name,), seen)
        if inner is None:
            return None
        texts.append(inner.text)
        is_computed |= inner.is_computed
    return Origin("; ".join(filter(None, texts)), is_computed)


def _statements(tree: ast.AST, path: tuple[str, ...]) -> list[Any]:
    """List the assignments to a name in a module, or in the class that the path leads to.

    A definition of a class or a function does not set a name here.
    """
    found: list[Any] = []
    for node in _body(tree):
        if isinstance(node, ast.ClassDef) and len(path) > 1 and node.name == path[0]:
            found = _statements(node, path[1:])
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and len(path) == 1:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts: list[Any] = [part for target in targets for part in ast.walk(target)]
            is_set = any(getattr(part, "id", None) == path[0] for part in parts)
            found += [node] if is_set and node.value is not None else []
    return found


def _body(tree: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a body, those within "if", "for", "with" and "try" too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            yield from _body(node)
