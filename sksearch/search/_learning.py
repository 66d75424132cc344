"""Searches at full resource that learn from results, by name."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sksearch._utils._compat import StrOptions
from sksearch.acquisition import Acquisition
from sksearch.base import Sampler, Scheduler
from sksearch.samplers import CHOICES, ForestSampler, GPSampler, TPESampler
from sksearch.schedulers import FullFidelity
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import Count, ModelParameters, documented
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class GPBayesSearchCV(ModelParameters, BaseSearch):
    """Bayesian optimisation with a Gaussian process.

    After a few quasi-random candidates each next one is where the model expects the largest
    improvement. Compared with ``RandomizedSearchCV`` it needs fewer candidates; use it where a
    training takes longer than the hundredths of a second that a proposal costs.

    Parameters
    ----------
    {head}
    n_iter : int, default=50
        Count of candidates; a finite space may have fewer.
    acquisition : str or Acquisition, default="log_ei"
        Function to maximise: "log_ei" (expected improvement), "log_pi" (probability of one), "lcb"
        (confidence bound), "ei_per_second", "thompson", "portfolio" or "ei_distribution"; see
        `sksearch.samplers.GPSampler`.
    {n_initial}
    {batch_size}
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    TPESearchCV : Cheaper proposals, for very many candidates.
    BOHBSearchCV : Discards weak candidates early.
    sksearch.samplers.GPSampler : The model, with more options, for `SearchCV`.

    References
    ----------
    .. [1] J. Snoek, H. Larochelle, R. P. Adams, "Practical Bayesian optimization of machine
       learning algorithms", NeurIPS 2012. https://arxiv.org/abs/1206.2944

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import GPBayesSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = GPBayesSearchCV(SVC(), space, n_iter=15, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    n_iter: Count = 50
    acquisition: Annotated[str, StrOptions(set(CHOICES))] | Acquisition = "log_ei"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return GPSampler(self.acquisition, n_initial=self.n_initial), FullFidelity(self.n_iter)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class TPESearchCV(ModelParameters, BaseSearch):
    """The tree-structured Parzen estimator.

    After a few quasi-random candidates each next one is likely among the good ones so far and
    unlikely among the others. A proposal costs about a millisecond, also after a thousand.

    Parameters
    ----------
    {head}
    n_iter : int, default=50
        Count of candidates; a finite space may have fewer.
    {n_initial}
    {batch_size}
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    GPBayesSearchCV : Needs fewer candidates.
    BOHBSearchCV : A Parzen estimator proposes, in Hyperband.

    References
    ----------
    .. [1] J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, "Algorithms for hyper-parameter
       optimization", NeurIPS 2011.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import TPESearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = TPESearchCV(SVC(), space, n_iter=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    n_iter: Count = 50

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return TPESampler(n_initial=self.n_initial), FullFidelity(self.n_iter)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ForestBayesSearchCV(ModelParameters, BaseSearch):
    """Bayesian optimisation with a random forest.

    A forest takes choices, conditions and plateaus as they come; where scores vary smoothly, a
    Gaussian process needs fewer candidates.

    Parameters
    ----------
    {head}
    n_iter : int, default=50
        Count of candidates; a finite space may have fewer.
    {n_initial}
    {batch_size}
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    GPBayesSearchCV : Bayesian optimisation with a Gaussian process.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential model-based optimization for
       general algorithm configuration", LION 2011. https://doi.org/10.1007/978-3-642-25566-3_40

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import ForestBayesSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = ForestBayesSearchCV(SVC(), space, n_iter=20, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.96)
    True
    """

    n_iter: Count = 50

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return ForestSampler(n_initial=self.n_initial), FullFidelity(self.n_iter)
