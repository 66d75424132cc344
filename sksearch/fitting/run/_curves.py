"""Candidates with a number of iterations found in training, and their scores at it.

A curve is a list of ``[count, test scores, train scores]``, counts ascending; scores are a number,
or a dict of them by metric, and train scores None if nobody asked for them.
"""

import math
from dataclasses import replace

import numpy as np

from sksearch._utils._typing import Scores
from sksearch.fitting.run._tasks import Output


def value_of(scores: Scores, metric: str | None) -> float:
    """Return the score that counts: that of `metric`, otherwise the first, or the only one."""
    if isinstance(scores, dict):
        scores = scores[metric] if metric in scores else next(iter(scores.values()))
    return scores


def common(curves: list[list], metric: str | None) -> dict[int, list[float]]:
    """Return the scores that count on each fold, by the counts that all curves have, ascending."""
    found = [{count: value_of(test, metric) for count, test, _ in curve} for curve in curves]
    counts = set(found[0]).intersection(*found[1:]) if found else set()
    return {count: [each[count] for each in found] for count in sorted(counts)}


def choose_count(curves: list[list], metric: str | None) -> int | None:
    """Return the count with the greatest mean score over folds, the smallest of equal ones.

    Of those that all folds have been at; None if there is none.
    """
    means = {count: np.mean(values) for count, values in common(curves, metric).items()}
    return max(means, key=lambda n: -math.inf if math.isnan(means[n]) else means[n], default=None)


def luck_of_counts(candidates: list[list[list]], metric: str | None) -> float:
    """Return by how much scores are too good, on average, since counts are chosen by them.

    On each fold the score is compared with that at the count that is best on the others.

    Parameters
    ----------
    candidates : list of list of list
        Curves of folds, candidate by candidate.
    metric : str or None
        The one that counts.
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
    """Return the count that is best for all folds together, and the outputs with scores at it.

    None, and the outputs as they are, where no count is to be found or a fold has failed.
    """
    curves = [output.curve for output in outputs]
    if not all(curves):
        return None, outputs
    count = choose_count(curves, metric)
    if count is None:
        return None, outputs
    return count, [_at(output, count) for output in outputs]


def scores_at(curves: list[list], count: int | None, metric: str | None) -> list[float] | None:
    """Return the scores that count at a count, by fold; None if a curve does not have it."""
    return common(curves, metric).get(count) if count is not None else None


def _at(output: Output, count: int) -> Output:
    """An output with the scores at a count."""
    _, test, train = next(entry for entry in output.curve or () if entry[0] == count)
    return replace(output, test_scores=test, train_scores=train, state=None)
