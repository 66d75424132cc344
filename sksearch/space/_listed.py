"""A list of candidates: a union whose dicts have one candidate each.

==========  ======================================================================
U           places of the candidates, NaN where one lacks a parameter: (size, n_dims)
==========  ======================================================================
"""

import numpy as np

from ._dimensions import Categorical, tag

# What the places of two independent uniform values differ by, squared, in the mean.
UNKNOWN = 1 / 6


class Listed:
    """Candidates with common coordinates, so that a model sees what they share.

    The choices of a parameter are the values that occur, numbers in ascending order: a
    candidate stands at the share of those below, whatever its law was.

    Parameters
    ----------
    candidates : list of dict
        Their active parameters.
    """

    def __init__(self, candidates):
        names = sorted(set().union(*candidates))
        self.dimensions = [
            Categorical(name, _occurring(c[name] for c in candidates if name in c))
            for name in names
        ]
        self.coordinates = [{n: j for j, n in enumerate(names) if n in c} for c in candidates]
        self.U = np.full((len(candidates), len(names)), np.nan)
        for u, candidate in zip(self.U, candidates, strict=True):
            for j, name in enumerate(names):
                if name in candidate:
                    u[j] = self.dimensions[j].to_unit(candidate[name])
        self._unordered = np.array([not dimension.ordered for dimension in self.dimensions])

    def nearest(self, u):
        """Number of the candidate nearest to a point, shape (n_dims,), which may have NaN."""
        gaps = np.abs(self.U - u)
        half_cells = 0.5 / np.array([dimension.size for dimension in self.dimensions])
        gaps[:, self._unordered] = (gaps > half_cells)[:, self._unordered]
        missing = np.isnan(self.U) | np.isnan(u)
        both = np.isnan(self.U) & np.isnan(u)
        squares = np.where(both, 0.0, np.where(missing, UNKNOWN, gaps**2))
        return int(squares.sum(axis=1).argmin())


def _occurring(values):
    """Distinct values, numbers in ascending order."""
    kept, tags = [], set()
    for value in values:
        key = tag(value)
        if key is None:
            known = any(value is other for other in kept)
        else:
            known = key in tags
            tags.add(key)
        if not known:
            kept.append(value)
    return sorted(kept) if all(type(value) in (int, float) for value in kept) else kept
