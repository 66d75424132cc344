"""What a space knows beyond its candidates: the estimator as it is, and what training finds."""

from collections.abc import Mapping
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
        names = [params.keys() <= set(subspace.names) for subspace in self._subspaces]
        which = names.index(True)
        subspace = self._subspaces[which]
        u = self._place(which, params, place)
        for name in subspace.names:
            if name not in params and name not in subspace.conditions:
                u[subspace.coordinates[name]] = 0.5  # CatBoost does not tell what it is
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
        fitting = [s for s in self._subspaces if s.violation(params) is None]
        others = [s for s in self._subspaces if params.keys() <= set(s.names)]
        free = (fitting or others)[0].free
        return {name: free[name] for name in params if name in free}

    @property
    def changeable_names(self) -> list[str]:
        """Names of what may change of some candidate, see `changeable`, list of str."""
        if self._candidate_list:
            return []
        return sorted(set().union(*(subspace.free for subspace in self._subspaces)))

    def baseline(self, values: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the candidate that a search should beat: the estimator's own values.

        Parameters
        ----------
        values : mapping of str to object
            Values by name, as ``get_params`` returns them.

        Returns
        -------
        params : dict or None
            Those of the active parameters that have a value; it may lie outside of the ranges.
            None where the space is a list of candidates, and this is none of them.
        """
        free = not self._candidate_list
        found = [subspace.baseline(values, free) for subspace in self._subspaces]
        pairs = zip(found, self._subspaces, strict=True)
        inside = [params for params, subspace in pairs if subspace.violation(params) is None]
        if inside or self._candidate_list:
            return inside[0] if inside else None
        return found[0]

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
        found, subspaces = self._outcomes, self._subspaces
        if len(found) == 1 or not any(found):
            return found[0]
        fitting = (o for o, s in zip(found, subspaces, strict=True) if not s.violation(params))
        return next(fitting, None)

    @property
    def outcomes(self) -> list[str]:
        """Names of the counts that training finds, list of str."""
        return sorted({found[0] for found in self._outcomes if found})
