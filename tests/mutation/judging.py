"""A plugin of pytest which, instead of running tests, breaks the code and runs some of them."""

import json
import time
from dataclasses import dataclass
from typing import Any

import pytest

from tests.mutation.nursery import BROKEN_TOOL, Functions
from tests.mutation.touching import Recording

RECORDING_SECONDS = 3600
FAILED = 1
APART = 71  # exit status of a fork that could not be broken


@dataclass
class Judging:
    """Judges faults, in a session of pytest that has collected all tests.

    Parameters
    ----------
    nursery : Nursery
        The copy of the repository that the session is of.
    table : Table
        Which tests touch which line.
    watched : list of str
        Files whose lines the table knows.
    again : tuple of str
        How the names of tests begin that are recorded again.
    mutants : list of Mutant
        The faults.
    reasons : dict
        Keys of those that are equivalent.
    budget : float
        Seconds of tests for each.
    note : callable
        Called with a line of the record for each.
    """

    nursery: Any
    table: Any
    watched: list
    again: tuple
    mutants: list
    reasons: dict
    budget: float
    note: Any

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        """Record, and judge one after the other."""
        self._items = {item.nodeid: item for item in session.items}
        self._functions = Functions()
        unknown = [
            item
            for name, item in self._items.items()
            if name not in self.table or name.startswith(self.again)
        ]
        if unknown:
            self._record(unknown)
        for mutant in self.mutants:
            self.note(self._judge(mutant))
        return True

    def _record(self, items):
        answer = self.nursery.tree.with_name("recorded.json")

        def work():
            recording = Recording(self.nursery.tree, self.watched)
            items[0].config.pluginmanager.register(recording)
            _run(items, lambda: False)
            answer.write_text(json.dumps(recording.table))
            return 0

        self.nursery.fork(work, RECORDING_SECONDS)
        self.table.add({item.nodeid: None for item in items} | json.loads(answer.read_text()))

    def _judge(self, mutant):
        """Break the code, and run the tests; a line of the record."""
        start = time.perf_counter()
        line = {"key": mutant.key, "line": mutant.lines.start, "by": None}
        if mutant.key in self.reasons:
            return line | {"outcome": "equivalent"}
        tests = self.table.choose(mutant, self.budget, self._items)
        answer = self.nursery.tree.with_name("failed.txt")
        answer.unlink(missing_ok=True)
        limit = 60 + 5 * sum(tests.values())
        status = 0
        if tests:
            with self.nursery.broken(mutant):
                status = self._run_tests(mutant, tests, answer, limit)
        line["outcome"] = "survived" if status == 0 else "killed"
        if status != 0:
            line["by"] = (
                answer.read_text() if answer.exists() else "a hang or the death of a process"
            )
        seconds = round(time.perf_counter() - start, 2)
        return line | {"tests": len(tests), "seconds": seconds}

    def _run_tests(self, mutant, tests, answer, limit):
        """Run tests in a fork whose functions are broken, or in a process of their own."""
        status = APART
        if mutant.in_body:
            status = self.nursery.fork(lambda: self._work(mutant, tests, answer), limit)
        if status == BROKEN_TOOL:
            raise RuntimeError(f"{mutant} could not be judged")
        if status == APART:
            status = self.nursery.run_apart(list(tests), limit)
        return status

    def _work(self, mutant, tests, answer):
        """Break the functions of this fork, and run tests until one fails; an exit status."""
        if not self._functions.change(self.nursery.tree / mutant.path, mutant):
            return APART
        items = []
        for name, seconds in tests.items():
            items.append(self._items[name])
            items[-1].add_marker(pytest.mark.timeout(20 + 10 * seconds, method="thread"), False)
        failures = Failures(answer)
        items[0].config.pluginmanager.register(failures)
        try:
            _run(items, lambda: failures.found)
        except BaseException as error:  # Ctrl-C, which ends pytest
            answer.write_text(repr(error))
            return FAILED
        return FAILED if failures.found else 0


class Failures:
    """Notes the first test that fails, in a file."""

    def __init__(self, file):
        self._file = file
        self.found = False

    def pytest_runtest_logreport(self, report):
        """Look at an outcome."""
        if report.failed and not self.found:
            self.found = True
            self._file.write_text(report.nodeid)


def _run(items, is_enough):
    """Run tests until it is enough."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if is_enough():
            return
