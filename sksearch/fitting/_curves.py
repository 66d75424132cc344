"""Candidates whose count of iterations is an outcome of training: the count, and the scores at it.

A curve is a list of ``[count, test scores, train scores]``, counts ascending; scores are a number,
or a dict of them by metric, and train scores None where nobody asked for them.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class CurveTask:
    """A count of iterations that training finds, and how long that may take.

    Parameters
    ----------
    name : str
        The parameter that is the count.
    high : int
        Largest count.
    seconds : float or None
        For training and scoring on one fold; None for no limit.
    is_own : bool
        Whether it is the estimator as it is, which gets to its own count however long that takes.
    """

    name: str
    high: int
    seconds: float | None
    is_own: bool


def value_of(scores: Any, metric: str | None) -> float:
    """Return the score that counts: that of `metric`, else the first, or the only one."""
    if isinstance(scores, dict):
        scores = scores[metric] if metric in scores else next(iter(scores.values()))
    return scores


def choose_count(curves: list[list], metric: str | None) -> int:
    """Return the count with the greatest mean score over folds, the smallest of equal ones.

    A fold whose training ended earlier keeps its last score.
    """
    counts = sorted({entry[0] for curve in curves for entry in curve})
    total = np.zeros(len(counts))
    for curve in curves:
        at = np.searchsorted([entry[0] for entry in curve], counts, side="right") - 1
        total += [value_of(curve[i][1], metric) if i >= 0 else -math.inf for i in at]
    return counts[int(np.argmax(np.where(np.isnan(total), -math.inf, total)))]


def settle(outputs: list, metric: str | None) -> tuple[int | None, list]:
    """Return the count that is best for all folds together, and the outputs with scores at it.

    None, and the outputs as they are, where no count is to be found or a fold has failed.
    """
    curves = [output.curve for output in outputs]
    if not all(curves):
        return None, outputs
    count = choose_count(curves, metric)
    return count, [_at(output, count) for output in outputs]


def _at(output, count):
    """An output with the scores at a count, or at the last one that its training came to."""
    reached = [entry for entry in output.curve if entry[0] <= count]
    _, test, train = (reached or output.curve)[-1]
    return replace(output, test_scores=test, train_scores=train, state=None)
