"""Results of a history as tables, each read once."""

import bisect
import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from sksearch.history import History, Problem, Result
from sksearch.samplers._subsample import Extract, Largest, sampling_keys


class GrowingArray:
    """A growing array of rows of numbers with a given length."""

    def __init__(self, length: int):
        self.n = 0
        self._array = np.empty((64, length))

    def append(self, row: Sequence[float] | np.ndarray) -> None:
        """Add one row."""
        if self.n == len(self._array):
            self._array = np.concatenate([self._array, np.empty_like(self._array)])
        self._array[self.n] = row
        self.n += 1

    @property
    def rows(self) -> np.ndarray:
        """Return all rows, shape (n, length)."""
        return self._array[: self.n]


class Table(GrowingArray):
    """Results in the order of arrival, see `ResultIndex.row`, and extracts of them."""

    def __init__(self, length: int):
        super().__init__(length)
        self._parts: dict[Hashable, Largest] = {}

    def best(self, n: int, size: int, use: str) -> np.ndarray:
        """Return the numbers of the best of the first n rows, for one objective.

        Rows that satisfy all bounds are better than others. The rows found earlier for another n
        and the same use are updated.
        """

        def keys(new: slice) -> np.ndarray:
            rows = self.rows[new]
            return np.column_stack([np.minimum(rows[:, 4:], 0).sum(axis=1), rows[:, 1]])

        return self._parts.setdefault((use, size), Largest(size, 2)).read(n, keys).rows

    def sample(self, n: int, size: int, seed: int, use: Hashable) -> Largest:
        """Sample from the first n rows, favouring later ones; `use` as in `best`."""

        def keys(new: slice) -> np.ndarray:
            return sampling_keys(seed, self.rows[new, 0], self.rows[new, 3])

        return self._parts.setdefault(("sample", use, size), Largest(size, 1)).read(n, keys)


class ResultIndex:
    """Results of a history, read once each; kept in the history's cache."""

    def __init__(self, problem: Problem):
        n_dims = problem.space.n_dims
        self.n_read = 0
        self.n_objectives, self.n_bounds = len(problem.objectives), len(problem.bounds)
        self.points = GrowingArray(n_dims)  # of all trials
        self.by_resource: dict[int, Table] = {}  # table of scores by resource
        self.failures = Table(self._length)
        self.failed: dict[int, int] = {}  # position in the log by trial id
        self.known: tuple[np.ndarray, np.ndarray] = np.empty((0, n_dims)), np.empty(0)

    @classmethod
    def of(cls, history: History) -> "ResultIndex":
        """Return the up-to-date index of a history."""
        space = history.problem.space
        index = history.cache.get("results")
        if index is None:
            index = history.cache["results"] = cls(history.problem)
            if known := history.problem.known:
                points = np.array([space.to_unit(params) for params, _ in known])
                index.known = points, np.array([score for _, score in known])
        for i in range(index.points.n, len(history.trials)):
            index.points.append(history.problem.point(history.trials[i].params))
        for position in range(index.n_read, len(history.log)):
            event, trial_id, resource = history.log[position]
            if event == "tell":
                result = history.trials[trial_id].results[resource]
                index._add(trial_id, resource, result, position)
        index.n_read = len(history.log)
        return index

    @property
    def scored(self) -> dict[tuple[int, int], int]:
        """Positions in the log of scores, by trial id and resource, in the order of arrival."""
        found = [
            (int(position), int(trial_id), resource)
            for resource, table in self.by_resource.items()
            for trial_id, position in table.rows[:, [0, 3]]
        ]
        return {(trial_id, resource): position for position, trial_id, resource in sorted(found)}

    @property
    def tried(self) -> list[int]:
        """Trial ids in the order of first results."""
        tables = [*self.by_resource.values(), self.failures]
        ids, positions = np.vstack([table.rows[:, [0, 3]] for table in tables]).T
        return list(dict.fromkeys(ids[np.argsort(positions)].astype(int).tolist()))

    def _add(self, trial_id: int, resource: int, result: Result, position: int) -> None:
        row = self.row(trial_id, result, position)
        if math.isnan(result.score):
            self.failed[trial_id] = position
            self.failures.append((*row[:4], *[math.nan] * (self._length - 4)))
        else:
            self.by_resource.setdefault(resource, Table(self._length)).append(row)

    def row(self, trial_id: int, result: Result, position: int) -> tuple[float, ...]:
        """Return trial id, score, cost, position in the log, then objectives and slacks if any."""
        objectives = result.objectives if self.n_objectives else ()
        slacks = result.slacks if self.n_bounds else ()
        return trial_id, result.score, result.cost, position, *objectives, *slacks

    def n_told(self, resource: int) -> int:
        """Return the number of scores at a resource and of all failures."""
        return self.by_resource[resource].n + self.failures.n

    def first(self, resource: int, n_told: int) -> tuple[int, int]:
        """Return the numbers of scores and of failures among the first results at a resource."""
        places = [table.rows[:, 3] for table in (self.by_resource[resource], self.failures)]
        if n_told == self.n_told(resource):
            return len(places[0]), len(places[1])

        def count(position: int) -> tuple[int, int]:
            return bisect.bisect_left(places[0], position), bisect.bisect_left(places[1], position)

        positions = range(self.n_read)
        return count(bisect.bisect_left(positions, n_told, key=lambda place: sum(count(place))))

    def choose(
        self, resource: int, first: tuple[int, int], extract: Extract, seed: int, use: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of scores and of failures that represent the first of both."""
        table, size = self.by_resource[resource], extract.size
        scores = table.sample(first[0], size, seed, use)
        best = table.best(first[0], extract.best, use)
        if not first[1]:
            return _union(best, scores.rows), np.empty(0, int)
        failures = self.failures.sample(first[1], size, seed, (use, resource))
        # The largest keys of two samples form a sample of both tables.
        keys = np.sort(np.concatenate([scores.keys, failures.keys])[:, 0])
        least = keys[-size] if len(keys) > size else -math.inf
        drawn, failed = (part.rows[part.keys[:, 0] >= least] for part in (scores, failures))
        return _union(best, drawn), failed

    def array(self, rows: Iterable[tuple[float, ...]]) -> np.ndarray:
        """Return rows as an array, which may be empty."""
        return np.array(rows, dtype=float).reshape(-1, self._length)

    @property
    def _length(self) -> int:
        return 4 + self.n_objectives + self.n_bounds


def _union(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the sorted union of row numbers; NumPy's own function takes ten times as long."""
    both = np.sort(np.concatenate([a, b]))
    return both[np.diff(both, prepend=-1) > 0]
