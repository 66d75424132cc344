"""Learning curves of candidates, and the number of iterations chosen by them.

A curve is a list of ``[count, test scores, train scores]``, counts ascending; scores are a number,
or a dict of them by metric, and train scores None if not requested.
"""

import math
from dataclasses import replace

import numpy as np

from sksearch._utils._typing import Scores
from sksearch.fitting.run._tasks import Output


def value_of(scores: Scores, metric: str | None) -> float:
    """Return the deciding score: of `metric`, otherwise the first or only one."""
    if isinstance(scores, dict):
        scores = scores[metric] if metric in scores else next(iter(scores.values()))
    return scores


def common(curves: list[list], metric: str | None) -> dict[int, list[float]]:
    """Return the deciding scores on each fold, at the counts shared by all curves, ascending."""
    found = [{count: value_of(test, metric) for count, test, _ in curve} for curve in curves]
    counts = set(found[0]).intersection(*found[1:]) if found else set()
    return {count: [each[count] for each in found] for count in sorted(counts)}


def choose_count(curves: list[list], metric: str | None) -> int | None:
    """Return the count with the greatest mean score over folds, the smallest of equal ones.

    Only counts reached on all folds are considered; None without any.
    """
    means = {count: np.mean(values) for count, values in common(curves, metric).items()}
    return max(means, key=lambda n: -math.inf if math.isnan(means[n]) else means[n], default=None)


def luck_of_counts(candidates: list[list[list]], metric: str | None) -> float:
    """Return the average optimism due to choosing counts by the same scores.

    On each fold the score is compared with the score at the other folds' best count.

    Parameters
    ----------
    candidates : list of list of list
        Curves of folds, candidate by candidate.
    metric : str or None
        The deciding metric.
    """
    luck = []
    for curves in candidates:
        scores = np.array([*common(curves, metric).values()])
        if scores.ndim == 2 and scores.shape[1] > 1 and np.isfinite(scores).all():
            others = scores.sum(axis=1, keepdims=True) - scores
            honest = scores[others.argmax(axis=0), np.arange(scores.shape[1])]
            luck.append(scores.mean(axis=1).max() - honest.mean())
    return max(0.0, float(np.mean(luck))) if luck else 0.0


def settle(outputs: list, metric: str | None) -> tuple[int | None, list]:
    """Return the best count over all folds, and the outputs with scores at it.

    None, and unchanged outputs, if a count is not searched or a fold has failed.
    """
    curves = [output.curve for output in outputs]
    if not all(curves):
        return None, outputs
    count = choose_count(curves, metric)
    if count is None:
        return None, outputs
    return count, [_at(output, count) for output in outputs]


def scores_at(curves: list[list], count: int | None, metric: str | None) -> list[float] | None:
    """Return the deciding scores at a count, by fold; None if a curve lacks it."""
    return common(curves, metric).get(count) if count is not None else None


def _at(output: Output, count: int) -> Output:
    """An output with the scores at a count."""
    _, test, train = next(entry for entry in output.curve or () if entry[0] == count)
    return replace(output, test_scores=test, train_scores=train, state=None)
