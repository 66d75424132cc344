"""Convergence of a search: doubling the time would gain little.

Notation:

==========  ==========================================================================
f           mean score over the folds as a function of parameters, by a Gaussian process
EI(x)       improvement that a candidate x is expected to bring
c(x)        seconds that it will take, by another process
t           seconds that all fits have taken
s           standard error of a difference between the best candidate and the next ones
==========  ==========================================================================

Doubling the time has an expected gain of at most ``t * max(EI(x) / c(x))``, since the expected
improvement falls as candidates come, and at most ``E[max f] - max f`` over the known candidates.
If the smaller of both is less than `s`, better candidates could hardly be distinguished from the
best one, and the search has converged. The first bound is the rule of [2]_, with ``s / t`` as the
price of a second; the second one is the rule of [3]_ and [4]_, with the error of cross-validation
as the tolerance. Neither a price nor a tolerance has to be chosen.

References
----------
.. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning
   52:239-281, 2003. https://doi.org/10.1023/A:1024068626366
.. [2] Q. Xie, L. Cai, A. Terenin, P. I. Frazier, Z. Scully, "Cost-aware stopping for Bayesian
   optimization", 2025. https://arxiv.org/abs/2507.12453
.. [3] A. Makarova et al., "Automatic termination for hyperparameter optimization", AutoML 2022.
   https://arxiv.org/abs/2104.08166
.. [4] J. T. Wilson, "Stopping Bayesian optimization with probabilistic regret bounds", NeurIPS
   2024. https://arxiv.org/abs/2402.16811
"""

import math

import numpy as np

from sksearch._utils._numerics import own_numerics
from sksearch.acquisition import LogEI
from sksearch.acquisition._maximise import candidates, maximise
from sksearch.base import Start
from sksearch.history import History
from sksearch.samplers import GPSampler
from sksearch.samplers._gp_proposal import Proposal, margin_of_ties
from sksearch.samplers._observations import Observations, observe
from sksearch.samplers._surrogate import best_points

GROWTH = 1.1  # growth of the number of candidates until convergence is tested again
FEWEST = 20  # candidates, and two more than there are parameters, before the first test
# Size and number of sampled functions, of which the maxima are averaged
N_POINTS, N_DRAWS = 400, 64
N_NEXT = 10  # candidates that the best one is compared with
TINY = 1e-12  # variances below it are rounding errors between equal candidates
STREAM = 11  # distinguishes its generator from others of the same trial


class Convergence:
    """Test of whether a search has converged, which depends only on the history.

    Parameters
    ----------
    max_resources : int
        Resource at which candidates are compared.
    """

    def __init__(self, max_resources: int) -> None:
        self._max_resources, self._asked_at = max_resources, 0.0

    @own_numerics()
    def reached(self, history: History) -> bool:
        """Return whether a search should stop after a result.

        Parameters
        ----------
        history : History
            History of the search.

        Returns
        -------
        reached : bool
            False if the search has not converged, or has too few results.
        """
        data = observe(history, Start(self._max_resources, 0))
        n, n_dims = len(data.y), history.problem.space.n_dims
        if n < max(FEWEST, n_dims + 2, self._asked_at * GROWTH) or n_dims == 0:
            return False
        self._asked_at = n
        error = self._standard_error(history)
        return error is not None and (
            np.ptp(data.y) == 0 or self._expected_gain(history, data) <= error
        )

    def _standard_error(self, history: History) -> float | None:
        """Standard error of a difference between means; None if no candidate has two folds.

        The training rows of folds overlap: with k folds a row is in k - 1 training folds and one
        test fold, hence the second term [1]_.
        """
        scores = [
            trial.results[self._max_resources].fold_scores
            for trial in history.trials
            if self._max_resources in trial.results
        ]
        scores = sorted((each for each in scores if len(each) > 1), key=np.mean, reverse=True)
        if not scores:
            return None
        best, k = np.array(scores[0]), len(scores[0])
        variances = [np.var(best - each, ddof=1) for each in scores[1 : 1 + N_NEXT]]
        whole = np.var(best, ddof=1)
        variances = [v for v in variances if v > TINY * whole] or [whole]
        return math.sqrt(np.mean(variances) * (1 / k + 1 / (k - 1)))

    def _expected_gain(self, history: History, data: Observations) -> float:
        """Upper bound of the expected gain of doubling the time, in units of the score."""
        rng = np.random.default_rng((history.problem.seed, len(history.trials), STREAM))
        proposal = Proposal(GPSampler(), history, data, rng)
        model, space = proposal.models.scores()[0], history.problem.space
        cost = proposal.models.log_cost()
        criterion = proposal.criterion(LogEI(), margin_of_ties(data.y), cost)
        points = candidates(space, best_points(data), rng, N_POINTS)
        points = maximise(criterion, space, points, rng, 10, 3)
        spent = sum(result.cost for trial in history.trials for result in trial.results.values())
        typical = math.exp(np.log(np.maximum(data.cost, 1e-6)).mean())  # `cost` is centred
        by_time = math.exp(float(criterion(points[:1])[0])) * spent / typical
        best = float(np.max(model.fitted()))
        draws = model.sample(points[:N_POINTS], N_DRAWS, rng).max(axis=0)
        at_all = float(np.maximum(draws - best, 0).mean())
        return min(by_time, at_all) * _slope(data.y, proposal.models.y)


def _slope(y: np.ndarray, transformed: np.ndarray) -> float:
    """Size of a unit of the transformed scores, among the better half of them."""
    order = np.argsort(y)
    y, transformed = y[order], transformed[order]
    half = len(y) // 2 if y[-1] > y[len(y) // 2] else 0
    return (y[-1] - y[half]) / (transformed[-1] - transformed[half])
