"""How much wider intervals of predictions have to be than a model says, by its earlier misses.

A proposal is where a model hopes for much, and so where it errs more than its spread tells. Its
misses are compared with those of earlier proposals, as in split conformal prediction: the interval
of the next one is so wide that 95 % of the last ones would have been in theirs. Ten misses that
nobody has made stand for what is usual, until there are others.

A factor carries misses of narrow intervals over to wide ones, so no interval is wider than what is
known without the model: the interval of a score drawn like those before, and 95 % of the misses.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np
from scipy.stats import norm, t

from sksearch.history import History, Prediction

LEVEL = 0.95  # of intervals
N_LAST = 20  # misses that count: a model is better when it knows more
N_USUAL, USUAL = 10, 2.5  # misses to begin with: spreads are too small by so much
MOST = 100.0
#: In units of the half width of an interval of 95 %.
_PRIOR = USUAL * norm.ppf(0.5 + (np.arange(N_USUAL) + 0.5) / (2 * N_USUAL)) / norm.ppf(0.975)


def inflation(history: History, resource: int) -> float:
    """Return by how much the interval of the next prediction has to be widened.

    Parameters
    ----------
    history : History
        The history of the search.
    resource : int
        Count of units that the prediction is for.

    Returns
    -------
    factor : float
        At most 100.
    """
    misses = np.sort(np.r_[_PRIOR, [*islice(_misses(history, resource), N_LAST)]])
    place = int(np.ceil(LEVEL * (len(misses) + 1))) - 1
    return float(min(misses[min(place, len(misses) - 1)], MOST))


def widest(history: History, resource: int) -> float:
    """Return the largest width of the next prediction's interval, infinite if little is known."""
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
    # Where all were equal, or foretold, nothing is known of the first one that is not.
    return 2 * float(min(limit for limit in limits if limit > 0))


def _misses(history, resource):
    """How far scores were off, in half widths of the model's own intervals; the last one first."""
    return (_miss(expected, score) for expected, score in _predicted(history, resource))


def _predicted(history: History, resource: int) -> Iterator[tuple[Prediction, float]]:
    """Pairs of what was expected and the score that came; the last one first."""
    for trial in reversed(history.trials):
        expected = trial.prediction
        if expected is None or expected.resource != resource:
            continue
        result = trial.results.get(resource)
        if result is not None and np.isfinite(result.score):
            yield expected, result.score


def _miss(expected: Prediction, score: float) -> float:
    """How far a score was off."""
    off = abs(score - expected.score)
    below = score < expected.score
    width = expected.score - expected.low if below else expected.high - expected.score
    if off == 0:
        return 0.0
    return min(off / width * expected.widened, MOST) if width > 0 else MOST
