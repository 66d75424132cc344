"""Number of training steps found in training, instead of searched."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ._conditions import When

MOST_THRESHOLDS = 49  # the last ones are 0.992 and 0.008
STEP = 0.2  # distance between two thresholds, in log odds


@dataclass(frozen=True)
class Outcome:
    """Number of iterations determined by training, as the value of a parameter in a space.

    The best number of trees depends on the other parameters, such as the learning rate. Comparing
    candidates with a small number of trees is therefore misleading, and searching the number
    requires additional fits. With an `Outcome` each candidate is trained step by step, and scored
    on the test fold during training. Training stops when the score has passed its maximum, or at
    `high`. The number of iterations with the best mean score over the folds becomes part of the
    candidate's parameters, and the refit on all rows uses it.

    Parameters
    ----------
    high : int
        Largest number of iterations.

    See Also
    --------
    sksearch.space.default_space : Contains outcomes for boosters and nets.

    Notes
    -----
    An outcome can be the value of ``max_iter`` of ``HistGradientBoosting``, ``n_estimators`` of
    ``GradientBoosting``, the number of trees of other libraries' boosting, and ``max_iter`` of an
    ``MLP``, trained epoch by epoch with ``partial_fit``.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.space import Outcome
    >>> space = {"learning_rate": loguniform(0.05, 0.5), "max_iter": Outcome(50)}
    >>> search = RandomSearchCV(
    ...     HistGradientBoostingClassifier(max_leaf_nodes=4), space, n_iter=2, cv=2,
    ...     random_state=0,
    ... ).fit(*load_breast_cancer(return_X_y=True))
    >>> search.best_estimator_.n_iter_ == search.best_params_["max_iter"] <= 50
    True
    """

    high: int

    def value(self, count: int) -> Any:
        """Return the value of the parameter after a given number of steps.

        Parameters
        ----------
        count : int
            Number of trained steps.

        Returns
        -------
        value : int or float
            Value of the parameter.
        """
        return count

    def __post_init__(self) -> None:
        if not isinstance(self.high, Integral) or isinstance(self.high, bool) or self.high < 1:
            raise ValueError(
                f"{type(self).__name__}(high={self.high!r}): high must be an integer of at least "
                "1."
            )


@dataclass(frozen=True)
class Threshold(Outcome):
    """Decision threshold of two classes found by the search, as the value of a parameter.

    It can be the value of ``threshold`` of scikit-learn's ``FixedThresholdClassifier``. Each
    candidate is fitted once on each fold, and scored on the test rows at 49 thresholds from 0.008
    to 0.992, spaced more closely near 0 and 1. The threshold with the best mean score over the
    folds becomes part of the parameters of the candidate, and the refit on all rows uses it. No
    additional fits are needed, while ``TunedThresholdClassifierCV`` in a search needs six fits
    instead of one.

    Parameters
    ----------
    high : int, default=49
        Number of thresholds, at most 49, beginning with the thresholds closest to 0.5.

    See Also
    --------
    Outcome : Number of iterations found in training.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import FixedThresholdClassifier
    >>> from sksearch import RandomSearchCV
    >>> from sksearch.space import Threshold
    >>> X, y = make_classification(weights=[0.9], flip_y=0.1, random_state=0)
    >>> model = FixedThresholdClassifier(LogisticRegression())
    >>> space = {"estimator__C": [0.1, 1, 10], "threshold": Threshold()}
    >>> search = RandomSearchCV(model, space, n_iter=3, scoring="f1", random_state=0).fit(X, y)
    >>> search.best_estimator_.threshold == search.best_params_["threshold"] < 0.5
    True
    """

    high: int = MOST_THRESHOLDS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high > MOST_THRESHOLDS:
            raise ValueError(
                f"Threshold(high={self.high!r}): high must be at most {MOST_THRESHOLDS}, the "
                f"number of thresholds from {self.value(MOST_THRESHOLDS)} to "
                f"{self.value(MOST_THRESHOLDS - 1)}."
            )

    def value(self, count: int) -> float:
        """Return the threshold with a given index.

        Parameters
        ----------
        count : int
            Index from 1, for the thresholds 0.5, 0.55, 0.45, 0.599, ... The first one wins ties.

        Returns
        -------
        value : float
            Threshold from 0.008 to 0.992, rounded to three digits.
        """
        log_odds = STEP * (count // 2) * (1 if count % 2 == 0 else -1)
        return round(1 / (1 + math.exp(-log_odds)), 3)


def outcome_named(name: str) -> Outcome:
    """Return an outcome for a parameter from its name, the only information in a record."""
    return Threshold() if _is_threshold(name) else Outcome(1)


def _is_threshold(name: str) -> bool:
    return name.rpartition("__")[2] == "threshold"


def split_outcome(grid: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, Outcome] | None]:
    """Separate the searched parameters from the outcome determined by training.

    Parameters
    ----------
    grid : mapping of str to object
        One dict of a space.

    Returns
    -------
    searched : dict
        All parameters except the outcome.
    outcome : tuple (str, Outcome) or None
        Name of the parameter, and its outcome; otherwise None.

    Raises
    ------
    ValueError
        If there are several outcomes, one with a condition, or a number in place of a threshold or
        vice versa.
    """
    found = [(name, values) for name, values in grid.items() if isinstance(values, Outcome)]
    for name, values in grid.items():
        if isinstance(values, When) and isinstance(values.values, Outcome):
            raise ValueError(
                f"param_distributions[{name!r}] is an Outcome with a condition: put it into a "
                "separate dict of a list of dicts."
            )
    for name, values in found:
        if isinstance(values, Threshold) != _is_threshold(name):
            cure = "Threshold()" if _is_threshold(name) else "an Outcome"
            raise ValueError(
                f"param_distributions[{name!r}] is {values}, but Threshold is for the threshold "
                f"of FixedThresholdClassifier, and Outcome for numbers of iterations. Pass {cure}."
            )
    if len(found) > 1:
        raise ValueError(
            f"param_distributions has several Outcomes, {', '.join(name for name, _ in found)}, "
            "but training finds only one number of iterations, or one threshold: keep one of them."
        )
    searched = {name: values for name, values in grid.items() if not isinstance(values, Outcome)}
    return searched, found[0] if found else None
