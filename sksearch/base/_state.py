"""The estimator of one candidate and fold, between two rungs."""

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Class labels of the whole y: one array, a list of them for several outputs, None for no labels.
Labels = np.ndarray | list[np.ndarray] | None


@dataclass
class State:
    """The estimator of one candidate and fold between two rungs.

    Parameters
    ----------
    estimator : estimator object
        Unfitted for a new candidate.
    n_steps : int
        Number of training steps that a later rung goes on from; 0 when it begins again.
    seconds : float
        Time spent in training so far.
    rows : array-like or None
        The training rows as the last step of a pipeline saw them, where they cannot be made again.
    y : array-like or None
        Their target, where a step of the pipeline resampled the rows (imbalanced-learn).
    generators : object
        What the draws of the next epoch go on from, as the family of the estimator has it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.base import State
    >>> from sksearch.resources import EpochsResource
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
