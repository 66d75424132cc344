"""Asynchronous Hyperband."""

from dataclasses import dataclass

from sksearch.schedulers._asynchronous import AsynchronousScheduler
from sksearch.schedulers._halving import Halving
from sksearch.schedulers._hyperband import Hyperband


@dataclass(frozen=True)
class AsyncHyperband(Halving, AsynchronousScheduler):
    """Hyperband's brackets side by side, each an asynchronous successive halving.

    New candidates go to the bracket that has the smallest share of those that Hyperband's table
    gives it.

    Parameters
    ----------
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart.
    n_iterations : int, default=1
        How many times as many candidates each bracket has.
    variant : {"promotion", "stopping"}, default="promotion"
        See `ASHA`.

    References
    ----------
    .. [1] L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht,
       A. Talwalkar, "A system for massively parallel hyperparameter tuning", MLSys 2020.
       https://arxiv.org/abs/1810.05934
    """

    factor: float = 3
    n_iterations: int = 1
    variant: str = "promotion"

    def brackets(self, problem):
        """Name the brackets of Hyperband's table."""
        table = Hyperband(self.factor).brackets(problem)
        return [(self.n_iterations * n, resources) for n, resources in table]
