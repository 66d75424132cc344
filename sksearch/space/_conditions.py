"""Conditions: one dict of a space, in which some parameters are active only at times."""

import bisect
import itertools
import math
import numbers
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._dimensions import equal

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


@dataclass(frozen=True)
class When:
    """The values of a parameter that is active only when another one has certain values.

    An inactive parameter is absent from the candidate, and a parameter whose parent is inactive is
    inactive.

    Parameters
    ----------
    values : list, tuple, range, array, distribution or When
        What the parameter is drawn from while active. Another When adds a condition: both must
        hold.
    parent : str
        Name of the parameter that decides, in the same dict.
    op : {"==", "!=", "<", "<=", ">", ">=", "in", "not in"}
        Comparison of the parent's value with `threshold`.
    threshold : object
        What the parent's value is compared with; a list for "in" and "not in".

    See Also
    --------
    Space : Checks the conditions and draws from them.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sksearch.space import Space, When
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

    def __str__(self):
        return f"{self.parent} {self.op} {self.threshold!r}"

    def holds(self, value):
        """Tell whether the condition holds.

        Parameters
        ----------
        value : object
            Value of the parent.

        Returns
        -------
        bool
            Whether the parameter is active, as far as this condition goes.
        """
        return bool(_OPERATORS[self.op](value, self.threshold))


def unwrap(values):
    """Take the conditions off what a user wrote for a parameter.

    Parameters
    ----------
    values : object
        A When, or anything else.

    Returns
    -------
    values : object
        What is inside all Whens.
    conditions : list of When
        The Whens, outermost first.
    """
    conditions = []
    while isinstance(values, When):
        conditions.append(values)
        values = values.values
    return values, conditions


class Part:
    """One dict of a space: dimensions, and conditions between them.

    Its candidates are numbered by components: parameters that are linked by conditions, directly
    or not. A component is a list of cells, and a cell a box: `{name: range of value indices}`,
    where the same parameters are active all over the box.

    Parameters
    ----------
    dimensions : dict of str to Dimension
        The parameters.
    conditions : dict of str to list of When
        The conditions of those parameters that have any.
    coordinates : dict of str to int
        Index of each parameter in the unit cube.

    Raises
    ------
    ValueError
        If a condition cannot be evaluated, or conditions form a cycle.
    """

    def __init__(self, dimensions, conditions, coordinates):
        self.names = sorted(dimensions)
        self.dimensions = dimensions
        self.conditions = conditions
        self.coordinates = coordinates
        for name in sorted(conditions):
            for condition in conditions[name]:
                self._check_condition(name, condition)
        self._order = self._parents_first()
        self.size = math.inf
        if all(dimension.size != math.inf for dimension in dimensions.values()):
            self._components = [self._cells(names) for names in self._linked_names()]
            self._sizes = [sum(map(_cell_size, cells)) for cells in self._components]
            self.size = math.prod(self._sizes)

    def decode(self, u, rng=None):
        """Make the candidate at a point of the cube.

        Parameters
        ----------
        u : list of float
            All coordinates of the space; those of inactive parameters are not looked at.
        rng : numpy.random.Generator, default=None
            If given, opaque parameters are drawn from it rather than from their table.

        Returns
        -------
        dict
            The active parameters, in the order of their names.
        """
        params = {}
        for name in self._order:
            if name not in self.conditions or self._is_active(name, params):
                dimension = self.dimensions[name]
                if rng is not None and dimension.kind == "opaque":
                    params[name] = dimension.sample(rng)
                else:
                    params[name] = dimension.from_unit(u[self.coordinates[name]])
        if self.conditions:
            params = {name: params[name] for name in self.names if name in params}
        return params

    def active(self, U):
        """Tell which coordinates are those of active parameters.

        Parameters
        ----------
        U : ndarray of shape (n, n_dims)
            Points of the cube.

        Returns
        -------
        ndarray of shape (n, n_dims), bool
            False also for the coordinates of other parts.
        """
        active = np.zeros(U.shape, bool)
        for name in self._order:
            j = self.coordinates[name]
            active[:, j] = True
            for condition in self.conditions.get(name, ()):
                parent = self.coordinates[condition.parent]
                lower, upper = self.dimensions[condition.parent].cell(U[:, parent])
                places, inverse = np.unique((lower + upper) / 2, return_inverse=True)
                from_unit = self.dimensions[condition.parent].from_unit
                holds = np.array([condition.holds(from_unit(u)) for u in places.tolist()], bool)
                active[:, j] &= active[:, parent] & holds[inverse]
        return active

    def point(self, i):
        """Return the i-th candidate of a finite part, 0 <= i < size."""
        params = {}
        for cells, size in zip(reversed(self._components), reversed(self._sizes), strict=True):
            i, k = divmod(i, size)
            ends = list(itertools.accumulate(map(_cell_size, cells)))
            which = bisect.bisect_right(ends, k)
            cell = cells[which]
            k -= ends[which] - _cell_size(cell)
            for name in reversed(cell):
                k, index = divmod(k, _length(cell[name]))
                params[name] = self.dimensions[name].value(cell[name].start + index)
        return {name: params[name] for name in self.names if name in params}

    def problem(self, params):
        """Say what keeps ``params`` from being a candidate.

        Parameters
        ----------
        params : dict
            A user's guess.

        Returns
        -------
        str or None
            The first problem found; None if there is none.
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

    def _is_active(self, name, params):
        return all(
            condition.parent in params and condition.holds(params[condition.parent])
            for condition in self.conditions.get(name, ())
        )

    def _check_condition(self, name, condition):
        where = f"param_distributions[{name!r}] is active when {condition}"
        if condition.op not in _OPERATORS:
            raise ValueError(
                f"{where}, but {condition.op!r} is not an operator: use one of "
                f"{', '.join(_OPERATORS)}."
            )
        if condition.parent not in self.dimensions:
            raise ValueError(
                f"{where}, but there is no {condition.parent!r} in its dict: the parameters are "
                f"{self.names}."
            )
        if condition.op in ("in", "not in") and (
            isinstance(condition.threshold, str) or not hasattr(condition.threshold, "__len__")
        ):
            raise ValueError(f"{where}, but {condition.op!r} needs a list of values.")
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

    def _parents_first(self):
        """Sort names such that parents come before their children, else by name."""
        order = []
        while len(order) < len(self.names):
            ready = [
                name
                for name in self.names
                if name not in order
                and all(when.parent in order for when in self.conditions.get(name, ()))
            ]
            if not ready:
                stuck = [name for name in self.names if name not in order]
                raise ValueError(
                    f"the conditions of the parameters {stuck} form a cycle: no parameter may "
                    "depend on itself, directly or through others."
                )
            order += ready
        return order

    def _linked_names(self):
        """Group the names that conditions link, each group and all groups sorted by name."""
        groups = {name: [name] for name in self.names}
        for name, conditions in self.conditions.items():
            for condition in conditions:
                mine, parents = groups[name], groups[condition.parent]
                if mine is not parents:
                    mine += parents
                    groups.update(dict.fromkeys(parents, mine))
        return [sorted(groups[name]) for name in self.names if name == min(groups[name])]

    def _cells(self, names):
        """List the cells of the component that consists of ``names``."""
        linked = [self.conditions.get(name, ()) for name in names]
        parents = {condition.parent for conditions in linked for condition in conditions}
        cells = [({}, {})]  # ranges of indices, and one value of each parent in them
        for name in self._order:
            if name not in names:
                continue
            whole = [range(self.dimensions[name].size)]
            pieces = self._pieces(name) if name in parents else whole
            grown = []
            for ranges, values in cells:
                if not self._is_active(name, values):
                    grown.append((ranges, values))
                    continue
                for piece in pieces:
                    value = self.dimensions[name].value(piece.start)
                    grown.append(({**ranges, name: piece}, {**values, name: value}))
            cells = grown
        return [dict(sorted(ranges.items())) for ranges, _ in cells]

    def _pieces(self, parent):
        """Cut a parent's indices into ranges over which no condition changes."""
        dimension = self.dimensions[parent]
        if dimension.kind == "categorical":
            return [range(i, i + 1) for i in range(dimension.size)]
        conditions = itertools.chain.from_iterable(self.conditions.values())
        thresholds = [when.threshold for when in conditions if when.parent == parent]
        cuts = {0, dimension.size}
        for threshold in thresholds:
            for number in threshold if hasattr(threshold, "__iter__") else [threshold]:
                if isinstance(number, numbers.Real) and math.isfinite(number):
                    below = math.floor(number) - dimension.bounds[0]
                    cuts |= {i for i in (below, below + 1) if 0 < i < dimension.size}
        return [range(start, stop) for start, stop in itertools.pairwise(sorted(cuts))]


def _length(indices):
    return indices.stop - indices.start  # len() overflows beyond 2**63


def _cell_size(cell):
    return math.prod(map(_length, cell.values()))
