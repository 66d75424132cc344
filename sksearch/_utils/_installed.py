"""Tests if classes and modules belong to an installed package or to the user."""

import functools
import sys
import sysconfig
import types
from pathlib import PurePath
from typing import Any


def is_installed(value: Any) -> bool:
    """True if a class belongs to an installed package, or a value can be imported from one."""
    try:
        name, module_name = (getattr(value, n, None) for n in ("__qualname__", "__module__"))
    except Exception:  # a ``__getattr__`` of the user's that raises other errors, as of a dict
        return False
    module = sys.modules.get(module_name) if isinstance(module_name, str) else None
    if module is None or not isinstance(name, str) or module_name == "__main__":
        return False
    if isinstance(value, type):  # also one made within a function
        return is_installed_module(module)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value and is_installed_module(module)


def is_installed_module(module: types.ModuleType) -> bool:
    """True if a module belongs to Python, this library, or an installed package."""
    file = vars(module).get("__file__")  # not by ``__getattr__`` of the module
    return is_installed_file(module.__name__, file if isinstance(file, str) else None)


@functools.lru_cache(10_000)
def is_installed_file(name: str, file: str | None) -> bool:
    """True if a module, by name and file, belongs to Python or an installed package."""
    top = name.partition(".")[0]
    if top in sys.builtin_module_names or top == __name__.partition(".")[0]:
        return True
    if file is None:
        return False
    parts, standard = PurePath(file).parts, PurePath(sysconfig.get_path("stdlib")).parts
    return (
        "site-packages" in parts or "dist-packages" in parts or parts[: len(standard)] == standard
    )
