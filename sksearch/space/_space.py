"""Space: the candidates of a search, as points of a unit cube."""

import bisect
import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._conditions import Subspace
from ._dimensions import Dimension, unhashable_choices
from ._outcome import Outcome
from ._parsing import UNION_NAME, list_candidates, parse, share_coordinates
from ._values import equal, hashable_key, place as place_of, randbelow, same, stable_repr

# Up to this size unseen candidates are enumerated, so that draws are exactly uniform.
MAX_ENUMERATED = 100_000
N_TRIES = 100  # draws until a candidate is new
N_TRIES_ALLOWED = 10_000  # draws if constraints may exclude most of them
MIN_CONTINUOUS = 16  # number of integers from which they are treated as continuous


class Space:
    """Set of candidates of a search, with coordinates in the unit cube.

    Each parameter has one coordinate, on which its distribution is uniform: the coordinate of a
    number x is F(x), with F the distribution function; an integer is at the middle of its
    interval, and choice i of n at (i + 0.5) / n. A parameter with a single value has no
    coordinate. In a union of several dicts the first coordinate, named "(dict)", selects the dict,
    and parameters with the same name and distribution share a coordinate. If each dict contains
    only one candidate, the union is a list of candidates: the choices of each parameter are the
    values that occur, and a point of the cube is mapped to the nearest candidate.

    Parameters
    ----------
    param_distributions : dict or list of dicts
        Names of parameters and, for each, a list, tuple, range, 1-d array or Series of choices, an
        object with ``rvs`` such as a frozen SciPy distribution, or a `When` around one of them. A
        list of dicts is a union: each candidate is drawn from one of the dicts.
    accepts : callable, default=None
        ``accepts(name, value) -> bool``: whether the estimator accepts a NaN or infinite choice.
        None: such choices raise an error.

    Attributes
    ----------
    names : list of str
        Names of all parameters, sorted.
    dimensions : list of Dimension
        Dimension of each coordinate. A name occurs twice if the dicts of a union have different
        distributions for it.
    constants : list of Dimension
        Parameters with a single value, without a coordinate.
    n_dims : int
        Number of coordinates.
    given : dict or list of dicts
        The parameter `param_distributions`.
    size : int or inf
        Number of candidates; a candidate in several dicts of a union counts several times.

    Raises
    ------
    TypeError
        If `param_distributions`, a name or a distribution has the wrong type.
    ValueError
        If a distribution, a list of choices or a condition is invalid.

    See Also
    --------
    sksearch.When : A conditional parameter.
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

    def __init__(
        self,
        param_distributions: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        accepts: Callable[[str, Any], bool] | None = None,
    ):
        self.given = param_distributions
        parsed, self._outcomes = parse(param_distributions, accepts)
        self.names = sorted(set().union(*(dimensions for dimensions, _ in parsed)))
        self._candidate_list = listed = list_candidates(parsed)
        shared = listed or share_coordinates(parsed, self.names)
        self.dimensions, self.constants = shared.dimensions, shared.constants
        self.n_dims = len(self.dimensions)
        self._subspaces = []
        for (own, conditions), by_name in zip(parsed, shared.coordinates, strict=True):
            self._subspaces.append(Subspace(own, conditions, by_name))
        self.size = sum(subspace.size for subspace in self._subspaces)
        self._cumulative_weights = self._accumulate_weights()
        self._unhashable = unhashable_choices(self.all_dimensions)

    def __repr__(self) -> str:
        size = "infinitely many" if self.size == math.inf else self.size
        return f"Space({len(self.names)} parameters, {size} candidates)"

    def sample(self, rng: np.random.Generator) -> dict[str, Any]:
        """Draw one candidate.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the draw.

        Returns
        -------
        dict
            Active parameters of the candidate.

        Notes
        -----
        If all dicts of a union are finite, the probability of each dict is proportional to its
        number of candidates; otherwise all dicts are equally likely.
        """
        u = rng.random(self.n_dims).tolist()
        which = 0
        if len(self._subspaces) > 1:
            which = bisect.bisect_right(self._cumulative_weights, u[0])
        return self._subspaces[which].decode(u, rng)

    def from_unit(self, u: ArrayLike) -> dict[str, Any]:
        """Return the candidate at a point of the unit cube.

        Parameters
        ----------
        u : array-like of shape (n_dims,)
            Coordinates in [0, 1]. Coordinates of inactive parameters are ignored, and may be NaN.

        Returns
        -------
        dict
            Active parameters of the candidate.

        Raises
        ------
        ValueError
            If `u` has the wrong shape.
        """
        u = np.asarray(u, dtype=float)
        if u.shape != (self.n_dims,):
            raise ValueError(f"u has the shape {u.shape}: this space needs ({self.n_dims},).")
        if self._candidate_list:
            return self.candidate(self._candidate_list.nearest(u))
        point = u.tolist()
        which = self.dimensions[0].from_unit(point[0]) if len(self._subspaces) > 1 else 0
        return self._subspaces[which].decode(point)

    def to_unit(self, params: dict[str, Any]) -> np.ndarray:
        """Return the coordinates of a candidate in the unit cube.

        Parameters
        ----------
        params : dict
            A candidate.

        Returns
        -------
        ndarray of shape (n_dims,)
            Coordinates in [0, 1]; NaN for inactive parameters.

        Raises
        ------
        ValueError
            If a value in `params` has no coordinate.
        """
        if self._candidate_list:
            self.check(params, "the candidate")
            return self._candidate_list.U[self._number(params)].copy()
        which = 0
        if len(self._subspaces) > 1:
            self.check(params, "the candidate")
            which = next(i for i, s in enumerate(self._subspaces) if s.violation(params) is None)
        return self._place(which, params, lambda dimension, value: dimension.to_unit(value))

    def place(self, params: dict[str, Any]) -> np.ndarray:
        """Return the coordinates of parameters that may lie outside the space.

        Parameters
        ----------
        params : dict
            A candidate, or a return value of `baseline`.

        Returns
        -------
        ndarray of shape (n_dims,)
            Same as `to_unit` for candidates. Numbers outside a range are moved to its nearest
            bound. None, which usually means no limit, is placed at the upper bound, and any other
            unknown value is placed in the middle.
        """
        if self.contains(params):
            return self.to_unit(params)
        which = self._owner(params) or 0
        subspace = self._subspaces[which]
        u = self._place(which, params, place_of)
        for name, j in subspace.coordinates.items():
            if name not in params and name not in subspace.conditions:
                u[j] = 0.5  # a library may hide the type of its value
        return u

    def _place(self, which: int, params: dict[str, Any], at: Callable) -> np.ndarray:
        """Return coordinates of parameters in one of the dicts."""
        subspace = self._subspaces[which]
        u = np.full(self.n_dims, np.nan)
        if len(self._subspaces) > 1:
            u[0] = self.dimensions[0].to_unit(which)
        for name, value in params.items():
            if name not in subspace.dimensions:
                raise ValueError(f"{name!r} is unknown: the parameters are {subspace.names}.")
            place = at(subspace.dimensions[name], value)
            if name in subspace.coordinates:
                u[subspace.coordinates[name]] = min(max(place, 0.0), 1.0)
        return u

    def canonical(self, U: ArrayLike) -> np.ndarray:
        """Move points of the unit cube to the coordinates of their candidates.

        Parameters
        ----------
        U : array-like of shape (n, n_dims)
            Coordinates in [0, 1].

        Returns
        -------
        ndarray of shape (n, n_dims)
            For each row ``to_unit(from_unit(u))``, up to rounding errors; NaN for inactive
            parameters.
        """
        if self._candidate_list:
            nearest = [self._candidate_list.nearest(u) for u in np.asarray(U, dtype=float)]
            return self._candidate_list.U[np.array(nearest, dtype=int)]
        lower, upper = self.cells(U)
        V = (lower + upper) / 2
        if len(self._subspaces) == 1 and not self._subspaces[0].conditions:
            return V
        active = np.zeros(V.shape, bool)
        which = 0
        if len(self._subspaces) > 1:
            active[:, 0] = True
            which = np.floor(V[:, 0] * len(self._subspaces))
        for i, subspace in enumerate(self._subspaces):
            rows = np.flatnonzero(np.broadcast_to(which == i, len(V)))
            active[rows] |= subspace.active(V[rows])
        V[~active] = np.nan
        return V

    def cells(self, U: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return, for each coordinate, the interval of coordinates with the same value.

        Parameters
        ----------
        U : array-like of shape (n, n_dims)
            Coordinates in [0, 1]; NaN stays NaN.

        Returns
        -------
        lower, upper : ndarray of shape (n, n_dims)
            Ends of the intervals; equal for real values.
        """
        lower = np.minimum(np.maximum(np.asarray(U, dtype=float), 0.0), 1.0)
        upper = lower.copy()
        for j, dimension in enumerate(self.dimensions):
            if dimension.kind != "real":
                lower[:, j], upper[:, j] = dimension.cell(upper[:, j])
        return lower, upper

    @property
    def all_dimensions(self) -> list[Dimension]:
        """Dimensions with a coordinate, then those with a single value, list of Dimension."""
        return [*self.dimensions, *self.constants]

    @property
    def categorical(self) -> np.ndarray:
        """Mask of coordinates with unordered choices, ndarray of shape (n_dims,), bool."""
        kinds = [
            d.kind == "categorical" and not (d.ordered and d.name != UNION_NAME)
            for d in self.dimensions
        ]
        return np.array(kinds, dtype=bool)

    @property
    def continuous(self) -> np.ndarray:
        """Mask of coordinates that allow small moves, ndarray of shape (n_dims,), bool."""
        kinds = [
            d.kind == "real" or (d.kind == "integer" and d.size >= MIN_CONTINUOUS)
            for d in self.dimensions
        ]
        return np.array(kinds, dtype=bool)

    def candidate(self, i: int) -> dict[str, Any]:
        """Return a candidate of a finite space by its index.

        Parameters
        ----------
        i : int
            Index of the candidate, 0 <= i < size.

        Returns
        -------
        dict
            Active parameters of the candidate.

        Raises
        ------
        ValueError
            If the space is infinite.
        IndexError
            If the candidate does not exist.

        Notes
        -----
        Without conditions the order is the same as in scikit-learn's ParameterGrid: names are
        sorted, the last one varies fastest, and the dicts of a union follow one after another.
        """
        if self.size == math.inf:
            raise ValueError("the candidates of an infinite space are not numbered: use sample.")
        k: Any = operator.index(i)
        if not 0 <= k < self.size:
            raise IndexError(f"candidate {k} does not exist: the space has {self.size}.")
        if self._candidate_list:
            return self._subspaces[k].candidate(0)
        for subspace in self._subspaces:
            if k < subspace.size:
                break
            k -= subspace.size
        return subspace.candidate(k)

    def key(self, params: dict[str, Any]) -> tuple:
        """Return a hashable key, equal for equal candidates only.

        Parameters
        ----------
        params : dict
            A candidate.

        Returns
        -------
        tuple
            Key, which distinguishes True, 1 and 1.0 and can be pickled.
        """
        names = sorted(params)
        pairs = [self._value_key(name, params[name]) for name in names]
        return same((*names, *[kind for kind, _ in pairs])), *[value for _, value in pairs]

    def sample_unseen(
        self,
        keys: set[tuple],
        rng: np.random.Generator,
        allows: Callable[[dict[str, Any]], bool] | None = None,
    ) -> dict[str, Any] | None:
        """Draw a candidate outside a set of known candidates.

        Parameters
        ----------
        keys : set of tuple
            Keys of the known candidates.
        rng : numpy.random.Generator
            Source of the draw.
        allows : callable or None, default=None
            ``allows(params) -> bool``, whether a candidate may be drawn. None: all are allowed.

        Returns
        -------
        dict or None
            Candidate, uniform among the unknown candidates if the space has at most 100,000. None
            if all candidates are known, or all of 100 draws from an infinite space. With `allows`,
            at most 10,000 candidates are drawn, and larger spaces are not enumerated.
        """
        finite = self.size != math.inf
        few = self.size <= MAX_ENUMERATED

        def is_new(params: dict[str, Any]) -> bool:
            return self.key(params) not in keys and (allows is None or allows(params))

        for _ in range(N_TRIES if few or allows is None else N_TRIES_ALLOWED):
            params = self.candidate(randbelow(rng, int(self.size))) if finite else self.sample(rng)
            if is_new(params):
                return params
        if not few and (not finite or allows is not None):
            return None
        unseen = (i for i in range(int(self.size)) if is_new(self.candidate(i)))
        if not few:
            i = next(unseen, None)
            return None if i is None else self.candidate(i)
        left = list(unseen)
        return self.candidate(left[randbelow(rng, len(left))]) if left else None

    def check(self, params: dict[str, Any], where: str = "initial_params[0]") -> None:
        """Raise an error if a user's candidate is not in the space.

        Parameters
        ----------
        params : dict
            Candidate to check.
        where : str, default="initial_params[0]"
            Name of the candidate in the error message.

        Raises
        ------
        TypeError
            If `params` is not a dict.
        ValueError
            If a name is unknown, missing or inactive, or a value cannot be drawn.
        """
        if not isinstance(params, Mapping):
            raise TypeError(f"{where} is {params!r}: it must be a dict of parameters.")
        if self._candidate_list:
            if self._number(params) is not None:
                return
            raise ValueError(
                f"{where} is {params!r}, not one of the {self.size} listed candidates."
            )
        violations = [subspace.violation(params) for subspace in self._subspaces]
        if None in violations:
            return
        if len(violations) == 1:
            raise ValueError(f"{where} {violations[0]}.")
        reasons = "; ".join(f"for dict {i} it {reason}" for i, reason in enumerate(violations))
        raise ValueError(f"{where} fits none of the {len(violations)} dicts: {reasons}.")

    def contains(self, params: dict[str, Any]) -> bool:
        """Return whether `params` is a candidate."""
        try:
            self.check(params)
        except (TypeError, ValueError):
            return False
        return True

    def check_guesses(
        self,
        initial_params: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None,
        name: str = "initial_params",
        also: Collection[dict[str, Any]] = (),
    ) -> tuple[dict[str, Any], ...]:
        """Check a user's first candidates.

        They may be those of an earlier search: values that training finds are left out.

        Parameters
        ----------
        initial_params : dict, list of dict or None
            Candidates to check.
        name : str, default="initial_params"
            Name of the parameter in errors.
        also : collection of dict, default=()
            Candidates that are accepted outside of the space.

        Returns
        -------
        tuple of dict
            Distinct candidates, in their order.

        Raises
        ------
        TypeError, ValueError
            If one of them is not a candidate, as in `check`.
        """
        guesses: Any = [initial_params] if isinstance(initial_params, Mapping) else initial_params
        if not isinstance(guesses or (), Iterable):
            raise TypeError(f"{name}={initial_params!r} must be a dict or a list of dicts.")
        unique: dict[Any, Any] = {}
        found = {*self.outcomes}.difference(self.names)
        for i, guess in enumerate(guesses or ()):
            if isinstance(guess, Mapping):
                guess = {name: value for name, value in guess.items() if name not in found}
            if not any(equal(guess, each) for each in also):
                self.check(guess, where=f"{name}[{i}]")
            unique.setdefault(self.key(guess), guess)
        return tuple(unique.values())

    def changeable(self, params: dict[str, Any]) -> dict[str, Dimension]:
        """Return the parameters of a candidate on which no condition depends.

        Parameters
        ----------
        params : dict
            A candidate, or a return value of `baseline`.

        Returns
        -------
        dimensions : dict of str to Dimension
            Dimensions with two or more values, by parameter name.
        """
        if self._candidate_list:
            return {}
        free = self._subspaces[self._owner(params) or 0].free
        return {name: free[name] for name in params if name in free}

    @property
    def changeable_names(self) -> list[str]:
        """Names of parameters changeable in some candidate, see `changeable`, list of str."""
        if self._candidate_list:
            return []
        return sorted(set().union(*(subspace.free for subspace in self._subspaces)))

    def baseline(
        self, values: Mapping[str, Any], inside: bool = False, kept: Collection[str] = ()
    ) -> dict[str, Any] | None:
        """Return the candidate with the values set on the estimator.

        Parameters
        ----------
        values : mapping of str to object
            Values by name, as returned by ``get_params``.
        inside : bool, default=False
            Whether the result must be a candidate of the space.
        kept : collection of str, default=()
            Names of parameters whose values select the dict of a union.

        Returns
        -------
        params : dict or None
            Values of the active parameters, with the values of the space for constant parameters.
            Unless `inside`, they may lie outside the ranges. None if this is impossible, for
            example if it is not in a list of candidates.
        """
        free = not self._candidate_list
        allowed = [each for each in self._subspaces if each.admits(values, kept)]
        if not allowed:
            return None
        outcomes = dict(zip(map(id, self._subspaces), self._outcomes, strict=True))
        found = [subspace.baseline(values, free) for subspace in allowed]
        parts = [(p, s, outcomes[id(s)]) for p, s in zip(found, allowed, strict=True)]
        candidates = [
            params
            for params, subspace, outcome in parts
            if subspace.violation(params) is None and not (inside and _ends(outcome, values))
        ]
        must_be_inside = inside or self._candidate_list
        return next(iter(candidates), None if must_be_inside else found[0])

    def outcome(self, params: dict[str, Any]) -> tuple[str, Outcome] | None:
        """Return the parameter of a candidate found in training.

        Parameters
        ----------
        params : dict
            A candidate.

        Returns
        -------
        outcome : tuple (str, Outcome) or None
            Name of the parameter and its outcome. None for a candidate without such a parameter.
        """
        if len(self._outcomes) == 1 or not any(self._outcomes):
            return self._outcomes[0]
        owner = self._owner(params)
        return None if owner is None else self._outcomes[owner]

    @property
    def outcomes(self) -> list[str]:
        """Names of the parameters found in training, list of str."""
        return sorted({found[0] for found in self._outcomes if found})

    def _owner(self, params: dict[str, Any]) -> int | None:
        """Return the number of the dict that contains `params`, even outside its ranges."""
        subspaces = list(enumerate(self._subspaces))
        fitting = (i for i, each in subspaces if each.violation(params) is None)
        others = (i for i, each in subspaces if each.has(params))
        return next(fitting, next(others, None))

    def _number(self, params: dict[str, Any]) -> Any:
        """Return the number of a candidate of a list, None if it is not in the list."""
        listed: Any = self._candidate_list
        numbers = listed.numbers
        if not numbers:
            numbers.update({self.key(s.candidate(0)): i for i, s in enumerate(self._subspaces)})
        return numbers.get(self.key(params))

    def _accumulate_weights(self) -> list[float]:
        """Return the cumulative probabilities of all dicts but the last."""
        n = len(self._subspaces)
        if self.size == math.inf:
            return [(i + 1) / n for i in range(n - 1)]
        ends = itertools.accumulate(subspace.size for subspace in self._subspaces[:-1])
        return [end / self.size for end in ends]

    def _value_key(self, name: str, value: Any) -> tuple:
        key = hashable_key(value)
        if key is None and name in self._unhashable:
            index = self._unhashable[name].index(value)
            key = None if index is None else ("choice", index)
        return ("repr", stable_repr(value)) if key is None else key


def _ends(outcome: tuple[str, Outcome] | None, values: Mapping[str, Any]) -> bool:
    """Return whether an outcome ends before the number in `values`."""
    if outcome is None:
        return False
    name, found = outcome
    count = values.get(name)
    return not isinstance(count, Integral) or int(count) > found.high
