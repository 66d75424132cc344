"""Number of training steps that training determines by itself, without a search over it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ._conditions import When

MOST_THRESHOLDS = 49  # the last ones are 0.992 and 0.008
STEP = 0.2  # between two thresholds, in log odds


@dataclass(frozen=True)
class Outcome:
    """Number of iterations determined by training, as the value of a parameter in a space.

    A small number of trees favours large learning rates, so a search that compares candidates
    early is misled, and one that tries several numbers pays for each of them. With an `Outcome`
    each candidate is trained step by step, and scored on the test fold along the way. Training
    stops when the score has passed its maximum, or at `high`. The number with the best mean over
    the folds becomes part of the candidate's parameters, and the refit on all rows uses it.

    Parameters
    ----------
    high : int
        Largest number.

    See Also
    --------
    sksearch.space.default_space : Contains one for estimators that grow.

    Notes
    -----
    It applies to ``max_iter`` of ``HistGradientBoosting``, ``n_estimators`` of
    ``GradientBoosting``, the number of trees of other libraries' boosting, and ``max_iter`` of an
    ``MLP``, which is trained epoch by epoch with ``partial_fit``.

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
        """Return the value of the parameter at a number of steps.

        Parameters
        ----------
        count : int
            Number of steps trained.

        Returns
        -------
        value : int or float
            The number itself.
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
    """Threshold between two classes determined by training, as the value of a parameter.

    It applies to ``threshold`` of scikit-learn's ``FixedThresholdClassifier``. Each candidate is
    fitted once on each fold, and scored on its test rows at 49 thresholds from 0.008 to 0.992,
    spaced more closely near 0 and 1. The one with the best mean over the folds becomes part of the
    candidate's parameters, and the refit on all rows uses it. Therefore ``scoring="f1"``, balanced
    accuracy or costs need no more fits than accuracy, while ``TunedThresholdClassifierCV`` needs
    six for one.

    Parameters
    ----------
    high : int, default=49
        Number of thresholds, the nearest to 0.5 first; 49 at most.

    See Also
    --------
    Outcome : A number of iterations.

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
        """Return a threshold.

        Parameters
        ----------
        count : int
            From 1 on: 0.5, 0.55, 0.45, 0.599, ..., so the nearest to 0.5 wins a tie.

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
