"""Progressive asynchronous successive halving: add rungs while the ranking changes.

==============  ======================================================================
symbol          meaning
==============  ======================================================================
eta             ``factor``
R_t             the goal: the resource that candidates are currently promoted to
pi_K, pi_K-1    rankings, at the goal and one rung below, of the candidates at the goal
epsilon         largest difference of two scores attributed to noise
==============  ======================================================================
"""

from array import array
from dataclasses import dataclass

import numpy as np

from sksearch.base import Reads, Resume
from sksearch.history import History, Problem
from sksearch.schedulers._asha import ASHA
from sksearch.schedulers._asynchronous import AsynchronousScheduler, RungResults
from sksearch.schedulers._brackets import Selecting
from sksearch.schedulers._halving import Halving

PERCENTILE = 90  # N of [1]_: percentile of the differences of pairs that swapped twice


@dataclass(frozen=True)
class PASHA(Halving, AsynchronousScheduler, Selecting):
    """Progressive asynchronous successive halving: add rungs only while rankings change.

    Candidates are promoted as in `ASHA`, but at first to the second rung only. Whenever a new
    result at the highest rung makes its ranking differ from the ranking at the rung below, the
    next rung is added. When no further candidate can be promoted, the best one at the highest rung
    is trained up to `max_resources`.

    Parameters
    ----------
    n_candidates : int or None, default=None
        Number of candidates at the lowest rung. None: ``factor ** (n_rungs - 1)``.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    See Also
    --------
    ASHA : Asynchronous successive halving with all rungs from the beginning.

    Notes
    -----
    Two rankings agree if, for each rank, the candidate with this rank at the upper rung and the
    one with this rank at the lower rung have scores at the lower rung that differ by at most
    epsilon. Epsilon is an estimate of the noise. It is computed from pairs of candidates that have
    changed their order twice, back to the original order: the 90th percentile of the differences
    between their scores at the upper rung.

    Departures from [1]_:

    - Scores are known at rungs only, not after each epoch. With fewer than three rungs epsilon is
      therefore 0, so any change of order adds the third rung.
    - If the highest rung has no such pair, epsilon is computed at the highest rung with such a
      pair, from all its results so far.
    - Candidates with equal scores at the highest rung keep their order from the rung below.
    - The best candidate continues training up to `max_resources` and is scored there. If this
      fails, the search ends. In [1]_ it is trained from scratch after the search.

    If all rungs are added, the plan is a lower bound, as with `ASHA`. If rankings agree early, the
    search costs less. This requires rungs with few candidates or little noise.

    As with `ASHA`, the promoted candidates depend on the order of the results.

    References
    ----------
    .. [1] O. Bohdal, L. Balles, M. Wistuba, B. Ermis, C. Archambeau, G. Zappella, "PASHA:
       efficient HPO and NAS with progressive resource allocation", ICLR 2023.
       https://arxiv.org/abs/2207.06940

    Examples
    --------
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import ASHA, PASHA
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin())  # curves that do not cross
    >>> for scheduler in (ASHA(81), PASHA(81)):
    ...     history = play(RandomSampler(), scheduler, problem, random_state=0)
    ...     print(sum(trial.resource for trial in history.trials), "epochs")
    303 epochs
    213 epochs
    """

    reads = Reads()

    n_candidates: int | None = None
    factor: float = 3

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket with all rungs."""
        return ASHA(self.n_candidates, self.factor).bracket_table(problem)

    def _last_promotion(self, history: History, rungs: RungResults) -> Resume | None:
        """At the end, train the best candidate up to the largest resource."""
        if (resume := super()._last_promotion(history, rungs)) is not None:
            return resume
        for bracket, (ladder, goal) in enumerate(zip(rungs.ladders, rungs.goals, strict=True)):
            best = next((i for _, i in rungs.entries[bracket, goal]), None)
            if best is not None and best not in rungs.asked[bracket, ladder[-1]]:
                return Resume(best, ladder[-1])
        return None

    # ---- the goal

    def _first_goal(self, ladder: list[int]) -> int:
        return ladder[min(1, len(ladder) - 1)]  # [1]_ Alg. 1: R_0 = eta r

    def _next_goal(self, history: History, rungs: RungResults, bracket: int, trial_id: int) -> int:
        """Add the next rung if the rankings at the goal and below differ by more than noise."""
        ladder, goal = rungs.ladders[bracket], rungs.goals[bracket]
        n_rungs = ladder.index(goal) + 1
        results = history.trials[trial_id].results
        scores = rungs.at_goal.setdefault((bracket, goal), array("d"))
        scores.extend(results[r].score for r in ladder[n_rungs - 2 : n_rungs])
        change = rank_change(*np.array(scores).reshape(-1, 2).T)
        # If the order did not change, the common case, noise need not be computed.
        if change == 0 or change <= _noise(history, rungs, bracket, n_rungs):
            return goal
        return ladder[n_rungs]


def rank_change(before: np.ndarray, now: np.ndarray) -> float:
    """Return the smallest epsilon for which two rankings agree.

    Parameters
    ----------
    before, now : ndarray of shape (n_candidates,)
        Scores in the rung below and in the upper one.

    Returns
    -------
    change : float
        Each rank belongs to one candidate now and to one before: the largest
        difference between their scores in the rung below.

    Examples
    --------
    >>> import numpy as np
    >>> float(rank_change(np.array([0.75, 0.5, 0.25]), np.array([0.8, 0.9, 0.3])))
    0.25
    """
    order = np.lexsort((-before, -now))
    return np.abs(before[order] - np.sort(before)[::-1]).max()


def swapped_back(curves: np.ndarray) -> np.ndarray:
    """Return the final differences of curves that crossed twice.

    Parameters
    ----------
    curves : ndarray of shape (n_candidates, n_rungs)
        Scores.

    Returns
    -------
    differences : ndarray
        One for each pair that swapped twice, back to an earlier order. Equal scores have no order.

    Examples
    --------
    >>> import numpy as np
    >>> swapped_back(np.array([[1, 1, 4], [0, 2, 3], [0, 0, 0]]))
    array([1])
    """
    first, second = np.triu_indices(len(curves), 1)
    differences = curves[first] - curves[second]
    order = np.sign(differences)
    same = order == order[:, -1:]
    opposite = order == -order[:, -1:]
    was_same = np.logical_or.accumulate(same, axis=1)
    crossed = (was_same[:, :-1] & opposite[:, 1:]).any(axis=1) & (order[:, -1] != 0)
    return np.abs(differences[crossed, -1])


def _noise(history: History, rungs: RungResults, bracket: int, n_rungs: int) -> float:
    """Estimate epsilon, from the highest rung in which candidates changed places twice."""
    for n in range(n_rungs, 2, -1):
        differences = swapped_back(_curves(history, rungs, bracket, n))
        if len(differences):
            return float(np.percentile(differences, PERCENTILE))
    return 0.0


def _curves(history: History, rungs: RungResults, bracket: int, n_rungs: int) -> np.ndarray:
    """Return scores of the candidates at the last of these rungs, (n_candidates, n_rungs)."""
    ladder = rungs.ladders[bracket][:n_rungs]
    ids = [i for _, i in rungs.entries[bracket, ladder[-1]]]
    return np.array([[history.trials[i].results[r].score for r in ladder] for i in ids])
