"""All candidates of a finite space, one after another."""

import math
from dataclasses import dataclass

import numpy as np

from sksearch.base import Sampler, Start
from sksearch.history import History, Params


@dataclass(frozen=True)
class GridSampler(Sampler):
    """Enumerate a finite space in the order of scikit-learn's ``ParameterGrid``.

    Examples
    --------
    >>> from sksearch.history import Problem
    >>> from sksearch.samplers import GridSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.space import Space
    >>> from sksearch.study import Study
    >>> problem = Problem(Space({"C": [1, 10], "kernel": ["rbf", "linear"]}))
    >>> study = Study(problem, GridSampler(), FullFidelity(4))
    >>> [tuple(study.ask().params.values()) for _ in range(4)]
    [(1, 'rbf'), (1, 'linear'), (10, 'rbf'), (10, 'linear')]
    """

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the next candidate of the grid not yet started.

        Raises
        ------
        ValueError
            If the space is not finite.
        """
        space = history.problem.space
        if space.size == math.inf:
            raise ValueError(
                "A grid needs a finite space, but some parameters have continuous "
                "distributions: give lists of values, or use RandomSampler."
            )
        # All trials except the user's candidates came from the grid, so earlier indices are known.
        i = max(0, len(history.trials) - len(history.problem.initial_params))
        while i < space.size - 1 and not history.takes(space.candidate(i)):
            i += 1
        return space.candidate(int(min(i, space.size - 1)))
