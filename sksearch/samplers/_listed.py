"""Candidates given in advance."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sksearch.base import Sampler, Start, Told
from sksearch.history import History, Params


@dataclass(frozen=True)
class ListedSampler(Sampler):
    """Propose given candidates one after another, then independent draws.

    Parameters
    ----------
    candidates : sequence of dict
        Points of the space. They are read only when they are proposed.
    repeats : bool, default=False
        Whether to try a candidate again each time it is listed.

    Examples
    --------
    >>> from sksearch.history import Problem
    >>> from sksearch.samplers._listed import ListedSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.space import Space
    >>> from sksearch.study import Study
    >>> problem = Problem(Space({"C": range(1, 100)}))
    >>> study = Study(problem, ListedSampler([{"C": 10}, {"C": 1}]), FullFidelity(2))
    >>> [study.ask().params for _ in range(2)]
    [{'C': 10}, {'C': 1}]
    """

    candidates: Sequence[Params]
    repeats: bool = False

    @property
    def told(self) -> Told:
        """Receive repeated results if candidates repeat."""
        return Told(repeats=self.repeats)

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the next listed candidate, and without repetitions the next unknown one."""
        # All trials except the user's candidates came from the list, so earlier ones are known.
        first = max(0, len(history.trials) - len(history.problem.initial_params))
        if history.problem.repeats:
            left = self._left(history)
            return left[first] if first < len(left) else history.problem.space.sample(rng)
        for i in range(first, len(self.candidates)):
            if history.takes(params := self.candidates[i]):
                return params
        return history.problem.space.sample(rng)

    def _left(self, history: History) -> Sequence[Params]:
        """Return the allowed candidates, except the user's candidates, which were tried first."""
        space, allows = history.problem.space, history.problem.allows
        guesses = Counter(map(space.key, history.problem.initial_params))
        if allows is None and not guesses:
            return self.candidates
        if "listed" not in history.cache:
            left = history.cache["listed"] = []
            for params in self.candidates:
                if guesses[key := space.key(params)]:
                    guesses[key] -= 1
                elif allows is None or allows(params):
                    left.append(params)
        return history.cache["listed"]
