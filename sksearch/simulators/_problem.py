"""Base class of all simulated problems.

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
    """Simulated training: every candidate has a loss curve, known at once.

    A subclass sets the attributes and computes `losses`. Instances are never changed, so that
    copies of an estimator share them.

    Attributes
    ----------
    space : dict or list of dict
        Names of parameters and their choices or distributions, ready for any search; conditional
        parameters are wrapped in `sksearch.When`. A list is a union, as in scikit-learn.
    max_resources : int
        Number of epochs of a complete fit.
    minimum : float or None
        Lowest loss of any candidate after `max_resources` epochs, without noise; None if unknown.
    needs_trials : bool
        True if `losses` needs a third argument ``trials``, the candidates' numbers in the order in
        which a search started them. `play` passes them, an estimator cannot.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import uniform
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import Hyperband
    >>> from sksearch.simulators import play
    >>> from sksearch.simulators._problem import CurveProblem
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
        return self  # scikit-learn's clone copies parameters, and curves may be many megabytes

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
            Seed of all randomness in a candidate's curve. The other candidates of the list have no
            effect on it.

        Returns
        -------
        losses : ndarray of shape (len(params), max_resources)
            Column t - 1 is the loss after t epochs; less is better.

        Raises
        ------
        ValueError
            If a candidate lacks a parameter, or has an unknown one.
        """

    def seconds(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Simulate training times: one second per epoch, unless a subclass overrides it.

        Parameters
        ----------
        params : sequence of dict
            Candidates, inactive parameters absent.

        Returns
        -------
        seconds : ndarray of shape (len(params), max_resources)
            Column t - 1 is the number of seconds up to the end of epoch t.
        """
        epochs = np.arange(1.0, self.max_resources + 1)
        return np.repeat(epochs[None], len(params), axis=0)
