"""Which files of tests a change touches: `pytest --changed`.

A file of tests is near a module that it imports, and farther where modules lie between; a name
that a package hands on counts for the module that it is in. The nearest files run that fit into a
minute; what was left out is named by its number.
"""

import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Processor seconds of tests for each process: of a minute, what is left by starts and imports.
BUDGET = 40
#: Seconds of a file that has never been timed.
UNKNOWN = 2
IMPORT = re.compile(
    r"^ *from ((?:sksearch|tests)[\w.]*) import (\([^)]*\)|.*)"
    r"|^ *import ((?:sksearch|tests)[\w.]*)",
    re.MULTILINE,
)


def choose_files(n_processes, seconds):
    """Choose files of tests.

    Parameters
    ----------
    n_processes : int
        As many run at the same time.
    seconds : dict
        Seconds of each file that has been timed.

    Returns
    -------
    changed : list of str
        Files that differ from the last commit; if there are none, those that it changed.
    chosen : list of str
        Files of tests, the nearest first.
    n_left_out : int
        Files that the change touches and for which there is no time.
    """
    changed = changed_files()
    distances = distances_from(changed)
    tests = [path for path in distances if _has_tests(path)]
    tests.sort(key=lambda path: (distances[path], seconds.get(path, UNKNOWN), path))
    left, chosen = BUDGET * n_processes, []
    for path in tests:
        if distances[path] == 0 or seconds.get(path, UNKNOWN) <= left:
            chosen.append(path)
            left -= seconds.get(path, UNKNOWN)
    return changed, chosen, len(tests) - len(chosen)


def changed_files():
    """List files of Python, and pages, that differ from the last commit, or that it changed."""
    new = _git("ls-files", "--others", "--exclude-standard")
    found = _git("diff", "--name-only", "HEAD") + new or _git("diff", "--name-only", "HEAD~1")
    found = {path for path in found if path.endswith((".py", ".md", ".json"))}
    return sorted(found - {"tests/times.json"})


def _git(*arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def distances_from(changed):
    """Count the imports between each file and the nearest one that has changed."""
    importers = defaultdict(set)
    for path in _modules():
        for imported in imports_of(path):
            importers[imported].add(path)
    distances = dict.fromkeys(changed, 0)
    for path in changed:
        for test, distance in _beside(path):
            distances.setdefault(test, distance)
    for step in range(len(_modules())):
        for path in [path for path, distance in distances.items() if distance == step]:
            for importer in importers[path]:
                distances[importer] = min(step + 1, distances.get(importer, step + 1))
    return distances


def _beside(path):
    """Tests of a part of the package have its folder's name, and data lie beside their tests."""
    folder, _, rest = path.partition("/")
    part = f"tests/{rest.partition('/')[0]}/"
    for module in _modules():
        if path.endswith(".json") and Path(module).parent == Path(path).parent:
            yield module, 0
        elif folder == "sksearch" and module.startswith(part):
            yield module, 1


def _has_tests(path):
    name = Path(path).name
    return name.startswith("test_") or path.startswith(("sksearch/", "docs/"))


@cache
def _modules():
    """Files of Python of the package and its tests."""
    folders = ("sksearch", "tests")
    files = (file for folder in folders for file in ROOT.joinpath(folder).rglob("*.py"))
    return frozenset(file.relative_to(ROOT).as_posix() for file in files)


@cache
def imports_of(path):
    """Files of ours that a file imports names from."""
    if path.endswith("__init__.py"):  # its names count for the modules that they are in
        return set()
    found = {_home_of(module, name) for module, name, _ in _names(path)}
    return found - {None, path}


@cache
def _names(path):
    """Module, name, and name here of imports of ours; to parse files takes 30 times as long."""
    found = []
    for module, names, whole in IMPORT.findall(ROOT.joinpath(path).read_text(encoding="utf-8")):
        found += [(whole, "", "")] if whole else []
        for name, here in re.findall(r"(\w+)(?: as (\w+))?", re.sub("#.*", "", names)):
            found.append((module, name, here or name))
    return found


@cache
def _home_of(module, name):
    """The file that a name of a module is written in."""
    inner = _file_of(f"{module}.{name}") if name else None
    file = _file_of(module)
    if inner or not file or not file.endswith("__init__.py"):
        return inner or file
    stub = f"{file}i"  # of a package whose names are imported on demand
    for other, theirs, here in _names(stub if ROOT.joinpath(stub).exists() else file):
        if here == name and other != module:
            return _home_of(other, theirs)
    return file


def _file_of(module):
    """The file of a module of ours, None of another one."""
    path = module.replace(".", "/")
    return next((p for p in (f"{path}.py", f"{path}/__init__.py") if p in _modules()), None)
