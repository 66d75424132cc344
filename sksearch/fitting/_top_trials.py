"""The best candidates while a search runs, and their models."""

import bisect
import math
from contextlib import suppress
from typing import Any, Self

from sksearch.fitting._states import StateStore, as_state
from sksearch.history import History, Trial


class TopTrials:
    """The best trials, at most `size`, in the order of rows of ``cv_results_``.

    Those at one resource, or, if `any_rung_wins`, each at the rung where it was best.
    """

    def __init__(self, size: int | None, any_rung_wins: bool = False) -> None:
        self.size = size or 0
        self._any_rung_wins = any_rung_wins
        # (-score, -resource, bracket, id), best first
        self._entries: list[tuple[float, int, int, int]] = []

    @classmethod
    def of(cls, history: History, size: int, any_rung_wins: bool = False) -> Self:
        """The best of a history, at the largest resource that any trial has a score at."""
        scored = [
            (resource, trial, result.feasible_score)
            for trial in history.trials
            for resource, result in trial.results.items()
            if math.isfinite(result.feasible_score)
        ]
        top = max((resource for resource, _, _ in scored), default=0)
        best = cls(size, any_rung_wins)
        for resource, trial, score in scored:
            if any_rung_wins or resource == top:
                best.enter(trial, resource, score)
        return best

    def __contains__(self, trial_id: object) -> bool:
        return any(entry[-1] == trial_id for entry in self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def enter(self, trial: Trial, resource: int, score: float) -> list[int]:
        """Give a trial its place; return the id of the one that has none, if there is one."""
        entry = (-score, -resource, trial.bracket, trial.id)
        known = next((e for e in self._entries if e[-1] == trial.id), None)
        if known is not None and not entry < known:  # it was better, at an earlier rung
            return []
        if not math.isfinite(score):
            return [trial.id]
        if known is not None:
            self._entries.remove(known)
        bisect.insort(self._entries, entry)
        return [self._entries.pop()[-1]] if len(self._entries) > self.size else []


def models_of(states: StateStore, best: TopTrials) -> dict[tuple[int, int], Any]:
    """Return the models of the best, by trial and fold, as far as states can be read."""
    models = {}
    for key, state in states.items():
        if key[0] in best:
            with suppress(Exception):
                models[key] = as_state(state).estimator
    return models
