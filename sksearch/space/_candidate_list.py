"""A list of candidates: a union of dicts with one candidate each.

==========  ======================================================================
U           coordinates of the candidates, NaN for missing parameters: (size, n_dims)
==========  ======================================================================
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ._dimensions import Categorical, Dimension
from ._values import hashable_key

# Mean squared difference between the coordinates of two independent uniform values.
SQUARE_OF_MISSING = 1 / 6


class CandidateList:
    """Candidates with common coordinates, so that a model can compare them.

    The choices of a parameter are the values that occur, numbers in ascending order. The
    coordinate of a number is therefore the share of smaller ones, whatever its distribution.

    Parameters
    ----------
    candidates : list of dict
        Active parameters of each candidate.
    """

    def __init__(self, candidates: list[dict[str, Any]]):
        every = [
            Categorical(name, _distinct(c[name] for c in candidates if name in c))
            for name in sorted(set().union(*candidates))
        ]
        # A single value that some candidates lack still distinguishes the others.
        self.constants: list[Dimension] = [
            d for d in every if d.size == 1 and all(d.name in c for c in candidates)
        ]
        self.dimensions: list[Dimension] = [d for d in every if d not in self.constants]
        names = [dimension.name for dimension in self.dimensions]
        self.coordinates = [{n: j for j, n in enumerate(names) if n in c} for c in candidates]
        self.U = np.full((len(candidates), len(names)), np.nan)
        for u, candidate in zip(self.U, candidates, strict=True):
            for j, name in enumerate(names):
                if name in candidate:
                    u[j] = self.dimensions[j].to_unit(candidate[name])
        # Index of each candidate by its key, filled by the space
        self.numbers: dict[tuple, int] = {}
        self._unordered = np.array([not dimension.ordered for dimension in self.dimensions])

    def __getstate__(self) -> dict[str, Any]:
        # Some formats (skops) do not support dicts with tuples as keys.
        return vars(self) | {"numbers": {}}

    def nearest(self, u: np.ndarray) -> int:
        """Return the number of the candidate nearest to a point of shape (n_dims,)."""
        gaps = np.abs(self.U - u)
        half_cells = 0.5 / np.array([dimension.size for dimension in self.dimensions])
        gaps[:, self._unordered] = (gaps > half_cells)[:, self._unordered]
        missing = np.isnan(self.U) | np.isnan(u)
        both = np.isnan(self.U) & np.isnan(u)
        squares = np.where(both, 0.0, np.where(missing, SQUARE_OF_MISSING, gaps**2))
        return int(squares.sum(axis=1).argmin())


def _distinct(values: Iterable) -> list:
    """Return the distinct values, numbers in ascending order."""
    kept: list = []
    keys = set()
    for value in values:
        key = hashable_key(value)
        if key is None:
            known = any(value is other for other in kept)
        else:
            known = key in keys
            keys.add(key)
        if not known:
            kept.append(value)
    return sorted(kept) if all(type(value) in (int, float) for value in kept) else kept
