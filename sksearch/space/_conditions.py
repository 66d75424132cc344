"""Subspaces: one dict of a space, with conditional parameters."""

import itertools
import math
import numbers
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._components import Box, Boxes, Component, Tree
from ._values import equal, own

_OPERATORS = {
    "==": equal,
    "!=": lambda value, threshold: not equal(value, threshold),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, threshold: any(equal(value, item) for item in threshold),
    "not in": lambda value, threshold: not any(equal(value, item) for item in threshold),
}
_ORDERING = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class When:
    """Values of a parameter that is active only if another one has certain values.

    Candidates do not contain inactive parameters. If the parent itself is inactive, so is the
    parameter.

    Parameters
    ----------
    values : list, tuple, range, array, distribution or When
        Values of the parameter while it is active. A nested When adds a second condition; both
        must hold.
    parent : str
        Name of the parameter to compare, in the same dict.
    op : {"==", "!=", "<", "<=", ">", ">=", "in", "not in"}
        Comparison of the parent's value with `threshold`.
    threshold : object
        Value to compare with; a list for "in" and "not in".

    See Also
    --------
    sksearch.space.Space : Checks the conditions and draws from them.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sksearch import When
    >>> from sksearch.space import Space
    >>> space = Space({
    ...     "n_layers": [1, 2],
    ...     "units_2": When(randint(16, 129), "n_layers", ">=", 2),
    ... })
    >>> space.size  # one candidate of 1 layer, 113 of 2 layers
    114
    """

    values: Any
    parent: str
    op: str
    threshold: Any

    def __str__(self) -> str:
        return f"{self.parent} {self.op} {self.threshold!r}"

    def holds(self, value: Any) -> bool:
        """Return whether the condition holds, apart from nested conditions.

        Parameters
        ----------
        value : object
            Value of the parent.

        Returns
        -------
        bool
            Whether the comparison is true.
        """
        return bool(_OPERATORS[self.op](value, self.threshold))


def unwrap(values: Any) -> tuple[Any, list[When]]:
    """Separate the conditions from the values given for a parameter.

    Parameters
    ----------
    values : object
        A When, or anything else.

    Returns
    -------
    values : object
        Values of the innermost When.
    conditions : list of When
        The Whens, outermost first.
    """
    conditions = []
    while isinstance(values, When):
        conditions.append(values)
        values = values.values
    return values, conditions


class Subspace:
    """One dict of a space: dimensions, and conditions between them.

    Its candidates are numbered by connected components, the groups of parameters linked by
    conditions, directly or indirectly.

    Parameters
    ----------
    dimensions : dict of str to Dimension
        Dimensions by parameter.
    conditions : dict of str to list of When
        Conditions by parameter, if it has any.
    coordinates : dict of str to int
        Index in the unit cube for each parameter with a coordinate.

    Raises
    ------
    ValueError
        If a condition cannot be evaluated, or conditions form a cycle.
    """

    def __init__(
        self,
        dimensions: dict[str, Any],
        conditions: dict[str, list[When]],
        coordinates: dict[str, int],
    ):
        self.names = sorted(dimensions)
        self.dimensions = dimensions
        self.conditions = conditions
        self.coordinates = coordinates
        for name in sorted(conditions):
            for condition in conditions[name]:
                self._check_condition(name, condition)
        self._children: dict[str, list[str]] = {name: [] for name in self.names}
        for name in conditions:
            for parent in self._parents_of(name):
                self._children[parent].append(name)
        self._order = self._parents_first()
        self._components: list[Component] = []
        self.size = math.inf
        if all(dimension.size != math.inf for dimension in dimensions.values()):
            self._components = [self._component(names) for names in self._linked_names()]
            sizes = [component.size for component in self._components]
            self.size = math.inf if math.inf in sizes else math.prod(sizes)
        self._check_reachable()

    def decode(self, u: list[float], rng: np.random.Generator | None = None) -> dict[str, Any]:
        """Return the candidate at a point of the cube.

        Parameters
        ----------
        u : list of float
            All coordinates of the space; coordinates of inactive parameters are ignored.
        rng : numpy.random.Generator, default=None
            Source of the values of opaque parameters; None: use their tables.

        Returns
        -------
        dict
            Active parameters, sorted by name.
        """
        params: dict[str, Any] = {}
        for name in self._order:
            if name not in self.conditions or self._is_active(name, params):
                dimension = self.dimensions[name]
                if rng is not None and dimension.kind == "opaque":
                    params[name] = dimension.sample(rng)
                elif name in self.coordinates:
                    params[name] = dimension.from_unit(u[self.coordinates[name]])
                else:
                    params[name] = dimension.from_unit(0.5)
        if self.conditions:
            params = {name: params[name] for name in self.names if name in params}
        return params

    def active(self, U: np.ndarray) -> np.ndarray:
        """Return the mask of coordinates of active parameters.

        Parameters
        ----------
        U : ndarray of shape (n, n_dims)
            Points of the cube.

        Returns
        -------
        ndarray of shape (n, n_dims), bool
            False also for the coordinates of other subspaces.
        """
        active = np.zeros(U.shape, bool)
        by_name: dict[str, np.ndarray] = {}
        for name in self._order:
            by_name[name] = np.ones(len(U), bool)
            for condition in self.conditions.get(name, ()):
                by_name[name] &= by_name[condition.parent] & self._holds(condition, U)
            if name in self.coordinates:
                active[:, self.coordinates[name]] = by_name[name]
        return active

    def _holds(self, condition: When, U: np.ndarray) -> np.ndarray:
        """Return whether a condition holds at points with an active parent, shape (n,)."""
        parent = self.dimensions[condition.parent]
        j = self.coordinates.get(condition.parent)
        lower, upper = parent.cell(np.full(len(U), 0.5) if j is None else U[:, j])
        middles, inverse = np.unique((lower + upper) / 2, return_inverse=True)
        holds = [condition.holds(parent.from_unit(u)) for u in middles.tolist()]
        return np.array(holds, bool)[inverse]

    def candidate(self, i: int) -> dict[str, Any]:
        """Return the i-th candidate of a finite subspace, 0 <= i < size."""
        params = {}
        for component in reversed(self._components):
            i, k = divmod(i, component.size)
            for name, index in component.indices(k).items():
                params[name] = self.dimensions[name].value(index)
        return {name: params[name] for name in self.names if name in params}

    def violation(self, params: dict[str, Any]) -> str | None:
        """Explain why ``params`` is not a candidate.

        Parameters
        ----------
        params : dict
            Candidate from a user.

        Returns
        -------
        str or None
            First reason found; None if ``params`` is a candidate.
        """
        for name in params:
            if name not in self.dimensions:
                return f"sets {name!r}, which is unknown: the parameters are {self.names}"
        for name in self._order:
            dimension = self.dimensions[name]
            active = self._is_active(name, params)
            if name in params and not active:
                when = " and ".join(map(str, self.conditions[name]))
                return f"sets {name!r}, which is active only when {when}: leave it out"
            if active and name not in params:
                return f"lacks {name!r}: set it to {dimension.allowed()}"
            if active and not dimension.contains(params[name]):
                return f"sets {name!r} to {params[name]!r}: it must be {dimension.allowed()}"
        return None

    def admits(self, values: Mapping[str, Any], names: Iterable[str]) -> bool:
        """Return whether the value of each of these names is valid here."""
        return all(n in self.dimensions and self.dimensions[n].contains(values[n]) for n in names)

    def has(self, params: Mapping[str, Any]) -> bool:
        """Return whether it has all names of `params`, and their values for fixed parameters."""
        if not params.keys() <= self.dimensions.keys():
            return False
        return self.admits(params, (n for n in params if self.dimensions[n].size == 1))

    @property
    def free(self) -> dict[str, Any]:
        """Return dimensions with two or more values that no condition uses, by name."""
        parents = {c.parent for conditions in self.conditions.values() for c in conditions}
        dimensions = self.dimensions.items()
        return {name: d for name, d in dimensions if name not in parents and d.size > 1}

    def baseline(self, values: Mapping[str, Any], with_constants: bool) -> dict[str, Any]:
        """Return values of active parameters; fixed parameters have the space's own value."""
        params: dict[str, Any] = {}
        for name in self._order:
            if name in values and self._is_active(name, params):
                dimension = self.dimensions[name]
                is_set = with_constants and dimension.size == 1
                params[name] = dimension.value(0) if is_set else own(dimension, values[name])
        return {name: params[name] for name in self.names if name in params}

    def _is_active(self, name: str, params: dict[str, Any]) -> bool:
        return all(
            condition.parent in params and condition.holds(params[condition.parent])
            for condition in self.conditions.get(name, ())
        )

    def _check_condition(self, name: str, condition: When) -> None:
        """Raise if the operator or parent of a condition is unknown, or its threshold invalid."""
        where = f"param_distributions[{name!r}] is active when {condition}"
        if condition.op not in _OPERATORS:
            raise ValueError(
                f"{where}, but {condition.op!r} is not an operator: use one of "
                f"{', '.join(_OPERATORS)}."
            )
        if condition.parent not in self.dimensions:
            raise ValueError(
                f"{where}, but its dict does not contain {condition.parent!r}: the parameters are "
                f"{self.names}."
            )
        if condition.op in ("in", "not in") and (
            isinstance(condition.threshold, str) or not hasattr(condition.threshold, "__len__")
        ):
            raise ValueError(f"{where}, but {condition.op!r} needs a list of values.")
        if condition.op not in _ORDERING:
            return  # any types can be compared for equality
        parent = self.dimensions[condition.parent]
        values = parent.choices if parent.kind == "categorical" else [parent.from_unit(0.5)]
        for value in values:
            try:
                condition.holds(value)
            except TypeError as error:
                raise ValueError(
                    f"{where}, but {condition.parent} can be {value!r}, which cannot be compared "
                    f"({error}): use 'in' with a list of values."
                ) from error

    def _check_reachable(self) -> None:
        """Raise if a parameter is never active, because of one or all of its conditions."""
        if self.size == math.inf:
            parents = {when.parent for whens in self.conditions.values() for when in whens}
            values = {parent: self._values_of(parent) for parent in parents}
            dead = {name for name in self.conditions if not self._may_hold(name, values)}
        else:
            dead = set(self.conditions).difference(*(each.reached for each in self._components))
        for name in sorted(dead):
            conditions = self.conditions[name]
            allowed = {when.parent: self.dimensions[when.parent].allowed() for when in conditions}
            raise ValueError(
                f"param_distributions[{name!r}] is active when "
                f"{' and '.join(map(str, conditions))}, which never holds: "
                f"{'; '.join(f'{parent} is {values}' for parent, values in allowed.items())}."
            )

    def _values_of(self, parent: str) -> list[Any]:
        """Return values that include one for which a condition holds, if there is any."""
        dimension = self.dimensions[parent]
        if dimension.size < math.inf:
            return [dimension.value(piece.start) for piece in self._pieces(parent)]
        return [dimension.from_unit(u) for u in (0.0, 0.5, 1.0)]

    def _may_hold(self, name: str, values: dict[str, list[Any]]) -> bool:
        """Return whether each condition of a parameter holds for some value of its parent."""
        return all(any(map(when.holds, values[when.parent])) for when in self.conditions[name])

    def _parents_of(self, name: str) -> list[str]:
        return list({when.parent: None for when in self.conditions.get(name, ())})

    def _parents_first(self) -> list[str]:
        """Sort names with parents before their children, otherwise by name."""
        n_open = {name: len(self._parents_of(name)) for name in self.names}
        order: list[str] = []
        ready = [name for name in self.names if not n_open[name]]
        while ready:
            order += ready
            below = [child for name in ready for child in self._children[name]]
            for child in below:
                n_open[child] -= 1
            ready = sorted({child for child in below if not n_open[child]})
        if len(order) < len(self.names):
            raise ValueError(
                f"the conditions of the parameters {sorted(set(self.names).difference(order))} "
                "form a cycle: no parameter may depend on itself, directly or through others."
            )
        return order

    def _linked_names(self) -> list[list[str]]:
        """Group the names linked by conditions, parents first; groups by their first names."""
        groups = {name: [name] for name in self.names}
        for parent, children in self._children.items():
            for child in children:
                small, large = sorted((groups[parent], groups[child]), key=len)
                if small is not large:
                    large += small
                    groups.update(dict.fromkeys(small, large))
        position = {name: i for i, name in enumerate(self._order)}
        distinct = {id(groups[name]): groups[name] for name in self.names}
        return [sorted(group, key=position.__getitem__) for group in distinct.values()]

    def _component(self, names: list[str]) -> Component:
        """Count the candidates of linked parameters, parents first."""
        pieces = {
            name: self._pieces(name)
            if self._children[name]
            else [range(self.dimensions[name].size)]
            for name in names
        }
        if any(len(self._parents_of(name)) > 1 for name in names):
            return Boxes(pieces, self._is_active_in)
        children = {
            name: [
                [
                    child
                    for child in self._children[name]
                    if self._is_active_in({name: piece}, child)
                ]
                for piece in pieces[name]
            ]
            for name in names
        }
        return Tree(pieces, children)

    def _is_active_in(self, box: Box, name: str) -> bool:
        """Return whether a parameter is active for the values of its parents in a box."""
        return all(
            when.parent in box
            and when.holds(self.dimensions[when.parent].value(box[when.parent].start))
            for when in self.conditions.get(name, ())
        )

    def _pieces(self, parent: str) -> list[range]:
        """Split a parent's indices into ranges in which no condition changes."""
        dimension = self.dimensions[parent]
        if dimension.kind == "categorical":
            return [range(i, i + 1) for i in range(dimension.size)]
        thresholds = [
            when.threshold
            for child in self._children[parent]
            for when in self.conditions[child]
            if when.parent == parent
        ]
        cuts = {0, dimension.size}
        for threshold in thresholds:
            for number in threshold if hasattr(threshold, "__iter__") else [threshold]:
                if isinstance(number, numbers.Real) and math.isfinite(number):
                    below = math.floor(number) - dimension.bounds[0]
                    cuts |= {i for i in (below, below + 1) if 0 < i < dimension.size}
        return [range(start, stop) for start, stop in itertools.pairwise(sorted(cuts))]
