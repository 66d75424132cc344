"""Independent draws."""

from dataclasses import dataclass

import numpy as np

from sksearch.base import Sampler, Start
from sksearch.history import History, Params


@dataclass(frozen=True)
class RandomSampler(Sampler):
    """Draw each candidate independently from the user's distributions."""

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Draw from the space."""
        return history.problem.space.sample(rng)
