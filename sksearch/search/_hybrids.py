"""Hyperband with proposals that learn, by name."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from sksearch._utils._compat import StrOptions
from sksearch.acquisition import Acquisition
from sksearch.base import Sampler, Scheduler
from sksearch.samplers import CHOICES, TRANSFERS, WITHOUT_JOINT, GPSampler, TPESampler
from sksearch.schedulers import AsyncHyperband, Hyperband
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import HalvingParameters, Iterations, ModelParameters, documented
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class BOHBSearchCV(ModelParameters, HalvingParameters, BaseSearch):
    """Hyperband whose candidates are proposed by a Parzen estimator.

    Hyperband decides how far each candidate is trained, and what was learnt from all candidates
    so far decides which are tried next. Every bracket costs what it costs in Hyperband.

    Parameters
    ----------
    {head}
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [2]_).
    n_iterations : int, default=1
        How often all brackets are gone through, each time with new candidates.
    scheduler : {"hyperband", "asynchronous"}, default="hyperband"
        "asynchronous" never waits for a rung to end, see `schedulers.AsyncHyperband`; results
        then depend on how many workers there are and how fast, and `batch_size` is not used.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Which results the proposals learn from: those at the largest resource that has enough
        of them, as in [1]_, of at least a fortieth of `max_resources`; or those of the own bracket
        at its lowest rung, and of earlier brackets none, all, the survivors of the last rung,
        or those that were stopped there.
    {n_initial}
    {batch_size}
    {resources}
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    HyperbandSearchCV : Hyperband with random candidates.
    TPEHalvingSearchCV : Shorter brackets.
    GPHyperbandSearchCV : Hyperband with a Gaussian process.

    Notes
    -----
    Unlike [1]_ the share of random candidates is not a third but what the sampler begins with;
    the uniform component of its densities keeps it from narrowing down.

    References
    ----------
    .. [1] S. Falkner, A. Klein, F. Hutter, "BOHB: robust and efficient hyperparameter
       optimization at scale", ICML 2018. https://proceedings.mlr.press/v80/falkner18a.html
    .. [2] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar, "Hyperband: a novel
       bandit-based approach to hyperparameter optimization", JMLR 18(185):1-52, 2018.
       https://jmlr.org/papers/v18/16-558.html

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import BOHBSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BOHBSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_candidates_
    [9, 3, 1, 3, 1, 3]
    """

    n_iterations: Iterations = 1
    scheduler: Literal["hyperband", "asynchronous"] = "hyperband"
    transfer: Annotated[str, StrOptions(set(WITHOUT_JOINT))] = "rung"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        asynchronous = self.scheduler == "asynchronous"
        scheduler = AsyncHyperband if asynchronous else Hyperband
        sampler = TPESampler(n_initial=self.n_initial, transfer=self.transfer)
        return sampler, scheduler(self.factor, self.n_iterations)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class GPHyperbandSearchCV(ModelParameters, HalvingParameters, BaseSearch):
    """Hyperband whose candidates are proposed by a Gaussian process.

    The method of [1]_: while a bracket is filled, candidates are drawn with probabilities
    proportional to their expected improvement, so that it holds many that are good and unlike.

    Parameters
    ----------
    {head}
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart.
    n_iterations : int, default=1
        How often all brackets are gone through, each time with new candidates.
    acquisition : str or Acquisition, default="ei_distribution"
        "ei_distribution" draws a bracket's candidates from the expected improvement, taken as a
        density; for the others see `GPBayesSearchCV`.
    transfer : {"rung", "none", "all", "survivors", "same", "joint"}, default="rung"
        Which results the model learns from: those at the largest resource that has enough of
        them, of at least a fortieth of `max_resources`; or those of the own bracket at its lowest
        rung, and of earlier brackets none, all, the survivors of the last rung, or those that
        were stopped there; "joint": all of at least that fortieth at once, the resource being one
        more coordinate.
    {n_initial}
    {batch_size}
    {resources}
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    BOHBSearchCV : Hyperband with a Parzen estimator.
    GPHalvingSearchCV : Shorter brackets; what to use if you do not know.

    References
    ----------
    .. [1] H. Bertrand, R. Ardon, M. Perrot, I. Bloch, "Hyperparameter optimization of deep
       neural networks: combining Hyperband with Bayesian model selection", CAp 2017.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import GPHyperbandSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GPHyperbandSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_candidates_
    [9, 3, 1, 3, 1, 3]
    """

    n_iterations: Iterations = 1
    acquisition: Annotated[str, StrOptions(set(CHOICES))] | Acquisition = "ei_distribution"
    transfer: Annotated[str, StrOptions(set(TRANSFERS))] = "rung"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler = GPSampler(self.acquisition, n_initial=self.n_initial, transfer=self.transfer)
        return sampler, Hyperband(self.factor, self.n_iterations)
