"""Asynchronous successive halving."""

from dataclasses import dataclass

from sksearch.history import Problem
from sksearch.schedulers._asynchronous import AsynchronousScheduler
from sksearch.schedulers._brackets import Selecting
from sksearch.schedulers._halving import Halving
from sksearch.schedulers._successive_halving import SuccessiveHalving


@dataclass(frozen=True)
class ASHA(Halving, AsynchronousScheduler, Selecting):
    """Asynchronous successive halving: promote each candidate among the best of its rung so far.

    An idle worker promotes a candidate that is among the best ``1 / factor`` of its rung and not
    yet promoted, beginning with the highest rung. Otherwise it starts a new candidate.

    Parameters
    ----------
    n_candidates : int or None, default=None
        Number of candidates at the lowest rung. None: ``factor ** (n_rungs - 1)``.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    variant : {"promotion", "stopping"}, default="promotion"
        "stopping" decides once, when a candidate has reached a rung: it continues immediately if
        it is among the best ``1 / factor`` of the rung so far, and never otherwise. No fitted
        state has to be kept for later.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    Notes
    -----
    The promoted candidates depend on the order of the results, and therefore on the number and
    speed of workers. With one worker, or on a `sksearch.executors.VirtualClock`, runs are exactly
    repeatable.

    When all candidates have finished, a rung may have too few candidates for a promotion. Its best
    candidate is then promoted anyway, so that one candidate reaches `max_resources`.

    References
    ----------
    .. [1] L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht,
       A. Talwalkar, "A system for massively parallel hyperparameter tuning", MLSys 2020.
       https://arxiv.org/abs/1810.05934

    Examples
    --------
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import ASHA
    >>> from sksearch.simulators import FAMILIES, GammaCurves
    >>> from sksearch.simulators._functions import Rastrigin
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Rastrigin(2), FAMILIES["rastrigin-1"], noise=10)
    >>> history = play(RandomSampler(), ASHA(27), problem, random_state=0, n_workers=8)
    >>> len(history.trials), max(trial.resource for trial in history.trials)
    (27, 81)
    """

    n_candidates: int | None = None
    factor: float = 3
    variant: str = "promotion"

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket with all rungs."""
        return SuccessiveHalving(self.n_candidates, self.factor).bracket_table(problem)
