"""The file that stores the finished runs of an experiment."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from sksearch.experiment._run_once import CURVES


class Key(NamedTuple):
    """Identity of a run; the names are keys of the file's lines."""

    search: str
    problem: str
    seed: int
    mark: str  # fingerprints of the search and of the problem


class Journal:
    """Runs by their keys, and the file that stores them.

    Parameters
    ----------
    path : path-like or None
        The file, with one line of JSON for each run; None keeps runs in memory only.
    """

    def __init__(self, path: str | Path | None):
        self.path: Any = None if path is None else Path(path)
        self.curves: dict[Key, dict] = {}
        if self.path is not None:
            open(self.path, "ab").close()  # a path that is not writable fails immediately
            self._read()

    def _read(self) -> None:
        """Read the runs of the file, and drop a truncated last line."""
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
                    "of an earlier experiment, or a new path."
                ) from error
        if len(whole) < len(data):  # the writer was killed in the middle of a line
            with open(self.path, "r+b") as file:
                file.truncate(len(whole))

    def add(self, key: Key, curves: dict[str, list]) -> None:
        """Store a run, and write it immediately, so that nothing is lost with the process."""
        self.curves[key] = curves
        if self.path is not None:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(key._asdict() | curves) + "\n")
