"""Space: what a user may search, as a unit cube."""

import bisect
import itertools
import math
import operator
from collections.abc import Iterable, Mapping

import numpy as np

from ._conditions import Part, unwrap
from ._dimensions import Categorical, stable_repr, tag
from ._distributions import make_dimension
from ._listed import Listed

# Name of the coordinate that picks one dict of several. No keyword of Python is spelled so.
UNION_NAME = "(dict)"

# Up to this size unseen candidates are listed, so that the draw among them is exactly uniform.
LISTED_SIZE = 100_000
N_TRIES = 100
MANY = 16  # integers are as good as continuous from here on


class Space:
    """The candidates that a search may try, and their place in the unit cube.

    Each parameter is one coordinate, on which its distribution is uniform: a real value x is at
    F(x), an integer in the middle of its probability, choice i of n at (i + 0.5) / n. In a union
    of several dicts the first coordinate, named "(dict)", picks the dict, and parameters of the
    same name and distribution share a coordinate. If each dict has but one candidate, the union
    is a list of candidates: each parameter has one coordinate, on which the values that occur
    are choices, and a point of the cube stands for the candidate nearest to it.

    Parameters
    ----------
    param_distributions : dict or list of dicts
        Names of parameters and, for each, a list, tuple, range, 1-d array or Series of choices, an
        object with ``rvs`` such as a frozen SciPy distribution, or a `When` around one of those. A
        list is a union: a candidate comes from one of its dicts.
    accepts : callable, default=None
        ``accepts(name, value) -> bool``: whether the estimator takes a choice that is NaN or
        infinite. None refuses all of them.

    Attributes
    ----------
    names : list of str
        Names of all parameters, sorted.
    dimensions : list of Dimension
        One for each coordinate; two of the same name if the dicts of a union differ in it.
    n_dims : int
        Count of coordinates.
    size : int or inf
        Count of candidates; those that lie in several dicts of a union count several times.

    Raises
    ------
    TypeError
        If `param_distributions`, a name or a distribution has the wrong type.
    ValueError
        If a distribution, a list of choices or a condition is invalid.

    See Also
    --------
    When : A parameter that is active only at times.
    LogRandInt : Log-uniform integers.

    Examples
    --------
    >>> from scipy.stats import randint, uniform
    >>> from sksearch.space import Space
    >>> space = Space({"alpha": uniform(0, 10), "depth": randint(1, 5), "loss": ["l1", "l2"]})
    >>> space.from_unit([0.25, 0.5, 0.9])
    {'alpha': 2.5, 'depth': 3, 'loss': 'l2'}
    >>> space.to_unit({"alpha": 5.0, "depth": 1, "loss": "l1"}).tolist()
    [0.5, 0.125, 0.25]
    """

    def __init__(self, param_distributions, *, accepts=None):
        parsed = [_parse(grid, accepts) for grid in _as_dicts(param_distributions)]
        self.names = sorted(set().union(*(dimensions for dimensions, _ in parsed)))
        self._listed = _listed(parsed)
        self.dimensions = self._listed.dimensions if self._listed else []
        coordinates = self._listed.coordinates if self._listed else self._coordinates(parsed)
        self.n_dims = len(self.dimensions)
        self._parts = []
        for (own, conditions), places in zip(parsed, coordinates, strict=True):
            shared = own if self._listed else {n: self.dimensions[j] for n, j in places.items()}
            self._parts.append(Part(shared, conditions, places))
        self.size = sum(part.size for part in self._parts)
        self._ends = self._cumulative_weights()
        self._objects = self._choices_without_tag()
        points = (part.point(0) for part in self._parts) if self._listed else ()
        self._numbers = {self.key(params): i for i, params in enumerate(points)}

    def __repr__(self):
        size = "infinitely many" if self.size == math.inf else self.size
        return f"Space({len(self.names)} parameters, {size} candidates)"

    def sample(self, rng):
        """Draw one candidate.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the draw.

        Returns
        -------
        dict
            Its active parameters.

        Notes
        -----
        The dicts of a union are equally likely; if all of them are finite, then proportionally to
        their sizes.
        """
        u = rng.random(self.n_dims).tolist()
        which = bisect.bisect_right(self._ends, u[0]) if len(self._parts) > 1 else 0
        return self._parts[which].decode(u, rng)

    def from_unit(self, u):
        """Return the candidate at a point of the unit cube.

        Parameters
        ----------
        u : array-like of shape (n_dims,)
            Coordinates in [0, 1]. Those of inactive parameters are ignored, and may be NaN.

        Returns
        -------
        dict
            Its active parameters.

        Raises
        ------
        ValueError
            If `u` has another shape.
        """
        u = np.asarray(u, dtype=float)
        if u.shape != (self.n_dims,):
            raise ValueError(f"u has the shape {u.shape}: this space needs ({self.n_dims},).")
        if self._listed:
            return self.point(self._listed.nearest(u))
        u = u.tolist()
        which = self.dimensions[0].from_unit(u[0]) if len(self._parts) > 1 else 0
        return self._parts[which].decode(u)

    def to_unit(self, params):
        """Return the place of a candidate in the unit cube.

        Parameters
        ----------
        params : dict
            A candidate.

        Returns
        -------
        ndarray of shape (n_dims,)
            Its coordinates in [0, 1]; NaN where a parameter is inactive.

        Raises
        ------
        ValueError
            If `params` is not a candidate, as far as its place depends on it.
        """
        if self._listed:
            self.check(params, "the candidate")
            return self._listed.U[self._numbers[self.key(params)]].copy()
        part = self._parts[0]
        u = np.full(self.n_dims, np.nan)
        if len(self._parts) > 1:
            self.check(params, "the candidate")
            which = next(i for i, p in enumerate(self._parts) if p.problem(params) is None)
            part = self._parts[which]
            u[0] = self.dimensions[0].to_unit(which)
        for name, value in params.items():
            if name not in part.coordinates:
                raise ValueError(f"{name!r} is unknown: the parameters are {part.names}.")
            j = part.coordinates[name]
            u[j] = min(max(self.dimensions[j].to_unit(value), 0.0), 1.0)
        return u

    def canonical(self, U):
        """Return the places of the candidates at points of the unit cube.

        Parameters
        ----------
        U : array-like of shape (n, n_dims)
            Coordinates in [0, 1].

        Returns
        -------
        ndarray of shape (n, n_dims)
            For each row what ``to_unit(from_unit(u))`` is, NaN where a parameter is inactive,
            but for rounding errors.
        """
        if self._listed:
            nearest = [self._listed.nearest(u) for u in np.asarray(U, dtype=float)]
            return self._listed.U[np.array(nearest, dtype=int)]
        lower, upper = self.cells(U)
        V = (lower + upper) / 2
        if len(self._parts) == 1 and not self._parts[0].conditions:
            return V
        active = np.zeros(V.shape, bool)
        which = 0
        if len(self._parts) > 1:
            active[:, 0] = True
            which = np.floor(V[:, 0] * len(self._parts))
        for i, part in enumerate(self._parts):
            rows = np.flatnonzero(np.broadcast_to(which == i, len(V)))
            active[rows] |= part.active(V[rows])
        V[~active] = np.nan
        return V

    def cells(self, U):
        """Return for each coordinate the interval that stands for the same value.

        Parameters
        ----------
        U : array-like of shape (n, n_dims)
            Coordinates in [0, 1]; NaN stays NaN.

        Returns
        -------
        lower, upper : ndarray of shape (n, n_dims)
            Equal where values are real.
        """
        lower = np.clip(np.asarray(U, dtype=float), 0.0, 1.0)
        upper = lower.copy()
        for j, dimension in enumerate(self.dimensions):
            if dimension.kind != "real":
                lower[:, j], upper[:, j] = dimension.cell(upper[:, j])
        return lower, upper

    @property
    def categorical(self):
        """Which coordinates are unordered choices, ndarray of shape (n_dims,), bool."""
        kinds = [
            d.kind == "categorical" and not (d.ordered and d.name != UNION_NAME)
            for d in self.dimensions
        ]
        return np.array(kinds, dtype=bool)

    @property
    def continuous(self):
        """Which coordinates may be moved a little, ndarray of shape (n_dims,), bool."""
        kinds = [
            d.kind == "real" or (d.kind == "integer" and d.size >= MANY) for d in self.dimensions
        ]
        return np.array(kinds, dtype=bool)

    def point(self, i):
        """Return the i-th candidate of a finite space.

        Parameters
        ----------
        i : int
            Number of the candidate, 0 <= i < size.

        Returns
        -------
        dict
            Its active parameters.

        Raises
        ------
        ValueError
            If the space is infinite.
        IndexError
            If there is no such candidate.

        Notes
        -----
        Without conditions the order is that of scikit-learn's ParameterGrid: names sorted, the
        last one fastest, the dicts of a union one after another.
        """
        if self.size == math.inf:
            raise ValueError("the candidates of an infinite space have no numbers: use sample.")
        k = operator.index(i)
        if not 0 <= k < self.size:
            raise IndexError(f"candidate {k} does not exist: the space has {self.size}.")
        if self._listed:
            return self._parts[k].point(0)
        for part in self._parts:
            if k < part.size:
                break
            k -= part.size
        return part.point(k)

    def key(self, params):
        """Return what is equal for equal candidates, and for those only.

        Parameters
        ----------
        params : dict
            A candidate.

        Returns
        -------
        tuple
            A hashable that tells True, 1 and 1.0 apart and survives pickling.
        """
        return tuple((name, self._value_key(name, params[name])) for name in sorted(params))

    def unseen(self, keys, rng):
        """Draw a candidate that was not seen before.

        Parameters
        ----------
        keys : set of tuple
            Keys of the candidates that were seen.
        rng : numpy.random.Generator
            Source of the draw.

        Returns
        -------
        dict or None
            The candidate: in a finite space uniform among those unseen, up to a size of 100000.
            None if all were seen, or in an infinite space if 100 draws were.
        """
        finite = self.size != math.inf
        for _ in range(N_TRIES):
            params = self.point(_randbelow(rng, self.size)) if finite else self.sample(rng)
            if self.key(params) not in keys:
                return params
        if not finite:
            return None
        unseen = (i for i in range(self.size) if self.key(self.point(i)) not in keys)
        if self.size > LISTED_SIZE:
            i = next(unseen, None)
            return None if i is None else self.point(i)
        unseen = list(unseen)
        return self.point(unseen[_randbelow(rng, len(unseen))]) if unseen else None

    def check(self, params, where="initial_params[0]"):
        """Raise where a user's guess is not a candidate.

        Parameters
        ----------
        params : dict
            The guess.
        where : str, default="initial_params[0]"
            What the error calls it.

        Raises
        ------
        TypeError
            If `params` is not a dict.
        ValueError
            If a name is unknown, missing or inactive, or a value cannot be drawn.
        """
        if not isinstance(params, Mapping):
            raise TypeError(f"{where} is {params!r}: it must be a dict of parameters.")
        if self._listed:
            if self.key(params) in self._numbers:
                return
            raise ValueError(f"{where} is {params!r}, which is none of the {self.size} listed.")
        problems = [part.problem(params) for part in self._parts]
        if None in problems:
            return
        if len(problems) == 1:
            raise ValueError(f"{where} {problems[0]}.")
        listed = "; ".join(f"for dict {i} it {problem}" for i, problem in enumerate(problems))
        raise ValueError(f"{where} fits none of the {len(problems)} dicts: {listed}.")

    def guesses(self, initial_params):
        """Check a user's first guesses.

        Parameters
        ----------
        initial_params : dict, list of dict or None
            The guesses.

        Returns
        -------
        tuple of dict
            Each once.

        Raises
        ------
        TypeError, ValueError
            As `check`.
        """
        if isinstance(initial_params, Mapping):
            initial_params = [initial_params]
        if not isinstance(initial_params or (), Iterable):
            raise TypeError(
                f"initial_params={initial_params!r} must be a dict or a list of dicts."
            )
        unique = {}
        for i, guess in enumerate(initial_params or ()):
            self.check(guess, where=f"initial_params[{i}]")
            unique.setdefault(self.key(guess), guess)
        return tuple(unique.values())

    def _coordinates(self, parsed):
        """Return for each dict the coordinates of its parameters."""
        if len(parsed) > 1:
            self.dimensions.append(Categorical(UNION_NAME, range(len(parsed))))
        coordinates = [{} for _ in parsed]
        for name in self.names:
            for (dimensions, _), places in zip(parsed, coordinates, strict=True):
                if name in dimensions:
                    places[name] = self._place(dimensions[name])
        return coordinates

    def _place(self, dimension):
        """Return the coordinate of a dimension, shared with one of the same name and law."""
        for j, other in enumerate(self.dimensions):
            same = other.name == dimension.name and type(other) is type(dimension)
            if same and other.law == dimension.law:
                return j
        self.dimensions.append(dimension)
        return len(self.dimensions) - 1

    def _cumulative_weights(self):
        """Return where in [0, 1] the dicts end from which `sample` draws."""
        n = len(self._parts)
        if self.size == math.inf:
            return [(i + 1) / n for i in range(n - 1)]
        ends = itertools.accumulate(part.size for part in self._parts[:-1])
        return [end / self.size for end in ends]

    def _choices_without_tag(self):
        """Number the choices that only their place tells apart, by name over all dicts."""
        objects = {}
        for dimension in self.dimensions:
            if dimension.kind == "categorical":
                known = objects.setdefault(dimension.name, [])
                for choice in dimension.choices:
                    if tag(choice) is None and not any(choice is other for other in known):
                        known.append(choice)
        return {name: Categorical(name, known) for name, known in objects.items()}

    def _value_key(self, name, value):
        key = tag(value)
        if key is None and name in self._objects:
            index = self._objects[name].index(value)
            key = None if index is None else ("choice", index)
        return ("repr", stable_repr(value)) if key is None else key


def _as_dicts(param_distributions):
    if isinstance(param_distributions, Mapping):
        return [param_distributions]
    if not isinstance(param_distributions, (list, tuple)):
        raise TypeError(
            f"param_distributions is {param_distributions!r}: it must be a dict of parameters, or "
            "a list of such dicts."
        )
    if len(param_distributions) == 0:
        raise ValueError(
            "empty search space: param_distributions is an empty list; it needs a dict."
        )
    for grid in param_distributions:
        if not isinstance(grid, Mapping):
            raise TypeError(
                f"param_distributions contains {grid!r}: every item of the list must be a dict."
            )
    return list(param_distributions)


def _parse(grid, accepts):
    """Turn a user's dict into dimensions and conditions by name."""
    dimensions, conditions = {}, {}
    for name, values in grid.items():
        if not isinstance(name, str):
            raise TypeError(
                f"param_distributions has the key {name!r}: names of parameters must be strings."
            )
        values, whens = unwrap(values)
        dimensions[name] = make_dimension(name, values, accepts)
        if whens:
            conditions[name] = whens
    return dimensions, conditions


def _listed(parsed):
    """Return the candidates of a union whose dicts have one each, else None."""
    dimensions = [dimension for each, _ in parsed for dimension in each.values()]
    choices = all(d.kind == "categorical" and d.size == 1 for d in dimensions)
    if len(parsed) == 1 or not dimensions or not choices or any(when for _, when in parsed):
        return None
    return Listed([{name: d.choices[0] for name, d in each.items()} for each, _ in parsed])


def _randbelow(rng, n):
    """Draw from 0 .. n - 1 for any n, also beyond the 64 bits that NumPy draws."""
    # Eight bytes more than n has: the remainder is uniform to within 2**-64.
    return int.from_bytes(rng.bytes(n.bit_length() // 8 + 9), "little") % n
