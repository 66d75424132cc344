"""Asynchronous successive halving."""

from dataclasses import dataclass

from sksearch.schedulers._asynchronous import AsynchronousScheduler
from sksearch.schedulers._halving import Halving
from sksearch.schedulers._successive_halving import SuccessiveHalving


@dataclass(frozen=True)
class ASHA(Halving, AsynchronousScheduler):
    """Asynchronous successive halving: promote whoever is among the best so far.

    A free worker promotes, from the highest rung down, a candidate that is among the best
    ``1 / factor`` of its rung and was not promoted yet; if there is none, it starts a new one.

    Parameters
    ----------
    n_candidates : int or None, default=None
        Count of candidates at the lowest rung. None: ``factor ** (n_rungs - 1)``.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    variant : {"promotion", "stopping"}, default="promotion"
        "stopping" decides once, when a candidate reaches a rung: it goes on at once if it is
        among the best ``1 / factor`` of those that were there before it, and never otherwise.
        No fitted state has to be kept for later.

    Notes
    -----
    Which candidates are promoted depends on which results came first, and so on the count of
    workers and on how fast they are. With one worker, or on a
    `sksearch.executors.VirtualClock`, runs repeat exactly.

    When all candidates were started and nothing runs, the best of a rung that is too small to
    promote anybody is promoted, so that one candidate reaches `max_resources`.

    References
    ----------
    .. [1] L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht,
       A. Talwalkar, "A system for massively parallel hyperparameter tuning", MLSys 2020.
       https://arxiv.org/abs/1810.05934

    Examples
    --------
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import ASHA
    >>> from sksearch.simulators import FAMILIES, GammaCurves, Rastrigin, play
    >>> problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    >>> history = play(RandomSampler(), ASHA(27), problem, random_state=0, n_workers=8)
    >>> len(history.trials), max(trial.resource for trial in history.trials)
    (27, 81)
    """

    n_candidates: int | None = None
    factor: float = 3
    variant: str = "promotion"

    def brackets(self, problem):
        """Name one bracket over the whole ladder."""
        return SuccessiveHalving(self.n_candidates, self.factor).brackets(problem)
