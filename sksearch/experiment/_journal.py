"""Runs that are done, and the file that they are kept in."""

import json
from pathlib import Path
from typing import NamedTuple

from sksearch.experiment._one_run import CURVES


class Key(NamedTuple):
    """What a run is known by."""

    search: str
    problem: str
    seed: int
    mark: str


class Journal:
    """Runs by their keys, and the file that they are kept in."""

    def __init__(self, path):
        self.path = None if path is None else Path(path)
        self.curves: dict[Key, dict] = {}
        if self.path is not None:
            open(self.path, "ab").close()  # a path that cannot be written fails at once
            self._read()

    def _read(self):
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                row = json.loads(line)
                key = Key(*(row[name] for name in Key._fields))
                self.curves[key] = {name: row[name] for name in CURVES}
            except (ValueError, TypeError, KeyError) as error:
                raise ValueError(
                    f"Line {number} of {self.path} is not a run of an experiment: pass the path "
                    "of an earlier experiment, or of no file."
                ) from error
        if len(whole) < len(data):  # the writer was killed in the middle of a line
            with open(self.path, "r+b") as file:
                file.truncate(len(whole))

    def add(self, key, curves):
        """Keep a run; on disk at once, so that nothing is lost with the process."""
        self.curves[key] = curves
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(key._asdict() | curves) + "\n")
