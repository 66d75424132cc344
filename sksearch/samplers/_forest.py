"""Bayesian optimisation with a random forest, similar to SMAC."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from sksearch.acquisition import LogEI
from sksearch.acquisition._criterion import Criterion, beliefs
from sksearch.acquisition._functions import Acquisition, Indifferent
from sksearch.history import History, Params
from sksearch.models._feasibility import AllOf, pulled_in
from sksearch.models._forest import Forest
from sksearch.models._transforms import robust_power_transform
from sksearch.samplers._observations import WITHOUT_JOINT, Observations
from sksearch.samplers._surrogate import LearningSampler, maximiser

RANDOM_SHARE = 0.1  # share of random proposals, as a safeguard against a wrong model
N_CANDIDATES = 2_000  # a forest has no gradient to follow
# In standard deviations of the scores, at the distance of the whole range in each coordinate
DISTANCE_SD = 1.0
LEAST_SD = 0.1  # lower limit for the spread of a margin, even if all trees agree


@dataclass(frozen=True)
class ForestSampler(LearningSampler):
    """Model scores with a random forest, and propose candidates with high expected improvement.

    Parameters
    ----------
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: between 4 and 10.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results of a search with several resources to learn from, see `TPESampler`.

    Notes
    -----
    The logarithm of the expected improvement is maximised over 2,000 candidates, half of them near
    the best known points. Then the best of these candidates are improved by changing one parameter
    at a time. One proposal in ten is drawn at random, as a safeguard against a wrong model [1]_.
    The standard deviation grows with the distance to the nearest observation, and less with more
    observations: with only the variance of the trees, the model is overconfident far from few
    observations, and the search may remain near its start. The score of failed candidates is not
    imputed: other forests model the probability that a candidate does not fail and satisfies its
    bounds, and the expected improvement is multiplied by it. Candidates still running are assigned
    their predicted means.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential model-based optimization for
       general algorithm configuration", LION 2011. https://doi.org/10.1007/978-3-642-25566-3_40

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> from sksearch.samplers import ForestSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
    >>> search = SearchCV(
    ...     SVC(), space, sampler=ForestSampler(), scheduler=FullFidelity(8), cv=3, random_state=0
    ... )
    >>> bool(search.fit(X, y).best_score_ > 0.9)
    True
    """

    n_initial: int | None = None
    transfer: str = "rung"

    def __post_init__(self):
        self._check(transfer=WITHOUT_JOINT)

    def _propose(self, history: History, data: Observations, rng: np.random.Generator) -> Params:
        """Return the maximiser of log-EI under a forest, or a random draw."""
        space = history.problem.space
        if rng.random() < RANDOM_SHARE:
            return space.sample(rng)
        U, y, feasible = data.U, robust_power_transform(data.y), data.feasible
        forest = Forest(distance_sd=DISTANCE_SD).fit(U, y, rng)
        if len(pending := data.pending):
            U, y = np.vstack([U, pending]), np.r_[y, forest.predict(pending)[0]]
            forest = Forest(distance_sd=DISTANCE_SD).fit(U, y, rng)
        acquisition: Acquisition
        if feasible.any():
            kept = np.r_[feasible, np.ones(len(U) - len(feasible), bool)]
            best, acquisition = float(forest.predict(U[kept])[0].max()), LogEI()
        else:  # any candidate that satisfies the bounds is an improvement
            best, acquisition = 0.0, Indifferent()
        criterion = Criterion(
            [forest],
            acquisition,
            [best],
            feasibility=_feasibility(data, rng),
            factors=list(beliefs(history, len(feasible))),
        )
        return maximiser(criterion, history, data, rng, N_CANDIDATES)


class ForestMargin:
    """Probability, by a forest, that a value is positive.

    Parameters
    ----------
    U : ndarray of shape (n, n_dims)
        Points.
    values : ndarray of shape (n,)
        Values at these points, positive if the bound is satisfied.
    rng : numpy.random.Generator
        Generator for the trees.
    """

    def __init__(self, U: np.ndarray, values: np.ndarray, rng: np.random.Generator):
        self._forest = Forest().fit(U, values, rng)
        self._least = LEAST_SD * max(float(values.std()), np.finfo(float).tiny)

    def log_probability(self, U: np.ndarray) -> np.ndarray:
        """Return the logarithm of the probability, shape (m,)."""
        mean, sd = self._forest.predict(U)
        return log_ndtr(mean / np.maximum(sd, self._least))

    def log_probability_with_gradient(self, U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return it with a gradient of 0: a forest is piecewise constant."""
        value = self.log_probability(U)
        return value, np.zeros((len(U), 0))


def _feasibility(data: Observations, rng: np.random.Generator) -> AllOf | None:
    """Return a model of the probability that a candidate succeeds and satisfies its bounds."""
    parts = [ForestMargin(data.U, pulled_in(slacks), rng) for slacks in data.slacks.T]
    if len(data.failed):
        parts.append(ForestMargin(data.tried, np.where(data.ok, 1.0, -1.0), rng))
    return AllOf(parts) if parts else None
