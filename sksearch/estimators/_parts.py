"""Building blocks of spaces: distributions with a readable repr, and the size of a table."""

import math
from dataclasses import dataclass, replace
from typing import Any

from scipy import stats

from ..space import LogRandInt, Outcome

# A space is an ordinary dict, the most important names first, since a long one is cut.
SpaceDict = dict[str, Any]

_Continuous: Any = type(stats.uniform())
_Discrete: Any = type(stats.randint(0, 2))


class _Readable:
    """A frozen SciPy distribution whose repr is the call that creates it."""

    dist: Any
    args: tuple

    def __repr__(self) -> str:
        return f"{self.dist.name}({', '.join(map(repr, self.args))})"


class _ReadableContinuous(_Readable, _Continuous):
    pass


class _ReadableDiscrete(_Readable, _Discrete):
    pass


def uniform(loc: float, scale: float) -> Any:
    """Uniform numbers from ``loc`` to ``loc + scale``, as scipy.stats.uniform."""
    return _ReadableContinuous(stats.uniform, loc, scale)


def loguniform(low: float, high: float) -> Any:
    """Log-uniform numbers, as scipy.stats.loguniform."""
    return _ReadableContinuous(stats.loguniform, _short(low), _short(high))


def randint(low: int, high: int) -> Any:
    """Integers from ``low`` to ``high - 1``, as scipy.stats.randint."""
    return _ReadableDiscrete(stats.randint, low, high)


def log_ints(low: int, high: int) -> LogRandInt:
    """Log-uniform integers from ``low`` to at least ``low + 1``, both included."""
    return LogRandInt(low, max(high, low + 1) + 1)


def _short(x: float) -> float:
    """Round to two digits, for print."""
    return float(f"{x:.2g}")


@dataclass(frozen=True)
class Size:
    """Size of the table that an estimator is fitted on, as far as known.

    Parameters
    ----------
    n_samples : int or None
        Number of rows.
    n_features : int or None
        Number of columns.
    nested : bool
        True if another estimator trains this one, so that its curve cannot be followed.

    Examples
    --------
    >>> from sksearch.estimators._parts import Size
    >>> Size(n_samples=100).leaf(100), Size(n_samples=100_000).leaf(100)
    (5, 100)
    """

    n_samples: int | None = None
    n_features: int | None = None
    nested: bool = False

    @property
    def rows(self) -> int:
        """Number of rows; 1,000 if unknown."""
        return self.n_samples or 1000

    def leaf(self, most: int) -> int:
        """Largest sensible number of rows in a leaf: a fortieth of all, at most `most`."""
        return max(5, min(most, self.rows // 40))

    def root(self, most: int) -> int:
        """Square root of the number of rows, at most `most`: for neighbours and clusters."""
        return max(2, min(most, math.isqrt(self.rows)))

    def gamma(self) -> Any:
        """Return kernel widths for columns of variance 1.

        Returns
        -------
        widths : distribution
            From 0.01 to 10 times 1 / n_features.
        """
        unit = 1 / (self.n_features or 10)
        return loguniform(0.01 * unit, 10 * unit)

    def components(self, most: int = 300) -> Any:
        """Return numbers of components.

        Parameters
        ----------
        most : int, default=300
            Largest number.

        Returns
        -------
        counts : LogRandInt or None
            Fewer than columns; None if their number is unknown or too small.
        """
        if self.n_features is None or self.n_features < 3:
            return None
        return log_ints(1, min(self.n_features - 1, most, max(2, self.rows // 4)))

    def share_of_columns(self) -> Any:
        """Return shares of the columns considered at a split.

        Returns
        -------
        shares : distribution
            From half the square root of the number of columns to all.
        """
        p = self.n_features or 20
        return loguniform(min(0.3, max(0.02, 0.5 / math.sqrt(p))), 1.0)

    def count(self, high: int, own: Any = None) -> Any:
        """Return the number of boosting iterations: found during training if possible.

        Parameters
        ----------
        high : int
            Largest number.
        own : int or None, default=None
            The estimator's own number, which may be larger.

        Returns
        -------
        count : Outcome or LogRandInt
            The searched number.
        """
        if self.nested:
            return log_ints(20, high // 3)
        return Outcome(max(high, own if isinstance(own, int) else 0))

    def within(self, n_features: int | None) -> "Size":
        """Return the same rows with other columns."""
        return replace(self, n_features=n_features)


def known(space: SpaceDict) -> SpaceDict:
    """Drop None: parameters whose range is unknown."""
    return {name: values for name, values in space.items() if values is not None}


def most_components(model: Any) -> float:
    """Return the most components of a fitted projection: features, or classes minus one."""
    n_classes = len(getattr(model, "classes_", ())) or math.inf
    return min(getattr(model, "n_features_in_", math.inf), n_classes - 1)
