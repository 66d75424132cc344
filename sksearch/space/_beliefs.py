"""Beliefs about the location of good values, as a density on the unit cube.

==========  ======================================================================
U           points of the cube, shape (m, n_dims); NaN where inactive
p_j(u)      density of the belief about coordinate j, relative to the user's own
            distribution of the parameter, which is 1 everywhere
w           weight of the uniform density, added to the product of all p_j
==========  ======================================================================
"""

import difflib
import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._dimensions import Dimension
from ._distributions import UNFROZEN
from ._parsing import UNION_NAME
from ._space import Space

N_CELLS = 1024  # resolution of a belief about a number
LEAST_MASS = 1e-6  # least mass of a belief inside the range of its parameter
LEAST_DENSITY = 1e-6  # least density, so that its logarithm is finite
WEIGHT_OF_UNIFORM = 0.05  # because any belief may be wrong


class Beliefs:
    """A user's belief about good values, as a density on the unit cube.

    Beliefs about different parameters are independent. The density is mixed with a uniform density
    of weight 0.05, so it is never 0. Beliefs about inactive parameters are ignored.

    Parameters
    ----------
    space : Space
        Search space.
    given : mapping of str to object
        Beliefs by parameter name. The belief about a number is a distribution with a method
        ``cdf``, such as a frozen SciPy distribution, and is truncated to the range of the
        parameter. The belief about a list is a dict of weights by choice.

    Raises
    ------
    TypeError
        If `given` is not a dict, or a belief has the wrong type for its parameter. ValueError If a
        name or choice is unknown, a weight is negative, or a belief has no mass inside the range
        of its parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import lognorm, loguniform
    >>> from sksearch.space import Beliefs, Space
    >>> space = Space({"C": loguniform(1e-3, 1e3), "kernel": ["linear", "rbf"]})
    >>> given = {"C": lognorm(1.0, scale=10.0), "kernel": {"rbf": 3, "linear": 1}}
    >>> beliefs = Beliefs(space, given)
    >>> near, far = {"C": 10.0, "kernel": "rbf"}, {"C": 0.01, "kernel": "rbf"}
    >>> np.exp(beliefs.log_density(np.array([space.to_unit(p) for p in (near, far)]))).round(2)
    array([7.9 , 0.05])
    """

    def __init__(self, space: Space, given: Mapping[str, Any]):
        if not isinstance(given, Mapping):
            raise TypeError(
                f"prior={given!r} must be a dict: for each parameter a distribution of its "
                'values, such as {"C": scipy.stats.lognorm(1, scale=10)}.'
            )
        for name in given:
            if name not in space.names:
                close = difflib.get_close_matches(str(name), space.names, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise ValueError(
                    f"prior[{name!r}] is not a parameter of the space, which has "
                    f"{', '.join(space.names)}.{hint}"
                )
        self.space = space
        self._columns: list[int] = []
        self._masses: list[np.ndarray] = []  # by coordinate
        self._is_number: list[bool] = []
        for j, dimension in enumerate(space.dimensions):
            if dimension.name in given and dimension.name != UNION_NAME:
                self._columns.append(j)
                self._masses.append(_masses(dimension, given[dimension.name]))
                self._is_number.append(dimension.kind != "categorical")

    def sample(self, rng: np.random.Generator) -> dict[str, Any]:
        """Draw a candidate from the beliefs, without the uniform part.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the draw.

        Returns
        -------
        dict
            Active parameters of the candidate.
        """
        u = rng.random(self.space.n_dims)
        for j, masses in zip(self._columns, self._masses, strict=True):
            cell = np.searchsorted(np.cumsum(masses), rng.random(), side="right")
            u[j] = (min(cell, len(masses) - 1) + u[j]) / len(masses)
        return self.space.from_unit(u)

    def log_density(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the density, including the uniform part.

        Parameters
        ----------
        U : ndarray of shape (m, n_dims)
            Points of the unit cube; NaN for inactive coordinates.

        Returns
        -------
        value : ndarray of shape (m,)
            Logarithm of the density relative to the distributions of the space.
        """
        return self.with_gradient(U)[0]

    def with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the logarithm of the density, and its derivatives.

        Parameters
        ----------
        U : ndarray of shape (m, n_dims)
            Points of the cube.

        Returns
        -------
        value : ndarray of shape (m,)
            Same as `log_density`.
        gradient : ndarray of shape (m, n_dims)
            Derivatives; 0 for choices and inactive coordinates.
        """
        total, gradient = np.zeros(len(U)), np.zeros(U.shape)
        columns = zip(self._columns, self._masses, self._is_number, strict=True)
        for j, masses, is_number in columns:
            table = np.log(np.maximum(masses * len(masses), LEAST_DENSITY))
            value, slope = (_between if is_number else _inside)(table, U[:, j])
            total += value
            gradient[:, j] = slope
        believed = total + math.log1p(-WEIGHT_OF_UNIFORM)
        value = np.logaddexp(believed, math.log(WEIGHT_OF_UNIFORM))
        return value, gradient * np.exp(believed - value)[:, np.newaxis]


def _between(table: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values at coordinates, linear between cell centres, and their slopes."""
    n, active = len(table), ~np.isnan(u)
    place = np.where(active, u, 0.5) * n - 0.5
    i = np.clip(np.floor(place), 0, n - 2).astype(int)
    rise, share = table[i + 1] - table[i], np.clip(place - i, 0, 1)
    inner = active & (share > 0) & (share < 1)  # constant beyond the outer centres
    return np.where(active, table[i] + share * rise, 0.0), np.where(inner, rise * n, 0.0)


def _inside(table: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values at coordinates, constant in each cell, and slopes of 0."""
    n, active = len(table), ~np.isnan(u)
    i = np.clip(np.where(active, u, 0) * n, 0, n - 1).astype(int)
    return np.where(active, table[i], 0.0), np.zeros(len(u))


def _masses(dimension: Dimension, belief: Any) -> np.ndarray:
    """Return the probabilities of equal cells of a coordinate under a belief."""
    if dimension.kind == "categorical":
        return _masses_of_choices(dimension, belief)
    name = dimension.name
    if dimension.kind == "opaque":
        raise TypeError(
            f"prior[{name!r}]: the distribution of this parameter only has rvs. Leave it out of "
            "prior, or use a frozen scipy.stats distribution in the space."
        )
    if isinstance(belief, UNFROZEN) or not callable(getattr(belief, "cdf", None)):
        raise TypeError(
            f"prior[{name!r}] is {belief!r}: for a number it must be a distribution with a cdf, "
            "such as scipy.stats.norm(10, 2) or scipy.stats.lognorm(1, scale=10)."
        )
    edges = np.linspace(0, 1, N_CELLS + 1)
    values = np.array([dimension.from_unit(u) for u in edges], dtype=float)
    if dimension.kind == "real":
        up_to = np.asarray(belief.cdf(values), dtype=float)
    else:  # the mass of an integer is spread evenly over its cell
        lower, upper = dimension.cell(edges)
        below, above = (np.asarray(belief.cdf(values + side)) for side in (-0.5, 0.5))
        share = np.divide(edges - lower, upper - lower, where=upper > lower, out=edges * 0)
        up_to = below + share * (above - below)
    masses = np.maximum(np.diff(up_to), 0.0)
    if not masses.sum() >= LEAST_MASS:  # also raises for NaN
        raise ValueError(
            f"prior[{name!r}] has only a share of {masses.sum():.1g} of its mass where the "
            f"parameter may lie, {dimension.allowed()}. Move the prior there, or widen the range."
        )
    return masses / masses.sum()


def _masses_of_choices(dimension: Any, belief: Any) -> np.ndarray:
    """Return the probabilities of choices: 0 for choices without a weight."""
    name = dimension.name
    if not isinstance(belief, Mapping):
        raise TypeError(
            f"prior[{name!r}] is {belief!r}: for a list of choices it must be a dict of weights, "
            f"such as {{{dimension.value(0)!r}: 1.0}}."
        )
    weights = np.zeros(int(dimension.size))
    for choice, weight in belief.items():
        i = dimension.index(choice)
        if i is None:
            raise ValueError(
                f"prior[{name!r}] has a weight for {choice!r}, not one of the choices: the "
                f"parameter must be {dimension.allowed()}."
            )
        is_number = isinstance(weight, numbers.Real) and not isinstance(weight, bool)
        if not is_number or not 0 <= weight < math.inf:
            raise ValueError(
                f"prior[{name!r}][{choice!r}]={weight!r} must be a weight: a number of at least 0."
            )
        weights[i] += weight
    if not weights.sum() > 0:
        raise ValueError(f"prior[{name!r}]={dict(belief)} must have a weight above 0.")
    return weights / weights.sum()
