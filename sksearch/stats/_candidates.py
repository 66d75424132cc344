"""Candidates of a finished search at one resource: parameters, scores and coordinates."""

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Self

import numpy as np

from sksearch._utils._terminal import amount
from sksearch.history import Params
from sksearch.reader._read import read
from sksearch.reader._row import Row
from sksearch.reader._sources import FinishedSearch
from sksearch.space import Space
from sksearch.space._values import is_number

# Draws from the space; the share of a coordinate without effect then has an error of 0.1 %
N_DRAWS = 4096
WIDE = 30  # largest over smallest number from which on a scale may be logarithmic


@dataclass(frozen=True)
class Axis:
    """The values of one parameter, as numbers.

    Parameters
    ----------
    name : str
        The parameter.
    choices : tuple
        Values if unordered, otherwise empty.
    low, high : float
        Smallest and largest number; of choices 0 and their count less 1.
    log : bool
        Whether numbers are compared by their logarithms.
    integer : bool
        Whether all numbers are integers.
    """

    name: str
    choices: tuple = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    integer: bool = False

    def encode(self, params: Sequence[Params]) -> np.ndarray:
        """Place candidates between 0 and 1; NaN if they lack the parameter.

        Parameters
        ----------
        params : sequence of dict
            Candidates.

        Returns
        -------
        places : ndarray of shape (n,)
            For choices, ``i / (n_choices - 1)``.
        """
        values: list[Any] = [p.get(self.name) for p in params]
        present = np.array([self.name in p for p in params], dtype=bool)
        places = np.full(len(present), np.nan)
        if self.choices:
            at = {_key(choice): i for i, choice in enumerate(self.choices)}
            last = max(1, len(self.choices) - 1)
            for i in np.flatnonzero(present):
                places[i] = at.get(_key(values[i]), math.nan) / last
            return places
        known = np.array([is_number(v) for v in values], dtype=bool) & present
        x = np.array([float(v) for v, ok in zip(values, known, strict=True) if ok])
        x = np.clip(x, self.low, self.high)
        places[known] = _scale(x, self.low, self.high, self.log)
        # None among numbers mostly stands for no limit.
        places[present & ~known] = 1.0
        return places

    def decode(self, places: np.ndarray) -> np.ndarray:
        """Return the numbers at places between 0 and 1; of choices their indices."""
        places = np.asarray(places, dtype=float)
        if self.log:
            return self.low * (self.high / self.low) ** places
        return self.low + places * (self.high - self.low)

    def groups(self, places: np.ndarray, n: int) -> np.ndarray:
        """Return for each place the number of its group: a value, or one of n of equal size."""
        distinct, which = np.unique(places, return_inverse=True)
        if len(distinct) <= n:
            return which
        edges = np.quantile(places, np.linspace(0, 1, n + 1)[1:-1])
        return np.searchsorted(edges, places)


@dataclass(frozen=True)
class Candidates:
    """Candidates of a search at one resource.

    Parameters
    ----------
    params : list of dict
        Candidates with a score.
    scores : ndarray of shape (n,)
        Their scores, greater is better.
    failed : list of dict
        Candidates that failed at this resource.
    resource : int or None
        Number of units; None if there is one resource only.
    space : Space or None
        The space of the search, if known.
    unit : str
        Name of the units of resource.
    winner : Row or None
        The winner, perhaps at another resource; None if unknown.
    at : int or None
        Index of the winner among the candidates; None if it has no score at this resource.
    n_folds : int or None
        Number of the first folds that scores are means of; None: of all.
    """

    params: list[Params]
    scores: np.ndarray
    failed: list[Params] = field(default_factory=list)
    resource: int | None = None
    space: Space | None = None
    unit: str = "resource"
    winner: Row | None = None
    at: int | None = None
    n_folds: int | None = None

    @classmethod
    def of(cls, search: FinishedSearch) -> Self:
        """Read a fitted search, at the largest resource with enough scores.

        Enough is two more than there are parameters, and ten at least; if no resource has that
        many scores, the one with most is used.

        Parameters
        ----------
        search : object
            Whatever `read` takes.

        Returns
        -------
        candidates : Candidates
            The candidates of the search.

        Raises
        ------
        TypeError
            If it is not a search.
        ValueError
            If it is not fitted, or no candidate has a score.
        """
        found = read(search)
        names = {n for trials in found.levels.values() for trial in trials for n in trial.params}
        resource = found.level_with(max(10, len(names) + 2))
        trials = found.levels.get(resource, [])
        is_scored = [bool(np.isfinite(trial.results[resource].score)) for trial in trials]
        if not any(is_scored):
            raise ValueError("No candidate of this search has a score.")
        scored = list(compress(trials, is_scored))
        ids, winner = [trial.id for trial in scored], found.winner
        return cls(
            [trial.params for trial in scored],
            np.array([trial.results[resource].score for trial in scored]),
            [t.params for t, ok in zip(trials, is_scored, strict=True) if not ok],
            resource if len(found.levels) > 1 else None,
            found.space,
            found.unit,
            winner,
            ids.index(winner.trial_id) if winner is not None and winner.trial_id in ids else None,
            resource if found.unit == "folds" else None,
        )

    @property
    def star(self) -> tuple[Params, float] | None:
        """Parameters and score at the winner's mark: at this resource if it has a score there."""
        if self.winner is None:
            return None
        score = self.winner.score if self.at is None else float(self.scores[self.at])
        return self.winner.params, score

    @property
    def about_star(self) -> str:
        """Note on the mark: empty if it is the best score shown."""
        if self.winner is None:
            return ""
        text = f"star: the winner, {self.winner.score:.4g}"
        if self.resource not in (None, self.winner.resource):
            if self.n_folds is not None:
                return f"{text}, {self.winner.folds}"
            return f"{text} at {amount(self.winner.resource, self.unit)}"
        return "" if self.scores.max() == self.winner.score else text

    @property
    def where(self) -> str:
        """At which resource candidates are, in words; "" if it is the only one, or folds."""
        if self.resource is None or self.n_folds is not None:
            return ""
        return f" at {amount(self.resource, self.unit)}"

    @cached_property
    def axes(self) -> dict[str, Axis]:
        """Parameters of which there are two values at least, by name."""
        seen = [*self.params, *self.failed]
        names = sorted({name for params in seen for name in params})
        axes = {name: _axis(name, seen, self.space) for name in names}
        return {name: axis for name, axis in axes.items() if axis is not None}

    def n_with(self, *names: str) -> int:
        """Return how many candidates with a score have all of these parameters."""
        return sum(all(name in params for name in names) for params in self.params)

    def encode(self, params: Sequence[Params]) -> np.ndarray:
        """Place candidates in the unit cube, shape (n, n_axes); NaN if a parameter is missing."""
        columns = [axis.encode(params) for axis in self.axes.values()]
        return np.column_stack(columns) if columns else np.zeros((len(params), 0))

    def draw(self, rng: np.random.Generator, n: int = N_DRAWS) -> np.ndarray:
        """Draw from the space, shape (n, n_axes), in the unit cube.

        With an unknown space, the values of each parameter are shuffled among candidates with the
        same parameters.
        """
        if self.space is not None:
            return self.encode([self.space.sample(rng) for _ in range(n)])
        U = self.encode(self.params)
        drawn = U[rng.integers(len(U), size=n)]
        patterns, which = np.unique(np.isnan(U), axis=0, return_inverse=True)
        for pattern in range(len(patterns)):
            pool = U[which.ravel() == pattern]
            rows = np.flatnonzero((np.isnan(drawn) == patterns[pattern]).all(axis=1))
            for j in np.flatnonzero(~patterns[pattern]):
                drawn[rows, j] = rng.choice(pool[:, j], len(rows))
        return drawn


def _axis(name: str, seen: list[Params], space: Space | None) -> Axis | None:
    """The axis of a parameter, None if it has one value only."""
    values = [params[name] for params in seen if name in params]
    every = space.all_dimensions if space is not None else []
    dimensions = [d for d in every if d.name == name]
    listed = [choice for d in dimensions for choice in getattr(d, "choices", ())]
    if not all(is_number(value) for value in [*values, *listed]):
        by_key = {_key(value): value for value in [*listed, *values]}
        if dimensions and not listed:  # numbers but for a guess, such as None
            values = [value for value in values if is_number(value)]
        elif len(by_key) < 2:
            return None
        else:
            return Axis(name, tuple(by_key.values()), 0, len(by_key) - 1)
    ends = [b for d in dimensions for b in d.bounds or () if math.isfinite(b)]
    known = [float(x) for x in (*values, *listed, *ends) if math.isfinite(x)]
    if not known or min(known) == max(known):
        return None
    low, high = min(known), max(known)
    log = any(d.log for d in dimensions) or _looks_log(np.array(values or listed, dtype=float))
    integer = all(isinstance(value, numbers.Integral) for value in values)
    return Axis(name, (), low, high, log and low > 0, integer)


def _looks_log(x: np.ndarray) -> bool:
    """Return whether positive numbers are more evenly spaced on a logarithmic scale."""
    if not len(x) or not np.isfinite(x).all() or x.min() <= 0 or x.max() < WIDE * x.min():
        return False
    middle = (np.median(x) - x.min()) / (x.max() - x.min())
    log_middle = np.log(np.median(x) / x.min()) / np.log(x.max() / x.min())
    return bool(abs(log_middle - 0.5) < abs(middle - 0.5))


def _scale(x: np.ndarray, low: float, high: float, log: bool) -> np.ndarray:
    if log:
        return np.log(x / low) / math.log(high / low)
    return (x - low) / (high - low)


def _key(value: Any) -> str:
    """Key, equal for equal choices: their types and texts."""
    value = value.item() if isinstance(value, np.generic) else value
    return f"{type(value).__name__}:{value!r}"
