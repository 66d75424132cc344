"""Nearest recorded parameters, on each parameter's own scale.

==========  ==================================================================  ==============
symbol      meaning                                                             shape
==========  ==================================================================  ==============
n, m        numbers of recorded candidates, and of candidates looked up         scalars
V           features: numbers from 0 to 1, choices as 0 or 1 / sqrt(2)          (m, n_features)
active      True for active conditional parameters                              (m, n_cond)
D2          squared distances                                                   (m,)
==========  ==================================================================  ==============
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from sksearch.space import Space
from sksearch.space._conditions import When
from sksearch.space._dimensions import Dimension

_ABSENT = object()


class Index:
    """Recorded candidates, and an exact search for the nearest of them.

    The squared distance of two candidates is a sum over parameters. A number contributes the
    squared difference of its scaled values: 0 at the lower bound and 1 at the upper one, on a
    logarithmic scale if its distribution has one. A choice from an ascending list of numbers
    contributes the same by its position. Any other choice contributes 0 or 1. A conditional
    parameter contributes 1 if it is active in only one of the two, and 0 if inactive in both.

    Parameters
    ----------
    space : dict
        Names of parameters and their choices or distributions.
    params : sequence of dict
        Recorded candidates, inactive parameters absent.
    categories : collection of str, default=()
        Names of lists of numbers whose choices have no order.

    Raises
    ------
    TypeError
        If `space` is not a dict.
    ValueError
        If `params` is empty, or one of them does not fit the space.

    Notes
    -----
    No embedding of a number has all its values at distance 1 from "inactive". So each group of
    candidates with the same active parameters has its own k-d tree. The groups are searched in the
    order of the number of parameters active in only one of group and point, up to the squared
    distance found.
    """

    def __init__(
        self,
        space: dict[str, Any],
        params: Sequence[Mapping[str, Any]],
        categories: Collection[str] = (),
    ):
        if not isinstance(space, dict):
            raise TypeError(
                f"space is a {type(space).__name__}: pass one dict of parameters, with "
                "sksearch.When for conditional ones."
            )
        if len(params) == 0:
            raise ValueError("params is empty: pass at least one recorded candidate.")
        parsed = Space(space)
        every = parsed.all_dimensions
        self._n_dims = max(1, len(every))
        self._conditional = [name for name in parsed.names if isinstance(space[name], When)]
        self._numbers = [d for d in every if self._is_plain_number(d)]
        self._others = [d for d in every if not self._is_plain_number(d)]
        unordered = {
            d.name: bool(is_choice)
            for d, is_choice in zip(parsed.dimensions, parsed.categorical, strict=True)
        }
        self._unordered = [
            unordered.get(d.name, True) or (d.name in categories and d.kind == "categorical")
            for d in self._others
        ]
        self._scale = _Scale(self._numbers)
        self._owners = self._owners_of_features()
        self._V, self._active = self._encode(params)
        self._patterns, which = _patterns(self._active)
        self._groups = [np.flatnonzero(which == g) for g in range(len(self._patterns))]
        self._trees: dict = {}

    def nearest(self, params: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
        """Find the nearest recorded candidates.

        Parameters
        ----------
        params : sequence of dict
            The m candidates to look up.

        Returns
        -------
        rows : ndarray of shape (m,), int
            Positions of the nearest among the recorded candidates.
        distances : ndarray of shape (m,)
            Root of the mean over parameters of squared differences, from 0 to 1.
        """
        V, active = self._encode(params)
        if self._conditional:
            return self._search(V, active)
        tree, _ = self._tree(0, np.ones(0, bool))  # the only one
        distances, rows = tree.query(V)
        return rows, distances / math.sqrt(self._n_dims)

    def nearest_other(self) -> tuple[np.ndarray, np.ndarray]:
        """Find the nearest other candidate of each recorded one: rows and distances."""
        if len(self._V) < 2:
            raise ValueError("only one candidate was recorded: record more.")
        return self._search(self._V, self._active, np.arange(len(self._V)))

    def __getstate__(self):
        return vars(self) | {"_trees": {}}  # rebuilt when needed

    @property
    def n_distinct(self) -> int:
        """Number of distinct recorded candidates."""
        return len(np.unique(np.hstack([self._V, self._active]), axis=0))

    def _search(self, V, active, own=None):
        """Return nearest rows and distances; `own` has a row to exclude for each point."""
        D2, rows = np.full(len(V), np.inf), np.zeros(len(V), int)
        patterns, which = _patterns(active)
        for k, pattern in enumerate(patterns):
            points = np.flatnonzero(which == k)
            n_differing = (self._patterns != pattern).sum(axis=1)
            # The nearest groups come first, so that most others are skipped.
            for g in np.argsort(n_differing, kind="stable"):
                points_left = points[D2[points] > n_differing[g]]
                if len(points_left) == 0:
                    break
                excluded = None if own is None else own[points_left]
                squares, found = self._search_group(g, pattern, V[points_left], excluded)
                squares = squares + n_differing[g]
                nearer = squares < D2[points_left]
                D2[points_left[nearer]] = squares[nearer]
                rows[points_left[nearer]] = found[nearer]
        return rows, np.sqrt(D2 / self._n_dims)

    def _search_group(self, g, pattern, V, excluded):
        """Return squared distances over common parameters to the nearest of a group, and rows."""
        members = self._groups[g]
        common = self._patterns[g] & pattern
        tree, features = self._tree(g, common)
        if excluded is None:
            distances, positions = tree.query(V[:, features])
            return distances**2, members[positions]
        distances, positions = tree.query(V[:, features], k=2)
        positions = np.where(np.isfinite(distances), positions, 0)  # a group of one has no second
        found = members[positions]
        # With duplicates the point itself may be either of the two, or neither.
        second = found[:, 0] == excluded
        i = np.arange(len(V))
        distances, found = distances[i, second.astype(int)], found[i, second.astype(int)]
        return np.where(found == excluded, np.inf, distances**2), found

    def _tree(self, g, common):
        """Return the k-d tree of a group on the features of the common parameters, and those."""
        key = (g, common.tobytes())
        if key not in self._trees:
            features = np.append(common, True)[self._owners]
            points = self._V[self._groups[g]][:, features]
            self._trees[key] = (cKDTree(points), features)
        return self._trees[key]

    def _is_plain_number(self, dimension: Dimension) -> bool:
        """Return whether a parameter is always active, and uniform or log-uniform."""
        number = dimension.kind in ("real", "integer") and not hasattr(dimension, "distribution")
        return number and dimension.name not in self._conditional

    def _owners_of_features(self) -> np.ndarray:
        """Return for each feature the position of its conditional parameter, -1 for others."""
        owners = [-1] * len(self._numbers)
        for dimension, unordered in zip(self._others, self._unordered, strict=True):
            conditional = dimension.name in self._conditional
            owner = self._conditional.index(dimension.name) if conditional else -1
            owners += [owner] * (dimension.size if unordered else 1)
        if self._conditional or not owners:
            owners.append(-1)  # a constant 0, since a tree needs a feature
        return np.array(owners)

    def _encode(self, params: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
        """Return features, 0 where inactive, and a mask of the active conditional parameters."""
        V = np.zeros((len(params), len(self._owners)))
        active = np.ones((len(params), len(self._conditional)), bool)
        start = len(self._numbers)
        n_names = np.full(len(params), start)
        V[:, :start] = self._scaled_numbers(params)
        for dimension, unordered in zip(self._others, self._unordered, strict=True):
            name = dimension.name
            values = [candidate.get(name, _ABSENT) for candidate in params]
            present = np.array([value is not _ABSENT for value in values], bool)
            if name in self._conditional:
                active[:, self._conditional.index(name)] = present
                values = [value for value in values if value is not _ABSENT]
            elif not present.all():
                raise ValueError(
                    f"{params[int(present.argmin())]} lacks {name!r}: give it a value."
                )
            stop = start + (dimension.size if unordered else 1)
            V[present, start:stop] = _features(dimension, unordered, values)
            n_names, start = n_names + present, stop
        if (n_names < [len(candidate) for candidate in params]).any():
            self._refuse_unknown(params)
        return V, active

    def _scaled_numbers(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Scale all plain numbers at once, which is much faster than one after another."""
        names = [dimension.name for dimension in self._numbers]
        try:
            rows = [[candidate[name] for name in names] for candidate in params]
        except KeyError as error:
            name = error.args[0]
            lacking = next(candidate for candidate in params if name not in candidate)
            raise ValueError(f"{lacking} lacks {name!r}: give it a value.") from None
        return self._scale(np.array(rows, dtype=float).reshape(len(params), len(names)))

    def _refuse_unknown(self, params):
        names = sorted(dimension.name for dimension in [*self._numbers, *self._others])
        unknown = next(name for candidate in params for name in candidate if name not in names)
        raise ValueError(f"{unknown!r} is unknown: the parameters are {names}.")


def _patterns(active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows, and for each row the position of its equal among them."""
    if active.shape[1] == 0 or len(active) == 0:
        return active[:1], np.zeros(len(active), int)
    patterns, which = np.unique(active, axis=0, return_inverse=True)
    return patterns, which.reshape(-1)


def _features(dimension: Dimension, unordered: bool, values: list) -> np.ndarray:
    """Return the features of values, shape (n_values, 1), or (n_values, n_choices)."""
    if unordered:
        return np.eye(dimension.size)[_positions(dimension, values)] / math.sqrt(2)
    if dimension.kind == "categorical":
        x = _positions(dimension, values) / max(1, dimension.size - 1)
    elif dimension.kind == "opaque":
        x = np.array([dimension.to_unit(value) for value in values])
    elif hasattr(dimension, "distribution"):  # neither uniform nor log-uniform
        cdf, x = dimension.distribution.cdf, np.asarray(values, dtype=float)
        x = (cdf(x - (dimension.kind == "integer")) + cdf(x)) / 2
        if np.isnan(x).any():
            raise ValueError(f"{dimension.name}=nan is not allowed: use {dimension.allowed()}.")
    else:
        return _Scale([dimension])(np.array(values, dtype=float)[:, np.newaxis])
    return x[:, np.newaxis]


class _Scale:
    """Map several numbers from their bounds to [0, 1] at once.

    Parameters
    ----------
    dimensions : list of Dimension
        Reals and integers, uniform or log-uniform.
    """

    def __init__(self, dimensions: list[Dimension]):
        self._dimensions = dimensions
        self._log = np.array([dimension.log for dimension in dimensions], bool)
        self._lowest = np.where(self._log, 0.0, -np.inf)  # not included
        bounds = np.array([dimension.bounds for dimension in dimensions], float).reshape(-1, 2).T
        self._low, high = np.log(bounds, out=bounds, where=self._log)
        self._span = np.where(high > self._low, high - self._low, 1.0)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Scale values of shape (n_values, n_dims) in place."""
        valid = (x > self._lowest) & (x < np.inf)
        if not valid.all():
            i, j = np.argwhere(~valid)[0]
            dimension, value = self._dimensions[j], x[i, j].item()
            raise ValueError(
                f"{dimension.name}={value} is not allowed: use {dimension.allowed()}."
            )
        np.log(x, out=x, where=self._log)
        x -= self._low
        x /= self._span
        return x


def _positions(dimension: Any, values: list) -> np.ndarray:
    """Return the positions of choices in their list."""
    try:
        keys = [(type(value), value) for value in values]  # True is not 1
        known = {key: dimension.index(key[1]) for key in set(keys)}
        positions = [known[key] for key in keys]
    except TypeError:  # choices without a hash
        positions = [dimension.index(value) for value in values]
    if None in positions:
        value = values[positions.index(None)]
        raise ValueError(
            f"{dimension.name}={value!r} is not a choice: it must be {dimension.allowed()}."
        )
    return np.array(positions, int)
