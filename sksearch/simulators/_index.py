"""The nearest of recorded params, on each parameter's own scale.

==========  ==================================================================  ==============
symbol      meaning                                                             shape
==========  ==================================================================  ==============
n, m        counts of recorded params, and of params that are looked up         scalars
V           features: numbers from 0 to 1, choices as 0 or 1 / sqrt(2)          (m, n_features)
active      which conditional parameters are active                             (m, n_cond)
D2          squared distances                                                   (m,)
==========  ==================================================================  ==============
"""

import math

import numpy as np
from scipy.spatial import cKDTree

from sksearch.space import Space, When

_ABSENT = object()


class Index:
    """Recorded params, and an exact search for the nearest of them.

    The squared distance of two candidates is a sum over parameters. A number contributes the
    squared difference of its places between the bounds, on a logarithmic scale where it is
    drawn from one, and so does a choice from an ascending list of numbers, by its position.
    Another choice contributes 0 or 1, and so does a conditional parameter that is active in only
    one of the two; one that is inactive in both contributes 0.

    Parameters
    ----------
    space : dict
        Names of parameters and their choices or distributions.
    params : sequence of dict
        Recorded candidates, inactive parameters absent.
    categories : collection of str, default=()
        Names of lists of numbers whose choices have no order either.

    Raises
    ------
    TypeError
        If `space` is no dict.
    ValueError
        If there are no `params`, or one of them does not fit the space.

    Notes
    -----
    A number cannot be embedded such that all its values and "inactive" are at distance 1 of each
    other. So the candidates with the same active parameters have a k-d tree of their own, and
    those of others are looked into only where fewer parameters differ than the distance found.
    """

    def __init__(self, space, params, categories=()):
        if not isinstance(space, dict):
            raise TypeError(
                f"space is {type(space).__name__}: recorded params need one dict of parameters, "
                "with sksearch.When for those that are active only at times."
            )
        if len(params) == 0:
            raise ValueError("params is empty: at least one recorded candidate is needed.")
        parsed = Space(space)
        self._n_dims = max(1, len(parsed.dimensions))
        self._conditional = [name for name in parsed.names if isinstance(space[name], When)]
        self._numbers = [d for d in parsed.dimensions if self._is_plain_number(d)]
        self._others = [d for d in parsed.dimensions if not self._is_plain_number(d)]
        unordered = dict(zip(parsed.names, parsed.categorical, strict=True))
        self._unordered = [
            unordered[d.name] or (d.name in categories and d.kind == "categorical")
            for d in self._others
        ]
        self._scale = _Scale(self._numbers)
        self._owners = self._owners_of_features()
        self._V, self._active = self._encode(params)
        self._patterns, which = _patterns(self._active)
        self._groups = [np.flatnonzero(which == g) for g in range(len(self._patterns))]
        self._trees = {}

    def nearest(self, params):
        """Find the nearest recorded candidates.

        Parameters
        ----------
        params : sequence of dict
            Of length m.

        Returns
        -------
        rows : ndarray of shape (m,), int
            Positions among the recorded ones.
        distances : ndarray of shape (m,)
            Root of the mean over parameters of squared differences, from 0 to 1.
        """
        V, active = self._encode(params)
        if self._conditional:
            return self._search(V, active)
        tree, _ = self._tree(0, np.ones(0, bool))  # the only one
        distances, rows = tree.query(V)
        return rows, distances / math.sqrt(self._n_dims)

    def nearest_other(self):
        """Find for each recorded candidate the nearest one of the others, as `nearest`."""
        if len(self._V) < 2:
            raise ValueError("there is one recorded candidate, and so no other: record more.")
        return self._search(self._V, self._active, np.arange(len(self._V)))

    def __getstate__(self):
        return vars(self) | {"_trees": {}}  # made again when needed

    @property
    def n_distinct(self):
        """Count of recorded candidates that differ from each other."""
        return len(np.unique(np.hstack([self._V, self._active]), axis=0))

    def _search(self, V, active, own=None):
        """Rows and distances; `own` are rows that do not count, one for each point."""
        D2, rows = np.full(len(V), np.inf), np.zeros(len(V), int)
        patterns, which = _patterns(active)
        for k, pattern in enumerate(patterns):
            points = np.flatnonzero(which == k)
            n_differing = (self._patterns != pattern).sum(axis=1)
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
        """Squared distances to the nearest of a group over what is active in both, and rows."""
        members = self._groups[g]
        common = self._patterns[g] & pattern
        tree, features = self._tree(g, common)
        if excluded is None:
            distances, places = tree.query(V[:, features])
            return distances**2, members[places]
        distances, places = tree.query(V[:, features], k=2)
        places = np.where(np.isfinite(distances), places, 0)  # a group of one has no second
        found = members[places]
        # With duplicates the point itself may be either of the two, or neither.
        second = found[:, 0] == excluded
        i = np.arange(len(V))
        distances, found = distances[i, second.astype(int)], found[i, second.astype(int)]
        return np.where(found == excluded, np.inf, distances**2), found

    def _tree(self, g, common):
        """The k-d tree of a group on the features of the parameters in common."""
        key = (g, common.tobytes())
        if key not in self._trees:
            features = np.append(common, True)[self._owners]
            points = self._V[self._groups[g]][:, features]
            self._trees[key] = (cKDTree(points), features)
        return self._trees[key]

    def _is_plain_number(self, dimension):
        """Whether a parameter is always active, and uniform or log-uniform."""
        number = dimension.kind in ("real", "integer") and not hasattr(dimension, "distribution")
        return number and dimension.name not in self._conditional

    def _owners_of_features(self):
        """Place of each feature's parameter among the conditional ones; -1 for another."""
        owners = [-1] * len(self._numbers)
        for dimension, unordered in zip(self._others, self._unordered, strict=True):
            conditional = dimension.name in self._conditional
            owner = self._conditional.index(dimension.name) if conditional else -1
            owners += [owner] * (dimension.size if unordered else 1)
        if self._conditional or not owners:
            owners.append(-1)  # always 0: a tree needs a feature, if all others are inactive
        return np.array(owners)

    def _encode(self, params):
        """Features, 0 where inactive, and which conditional parameters are active."""
        V = np.zeros((len(params), len(self._owners)))
        active = np.ones((len(params), len(self._conditional)), bool)
        start = len(self._numbers)
        n_names = np.full(len(params), start)
        V[:, :start] = self._places(params)
        for dimension, unordered in zip(self._others, self._unordered, strict=True):
            name = dimension.name
            values = [candidate.get(name, _ABSENT) for candidate in params]
            present = np.array([value is not _ABSENT for value in values], bool)
            if name in self._conditional:
                active[:, self._conditional.index(name)] = present
                values = [value for value in values if value is not _ABSENT]
            elif not present.all():
                raise ValueError(f"{params[present.argmin()]} lacks {name!r}: give it a value.")
            stop = start + (dimension.size if unordered else 1)
            V[present, start:stop] = _features(dimension, unordered, values)
            n_names, start = n_names + present, stop
        if (n_names < [len(candidate) for candidate in params]).any():
            self._refuse_unknown(params)
        return V, active

    def _places(self, params):
        """Places of all plain numbers at once, which is much faster than one after another."""
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


def _patterns(active):
    """Distinct rows, and for each row the place of its equal among them."""
    if active.shape[1] == 0 or len(active) == 0:
        return active[:1], np.zeros(len(active), int)
    patterns, which = np.unique(active, axis=0, return_inverse=True)
    return patterns, which.reshape(-1)


def _features(dimension, unordered, values):
    """Features of one parameter's values, shape (n_values, 1), or (n_values, n_choices)."""
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
            raise ValueError(f"{dimension.name}=nan has no place: use {dimension.allowed()}.")
    else:
        return _Scale([dimension])(np.array(values, dtype=float)[:, np.newaxis])
    return x[:, np.newaxis]


class _Scale:
    """Places between the bounds, for several numbers at once.

    Parameters
    ----------
    dimensions : list of Dimension
        Reals and integers, uniform or log-uniform.
    """

    def __init__(self, dimensions):
        self._dimensions = dimensions
        self._log = np.array([dimension.log for dimension in dimensions], bool)
        self._lowest = np.where(self._log, 0.0, -np.inf)  # not included
        bounds = np.array([dimension.bounds for dimension in dimensions], float).reshape(-1, 2).T
        self._low, high = np.log(bounds, out=bounds, where=self._log)
        self._span = np.where(high > self._low, high - self._low, 1.0)

    def __call__(self, x):
        """Places of the values, shape (n_values, n_dims), which are overwritten."""
        valid = (x > self._lowest) & (x < np.inf)
        if not valid.all():
            i, j = np.argwhere(~valid)[0]
            dimension, value = self._dimensions[j], x[i, j].item()
            raise ValueError(f"{dimension.name}={value} has no place: use {dimension.allowed()}.")
        np.log(x, out=x, where=self._log)
        x -= self._low
        x /= self._span
        return x


def _positions(dimension, values):
    """Places of choices in their list."""
    try:
        keys = [(type(value), value) for value in values]  # True is not 1
        places = {key: dimension.index(key[1]) for key in set(keys)}
        positions = [places[key] for key in keys]
    except TypeError:  # choices without a hash
        positions = [dimension.index(value) for value in values]
    if None in positions:
        value = values[positions.index(None)]
        raise ValueError(
            f"{dimension.name}={value!r} is not a choice: it must be {dimension.allowed()}."
        )
    return np.array(positions, int)
