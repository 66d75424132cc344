"""Versions on which fitted models depend: of Python, and of the packages of their classes."""

import platform
import sys

ALWAYS = ("numpy", "sklearn")
WRITTEN = {"sklearn": "scikit-learn", "python": "Python"}


def versions_of(values: list) -> dict[str, str]:
    """Return versions by name: of Python, and of the packages that values are objects of."""
    classes = {base for value in values for base in type(value).__mro__}
    packages = {cls.__module__.partition(".")[0] for cls in classes} | set(ALWAYS)
    packages -= {"builtins", "sksearch"}  # already in the header
    found = {"python": platform.python_version()}
    for package in sorted(packages):
        version = getattr(sys.modules.get(package), "__version__", None)
        if isinstance(version, str):
            found[package] = version
    return found


def differences(old: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    """Describe the versions that differ in more than their last part, by name."""
    return {
        name: f"{WRITTEN.get(name, name)} {old[name]} (now {new[name]})"
        for name in old.keys() & new.keys()
        if old[name].split(".")[:2] != new[name].split(".")[:2]
    }
