"""Components of a finite subspace: parameters linked by conditions, with numbered candidates.

A box is a dict ``{name: range of value indices}`` of the active parameters of some candidates.
The candidates of a component are listed box by box.

Boxes follow the order of their ranges, parents before children. Within a box names are sorted, and
the last one varies fastest. Both classes number candidates in this way.
"""

import bisect
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

#: Maximum number of boxes times names to list; larger components count as infinite.
MAX_LISTED = 2**21

Box = dict[str, range]


class Component(ABC):
    """A component with numbered candidates."""

    size: Any
    reached: set[str]

    @abstractmethod
    def place(self, k: int) -> tuple[Box, int]:
        """Return the box of the k-th candidate, and its number within the box."""

    def indices(self, k: int) -> dict[str, int]:
        """Return the value indices of the k-th candidate, 0 <= k < size."""
        box, k = self.place(k)
        indices = {}
        for name in sorted(box, reverse=True):
            k, index = divmod(k, _length(box[name]))
            indices[name] = box[name].start + index
        return indices


class Tree(Component):
    """Parameters with one parent each, except the root: counted without a list of boxes.

    Parameters
    ----------
    pieces : dict of str to list of range
        Ranges of each parameter's value indices, parents before children.
    children : dict of str to list of list of str
        Active children for each range of a parameter.

    Attributes
    ----------
    size : int
        Number of candidates.
    reached : set of str
        Parameters active in at least one candidate.
    """

    def __init__(self, pieces: dict[str, list[range]], children: dict[str, list[list[str]]]):
        self._pieces = pieces
        self._children = children
        self._counts: dict[str, int] = {}  # candidates by top parameter
        for name in reversed(pieces):
            self._counts[name] = sum(
                _length(piece) * self._count(below)
                for piece, below in zip(pieces[name], children[name], strict=True)
            )
        root = next(iter(pieces))
        self.size = self._counts[root]
        self.reached = {root}
        for name in pieces:
            if name in self.reached:
                self.reached.update(*children[name])

    def place(self, k: int) -> tuple[Box, int]:
        """Descend from the root by the numbers of remaining candidates."""
        box: Box = {}
        # Number of candidates of the box, and of the remaining parameters
        size, rest = 1, self.size
        active = {next(iter(self._pieces))}
        for name, pieces in self._pieces.items():
            if name not in active:
                continue
            others = rest // self._counts[name]
            for piece, below in zip(pieces, self._children[name], strict=True):
                rest = others * self._count(below)
                n = size * _length(piece) * rest
                if k < n:
                    break
                k -= n
            box[name] = piece
            size *= _length(piece)
            active.update(below)
        return box, k

    def _count(self, names: Sequence[str]) -> int:
        return math.prod(self._counts[name] for name in names)


class Boxes(Component):
    """Parameters with several parents for at least one of them: all boxes are listed.

    Parameters
    ----------
    pieces : dict of str to list of range
        Ranges of each parameter's value indices, parents before children.
    is_active : callable
        ``is_active(box, name) -> bool``, whether a parameter is active in a box.

    Attributes
    ----------
    size : int or inf
        Number of candidates; inf if there are too many boxes to list.
    reached : set of str
        Parameters active in at least one of the boxes listed.
    """

    def __init__(self, pieces: dict[str, list[range]], is_active: Callable[[Box, str], bool]):
        self._boxes: list[Box] = []
        boxes: list[Box] = [{}]
        for name in pieces:
            grown: list[Box] = []
            for box in boxes:
                if is_active(box, name):
                    grown += [{**box, name: piece} for piece in pieces[name]]
                else:
                    grown.append(box)
                if len(grown) * len(pieces) > MAX_LISTED:
                    self.size, self.reached = math.inf, set()
                    return
            boxes = grown
        self._boxes = boxes
        self._ends = list(itertools.accumulate(map(_box_size, boxes)))
        self.size = self._ends[-1]
        self.reached = set().union(*boxes)

    def place(self, k: int) -> tuple[Box, int]:
        """Find the box from the numbers of the last candidates of all boxes."""
        which = bisect.bisect_right(self._ends, k)
        box = self._boxes[which]
        return box, k - (self._ends[which] - _box_size(box))


def _length(indices: range) -> int:
    return indices.stop - indices.start  # len() overflows beyond 2**63


def _box_size(box: Box) -> int:
    return math.prod(map(_length, box.values()))
