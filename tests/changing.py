"""Which files of tests a change touches: `pytest --changed`.

A file of tests is near a module that it imports, and farther where modules lie between; a name
that a package hands on counts for the module that it is in. The nearest files run that fit into a
minute; what was left out is named by its number.
"""

import ast
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: Processor seconds of tests for each process: of a minute, what is left by starts and imports.
BUDGET = 40
#: Seconds of a file that has never been timed.
UNKNOWN = 2


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
    return sorted(path for path in found if path.endswith((".py", ".md", ".json")))


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
    for path in changed:  # what has the name of its folder, or lies beside data
        parts = Path(path).parts
        near = _modules() if parts[0] == "sksearch" and len(parts) > 2 else ()
        folder = f"tests/{parts[1]}/" if len(parts) > 2 else ""
        distances |= {near_by: 1 for near_by in near if near_by.startswith(folder)}
        if path.endswith(".json"):
            beside = Path(path).parent.as_posix()
            distances |= {test: 0 for test in _modules() if Path(test).parent.as_posix() == beside}
    level = list(distances)
    while level:
        level = sorted(level, key=distances.get)
        path = level.pop(0)
        for importer in sorted(importers[path]):
            if distances.get(importer, distances[path] + 2) > distances[path] + 1:
                distances[importer] = distances[path] + 1
                level.append(importer)
    return distances


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
    found = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            found |= {_file_of(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {_home_of(node.module, alias.name) for alias in node.names}
    return found - {None, path} if not path.endswith("__init__.py") else set()


def _home_of(module, name):
    """The file that a name of a module is written in."""
    inner = _file_of(f"{module}.{name}")
    if inner:
        return inner
    file = _file_of(module)
    if file and file.endswith("__init__.py"):
        for node in ast.walk(_tree(file)):
            if isinstance(node, ast.ImportFrom) and node.module != module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return _home_of(node.module, alias.name)
    return file


def _file_of(module):
    """The file of a module of ours, None of another one."""
    path = module.replace(".", "/")
    return next((p for p in (f"{path}.py", f"{path}/__init__.py") if p in _modules()), None)


@cache
def _tree(path):
    return ast.parse(ROOT.joinpath(path).read_text(encoding="utf-8"))
