"""Declarations of samplers and schedulers: their inputs, and how they receive results."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reads:
    """Inputs that a sampler or a scheduler uses, in addition to the started candidates.

    If a search has an input that its sampler does not declare, the input is emulated: several
    objectives become a weighted sum, violated bounds lower the score, and some candidates are
    drawn from the prior. If its scheduler does not declare the input, an error is raised.

    Parameters
    ----------
    results : bool, default=False
        Whether decisions depend on results, and therefore on the number of jobs running at the
        same time, which the batch size limits.
    objectives : bool, default=False
        Whether several objectives are supported instead of a single score. A scheduler then
        compares candidates by rank.
    bounds : bool, default=False
        Whether measured bounds, and the size of their violations, are used.
    prior : bool, default=False
        Whether the user's prior is used; for samplers.
    states : bool, default=False
        Whether new trials continue from fitted states of other trials; for schedulers.
    own_bracket : bool, default=False
        Whether decisions about a bracket depend on results of this bracket alone. If both the
        sampler and the scheduler declare it, brackets run at the same time, see `Scheduler.lane`.

    Examples
    --------
    >>> from sksearch.base import Reads
    >>> from sksearch.samplers import GPSampler, RandomSampler
    >>> RandomSampler().reads == Reads()
    True
    >>> GPSampler().reads
    Reads(results=True, objectives=False, bounds=True, prior=True, states=False, own_bracket=False)
    """

    results: bool = False
    objectives: bool = False
    bounds: bool = False
    prior: bool = False
    states: bool = False
    own_bracket: bool = False


@dataclass(frozen=True)
class Told:
    """How a sampler or a scheduler receives events.

    Parameters
    ----------
    at_once : bool, default=False
        If True, results are passed on as they arrive, so decisions depend on the speed of the
        workers. If False, their order is determined by the history. For schedulers.
    by_fold : bool, default=False
        If True, results are passed on fold by fold, so that candidates can be compared on the same
        folds, see `Problem.races`. For schedulers.
    repeats : bool, default=False
        If True, the same candidate may be proposed and evaluated repeatedly. If False, the study
        asks again if a proposed candidate is already known. For samplers.

    Examples
    --------
    >>> from sksearch.base import Told
    >>> from sksearch.schedulers import ASHA, Hyperband
    >>> Hyperband().told == Told()
    True
    >>> ASHA().told
    Told(at_once=True, by_fold=False, repeats=False)
    """

    at_once: bool = False
    by_fold: bool = False
    repeats: bool = False


class Declares:
    """Base of samplers and schedulers: declared inputs, and how they receive events."""

    @property
    def reads(self) -> Reads:
        """Inputs of its decisions; a subclass sets ``reads = Reads(results=True)``."""
        return Reads()

    @property
    def told(self) -> Told:
        """How it receives events."""
        return Told()


def have_lanes(sampler: Declares, scheduler: Declares) -> bool:
    """Return whether brackets share no results, so that each has its own limit of running jobs."""
    return sampler.reads.own_bracket and scheduler.reads.own_bracket
