"""The best candidates while a search runs."""

import bisect
import math

from sksearch.history import Trial

N_AVERAGED = 30  # best candidates of which an average is chosen


class TopTrials:
    """The best trials, at most `size`, in the order of rows of ``cv_results_``.

    Each is at the rung where it was best, of those entered.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        # (-score, -resource, bracket, id), best first
        self._entries: list[tuple[float, int, int, int]] = []

    def __contains__(self, trial_id: object) -> bool:
        return any(entry[-1] == trial_id for entry in self._entries)

    def places(self) -> list[tuple[int, int]]:
        """List trials and the resource at which each was best, the best one first."""
        return [(trial_id, -resource) for _, resource, _, trial_id in self._entries]

    def __len__(self) -> int:
        return len(self._entries)

    def enter(self, trial: Trial, resource: int, score: float) -> list[int]:
        """Insert a trial; return the id of the trial displaced, if any."""
        entry = (-score, -resource, trial.bracket, trial.id)
        known = next((e for e in self._entries if e[-1] == trial.id), None)
        if known is not None and not entry < known:  # its earlier rung was better
            return []
        if not math.isfinite(score):
            return [trial.id]
        if known is not None:
            self._entries.remove(known)
        bisect.insort(self._entries, entry)
        return [self._entries.pop()[-1]] if len(self._entries) > self.size else []
