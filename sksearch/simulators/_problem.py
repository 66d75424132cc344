"""What all simulated problems share.

==========  =====================================  ========================
symbol      meaning                                shape
==========  =====================================  ========================
``params``  candidates, each a dict                ``(n_candidates,)``
``losses``  loss after each epoch, less is better  ``(n_candidates, n_epochs)``
==========  =====================================  ========================
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


class CurveProblem(ABC):
    """A training that is imitated: every candidate has a loss curve, known at once.

    A subclass sets the attributes and computes `losses`. Instances are never changed, so that
    copies of an estimator share them.

    Attributes
    ----------
    space : dict or list of dict
        Names of parameters and their choices or distributions, ready for any search; a
        parameter that is active only at times is wrapped in `sksearch.When`. A list is a union,
        as in scikit-learn.
    max_resources : int
        Count of epochs of a whole training.
    minimum : float or None
        Lowest loss that any candidate has after `max_resources` epochs, without noise; None
        where it is not known.
    needs_trials : bool
        Whether `losses` needs a third argument ``trials``, the candidates' numbers in the order
        in which a search started them. `play` knows them, an estimator does not.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import uniform
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import Hyperband
    >>> from sksearch.simulators import CurveProblem, play
    >>> class Decay(CurveProblem):
    ...     space, max_resources = {"rate": uniform(0, 1)}, 9
    ...     def losses(self, params, seed):
    ...         return np.exp(-np.outer([p["rate"] for p in params], np.arange(1, 10)))
    >>> len(play(RandomSampler(), Hyperband(), Decay(), random_state=0).trials)
    15
    """

    space: dict[str, Any] | list[dict[str, Any]]
    max_resources: int
    minimum: float | None = None
    needs_trials: bool = False

    def __deepcopy__(self, memo: dict) -> "CurveProblem":
        return self  # scikit-learn's clone copies params, and curves may be many megabytes

    @property
    def names(self) -> list[str]:
        """Names of all parameters, in the order of the space."""
        dicts = [self.space] if isinstance(self.space, dict) else self.space
        return list(dict.fromkeys(name for each in dicts for name in each))

    @abstractmethod
    def losses(self, params: Sequence[Mapping[str, Any]], seed: int = 0) -> np.ndarray:
        """Compute loss curves.

        Parameters
        ----------
        params : sequence of dict
            Candidates, inactive parameters absent.
        seed : int, default=0
            Seed of all that is random in a candidate's curve. The other candidates of the list
            have no effect on it.

        Returns
        -------
        losses : ndarray of shape (len(params), max_resources)
            Column t - 1 is the loss after t epochs; less is better.

        Raises
        ------
        ValueError
            If a candidate lacks a parameter, or has one that the problem does not know.
        """

    def seconds(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Simulate how long trainings take: one second an epoch, unless a subclass knows better.

        Parameters
        ----------
        params : sequence of dict
            Candidates, inactive parameters absent.

        Returns
        -------
        seconds : ndarray of shape (len(params), max_resources)
            Column t - 1 is the count of seconds up to the end of epoch t.
        """
        epochs = np.arange(1.0, self.max_resources + 1)
        return np.repeat(epochs[None], len(params), axis=0)
