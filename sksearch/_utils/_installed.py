"""Which classes and modules are of an installed package, rather than of a user."""

import functools
import sys
import sysconfig
import types
from pathlib import PurePath
from typing import Any


def is_installed(value: Any) -> bool:
    """True if a class is of an installed package, or the name of a value leads to it there."""
    name, module_name = getattr(value, "__qualname__", None), getattr(value, "__module__", None)
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
    """True if a module is of Python, of this library, or of an installed package."""
    return is_installed_file(module.__name__, getattr(module, "__file__", None))


@functools.lru_cache(10_000)
def is_installed_file(name: str, file: str | None) -> bool:
    """True if a module, by its name and file, is of Python or of an installed package."""
    top = name.partition(".")[0]
    if top in sys.builtin_module_names or top == __name__.partition(".")[0]:
        return True
    if file is None:
        return False
    parts, standard = PurePath(file).parts, PurePath(sysconfig.get_path("stdlib")).parts
    return (
        "site-packages" in parts or "dist-packages" in parts or parts[: len(standard)] == standard
    )
