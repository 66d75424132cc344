"""Declarations of samplers and schedulers: their inputs, and how they receive results."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reads:
    """Inputs of a sampler or a scheduler, in addition to the candidates started.

    Undeclared inputs are emulated or rejected. A sampler that learns from a single score gets
    weighted objectives, and lower scores for violated bounds; a sampler that ignores the prior is
    mixed with draws from it. A scheduler is rejected if the problem needs an undeclared input.

    Parameters
    ----------
    results : bool, default=False
        Whether decisions depend on results, and therefore on the number of jobs running at the
        same time, which the batch size limits.
    objectives : bool, default=False
        Several objectives instead of a single score: a scheduler compares by rank.
    bounds : bool, default=False
        Measured bounds, and the size of their violations.
    prior : bool, default=False
        The problem's prior on the location of good values: for samplers.
    states : bool, default=False
        Fitted states of other trials, from which new trials continue: for schedulers.

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
    """How a sampler or a scheduler receives events.

    Parameters
    ----------
    at_once : bool, default=False
        Results as they arrive instead of in an order fixed by the history, so that decisions
        depend on the workers' speed: for schedulers.
    by_fold : bool, default=False
        Results fold by fold, to compare candidates on the same folds, see `Problem.races`: for
        schedulers.
    repeats : bool, default=False
        Each result of a repeated candidate: for samplers. Otherwise the study asks for another
        candidate if one is already known.

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
