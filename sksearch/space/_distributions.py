"""Parse the values of one parameter: choices or a distribution become a Dimension."""

import math
import numbers
from collections.abc import Callable, Hashable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.stats.distributions import rv_frozen

from sksearch._utils._terminal import warn

from ._dimensions import (
    Categorical,
    ContinuousRV,
    Dimension,
    DiscreteRV,
    Integer,
    Opaque,
    Real,
)
from ._values import hashable_key, native

MAX_INTEGER = 2**63 - 1  # largest int64 of NumPy
#: Replacements for distributions of other libraries.
FOREIGN = {
    "skopt": "pass sksearch.space.from_skopt(space), which translates the whole space",
    "optuna": "pass sksearch.space.from_optuna(space), which translates the whole space",
    "ConfigSpace": "pass sksearch.space.from_configspace(space), which translates the whole space",
    "hyperopt": "pass a list, scipy.stats.uniform(low, high - low) or loguniform(low, high)",
    "ray": "pass a list, scipy.stats.uniform(low, high - low) or loguniform(low, high)",
}
UNFROZEN = (stats.rv_continuous, stats.rv_discrete)
_PRIORS = ("uniform", "log-uniform", "loguniform", "log_uniform", "reciprocal", "log")


class LogRandInt:
    """Log-uniform integers from ``low`` to ``high - 1``.

    A draw is the floor of a log-uniform number in [low, high), so all orders of magnitude are
    about equally likely. The distribution is frozen, like ``scipy.stats.randint(low, high)``, and
    also works in scikit-learn's RandomizedSearchCV.

    Parameters
    ----------
    low : int
        Smallest integer, at least 1.
    high : int
        One more than the largest integer.

    Raises
    ------
    TypeError
        If a bound is not an integer.
    ValueError
        If not 1 <= low < high.

    Notes
    -----
    The probability of k is log((k + 1) / k) / log(high / low).

    Examples
    --------
    >>> from sksearch.space import LogRandInt
    >>> LogRandInt(1, 1000).cdf([9, 99, 999]).round(3).tolist()
    [0.333, 0.667, 1.0]
    """

    def __init__(self, low: int, high: int):
        for bound in (low, high):
            if not isinstance(bound, numbers.Integral) or isinstance(bound, bool):
                raise TypeError(f"LogRandInt({low!r}, {high!r}) needs two integers.")
        if not 1 <= low < high:
            raise ValueError(
                f"LogRandInt({low}, {high}) needs 1 <= low < high, and excludes high."
            )
        if high > MAX_INTEGER:
            raise ValueError(
                f"LogRandInt({low}, {high}) exceeds 2**63, the largest integer of NumPy."
            )
        self.low = int(low)
        self.high = int(high)

    def rvs(
        self,
        size: int | tuple[int, ...] | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> int | np.ndarray:
        """Draw integers.

        Parameters
        ----------
        size : int or tuple of int, default=None
            Shape of the draws; None draws one integer.
        random_state : int, numpy.random.RandomState or numpy.random.Generator, default=None
            Source of the draws, or its seed.

        Returns
        -------
        int or ndarray of shape `size`
            Drawn integers.
        """
        rng: Any = random_state
        if not hasattr(rng, "uniform"):
            rng = np.random.default_rng(rng)
        x = self.low * (self.high / self.low) ** rng.uniform(size=size)
        k = np.clip(np.floor(x), self.low, self.high - 1).astype(np.int64)  # it may round up
        return int(k) if size is None else k

    def pmf(self, k: ArrayLike) -> np.ndarray:
        """Return the probability of ``k``.

        Parameters
        ----------
        k : array-like of int
            Integers to evaluate.

        Returns
        -------
        ndarray of the shape of `k`
            Probabilities; 0 outside the support and between integers.
        """
        k = np.asarray(k, dtype=float)
        inside = (k == np.floor(k)) & (self.low <= k) & (k < self.high)
        mass = np.log1p(1 / np.where(inside, k, 1.0)) / math.log(self.high / self.low)
        return np.where(inside, mass, 0.0)

    def cdf(self, k: ArrayLike) -> np.ndarray:
        """Return the probability of at most ``k``.

        Parameters
        ----------
        k : array-like of float
            Numbers to evaluate.

        Returns
        -------
        ndarray of the shape of `k`
            Probabilities.
        """
        k = np.clip(np.floor(k), self.low - 1, self.high - 1)
        return np.log((k + 1) / self.low) / math.log(self.high / self.low)

    def ppf(self, q: ArrayLike) -> np.ndarray:
        """Return the smallest integer with a cdf of at least ``q``.

        Parameters
        ----------
        q : array-like of float
            Probabilities.

        Returns
        -------
        ndarray of the shape of `q`
            Quantiles, as floats like in SciPy.
        """
        q = np.asarray(q, dtype=float)
        k = np.ceil(self.low * (self.high / self.low) ** q) - 1
        # If q is the cdf of an integer, the power is off by an ulp: without the two comparisons,
        # ppf(cdf(k)) would be a neighbour of k.
        k = np.where(self.cdf(k - 1) >= q, k - 1, k)
        k = np.where(self.cdf(k) < q, k + 1, k)
        return np.clip(k, self.low, self.high - 1)

    def support(self) -> tuple[int, int]:
        """Return the smallest and the largest integer.

        Returns
        -------
        tuple of (int, int)
            Both ends included.
        """
        return self.low, self.high - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LogRandInt) and self.support() == other.support()

    def __hash__(self) -> int:
        return hash(("LogRandInt", self.low, self.high))

    def __repr__(self) -> str:
        return f"LogRandInt({self.low}, {self.high})"


def make_dimension(
    name: str, values: Any, accepts: Callable[[str, Any], bool] | None = None
) -> Dimension:
    """Make the dimension of one parameter.

    Parameters
    ----------
    name : str
        Name of the parameter, for errors.
    values : list, tuple, range, 1-d array, Series or object with ``rvs``
        Values of the parameter as the user wrote them.
    accepts : callable, default=None
        ``accepts(name, value) -> bool``: whether a NaN or infinite choice is valid.

    Returns
    -------
    Dimension
        Dimension of the parameter.

    Raises
    ------
    TypeError
        If `values` is neither choices nor a distribution, or a distribution without arguments.
    ValueError
        If the choices are empty, or a choice or an argument is invalid.
    """
    where = f"param_distributions[{name!r}]"
    if isinstance(values, type):
        raise TypeError(
            f"{where} is the class {values.__name__}: pass an instance, {values.__name__}(...)."
        )
    _refuse_foreign(values, where)
    if isinstance(values, UNFROZEN) and values is not getattr(stats, str(values.name), None):
        values = _frozen(values)  # a custom distribution
    if isinstance(values, UNFROZEN):
        example = _frozen_example(values)
        raise TypeError(
            f"{where} is scipy.stats.{values.name} without arguments: pass a frozen distribution, "
            f"such as {example}."
        )
    if isinstance(values, rv_frozen):
        return _from_scipy(name, values, where)
    if isinstance(values, LogRandInt):
        return Integer(name, *values.support(), log=True)
    # A choice of skrub, which otherwise has only an rvs method
    if type(values).__name__ == "NumericChoice":
        if values.to_int:
            return Integer(name, int(values.low), int(values.high), log=values.log)
        return Real(name, float(values.low), float(values.high), log=values.log)
    if type(values).__name__ == "DiscretizedNumericChoice":
        values = list(values.grid)
    if hasattr(values, "rvs"):
        return Opaque(name, values)
    return Categorical(name, _choices(name, values, accepts, where))


def with_frozen_laws(space: Any) -> Any:
    """Return a space with default arguments for distributions such as ``scipy.stats.uniform``.

    scikit-learn's searches draw from such unfrozen distributions directly.
    """
    if isinstance(space, Mapping):
        return {name: _frozen(values) for name, values in space.items()}
    if isinstance(space, list | tuple):
        return [with_frozen_laws(each) for each in space]
    return space


def _frozen(values: Any) -> Any:
    """Return a frozen distribution if no arguments are needed, anything else unchanged."""
    return values() if isinstance(values, UNFROZEN) and not values.numargs else values


def _frozen_example(distribution):
    if isinstance(distribution, (type(stats.loguniform), type(stats.randint))):
        return f"{distribution.name}(low, high)"
    shapes = distribution.shapes.split(", ") if distribution.shapes else []
    loc_scale = ["0", "1"] if isinstance(distribution, stats.rv_continuous) else []
    return f"{distribution.name}({', '.join(shapes + loc_scale)})"


def _from_scipy(name: str, frozen: rv_frozen, where: str) -> Dimension:
    """Make the dimension of a frozen distribution: in closed form if possible."""
    low, high = _checked_support(frozen, where)
    if isinstance(frozen.dist, type(stats.uniform)):
        return Real(name, float(low), float(high), log=False)
    # The logarithm of a shifted log-uniform number is not uniform.
    shift = frozen.kwds.get("loc", frozen.args[2] if len(frozen.args) > 2 else 0)
    if isinstance(frozen.dist, type(stats.loguniform)) and shift == 0:
        return Real(name, float(low), float(high), log=True)
    if isinstance(frozen.dist, type(stats.randint)):
        return Integer(name, int(low), int(high), log=False)
    if isinstance(frozen.dist, stats.rv_continuous):
        return ContinuousRV(name, frozen)
    # The points of rv_discrete(values=...) need not be consecutive, nor integers.
    points = getattr(frozen.dist, "xk", None)
    if points is not None and not np.array_equal(points, np.arange(low, high + 1)):
        return Opaque(name, frozen)
    # For heavy tails, such as zipf's, SciPy sums masses until memory ends; its rvs does not.
    if math.isinf(high - low) and not math.isfinite(frozen.var()):
        return Opaque(name, frozen)
    return DiscreteRV(name, frozen)


def _checked_support(frozen: rv_frozen, where: str) -> tuple[float, float]:
    """Return the ends of a distribution; raise if its arguments are invalid."""
    args = [repr(value) for value in frozen.args]
    args += [f"{key}={value!r}" for key, value in frozen.kwds.items()]
    text = f"{where} is {frozen.dist.name}({', '.join(args)})"
    ends = [*frozen.args, *frozen.kwds.values()]
    if any(isinstance(end, int) and abs(end) > MAX_INTEGER for end in ends):
        raise ValueError(
            f"{text}, whose numbers exceed 2**63, the largest integer of NumPy: pass a smaller "
            "range, or a list of values."
        )
    with np.errstate(all="ignore"):  # invalid values are reported below
        low, high = frozen.support()
        # Infinite arguments are valid if they only open the support, as in truncnorm(-inf, 1).
        quartiles = frozen.ppf([0.25, 0.5, 0.75]) if np.ndim(low) == 0 else math.nan
    if np.ndim(low) or np.ndim(high):
        raise ValueError(f"{text}: its arguments must be numbers, not arrays.")
    is_uniform = isinstance(frozen.dist, type(stats.uniform))
    hint = " Note that uniform takes (loc, scale), not (low, high)." if is_uniform else ""
    one_point = low == high and isinstance(frozen.dist, stats.rv_discrete)
    if not (low < high or one_point) or not np.all(np.isfinite(quartiles)):
        raise ValueError(
            f"{text}, whose support is empty or invalid: its arguments must be finite, with "
            f"low < high (and 0 < low for a log scale).{hint}"
        )
    return low, high


def _choices(name, values, accepts, where):
    """Return the distinct choices of a list or array; raise if one of them is invalid."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(
            f"{where} is an array of shape {values.shape}: it must have one dimension. To choose "
            "between arrays, pass a list of them."
        )
    if not isinstance(values, (list, tuple, range)):
        if getattr(values, "ndim", None) != 1 or not hasattr(values, "tolist"):
            raise TypeError(
                f"{where} is {values!r}: it needs a list of choices or a distribution with an "
                f"rvs method. {_instead_of(name, values)}"
            )
        values = [*values]
    if len(values) == 0:
        raise ValueError(
            f"{where} is empty: pass at least one choice, or leave the parameter out."
        )
    _refuse_prior(values, where)
    _warn_of_pair(values, where)
    choices = [native(value) for value in values]
    for value in choices:
        infinite = isinstance(value, float) and not math.isfinite(value)
        if infinite and (accepts is None or not accepts(name, value)):
            raise ValueError(
                f"{where} has the choice {value!r}, which the estimator does not take: remove it."
            )
    return _distinct(choices, where)


def _instead_of(name, values):
    """Return the correct notation for an invalid list."""
    if isinstance(values, Set):
        return "A set has no order: pass a list, such as sorted(...)."
    if isinstance(values, Mapping):
        inner = next((key for key in values if isinstance(key, str)), "...")
        return f"For a parameter of a step, write its full name, such as {name + '__' + inner!r}."
    if callable(values):
        return "It is a function: call it, and pass its result."
    return f"For a single value, wrap it in a list: [{values!r}]."


def _warn_of_pair(values, where):
    """Warn if two choices look like the bounds of a range, the notation of other libraries."""
    if not (isinstance(values, tuple) and len(values) == 2):
        return
    low, high = map(native, values)
    if any(isinstance(x, bool) or not isinstance(x, numbers.Real) for x in (low, high)):
        return
    if low < high:
        whole = isinstance(low, numbers.Integral) and isinstance(high, numbers.Integral)
        span = f"randint({low}, {high + 1})" if whole else f"uniform({low}, {high - low:g})"
        span += f" or loguniform({low}, {high})" if low > 0 and not whole else ""
        warn(
            f"{where} is {values!r}, read as two choices, not as a range. Write [{low}, {high}] "
            f"for two choices, or scipy.stats.{span} for all numbers between them.",
        )


def _refuse_foreign(values, where):
    """Raise for distributions of other libraries, and for their names."""
    library = type(values).__module__.partition(".")[0]
    if library in FOREIGN:
        raise TypeError(f"{where} is {values!r:.80}, from {library}: {FOREIGN[library]}.")
    if isinstance(values, str) and isinstance(getattr(stats, values, None), UNFROZEN):
        example = _frozen_example(getattr(stats, values))
        raise TypeError(f"{where} is the string {values!r}: pass scipy.stats.{example}.")


def _refuse_prior(values, where):
    """Raise if the choices look like scikit-optimize's (low, high, prior)."""
    if len(values) not in (3, 4) or not isinstance(values[2], str) or values[2] not in _PRIORS:
        return
    low, high, prior = (native(value) for value in values[:3])
    if not all(isinstance(bound, numbers.Real) for bound in (low, high)):
        return
    if prior == "uniform":
        write = f"scipy.stats.uniform({low!r}, {high - low!r}), which takes (loc, scale)"
        integers = f"scipy.stats.randint({low!r}, {high + 1!r})"
    else:
        write = f"scipy.stats.loguniform({low!r}, {high!r})"
        integers = f"sksearch.space.LogRandInt({low!r}, {high + 1!r})"
    if isinstance(low, int) and isinstance(high, int):
        write += f", or for integers {integers}"
    raise ValueError(
        f"{where} is {values!r}, which would be read as {len(values)} choices: write {write}. "
        "sksearch.space.from_skopt translates whole spaces."
    )


def _distinct(choices: list, where: str) -> list:
    """Drop repeated choices, with a warning."""
    kept: list = []
    keys = set()
    for choice in choices:
        key = hashable_key(choice)
        if key is None:
            repeated = any(choice is other or _same(choice, other) for other in kept)
        else:
            repeated = key in keys
            keys.add(key)
        if not repeated:
            kept.append(choice)
    if len(kept) < len(choices):
        warn(
            f"{where} has {len(choices)} choices, of which only {len(kept)} are distinct: "
            "duplicates are dropped.",
        )
    return kept


def _same(a, b):
    return type(a) is type(b) and isinstance(a, Hashable) and a == b
