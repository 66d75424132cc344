"""The median stopping rule."""

from dataclasses import dataclass

import numpy as np

from sksearch.base import Plan, Reads
from sksearch.history import History, Problem
from sksearch.schedulers._asynchronous import AsynchronousScheduler, RungResults
from sksearch.schedulers._brackets import Selecting, ladder, one_bracket


@dataclass(frozen=True)
class MedianStopping(AsynchronousScheduler, Selecting):
    """Stop a candidate if its best score is below the median of the others' mean scores.

    The mean score of each other candidate is taken over its rungs up to this one, and the median
    over all candidates that reached the rung [1]_.

    Parameters
    ----------
    n_candidates : int, default=30
        Number of candidates.
    factor : float, default=2
        Ratio of consecutive rungs. Candidates are stopped at rungs only.
    n_full : int, default=5
        Minimum number of other candidates' results at a rung before candidates are stopped there.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win in `SearchCV`: all of them ("best"), or only those with the largest
        resource ("top"). "auto": "top" for rows and folds, otherwise "best".

    References
    ----------
    .. [1] D. Golovin, B. Solnik, S. Moitra, G. Kochanski, J. Karro, D. Sculley, "Google Vizier: a
       service for black-box optimization", KDD 2017. https://doi.org/10.1145/3097983.3098043

    Examples
    --------
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import MedianStopping
    >>> from sksearch.simulators import Branin, GammaCurves
    >>> from sksearch.simulators import play
    >>> problem = GammaCurves(Branin(), n_epochs=16)
    >>> history = play(RandomSampler(), MedianStopping(20), problem, random_state=0)
    >>> sum(trial.resource < 16 for trial in history.trials) > 0  # some were stopped
    True
    """

    reads = Reads()

    n_candidates: int = 30
    factor: float = 2
    n_full: int = 5

    variant = "stopping"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_full < 1:
            raise ValueError(f"n_full={self.n_full} must be at least 1.")

    def bracket_table(self, problem: Problem) -> list[tuple[int, list[int]]]:
        """Return one bracket with all rungs."""
        rungs = ladder(problem.min_resources, problem.max_resources, self.factor)
        return [(self.n_candidates, rungs)]

    def plan(self, problem: Problem) -> Plan:
        """Compute an upper bound: no candidate is stopped."""
        ((n_candidates, rungs),) = self.bracket_table(problem)
        return one_bracket(n_candidates, problem, rungs, is_most=True)

    def _goes_on(
        self, history: History, rungs: RungResults, bracket: int, trial_id: int, resource: int
    ) -> bool:
        def scores_of(i: int) -> list[float]:
            results = history.trials[i].results.items()
            return [result.score for r, result in results if r <= resource]

        entries = rungs.entries[bracket, resource]
        means = [np.mean(scores_of(i)) for _, i in entries if i != trial_id]
        return len(means) < self.n_full or max(scores_of(trial_id)) >= np.median(means)
