"""Names of a package that are imported when they are asked for, and what to install for them."""

import dis
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def on_demand(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names are imported when used.

    Where each name is, the package says by imports under ``if TYPE_CHECKING:``, which editors and
    type checkers follow. They do not run, but stand in its code.

    Parameters
    ----------
    package : str
        Its ``__name__``.

    Returns
    -------
    getattr, dir : callable
        The names that the package imports, and public modules inside of it.
    """
    module: Any = sys.modules[package]

    def get(name: str) -> Any:
        home = _homes(package).get(name)
        if home is not None:
            value = getattr(import_module(home), name)
        elif not name.startswith("_") and find_spec(f"{package}.{name}"):
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(module, name, value)
        return value

    return get, lambda: sorted({*vars(module), *module.__all__})


@cache
def _homes(package: str) -> dict[str, str]:
    """The module of each name that a package imports, by the instructions of its code."""
    homes: dict[str, str] = {}
    home = ""
    loader: Any = sys.modules[package].__spec__.loader  # type: ignore[union-attr]
    for each in dis.get_instructions(loader.get_code(package)):
        if each.opname == "IMPORT_NAME":
            home = each.argval
        elif each.opname == "IMPORT_FROM":
            homes[each.argval] = home
    return homes


def missing(what: str, extra: str) -> ImportError:
    """Return the error about a package that is not there.

    Parameters
    ----------
    what : str
        The need for a package, such as "to_mlflow needs MLflow".
    extra : str
        The extra of this library that has it.
    """
    # The package is on no index yet.
    return ImportError(
        f'{what}, which is not installed: pip install ".[{extra}]" in the folder of this checkout '
        "of sksearch."
    )
