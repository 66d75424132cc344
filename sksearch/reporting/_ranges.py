"""Ranges of numbers in a space: place of a value in its range, and values beyond it."""

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch._utils._compat import is_valid_value, owner_of
from sksearch.estimators._family import family_of
from sksearch.reader._search_table import SearchTable
from sksearch.reader._values import is_finite
from sksearch.reporting._words import code_of

BEYOND = 100  # factor by which a logarithmic range is widened
BEYOND_COUNT = 4  # of integers
NEW_CHOICES = 2  # values that continue a list


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
        """Return where a value lies, from 0 to 1; NaN if not a number."""
        if not is_finite(value):
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

    def widened(self, upper: bool, table: SearchTable) -> str | None:
        """Return code for a range widened at one end; None if it cannot be widened."""
        if self.choices:
            return self._more_choices(upper, table)
        low, high, span = self.low, self.high, self.high - self.low
        factor = BEYOND_COUNT if self.is_integer else BEYOND
        if upper:
            high = self._beyond(high * factor if self.log else high + span, upper, table)
        elif low <= 0:
            low = self._beyond(low - span, upper, table)
        else:
            low = self._beyond(low / (factor if self.log else 10), upper, table)
        if (low, high) == (self.low, self.high):
            return None
        return code_of_range(low, high, self.log, self.is_integer)

    def _beyond(self, value, upper, table):
        """A value beyond an end, or one nearer to it; otherwise the end itself."""
        end = self.high if upper else self.low
        most = largest_of(table, self.name)
        # If the value is too much: many ranges end at 1, and counts begin at 1 or 2.
        for x in (min(value, most), 1.0) if upper else (value, 2, 1):
            if self.is_integer:
                x = math.floor(x) if self.low < 1 else max(1, math.floor(x))
            is_beyond = x > end if upper else x < end
            if is_beyond and self._allows(x, upper, table.estimator):
                return x
        return end

    def _more_choices(self, upper, table):
        """The list, with values beyond one end."""
        values = list(self.choices)
        a, b = (values[-2], values[-1]) if upper else (values[1], values[0])
        for _ in range(NEW_CHOICES):
            c = b * b / a if self.log else 2 * b - a
            c = round(c) if self.is_integer else float(f"{c:.12g}")
            fits = c <= largest_of(table, self.name)
            if c in (a, b) or not fits or not self._allows(c, upper, table.estimator):
                break
            values.append(c)
            a, b = b, c
        if len(values) == len(self.choices):
            return None
        values = [int(x) if self.is_integer else x for x in sorted(values)]
        return code_of(values)

    def _allows(self, value, upper, estimator):
        """True if the estimator takes a value beyond an end, as far as known."""
        owner, leaf = owner_of(estimator, self.name)
        if leaf in getattr(owner, "_parameter_constraints", {}):
            return is_valid_value(estimator, self.name, self._as(value))
        # By default shares stay within 0 and 1, and counts do not end at a single one.
        if self.is_integer:
            return upper or self.low < 0 or value >= min(2, self.low)
        is_share = self.low >= 0 and self.high <= 1
        return (value <= 1 or not is_share) if upper else value > 0 or self.low < 0

    def _as(self, x):
        return int(x) if self.is_integer else float(x)


def code_of_range(low: float, high: float, log: bool, is_integer: bool) -> str:
    """Return code for all numbers from `low` to `high`, both included."""
    if is_integer:
        return f"{'LogRandInt' if log else 'randint'}({int(low)}, {int(high) + 1})"
    low, high = float(f"{low:.12g}"), float(f"{high:.12g}")
    if log:
        return f"loguniform({_text(low)}, {_text(high)})"
    width = float(f"{high - low:.12g}")
    while low + width > high:  # a share of 1 + 2e-16 is none
        width = math.nextafter(width, 0)
    return f"uniform({_text(low)}, {_text(width)})"


def _text(x):
    """A number as Python reads it, and whole numbers without a point."""
    return repr(x).removesuffix(".0")


def largest_of(table: SearchTable, name: str) -> float:
    """Return the largest value that a parameter may have with these data, as far as is known."""
    owner, leaf = owner_of(table.trained, name)
    if leaf == "n_neighbors" and hasattr(owner, "n_samples_fit_"):
        return owner.n_samples_fit_ // 2  # a fold has fewer rows
    return family_of(owner).upper_bound(owner, leaf)


def around(table: SearchTable, name: str, value: Any) -> list:
    """Return a few values near a valid one; empty if unknown."""
    if isinstance(value, bool | np.bool_):
        return [False, True]
    if not is_finite(value) or value == 0:
        return []
    integer = isinstance(value, numbers.Integral)
    value = int(value) if integer else float(f"{value:.12g}")
    each = Range(name, value, value, False, integer)
    half = value // 2 if integer else value / 2
    low, high = (2 * value, half) if value < 0 else (half, 2 * value)
    low = [low] if low < value and each._allows(low, False, table.estimator) else []
    fits = value < high <= largest_of(table, name)
    high = [high] if fits and each._allows(high, True, table.estimator) else []
    return [*low, value, *high] if low or high else []


def ranges_of(table: SearchTable) -> list[Range]:
    """Ranges of all numeric parameters, unless the dicts of a union differ in them."""
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
    if len(choices) < 3 or not all(map(is_finite, choices)):
        return None
    values = sorted(choices)
    steps = np.diff(values)
    log = values[0] > 0 and bool(
        np.std(np.diff(np.log(values))) / np.mean(np.diff(np.log(values)))
        < np.std(steps) / np.mean(steps)
    )
    is_integer = all(isinstance(x, numbers.Integral) for x in values)
    return Range(name, values[0], values[-1], log, is_integer, tuple(values))
