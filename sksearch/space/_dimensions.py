"""Dimensions: one parameter's distribution, as a map between its values and [0, 1].

==========  ==========================================================
u           coordinate in [0, 1]; a uniform u gives values of the distribution
x, k        a real value, an integer value
i, n        index of a choice, number of choices (or of integers)
F           distribution function: u = F(x)
==========  ==========================================================
"""

import bisect
import inspect
import itertools
import math
import numbers
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import stats

from ._values import equal, hashable_key, native, stable_repr

# Quantiles closest to 0 and 1 for unbounded distributions, which are infinite at 0 and 1.
U_MIN, U_MAX = 2.0**-53, 1 - 2.0**-53
# SciPy may sum all masses below the quantile of an integer: nearer to 1, millions of them.
U_MIN_INTEGER, U_MAX_INTEGER = 1e-9, 1 - 1e-9
X_MAX = sys.float_info.max
TABLE_SIZE = 1024  # draws that represent a distribution with rvs alone
MAX_VALUES = 10_000  # limit for enumerating the integers of a distribution


class Dimension(ABC):
    """One coordinate of the unit cube.

    Parameters
    ----------
    name : str
        Name of the parameter.

    Attributes
    ----------
    kind : {"real", "integer", "categorical", "opaque"}
        Kind of the values; opaque is an object with nothing but ``rvs``.
    log : bool
        Whether the coordinate is linear in the logarithm of the value.
    ordered : bool
        Whether the values are strictly monotone numeric choices.
    size : int or inf
        Number of values.
    bounds : tuple of (low, high) or None
        Smallest and largest value of a real or an integer dimension, both included.
    """

    kind: str = "real"
    log: bool = False
    ordered: bool = False
    size: Any = math.inf
    bounds: Any = None

    def __init__(self, name: str):
        self.name = name

    @abstractmethod
    def to_unit(self, value: Any) -> float:
        """Return the coordinate in [0, 1] of a value."""

    @abstractmethod
    def from_unit(self, u: float) -> Any:
        """Return the value at the coordinate ``u``, where 0 <= u <= 1."""

    @property
    @abstractmethod
    def distribution_key(self) -> tuple:
        """Return a key, equal for dimensions of one process with the same distribution."""

    def cell(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the interval of coordinates with the same value.

        Parameters
        ----------
        u : ndarray of shape (n,)
            Coordinates in [0, 1].

        Returns
        -------
        lower, upper : ndarray of shape (n,)
            Both are `u` for a real value. Their mean is ``to_unit(from_unit(u))``.
        """
        return u, u

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw a value."""
        return self.from_unit(rng.random())

    def contains(self, value: Any) -> bool:
        """Return whether a value is valid for this parameter."""
        number = numbers.Integral if self.kind == "integer" else numbers.Real
        if isinstance(value, bool) or not isinstance(value, number):
            return False
        return bool(math.isfinite(value) and self.bounds[0] <= value <= self.bounds[1])

    def allowed(self) -> str:
        """Describe the values that ``contains`` accepts."""
        noun = "an integer" if self.kind == "integer" else "a number"
        return f"{noun} from {self.bounds[0]} to {self.bounds[1]}"

    def __repr__(self):
        return f"{type(self).__name__}({self.name!r}, {self.allowed()})"


class Real(Dimension):
    """A uniform or log-uniform number from ``low`` to ``high``."""

    def __init__(self, name: str, low: float, high: float, log: bool):
        super().__init__(name)
        self.bounds = (low, high)
        self.log = log
        self._start = math.log(low) if log else low
        self._span = math.log(high) - self._start if log else high - low

    @property
    def distribution_key(self) -> tuple:
        return (self.bounds, self.log)

    def to_unit(self, value: Any) -> float:
        x = min(max(value, self.bounds[0]), self.bounds[1])
        return ((math.log(x) if self.log else x) - self._start) / self._span

    def from_unit(self, u: float) -> Any:
        x = self._start + u * self._span
        x = math.exp(x) if self.log else x
        return min(max(x, self.bounds[0]), self.bounds[1])


class Integer(Dimension):
    """A uniform or log-uniform integer from ``low`` to ``high``, both included."""

    kind = "integer"

    def __init__(self, name: str, low: int, high: int, log: bool):
        super().__init__(name)
        self.bounds = (low, high)
        self.log = log
        self.size = high - low + 1

    @property
    def distribution_key(self) -> tuple:
        return (self.bounds, self.log)

    def to_unit(self, value: Any) -> float:
        low, high = self.bounds
        k = min(max(value, low), high)
        if self.log:  # middle of log(k / low) and log((k + 1) / low)
            return math.log(k / low * ((k + 1) / low)) / 2 / math.log((high + 1) / low)
        return _middle(k - low, self.size)

    def from_unit(self, u: float) -> Any:
        low, high = self.bounds
        k = low * ((high + 1) / low) ** u if self.log else low + math.floor(u * self.size)
        return min(max(int(k), low), high)

    def cell(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.bounds
        if not self.log:
            return _parts_of_unit(u, self.size)
        ratio = (high + 1) / low
        k = np.clip(np.floor(low * ratio**u), low, high)  # the power may round up to high + 1
        return np.log(k / low) / math.log(ratio), np.log((k + 1) / low) / math.log(ratio)

    def value(self, i: int) -> int:
        """Return the i-th integer."""
        return self.bounds[0] + i


class ContinuousRV(Dimension):
    """Any other frozen continuous distribution of SciPy, by its cdf and ppf."""

    def __init__(self, name: str, distribution: Any):
        super().__init__(name)
        self.distribution = distribution
        self.bounds = tuple(float(x) for x in distribution.support())
        self._clip = _unit_limits(self.bounds)

    @property
    def distribution_key(self) -> tuple:
        return scipy_key(self.distribution)

    def to_unit(self, value: Any) -> float:
        return float(self.distribution.cdf(value))

    def from_unit(self, u: float) -> Any:
        with np.errstate(over="ignore"):  # a heavy tail at U_MAX, made finite below
            x = float(self.distribution.ppf(min(max(u, self._clip[0]), self._clip[1])))
        return min(max(x, self.bounds[0], -X_MAX), self.bounds[1], X_MAX)


class DiscreteRV(Dimension):
    """Any other frozen discrete distribution of SciPy, by its cdf and ppf."""

    kind = "integer"

    def __init__(self, name: str, distribution: Any):
        super().__init__(name)
        self.distribution = distribution
        low, high = (int(k) if math.isfinite(k) else float(k) for k in distribution.support())
        self.bounds = (low, high)
        self.size = high - low + 1
        self._values = None  # all values of a short list: some may never be drawn
        if self.size <= MAX_VALUES:
            values = np.arange(low, high + 1)
            self._values = values[distribution.pmf(values) > 0]
            self.size = len(self._values)
        self._clip = _unit_limits(self.bounds, U_MIN_INTEGER, U_MAX_INTEGER)

    @property
    def distribution_key(self) -> tuple:
        return scipy_key(self.distribution)

    def to_unit(self, value: Any) -> float:
        return float(self.distribution.cdf(value - 1) + self.distribution.cdf(value)) / 2

    def from_unit(self, u: float) -> Any:
        k = float(self.distribution.ppf(min(max(u, self._clip[0]), self._clip[1])))
        return int(min(max(k, self.bounds[0], -X_MAX), self.bounds[1], X_MAX))

    def cell(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        k = self.distribution.ppf(np.clip(u, *self._clip))
        k = np.clip(k, *self.bounds)
        return self.distribution.cdf(k - 1), self.distribution.cdf(k)

    def value(self, i: int) -> int:
        """Return the i-th integer of the support."""
        return self.bounds[0] + i if self._values is None else int(self._values[i])


class Categorical(Dimension):
    """One of a list of choices, all equally likely."""

    kind = "categorical"

    def __init__(self, name: str, choices: Iterable):
        super().__init__(name)
        self.choices = list(choices)
        self.size = len(self.choices)
        keys = [hashable_key(choice) for choice in self.choices]
        self._positions = {key: i for i, key in enumerate(keys) if key is not None}
        self._objects = [i for i, key in enumerate(keys) if key is None]
        self.ordered = _is_monotone(self.choices)

    def __getstate__(self) -> dict[str, Any]:
        # Not a dict of positions: some formats (skops) do not support tuples as keys.
        return {"name": self.name, "choices": self.choices}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Categorical.__init__(self, **state)

    @property
    def distribution_key(self) -> tuple:
        return tuple(hashable_key(choice) or id(choice) for choice in self.choices)

    def index(self, value: Any) -> int | None:
        """Find a choice.

        Parameters
        ----------
        value : object
            A choice, or a copy of a choice from a pickle.

        Returns
        -------
        int or None
            Position of the value among the choices; None if it is not one of them.
        """
        key = hashable_key(value)
        if key is not None:
            return self._positions.get(key)
        alike = [i for i in self._objects if type(self.choices[i]) is type(value)]
        # An unpickled estimator is neither identical nor equal to the choice; only its repr
        # identifies it.
        same_repr = stable_repr(value) if alike else None
        tests = (
            lambda choice: choice is value,
            lambda choice: equal(choice, value),
            lambda choice: stable_repr(choice) == same_repr,
        )
        for test in tests:
            found = [i for i in alike if test(self.choices[i])]
            if len(found) == 1:
                return found[0]
        return None

    def to_unit(self, value: Any) -> float:
        i = self.index(value)
        if i is None:
            raise ValueError(f"{self.name}={value!r} is not a choice: it must be {self.allowed()}")
        return _middle(i, self.size)

    def from_unit(self, u: float) -> Any:
        return self.choices[min(max(int(u * self.size), 0), self.size - 1)]

    def cell(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _parts_of_unit(u, self.size)

    def value(self, i: int) -> Any:
        """Return the i-th choice."""
        return self.choices[i]

    def contains(self, value: Any) -> bool:
        return self.index(value) is not None

    def allowed(self) -> str:
        shown = ", ".join(repr(choice) for choice in self.choices[:20])
        return f"one of [{shown}{', ...' if self.size > 20 else ''}]"


class Opaque(Dimension):
    """An object with nothing but ``rvs``.

    A table of 1024 draws maps the unit interval to values. If ``rvs`` has no parameter
    ``random_state``, it cannot be seeded, and the table differs from run to run.
    """

    kind = "opaque"

    def __init__(self, name: str, distribution: Any):
        super().__init__(name)
        self.distribution = distribution
        self._seedable = _takes_random_state(distribution.rvs)
        random_state = np.random.RandomState(0)
        self._table = [self._draw(random_state) for _ in range(TABLE_SIZE)]
        try:
            self._table.sort()
            self._sorted = True
        except (TypeError, ValueError):  # draws without an order: arrays, mixed types
            self._sorted = False
        self._first, self._last = self._runs()

    @property
    def distribution_key(self) -> tuple:
        return (id(self.distribution),)

    def _draw(self, random_state):
        seed = {"random_state": random_state} if self._seedable else {}
        value = native(self.distribution.rvs(**seed))
        return value.tolist() if isinstance(value, np.ndarray) else value

    def sample(self, rng: np.random.Generator) -> Any:
        return self._draw(np.random.RandomState(rng.integers(2**32)))

    def to_unit(self, value: Any) -> float:
        i = self._position(native(value))
        return (min(i, TABLE_SIZE - 1) + 0.5) / TABLE_SIZE

    def _position(self, value):
        """Return the position of a value in the table, or of its nearest entry."""
        if self._sorted:
            try:
                first = bisect.bisect_left(self._table, value)
                return (first + bisect.bisect_right(self._table, value)) // 2
            except TypeError:
                pass  # another type, such as None among numbers
        for i, drawn in enumerate(self._table):
            if type(drawn) is type(value) and equal(drawn, value):
                return i
        return zlib.crc32(stable_repr(value).encode()) % TABLE_SIZE

    def from_unit(self, u: float) -> Any:
        return self._table[min(max(int(u * TABLE_SIZE), 0), TABLE_SIZE - 1)]

    def cell(self, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        i = np.clip(np.floor(u * TABLE_SIZE), 0, TABLE_SIZE - 1)  # u = 1 is in the last cell
        known = ~np.isnan(i)
        lower, upper = i / TABLE_SIZE, (i + 1) / TABLE_SIZE
        i = i[known].astype(int)
        lower[known], upper[known] = self._first[i] / TABLE_SIZE, self._last[i] / TABLE_SIZE
        return lower, upper

    def _runs(self):
        """Return for each entry of the table where the run of equal values starts and ends."""
        first, last = np.arange(TABLE_SIZE), np.arange(1, TABLE_SIZE + 1)
        if self._sorted:
            for i, value in enumerate(self._table):
                first[i] = bisect.bisect_left(self._table, value)
                last[i] = bisect.bisect_right(self._table, value)
        return first, last

    def contains(self, value: Any) -> bool:
        return True

    def allowed(self) -> str:
        return f"a value drawn by {type(self.distribution).__name__}.rvs"


def scipy_key(distribution: Any) -> tuple:
    """Return a key, equal for equal frozen SciPy distributions."""
    name = distribution.dist.name
    # The arguments identify SciPy's named distributions; a histogram or a subclass may hold more.
    known = type(getattr(stats, name, None)) is type(distribution.dist)
    identity = None if known else id(distribution)
    return (name, distribution.args, sorted(distribution.kwds.items()), identity)


def _middle(i: int, n: int) -> float:
    """Return the middle of the i-th of n parts of [0, 1], exactly the mean of its ends."""
    return (i / n + (i + 1) / n) / 2


def _parts_of_unit(u: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the parts that contain coordinates, of n equal parts of [0, 1]."""
    i = np.clip(np.floor(u * n), 0, n - 1)  # u = 1 is in the last part
    return i / n, (i + 1) / n


def _unit_limits(bounds, u_min=U_MIN, u_max=U_MAX):
    """Return the range of coordinates with finite quantiles."""
    low, high = bounds
    return (0.0 if math.isfinite(low) else u_min, 1.0 if math.isfinite(high) else u_max)


def _is_monotone(choices: list) -> bool:
    if not all(type(choice) in (int, float) for choice in choices):
        return False
    pairs = list(itertools.pairwise(choices))
    return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)


def _takes_random_state(rvs: Callable) -> bool:
    try:
        parameters = inspect.signature(rvs).parameters
    except (TypeError, ValueError):
        return True  # compiled, no signature: pass it, as scikit-learn does
    kinds = [parameter.kind for parameter in parameters.values()]
    return "random_state" in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def unhashable_choices(dimensions: Iterable[Any]) -> dict[str, Categorical]:
    """Collect the choices without a hashable key, by name over all dicts."""
    choices: dict[str, list] = {}
    for dimension in dimensions:
        if dimension.kind == "categorical":
            known = choices.setdefault(dimension.name, [])
            for choice in dimension.choices:
                new = not any(choice is other for other in known)
                if new and hashable_key(choice) is None:
                    known.append(choice)
    return {name: Categorical(name, known) for name, known in choices.items()}
