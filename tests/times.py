"""How long commands and tests take: `tests/times.json`, written by ``pytest --write-times NAME``.

The longest tests run first, so that no process waits for one at the end; `pytest --changed` takes
as many as fit into a minute; CONTRIBUTING shows the times of the commands.
"""

import json
from collections import defaultdict
from pathlib import Path

FILE = Path(__file__).with_name("times.json")
#: Seconds of a test that runs first; shorter ones stay in the order of their files.
LONG = 3


def read():
    """Read the record; an empty one if there is none."""
    if not FILE.exists():
        return {"commands": {}, "files": {}, "long": {}}
    return json.loads(FILE.read_text())


def write(record):
    """Write the record."""
    FILE.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")


class Timing:
    """A plugin of pytest that adds the times of a session to the record.

    Parameters
    ----------
    name : str
        Name of the command.
    clock : callable
        Returns the seconds of now.
    """

    def __init__(self, name, clock):
        self._name, self._clock, self._start = name, clock, clock()
        self._seconds = defaultdict(float)
        self._tests = set()

    def pytest_runtest_logreport(self, report):
        """Add up what a test takes with what is set up for it."""
        self._seconds[report.nodeid] += report.duration
        self._tests.add(report.nodeid)

    def pytest_sessionfinish(self):
        """Write what was found."""
        record = read()
        seconds = round(self._clock() - self._start)
        record["commands"][self._name] = {"seconds": seconds, "tests": len(self._tests)}
        files = defaultdict(float)
        for test, spent in self._seconds.items():
            files[test.partition("::")[0]] += spent
            if spent >= LONG:
                record["long"][test] = round(spent, 1)
            else:
                record["long"].pop(test, None)
        if self._name == "default":
            record["files"] = {file: round(spent, 1) for file, spent in files.items()}
        write(record)


def longest_first(items):
    """Order tests: long ones first, the others as they are."""
    long = read()["long"]
    return sorted(items, key=lambda item: -long.get(item.nodeid.partition("@")[0], 0))
