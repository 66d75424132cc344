"""What a space knows beyond its candidates: the untuned estimator, and what training finds."""

from collections.abc import Collection, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ._dimensions import Dimension
from ._outcome import Outcome
from ._values import place


class Beyond:
    """Base of `Space`, which sets the attributes."""

    _subspaces: list
    _outcomes: list
    _candidate_list: Any
    to_unit: Any
    check: Any
    _place: Any

    def contains(self, params: dict[str, Any]) -> bool:
        """Return whether params are a candidate."""
        try:
            self.check(params)
        except (TypeError, ValueError):
            return False
        return True

    def place(self, params: dict[str, Any]) -> np.ndarray:
        """Return coordinates of params that may lie outside of the space.

        Parameters
        ----------
        params : dict
            A candidate, or what `baseline` returned.

        Returns
        -------
        ndarray of shape (n_dims,)
            As `to_unit` returns them. A number beyond a range is at its end, None, which mostly
            stands for no limit, at the upper end, and what has no place at all in the middle.
        """
        if self.contains(params):
            return self.to_unit(params)
        which = self._owner(params) or 0
        subspace = self._subspaces[which]
        u = self._place(which, params, place)
        for name, j in subspace.coordinates.items():
            if name not in params and name not in subspace.conditions:
                u[j] = 0.5  # a library may not tell what it is
        return u

    def changeable(self, params: dict[str, Any]) -> dict[str, Dimension]:
        """Return what may change of a candidate and leave it one: no condition depends on it.

        Parameters
        ----------
        params : dict
            A candidate, or what `baseline` returned.

        Returns
        -------
        dimensions : dict of str to Dimension
            Dimensions of two values or more, by the name of the parameter.
        """
        if self._candidate_list:
            return {}
        free = self._subspaces[self._owner(params) or 0].free
        return {name: free[name] for name in params if name in free}

    @property
    def changeable_names(self) -> list[str]:
        """Names of what may change of some candidate, see `changeable`, list of str."""
        if self._candidate_list:
            return []
        return sorted(set().union(*(subspace.free for subspace in self._subspaces)))

    def baseline(
        self, values: Mapping[str, Any], inside: bool = False, kept: Collection[str] = ()
    ) -> dict[str, Any] | None:
        """Return the candidate that stands for the estimator's own values.

        Parameters
        ----------
        values : mapping of str to object
            Values by name, as ``get_params`` returns them.
        inside : bool, default=False
            Whether it must be a candidate of the space.
        kept : collection of str, default=()
            Names whose values decide which dicts of a union it may be of.

        Returns
        -------
        params : dict or None
            Those of the active parameters that have a value, and of those that the space leaves
            no choice the space's. Unless `inside`, it may lie outside of the ranges. None where
            there is none, as in a list of candidates of which it is none.
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
        """Return the count that training finds for a candidate.

        Parameters
        ----------
        params : dict
            A candidate.

        Returns
        -------
        outcome : tuple (str, Outcome) or None
            Name of the parameter and its largest value; None if there is none.
        """
        if len(self._outcomes) == 1 or not any(self._outcomes):
            return self._outcomes[0]
        owner = self._owner(params)
        return None if owner is None else self._outcomes[owner]

    @property
    def outcomes(self) -> list[str]:
        """Names of the counts that training finds, list of str."""
        return sorted({found[0] for found in self._outcomes if found})

    def _owner(self, params: Mapping[str, Any]) -> int | None:
        """Number of the dict of a union that params are of, even if they are beyond its ranges."""
        subspaces = list(enumerate(self._subspaces))
        fitting = (i for i, each in subspaces if each.violation(params) is None)
        others = (i for i, each in subspaces if each.has(params))
        return next(fitting, next(others, None))


def _ends(outcome: tuple[str, Outcome] | None, values: Mapping[str, Any]) -> bool:
    """Whether an outcome ends before the count that `values` have."""
    if outcome is None:
        return False
    name, found = outcome
    count = values.get(name)
    return not isinstance(count, Integral) or int(count) > found.high
