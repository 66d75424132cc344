"""Lazy imports of a package's names, and errors about missing packages."""

import ast
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def on_demand(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package with an ``__init__.pyi``.

    The imports in that file give the location of each name, also for type checkers and editors.

    Parameters
    ----------
    package : str
        Its ``__name__``.

    Returns
    -------
    getattr, dir : callable
        The names that the file imports, and public modules inside the package.
    all : list of str
        These names.
    """
    module: Any = sys.modules[package]
    stub = module.__spec__.loader.get_data(os.path.join(module.__path__[0], "__init__.pyi"))
    homes: dict[str, str | None] = {}
    for each in ast.parse(stub).body:
        if isinstance(each, ast.ImportFrom):
            homes |= dict.fromkeys([alias.name for alias in each.names], each.module)
        elif isinstance(each, ast.AnnAssign):  # the package has it itself
            homes[ast.unparse(each.target)] = None
    public = sorted(homes)

    def get(name: str) -> Any:
        if home := homes.get(name):
            value = getattr(import_module(home), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}"):
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(module, name, value)
        return value

    return get, lambda: sorted({*vars(module), *public}), public


def missing(what: str, extra: str) -> ImportError:
    """Return the error about a missing package.

    Parameters
    ----------
    what : str
        The need for a package, such as "to_mlflow needs MLflow".
    extra : str
        The extra of this library that installs it.
    """
    # The package is on no index yet.
    return ImportError(
        f'{what}, which is not installed: pip install ".[{extra}]" in the folder of this checkout '
        "of sksearch."
    )
