"""Bayesian optimisation with a random forest, in the manner of SMAC."""

from dataclasses import dataclass

import numpy as np

from sksearch.acquisition import Criterion, LogEI
from sksearch.history import History, Params
from sksearch.models import Forest, robust_power_transform
from sksearch.samplers._observations import WITHOUT_JOINT, Observations
from sksearch.samplers._surrogate import LearningSampler, maximiser

RANDOM_SHARE = 0.1
N_CANDIDATES = 2_000


@dataclass(frozen=True)
class ForestSampler(LearningSampler):
    """Model scores by a random forest, and propose where an improvement is expected.

    Parameters
    ----------
    n_initial : int or None, default=None
        Count of quasi-random candidates before the first model. None: between 4 and 10.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Which results of a search with several resources it learns from, see `TPESampler`.

    Notes
    -----
    The greatest log-EI is looked for among 2,000 candidates, half of them near the best points
    known, and by exchanges of single values; one proposal in ten is drawn at random, as a
    safeguard against a model that is wrong [1]_. Failed candidates count as the worst score
    seen, and pending ones as their predicted means.

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
        """Params at the maximum of log-EI by a forest, or drawn at random."""
        space = history.problem.space
        if rng.random() < RANDOM_SHARE:
            return space.sample(rng)
        y = robust_power_transform(data.y)
        U, y = np.vstack([data.U, data.failed]), np.r_[y, np.full(len(data.failed), y.min())]
        forest = Forest().fit(U, y, rng)
        if len(pending := data.pending):
            U, y = np.vstack([U, pending]), np.r_[y, forest.predict(pending)[0]]
            forest = Forest().fit(U, y, rng)
        best = float(forest.predict(U)[0].max())
        criterion = Criterion([forest], LogEI(), [best])
        return maximiser(criterion, history, data, rng, N_CANDIDATES)
