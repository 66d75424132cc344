"""Families of loss-curve shapes: section 7.3.3 of the thesis cited by `GammaCurves`."""

import math
from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class CurveFamily:
    """A family of loss-curve shapes; the default is flat.

    Parameters
    ----------
    ml_aggressiveness : float, default=0.0
        Initial steepness of curves.
    necessary_aggressiveness : float, default=0.0
        Delay until curves approach their end; 0 is immediately.
    up_spikiness : float, default=0.0
        Largest upward step, in units of the loss.
    smooth : bool, default=False
        If True, a Savitzky-Golay filter smooths the curve between its two ends.
    start_shift, end_shift : float, default=0.0
        Distance of the curves' beginning and end below the underlying function.

    Examples
    --------
    >>> from sksearch.simulators._families import CurveFamily
    >>> CurveFamily(1.5, 10, 15, end_shift=200).smooth
    False
    """

    ml_aggressiveness: float = 0.0
    necessary_aggressiveness: float = 0.0
    up_spikiness: float = 0.0
    smooth: bool = False
    start_shift: float = 0.0
    end_shift: float = 0.0

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, astuple(self))):
            raise ValueError(f"{self}: all numbers must be finite.")
        if not self.necessary_aggressiveness >= 0:
            raise ValueError(
                f"necessary_aggressiveness={self.necessary_aggressiveness} must be at least 0: "
                "otherwise curves move away from their end."
            )


def _three_families(
    up_spikiness: tuple[float, float, float], start_shift: float, end_shift: float
) -> tuple[CurveFamily, ...]:
    """Return the thesis' aggressive, moderate and little aggressive family."""
    shifts = (start_shift, end_shift)
    return (
        CurveFamily(1.5, 10, up_spikiness[0], False, *shifts),
        CurveFamily(0.5, 7, up_spikiness[1], False, *shifts),
        CurveFamily(0.2, 4, up_spikiness[2], True, *shifts),
    )


#: Sets of families: "flat", and those in the thesis' figures and experiments, of 81 epochs.
FAMILIES = {
    "flat": (CurveFamily(),),
    "branin": _three_families((5, 3, 1), 0, 200),
    "rastrigin-1": _three_families((15, 10, 7), 0, 200),
    "rastrigin-2": _three_families((15, 10, 7), 0, 200) + _three_families((15, 10, 7), 200, 400),
}
