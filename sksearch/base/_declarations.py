"""What a sampler or a scheduler says of itself: what it reads, and how it wants to be told."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reads:
    """What a sampler or a scheduler looks at, beside the candidates that were begun.

    What it leaves out is done for it, or refused: a sampler that learns and looks at one score
    gets weighted objectives, and worse scores where a bound is broken; one that does not look at
    the prior is mixed with draws from it; a scheduler is refused where there is what it does not
    look at.

    Parameters
    ----------
    results : bool, default=False
        Whether what is begun depends on results, and so on the count of jobs that are under way:
        ``batch_size`` limits it.
    objectives : bool, default=False
        Several objectives, and not the score alone: a scheduler compares by rank.
    bounds : bool, default=False
        Measured bounds, and by how much they are broken.
    prior : bool, default=False
        The problem's prior, which says where good values are expected: for samplers.
    states : bool, default=False
        Fitted states of other trials, from which new ones go on: for schedulers.

    Examples
    --------
    >>> from sksearch.base import Reads
    >>> from sksearch.samplers import GPSampler, RandomSampler
    >>> RandomSampler().reads == Reads()
    True
    >>> GPSampler().reads
    Reads(results=True, objectives=False, bounds=True, prior=True, states=False)
    """

    results: bool = False
    objectives: bool = False
    bounds: bool = False
    prior: bool = False
    states: bool = False


@dataclass(frozen=True)
class Told:
    """How a sampler or a scheduler wants to be told what has happened.

    Parameters
    ----------
    at_once : bool, default=False
        Results as they come in, and not in an order that the history fixes, so that
        decisions depend on the workers' speed: for schedulers.
    by_fold : bool, default=False
        Results fold by fold, by which candidates are compared, see `Problem.races`: for
        schedulers.
    repeats : bool, default=False
        Each result of a candidate that is tried again: for samplers. Else the study asks for
        another candidate where one is known.

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
    """What samplers and schedulers have in common: they say what they read, and are told."""

    @property
    def reads(self) -> Reads:
        """What it depends on; a subclass names it as ``reads = Reads(results=True)``."""
        return Reads()

    @property
    def told(self) -> Told:
        """How it wants to be told what has happened."""
        return Told()
