"""Whether the first bracket fits into the time, said while there is time left."""

from sksearch._utils._terminal import warn
from sksearch._utils._time_limit import TimeLimit
from sksearch.fitting.run._plan import SearchPlan
from sksearch.progress import Watch

PART = 0.1  # of the time, after which the speed is known well enough


class Budget:
    """Warns once if the first bracket will hardly end in time.

    Parameters
    ----------
    plan : SearchPlan
        The plan of the search.
    watch : Watch
        Counts what was spent.
    time : TimeLimit
        Knows how long that took.
    """

    def __init__(self, plan: SearchPlan, watch: Watch, time: TimeLimit) -> None:
        rungs = [rung for rung in plan.rungs if rung.bracket == 0]
        self._units, self._unit = sum(rung.resources for rung in rungs), plan.unit
        self._watch, self._time = watch, time
        # Where candidates are dropped on the way, nobody knows what it will cost.
        self._is_known = len(rungs) < 2 or plan.is_most

    def check(self) -> None:
        """Compare what was spent with the time that has passed, after a result."""
        timeout = self._time.timeout
        if self._is_known or timeout is None:
            return
        elapsed = self._time.elapsed()
        if not PART * timeout <= elapsed < timeout:
            return
        self._is_known = True
        seconds = elapsed * self._units / self._watch.progress().spent
        if seconds > timeout:
            warn(
                f"The first bracket will take about {seconds:.0f} s at this speed, and "
                f"timeout={timeout:g}: candidates are judged by less than the largest "
                f"count of {self._unit}. Pass a larger timeout, fewer candidates or a smaller "
                "max_resources; or a search without brackets.",
                UserWarning,
                stacklevel=2,
            )
