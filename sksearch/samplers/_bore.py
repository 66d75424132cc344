"""Bayesian optimisation by a classifier of good and other candidates."""

from dataclasses import dataclass

import numpy as np

from sksearch.acquisition import UCB
from sksearch.acquisition._criterion import Criterion, beliefs
from sksearch.history import History, Params
from sksearch.models._forest import Forest
from sksearch.samplers._observations import WITHOUT_JOINT, Observations
from sksearch.samplers._surrogate import LearningSampler, maximiser
from sksearch.samplers._tpe import TPESampler

N_CANDIDATES = 2_000
RANDOM_SHARE = 0.1
MIN_SAMPLES_LEAF = 2  # of a tree; with 1, its probabilities are only 0 and 1
KAPPA = 1.0  # standard deviations of a probability over the trees


@dataclass(frozen=True)
class BORESampler(LearningSampler):
    """Use a classifier to propose the candidate with the highest probability of being good.

    Parameters
    ----------
    gamma : float, default=0.25
        Share of the results that count as good; at most 25 results count as good.
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: between 4 and 10.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results to learn from in a search with several rungs, see `TPESampler`.

    See Also
    --------
    TPESampler : Models two densities instead of their ratio.

    Notes
    -----
    `TPESampler` proposes candidates with a large ratio l / g of two densities, of good candidates
    and of the others. The probability that a candidate is good is ``gamma l / (gamma l + (1 -
    gamma) g)``, which increases with the ratio. A classifier estimates it directly, without either
    density [1]_: here a random forest, which handles choices, conditions and interactions. Its
    standard deviation, which grows with the distance from known candidates, is added to the
    probability, because the probability alone has plateaus, and a search may never leave the first
    one. Candidates that failed, violate a bound or are still running count as not good. One
    proposal in ten is drawn at random, as a safeguard against a wrong classifier.

    References
    ----------
    .. [1] L. C. Tiao, A. Klein, M. Seeger, E. V. Bonilla, C. Archambeau, F. Ramos, "BORE: Bayesian
       optimization by density-ratio estimation", ICML 2021. https://arxiv.org/abs/2102.09009

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> from sksearch.samplers import BORESampler
    >>> from sksearch.schedulers import FullFidelity
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(0.1, 100), "gamma": loguniform(1e-3, 1)}
    >>> search = SearchCV(
    ...     SVC(), space, sampler=BORESampler(), scheduler=FullFidelity(8), cv=3, random_state=0
    ... )
    >>> bool(search.fit(X, y).best_score_ > 0.9)
    True
    """

    gamma: float = 0.25
    n_initial: int | None = None
    transfer: str = "rung"

    def __post_init__(self):
        if not 0 < self.gamma < 1:
            raise ValueError(f"gamma={self.gamma} must be between 0 and 1.")
        self._check(transfer=WITHOUT_JOINT)

    def _propose(self, history: History, data: Observations, rng: np.random.Generator) -> Params:
        """Return the most probably good candidate, or a random draw."""
        if rng.random() < RANDOM_SHARE:
            return history.problem.space.sample(rng)
        good, other = TPESampler(gamma=self.gamma)._split(data)
        labels = np.r_[np.ones(len(good)), np.zeros(len(other))]
        forest = Forest(n_trees=50, min_samples_leaf=MIN_SAMPLES_LEAF, distance_sd=1.0)
        forest.fit(np.vstack([good, other]), labels, rng)
        criterion = Criterion(
            [forest], UCB(KAPPA), [0.0], factors=list(beliefs(history, data.n_all))
        )
        return maximiser(criterion, history, data, rng, N_CANDIDATES)
