"""Which tests touch which lines: recorded once, and kept in a file."""

import contextlib
import json
import sys
import threading
import time
from collections import Counter

import pytest


class Recording:
    """A plugin of pytest that traces the lines of some files.

    Parameters
    ----------
    root : Path
        The folder that names of files count from.
    paths : list of str
        The files.
    """

    def __init__(self, root, paths):
        self._paths = {str(root / path): path for path in paths}
        self._lines, self._bad = set(), set()
        self.table = {}  # by test: seconds, and the lines of each file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        """Trace one test, with what is set up for it."""
        self._lines.clear()
        start = time.perf_counter()
        sys.settrace(self._enter)
        threading.settrace(self._enter)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            seconds = round(time.perf_counter() - start, 3)
            lines = {}
            for path, line in sorted(self._lines):
                lines.setdefault(path, []).append(line)
            if lines and item.nodeid not in self._bad:
                self.table[item.nodeid] = {"seconds": seconds, "lines": lines}

    def pytest_runtest_logreport(self, report):
        """Leave out what does not pass on code that is whole."""
        if not report.passed:
            self._bad.add(report.nodeid)

    def _enter(self, frame, event, arg):
        path = self._paths.get(frame.f_code.co_filename)
        if path is None:
            return None
        lines = self._lines

        def trace(frame, event, arg):
            lines.add((path, frame.f_lineno))
            return trace

        return trace(frame, event, arg)


class Table:
    """The tests that touch a line, of a file of JSON.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path):
        self._path = path
        self._tests = {}
        with contextlib.suppress(FileNotFoundError):
            self._tests = json.loads(path.read_text())

    def __contains__(self, test):
        return test in self._tests

    def add(self, found):
        """Take over what was recorded; None of a test that touches nothing, or fails."""
        self._tests |= found
        self._path.write_text(json.dumps(self._tests))

    def choose(self, mutant, budget, tests):
        """Return those of some tests that touch a mutant, of so many seconds in all.

        The fastest case of each function comes first, then the second fastest of each. What only
        an import or another process runs is left to the tests of its function or file.
        """
        for lines in (mutant.lines, mutant.function_lines, range(sys.maxsize)):
            found = {
                test: self._tests[test]["seconds"]
                for test in tests
                if any(line in lines for line in self._lines(test, mutant.path))
            }
            if found:
                break
        chosen, left = {}, budget
        cases = Counter()
        for test in sorted(found, key=found.get):
            cases[_function(test)] += 1
            found[test] = cases[_function(test)], found[test]
        for test, (_, seconds) in sorted(found.items(), key=lambda entry: entry[1]):
            if seconds < left or not chosen:
                chosen[test] = seconds
                left -= seconds
        return _by_file(chosen)

    def _lines(self, test, path):
        """The lines of a file that a test touches."""
        entry = self._tests.get(test)
        return entry["lines"].get(path, ()) if entry else ()


def _by_file(tests):
    """Order tests by file, so that what a file sets up is set up once: fast files first."""
    files = {}
    for test, seconds in tests.items():
        files[_file(test)] = files.get(_file(test), 0.0) + seconds
    order = sorted(tests, key=lambda test: (files[_file(test)], _file(test), tests[test]))
    return {test: tests[test] for test in order}


def _function(test):
    return test.partition("[")[0]


def _file(test):
    return test.partition("::")[0]
