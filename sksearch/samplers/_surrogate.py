"""What samplers with a surrogate model share."""

from abc import abstractmethod

import numpy as np

from sksearch.acquisition import candidates, listed, maximise
from sksearch.base import Sampler
from sksearch.samplers._observations import observe
from sksearch.samplers._quasi_random import QuasiRandomSampler

N_INCUMBENTS = 5


class LearningSampler(Sampler):
    """A sampler with a model, after a few points of a scrambled Sobol sequence."""

    learns = True
    n_initial: int | None = None
    transfer: str = "rung"

    def ask(self, history, start, rng):
        """Propose a quasi-random point, or what the model says."""
        space = history.problem.space
        data = observe(history, start, self.transfer, n_enough=space.n_dims + 2)
        n_tried = len(data.y) + len(data.failed) + len(data.pending)
        if space.n_dims == 0 or n_tried < self.count_initial(history.problem) or len(data.y) < 2:
            return self._without_model(history, data, start, rng)
        return self._propose(history, data, rng)

    def count_initial(self, problem):
        """Count of candidates before the first model, the user's or 4 to 10.

        Where all candidates get the full resource, and their count is known, a quarter at most.
        """
        if self.n_initial is not None:
            return self.n_initial
        n_initial = min(10, max(4, problem.space.n_dims + 1))
        n = problem.n_candidates
        return n_initial if n is None else min(n_initial, max(2, n // 4))

    @abstractmethod
    def _propose(self, history, data, rng):
        """Params by a model of the observations."""

    def _without_model(self, history, data, start, rng):
        """Params where too little is known."""
        return QuasiRandomSampler("sobol").ask(history, start, rng)

    def _check(self, **allowed):
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} must be one of {', '.join(values)}."
                )
        if self.n_initial is not None and self.n_initial < 1:
            raise ValueError(f"n_initial={self.n_initial} must be at least 1.")


def best_points(data):
    """Points of the best scores, best first, shape (at most 5, n_dims)."""
    return data.U[np.argsort(-data.y, kind="stable")[:N_INCUMBENTS]]


def all_points(history):
    """All points of a small finite space, kept in the cache; else None."""
    if "listed" not in history.cache:
        history.cache["listed"] = listed(history.problem.space)
    return history.cache["listed"]


def first_unknown(history, points):
    """Params of the first point whose candidate is new, else of the first."""
    space = history.problem.space
    for u in points:
        params = space.from_unit(u)
        if not history.knows(params):
            return params
    return space.from_unit(points[0])


def best_of(criterion, history, data, rng, n_candidates, n_iterations=20, n_refined=5):
    """Params of the new candidate at which the criterion is greatest, as far as it is found."""
    space = history.problem.space
    points = all_points(history)
    if points is not None:
        order = np.argsort(-criterion(points), kind="stable")
        return first_unknown(history, points[order])
    points = candidates(space, best_points(data), rng, n_candidates)
    return first_unknown(history, maximise(criterion, space, points, rng, n_iterations, n_refined))
