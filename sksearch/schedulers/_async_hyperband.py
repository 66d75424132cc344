"""Asynchronous Hyperband."""

from dataclasses import dataclass

from sksearch.history import Problem
from sksearch.schedulers._asynchronous import AsynchronousScheduler
from sksearch.schedulers._brackets import Selecting
from sksearch.schedulers._halving import Halving
from sksearch.schedulers._hyperband import Hyperband


@dataclass(frozen=True)
class AsyncHyperband(Halving, AsynchronousScheduler, Selecting):
    """Hyperband with all brackets at the same time, each by asynchronous successive halving.

    A new candidate goes to the bracket with the smallest share of its planned candidates started.

    Parameters
    ----------
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart.
    n_iterations : int, default=1
        Factor by which the number of candidates of Hyperband's brackets is multiplied.
    variant : {"promotion", "stopping"}, default="promotion"
        See `ASHA`.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    References
    ----------
    .. [1] L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht,
       A. Talwalkar, "A system for massively parallel hyperparameter tuning", MLSys 2020.
       https://arxiv.org/abs/1810.05934

    Examples
    --------
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers._async_hyperband import AsyncHyperband
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin(), n_epochs=27)
    >>> history = play(RandomSampler(), AsyncHyperband(), problem, random_state=0, n_workers=8)
    >>> max(trial.resource for trial in history.trials)
    27
    """

    factor: float = 3
    n_iterations: int = 1
    variant: str = "promotion"

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return Hyperband's brackets with `n_iterations` times their candidates."""
        table = Hyperband(self.factor).bracket_table(problem)
        return [(self.n_iterations * n, resources) for n, resources in table]
