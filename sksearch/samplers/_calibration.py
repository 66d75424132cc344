"""Factors by which the intervals of a model's predictions must be widened.

Models propose candidates with high expected scores, so their errors exceed the predicted spread.
The misses are compared with the misses of earlier proposals, as in split conformal prediction: the
next interval is so wide that 95 % of the last scores would have been in theirs. Ten assumed misses
of typical size are used until enough real ones are available.

A factor transfers misses of narrow intervals to wide ones, so an interval is never wider than the
model-free one from earlier scores and 95 % of the misses.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy.stats import norm, t

from sksearch.history import History, Prediction

LEVEL = 0.95  # of intervals
N_LAST = 20  # misses used: a model improves with more results
N_USUAL, USUAL = 10, 2.5  # assumed misses: typical spreads are too small by this factor
MOST = 100.0  # also for a miss of an interval without width
#: In units of the half width of a 95 % interval.
_PRIOR = USUAL * norm.ppf(0.5 + (np.arange(N_USUAL) + 0.5) / (2 * N_USUAL)) / norm.ppf(0.975)


def inflation(history: History, resource: int) -> float:
    """Return the factor by which the next prediction's interval must be widened.

    Parameters
    ----------
    history : History
        History of the search.
    resource : int
        Number of units of the prediction.

    Returns
    -------
    factor : float
        Factor, at most 100.
    """
    misses = np.sort(np.r_[_PRIOR, [*islice(_misses(history, resource), N_LAST)]])
    place = int(np.ceil(LEVEL * (len(misses) + 1))) - 1
    return float(min(misses[min(place, len(misses) - 1)], MOST))


def widest(history: History, resource: int) -> float:
    """Return the largest width of the next prediction's interval, infinite if unknown."""
    found = [
        trial.results[resource].score for trial in history.trials if resource in trial.results
    ]
    scores = np.array(found)[np.isfinite(found)]
    n, limits = len(scores), [np.inf]
    if n >= 2:
        limits.append(t.ppf(0.5 + LEVEL / 2, n - 1) * scores.std(ddof=1) * np.sqrt(1 + 1 / n))
    last = islice(_predicted(history, resource), N_LAST)
    off = np.sort([abs(score - expected.score) for expected, score in last])
    if (place := int(np.ceil(LEVEL * (len(off) + 1))) - 1) < len(off):
        limits.append(off[place])
    # If all were equal, or predicted exactly, the first deviation could have any size.
    return 2 * float(min(limit for limit in limits if limit > 0))


def _misses(history, resource):
    """Yield the errors of predictions, in half widths of their intervals; the last one first."""
    return (_miss(expected, score) for expected, score in _predicted(history, resource))


def _predicted(history: History, resource: int) -> Iterator[tuple[Prediction, float]]:
    """Yield pairs of a prediction and the resulting score; the last one first."""
    for trial in reversed(history.trials):
        expected = trial.prediction
        if expected is None or expected.resource != resource:
            continue
        result = trial.results.get(resource)
        if result is not None and np.isfinite(result.score):
            yield expected, result.score


def _miss(expected: Prediction, score: float) -> float:
    """Return the error of a prediction."""
    off = abs(score - expected.score)
    below = score < expected.score
    width = expected.score - expected.low if below else expected.high - expected.score
    if off == 0:
        return 0.0
    return min(off / width * expected.widened, MOST) if width > 0 else MOST
