"""Estimator of one candidate and fold, between two rungs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Class labels of the whole y: an array, a list of arrays for several outputs, or None.
Labels = np.ndarray | list[np.ndarray] | None


@dataclass
class State:
    """Estimator of one candidate and fold between two rungs.

    Parameters
    ----------
    estimator : estimator object
        Unfitted for a new candidate.
    n_steps : int
        Number of training steps from which a later rung continues; 0 if it starts again.
    seconds : float
        Training time so far.
    rows : array-like or None
        Training rows as the last step of a pipeline received them, if they cannot be recomputed.
    y : array-like or None
        Their target as the last step received it, if a step of the pipeline resampled the rows
        (imbalanced-learn).
    generators : object
        State of the random draws of the next epoch, in the format of the estimator's family.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.base._state import State
    >>> from sksearch.resources._epochs import EpochsResource
    >>> X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    >>> state = State(SGDClassifier(random_state=0))
    >>> state = EpochsResource().train(state, X, y, 3, 0, [0, 1], {})
    >>> state.n_steps
    3
    """

    estimator: Any
    n_steps: int = 0
    seconds: float = 0.0
    rows: Any = None
    y: Any = None
    generators: Any = None
