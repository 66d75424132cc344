"""The time of a search: seconds left, allowed for a fit, and reserved for the end.

All of them come from the `TimeLimit` of the search.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sksearch._utils._clock import now

# Share of the time for a candidate whose number of iterations is found in training
PART_OF_CURVE = 0.2
PART_OF_RISING = 0.6  # share of the time for the best candidate while its score still rises
PART_TO_CHOOSE = 0.25  # share of the time for the choice if the refit would take nearly all
PART_OF_LAST = 0.5  # share of the time that the refit may take
PART_OF_MEMBERS = 0.2  # limit for refits of other members, of the time without the first refit
N_MEMBERS = 6  # max. other members with reserved refit time; an average rarely has more
PART_OF_MEASURE = 0.05  # share of the time for a fit that measures the cost
SLACK = 1.5  # a refit may always take this multiple of the untuned estimator's


@dataclass(eq=False)
class TimeLimit:
    """The time limit of a search, over all processes in which it runs.

    Counted from the first start; downtime and replay between processes are excluded.

    Parameters
    ----------
    timeout : float or None, default=None
        Seconds for all, the last training included; None for no limit.
    overtime : float or None, default=None
        Seconds after that until running tasks are stopped; None: wait for them.

    Attributes
    ----------
    for_last : float
        Seconds reserved for the last training.
    for_members : float
        Seconds reserved for refitting the other members of an average.
    was_up : float
        Timeout reached at an earlier end of the search, otherwise 0.
    stands_still : bool
        True while results may be replayed from earlier processes, at no cost in time.

    Examples
    --------
    >>> from sksearch._utils._time_limit import TimeLimit
    >>> from sksearch.executors import VirtualClock, spend
    >>> with VirtualClock():
    ...     time = TimeLimit(60, overtime=5)
    ...     spend(20)
    ...     time.for_last = 10
    ...     time.left(), time.left_to_stop()
    (30.0, 35.0)
    """

    timeout: float | None = None
    overtime: float | None = None
    for_last: float = field(default=0.0, init=False)
    for_members: float = field(default=0.0, init=False)
    was_up: float = field(default=0.0, init=False)
    stands_still: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._began = now()

    def elapsed(self) -> float:
        """Return the seconds that the search has taken."""
        return now() - self._began

    def go_on(self, seconds: float) -> None:
        """Continue from the time used by earlier processes."""
        self._began = now() - seconds

    def left(self) -> float | None:
        """Return the seconds for new tasks, without the time reserved for the last fits."""
        if self.timeout is None or self.stands_still:
            return None
        if self.timeout <= self.was_up:
            return 0.0
        return self.timeout - self.elapsed() - self.for_last - self.for_members

    def left_to_stop(self) -> float | None:
        """Return the seconds until running tasks are stopped, None to wait for them."""
        left = self.left()
        return None if left is None or self.overtime is None else left + self.overtime

    def left_at(self, elapsed: float) -> float:
        """Return the seconds left after that many."""
        return math.inf if self.timeout is None else max(0.0, self.timeout - elapsed)

    def of_curve(self, n_folds: int) -> float | None:
        """Return the seconds for a fit on a fold that finds its number of iterations."""
        return None if self.timeout is None else self.timeout * PART_OF_CURVE / n_folds

    def limit_while_improving(self, n_folds: int, n_now: int) -> float | None:
        """Return the seconds for such a fit of the leader while its score still rises.

        `n_now` are the folds trained on before anything else is decided.
        """
        if self.timeout is None:
            return None
        left = self.left_at(self.elapsed()) - self.for_last - self.for_members
        return min(self.timeout * PART_OF_RISING / n_folds, left / n_now)

    def of_each(self, n_fits: int, last: float) -> float:
        """Return the seconds for each of that many fits before a last one of `last` seconds."""
        if self.timeout is None:
            return math.inf
        return max(self.timeout - last, PART_TO_CHOOSE * self.timeout) / n_fits

    def of_last(self, untuned: float) -> float | None:
        """Return the seconds for the last training, given the untuned estimator's."""
        if self.timeout is None:
            return None
        return max(PART_OF_LAST * self.timeout, SLACK * untuned)

    def of_members(self, seconds: Sequence[float]) -> float:
        """Return the seconds for refitting the other members of an average.

        A function of recorded facts, so that a resumed search has the same members.

        Parameters
        ----------
        seconds : sequence of float
            Seconds of training on all rows, for the best candidate and the others, best first.
        """
        if self.timeout is None:
            return math.inf
        most = PART_OF_MEMBERS * max(0.0, self.timeout - sum(seconds[:1]))
        return min(most, sum(seconds[1 : 1 + N_MEMBERS]))

    def is_long(self, seconds: float) -> bool:
        """True if a fit to measure the cost takes too long."""
        return self.timeout is not None and seconds > PART_OF_MEASURE * self.timeout

    def keep_for_last(self, seconds: float, leaves_some: bool) -> None:
        """Reserve seconds for the last training, and some to choose by if it `leaves_some`."""
        if leaves_some and self.timeout is not None:
            seconds = min(seconds, (1 - PART_TO_CHOOSE) * self.timeout)
        self.for_last = seconds


def on_more_rows(seconds: float, n_rows: float, n_samples: float, growth: float = 1.0) -> float:
    """Predict the seconds of a fit.

    Parameters
    ----------
    seconds : float
        Seconds of a fit on `n_rows`.
    n_rows, n_samples : float
        Numbers of rows.
    growth : float, default=1.0
        Exponent of the seconds over the number of rows.

    Returns
    -------
    seconds : float
        Predicted seconds on `n_samples`.
    """
    return seconds * (n_samples / n_rows) ** growth
