"""The time: of this computer, or of a virtual clock.

All measurements and limits of time inside a search use this module, so that a search runs in
simulated seconds while a clock is open (see `sksearch.executors.VirtualClock`), and in real ones
otherwise.
"""

import os
import time
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

# A context variable: a search in another thread, or in another process, has its own time.
_open_clock: ContextVar = ContextVar("sksearch_clock", default=None)


def open_clock() -> Any:
    """Return the virtual clock open in this thread, None if time is real."""
    return _open_clock.get()


def now() -> float:
    """Return the seconds since a point fixed within a task and within a search."""
    clock = _open_clock.get()
    return time.perf_counter() if clock is None else clock.now()


def wall_time() -> float:
    """Return the time that all workers share: seconds since 1970, or since a clock was opened."""
    clock = _open_clock.get()
    return time.time() if clock is None else clock.seconds


def was_read(seconds: float, precision: float = 0.0) -> bool:
    """True if this may be a reading of the computer's clock since this process began."""
    return BEGAN - precision <= seconds <= time.time() + 1


def was_counted(seconds: float) -> bool:
    """True if this may be a reading of the monotonic clock."""
    return COUNTED_FROM <= seconds <= time.perf_counter()


def _age() -> float:
    """Seconds since this process began, or a minute before this module was imported."""
    # Only Linux has /proc. Containers may show another uptime there.
    with (
        suppress(OSError, ValueError, IndexError, AttributeError),
        open("/proc/self/stat") as stat,
    ):
        began = float(stat.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - began
        return age + 1 if age >= 0 else 60.0
    return 60.0


# On a computer that has just started, settings are as small as readings of its monotonic clock.
BEGAN, COUNTED_FROM = time.time() - _age(), max(100.0, time.perf_counter() - _age())


def spend(seconds: float) -> None:
    """Advance simulated time, in an estimator that imitates training.

    Parameters
    ----------
    seconds : float
        Duration of the simulated training, in seconds. It has no effect if no
        `sksearch.executors.VirtualClock` is open.

    Raises
    ------
    ValueError
        If a clock is open and `seconds` is negative or not finite.

    Examples
    --------
    >>> from sksearch.executors import VirtualClock, spend
    >>> with VirtualClock() as clock:
    ...     spend(3600)
    >>> clock.seconds
    3600.0
    """
    clock = _open_clock.get()
    if clock is not None:
        clock.spend(seconds)
