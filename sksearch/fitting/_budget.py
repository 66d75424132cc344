"""Whether the first bracket fits into the time, said while there is time left."""

import math

from sksearch._clock import Stopwatch
from sksearch._plain import warn
from sksearch.fitting._plan import SearchPlan
from sksearch.progress import Watch

PART = 0.1  # of the time, after which the speed is known well enough


class Budget:
    """Warns once if the first bracket will hardly end in time.

    Parameters
    ----------
    plan : SearchPlan
        What the search is going to do.
    timeout : float or None
        Seconds; None for no end.
    watch : Watch
        Counts what was spent.
    stopwatch : Stopwatch
        Knows how long that took.
    """

    def __init__(
        self, plan: SearchPlan, timeout: float | None, watch: Watch, stopwatch: Stopwatch
    ):
        rungs = [rung for rung in plan.rungs if rung.bracket == 0]
        self._units, self._unit = sum(rung.resources for rung in rungs), plan.unit
        self._watch, self._stopwatch = watch, stopwatch
        self._timeout = timeout or math.inf
        self._is_known = timeout is None or len(rungs) < 2

    def check(self, races: bool) -> None:
        """Compare what was spent with the time that has passed, after a result."""
        if self._is_known or races:
            return  # a race drops candidates, so nobody knows what it will cost
        elapsed = self._stopwatch.seconds()
        if not PART * self._timeout <= elapsed < self._timeout:
            return
        self._is_known = True
        seconds = elapsed * self._units / self._watch.progress().spent
        if seconds > self._timeout:
            warn(
                f"The first bracket will take about {seconds:.0f} s at this speed, and "
                f"timeout={self._timeout:g}: candidates are judged by less than the largest "
                f"count of {self._unit}. Pass a larger timeout, fewer candidates or a smaller "
                "max_resources; or take SearchCV, which has no brackets.",
                UserWarning,
                stacklevel=2,
            )
