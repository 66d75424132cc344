"""Ranges of numbers in a space: where a value lies in its range, and what is beyond it."""

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch._compat import is_valid_value, owner_of
from sksearch.reporting._table import Table, is_number
from sksearch.reporting._words import code_of
from sksearch.stats._rows import key_of

BEYOND = 100  # factor by which a logarithmic range is widened
BEYOND_COUNT = 4  # of integers
NEW_CHOICES = 2


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter may have.

    Parameters
    ----------
    name : str
        The parameter.
    low, high : float
        Smallest and largest number.
    log : bool
        Whether the logarithm is drawn evenly, or choices are spaced by factors.
    is_integer : bool
        Whether all numbers are integers.
    choices : tuple of float
        Sorted; empty for a distribution.
    """

    name: str
    low: float
    high: float
    log: bool
    is_integer: bool
    choices: tuple[float, ...] = ()

    def place(self, value: Any) -> float:
        """Return where a value lies, from 0 to 1; NaN for what is no number."""
        if not is_number(value):
            return math.nan
        if self.choices:
            return float(np.argmin(np.abs(np.array(self.choices) - value))) / (
                len(self.choices) - 1
            )
        x = min(max(float(value), self.low), self.high)
        if self.is_integer and x in (self.low, self.high):
            return float(x == self.high)
        if self.log:
            return math.log(x / self.low) / math.log(self.high / self.low)
        return (x - self.low) / (self.high - self.low)

    def widened(self, upper: bool, estimator: Any) -> str | None:
        """Return code for a range that goes beyond one end; None where nothing can be beyond."""
        if self.choices:
            return self._more_choices(upper, estimator)
        low, high = self.low, self.high
        if self.log:
            factor = BEYOND_COUNT if self.is_integer else BEYOND
            low, high = (low, high * factor) if upper else (low / factor, high)
        elif upper:
            high += high - low
        else:
            low = low - (high - low) if low <= 0 else low / 10
        if self.is_integer:
            low, high = max(1, math.floor(low)) if self.low >= 1 else math.floor(low), int(high)
            if (low, high) == (self.low, self.high):
                return None
        if not self._allows(high if upper else low, upper, estimator):
            return None
        if self.is_integer:
            return f"{'LogRandInt' if self.log else 'randint'}({low:d}, {high + 1:d})"
        return (
            f"loguniform({low:g}, {high:g})" if self.log else f"uniform({low:g}, {high - low:g})"
        )

    def _more_choices(self, upper, estimator):
        """The list, with values beyond one end."""
        values = list(self.choices)
        a, b = (values[-2], values[-1]) if upper else (values[1], values[0])
        for _ in range(NEW_CHOICES):
            c = b * b / a if self.log else 2 * b - a
            c = round(c) if self.is_integer else float(f"{c:.12g}")
            if c in (a, b) or not self._allows(c, upper, estimator):
                break
            values.append(c)
            a, b = b, c
        if len(values) == len(self.choices):
            return None
        values = [int(x) if self.is_integer else x for x in sorted(values)]
        return code_of(values)

    def _allows(self, value, upper, estimator):
        """Whether the estimator takes a value beyond an end, as far as that is known."""
        if any(is_valid_value(estimator, self.name, x) for x in (self.low, self._as(self.low))):
            return is_valid_value(estimator, self.name, self._as(value))
        owner, leaf = owner_of(estimator, self.name)
        if leaf in getattr(owner, "_parameter_constraints", {}):
            return is_valid_value(estimator, self.name, self._as(value))
        # Shares end at 0 and 1, counts begin at 0 or 1.
        return (self.high != 1 or self.is_integer) if upper else value > 0 or self.low < 0

    def _as(self, x):
        return int(x) if self.is_integer else float(x)


def varied(table: Table) -> list[str]:
    """Parameters with two values at least among the candidates."""
    seen: dict[str, set] = {}
    for candidate in table.candidates:
        for name, value in candidate.params.items():
            seen.setdefault(name, set()).add(key_of(value))
    return sorted(name for name, values in seen.items() if len(values) > 1)


def ranges_of(table: Table) -> list[Range]:
    """Ranges of all parameters that are numbers; those that dicts of a union differ in are not."""
    space = table.space
    if space is None:
        return []
    names = [dimension.name for dimension in space.dimensions]
    found = [_range_of(d) for d in space.dimensions if names.count(d.name) == 1]
    return [each for each in found if each is not None]


def _range_of(dimension: Any) -> Range | None:
    """The range of one dimension, None if it has none."""
    name = dimension.name
    if dimension.kind in ("real", "integer"):
        low, high = dimension.bounds
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            return None
        return Range(name, low, high, dimension.log, dimension.kind == "integer")
    choices = getattr(dimension, "choices", ())
    if len(choices) < 3 or not all(map(is_number, choices)):
        return None
    values = sorted(choices)
    steps = np.diff(values)
    log = values[0] > 0 and bool(
        np.std(np.diff(np.log(values))) / np.mean(np.diff(np.log(values)))
        < np.std(steps) / np.mean(steps)
    )
    is_integer = all(isinstance(x, numbers.Integral) for x in values)
    return Range(name, values[0], values[-1], log, is_integer, tuple(values))
