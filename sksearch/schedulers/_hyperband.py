"""Hyperband: several brackets of successive halving, from early to no stopping."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sksearch.history import Problem
from sksearch.schedulers._brackets import BracketScheduler, Selecting, ladder
from sksearch.schedulers._halving import Halving


@dataclass(frozen=True)
class Hyperband(Halving, BracketScheduler, Selecting):
    """Brackets of successive halving, one for each possible lowest rung.

    It is unknown how much training is necessary to distinguish good candidates from bad ones, so
    the brackets begin with different amounts of training.

    Parameters
    ----------
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    n_iterations : int, default=1
        Number of times the set of brackets is run, each time with new candidates.
    candidates : {"table", "algorithm1"}, default="table"
        Numbers of candidates at the start of the brackets. For ``max_resources=81`` and
        ``factor=3``, these are 81, 27, 9, 6 and 5 in the table of [1]_, and 81, 34, 15, 8 and 5 by
        the formula of its Algorithm 1.
    brackets : sequence of int or None, default=None
        Brackets to run, in this order. A bracket is named by its number of promotions, s. None:
        all of them, s from s_max to 0. ``range(4, 1, -1)`` excludes brackets that begin with long
        fits. These have few, expensive candidates, but help if low rungs are misleading.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    Notes
    -----
    Bracket s has s + 1 rungs; s_max is the largest for which the first rung has `min_resources`.
    The table is ``floor((s_max + 1) / (s + 1)) * factor**s``, so no bracket costs more than
    ``(s_max + 1) * max_resources`` units. In Algorithm 1, ``ceil`` is applied to the product
    instead. All computations use exact fractions.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar, "Hyperband: a novel
       bandit-based approach to hyperparameter optimization", JMLR 18(185):1-52, 2018.
       https://jmlr.org/papers/v18/16-558.html

    Examples
    --------
    >>> from scipy.stats import uniform
    >>> from sksearch.history import Problem
    >>> from sksearch.space import Space
    >>> problem = Problem(Space({"x": uniform()}), min_resources=1, max_resources=81)
    >>> for rungs in Hyperband().plan(problem).brackets:
    ...     print(*(f"{rung.n_candidates}@{rung.resource}" for rung in rungs))
    81@1 27@3 9@9 3@27 1@81
    27@3 9@9 3@27 1@81
    9@9 3@27 1@81
    6@27 2@81
    5@81
    >>> [len(rungs) for rungs in Hyperband(brackets=(4, 3, 2)).plan(problem).brackets]
    [5, 4, 3]
    """

    factor: float = 3
    n_iterations: int = 1
    candidates: str = "table"
    brackets: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if self.candidates not in ("table", "algorithm1"):
            raise ValueError(
                f"candidates={self.candidates!r} must be 'table' (81 27 9 6 5 for "
                "max_resources=81) or 'algorithm1' (81 34 15 8 5)."
            )
        if self.brackets is not None:
            self._check_brackets(self.brackets)
            object.__setattr__(self, "brackets", tuple(self.brackets))

    @staticmethod
    def _check_brackets(found: Any) -> None:
        """Raise ValueError unless the bracket numbers are distinct integers."""
        is_list = isinstance(found, Sequence) and not isinstance(found, str) and len(found)
        if not is_list or len(set(found)) < len(found) or not all(map(_is_count, found)):
            raise ValueError(
                f"brackets={found!r} must be distinct integers of at least 0, such as (4, 3, 2): "
                "the number of promotions in each bracket. None runs all brackets."
            )

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return s_max + 1 brackets, or the selected ones, `n_iterations` times."""
        resources = ladder(problem.min_resources, problem.max_resources, self.factor)
        s_max = len(resources) - 1
        eta = Fraction(self.factor)
        asked = range(s_max, -1, -1) if self.brackets is None else self.brackets
        if max(asked) > s_max:
            raise ValueError(
                f"brackets={self.brackets!r} contains {max(asked)}, but with "
                f"min_resources={problem.min_resources}, max_resources={problem.max_resources} "
                f"and factor={self.factor} brackets are numbered from {s_max} to 0."
            )
        brackets = []
        for s in asked:
            if self.candidates == "table":
                n = math.floor((s_max + 1) // (s + 1) * eta**s)
            else:
                n = math.ceil(Fraction(s_max + 1, s + 1) * eta**s)  # [1]_ Alg. 1, line 3
            brackets.append((n, resources[s_max - s :]))
        return brackets * self.n_iterations


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0
