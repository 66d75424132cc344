"""Independent draws."""

from dataclasses import dataclass

from sksearch.base import Sampler


@dataclass(frozen=True)
class RandomSampler(Sampler):
    """Draw each candidate independently from the user's distributions."""

    def ask(self, history, start, rng):
        """Draw from the space."""
        return history.problem.space.sample(rng)
