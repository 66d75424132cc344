"""Candidates that are settled beforehand."""

from dataclasses import dataclass

import numpy as np

from sksearch.base import Sampler, Start
from sksearch.history import History, Params


@dataclass(frozen=True)
class ListedSampler(Sampler):
    """Propose given candidates one after another, then independent draws.

    Parameters
    ----------
    candidates : tuple of dict
        Points of the space.
    """

    candidates: tuple[Params, ...]

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the next listed candidate that is not known yet."""
        # All trials but the user's guesses came from the list, so no earlier one can be new.
        first = max(0, len(history.trials) - len(history.problem.initial_params))
        for params in self.candidates[first:]:
            if not history.knows(params):
                return params
        return history.problem.space.sample(rng)
