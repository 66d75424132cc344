"""Hyperband with proposals that learn, by name."""

import numpy as np

from sksearch._compat import StrOptions
from sksearch.samplers import GPSampler, TPESampler
from sksearch.samplers._gp import CHOICES
from sksearch.samplers._observations import TRANSFERS, WITHOUT_JOINT
from sksearch.schedulers import AsyncHyperband, Hyperband
from sksearch.search._base import POSITIVE_INT
from sksearch.search._docs import documented
from sksearch.search._fidelity import BaseFidelitySearch


class BaseHybridSearch(BaseFidelitySearch):
    """What hybrids share; the brackets are those of Hyperband, unless a subclass has others."""

    _parameter_constraints: dict = {
        **BaseFidelitySearch._parameter_constraints,
        "n_iterations": [POSITIVE_INT],
        "n_initial": [POSITIVE_INT, None],
        "batch_size": [POSITIVE_INT],
    }

    def _make_halving(self, resource):
        return Hyperband(self.factor, self.n_iterations)


class BaseTPEHybridSearch(BaseHybridSearch):
    """What hybrids share whose candidates a Parzen estimator proposes."""

    _parameter_constraints: dict = {
        **BaseHybridSearch._parameter_constraints,
        "transfer": [StrOptions(set(WITHOUT_JOINT))],
    }

    def _make_sampler(self, space, rng):
        return TPESampler(n_initial=self.n_initial, transfer=self.transfer)


class BaseGPHybridSearch(BaseHybridSearch):
    """What hybrids share whose candidates a Gaussian process proposes."""

    _parameter_constraints: dict = {
        **BaseHybridSearch._parameter_constraints,
        "acquisition": [StrOptions(set(CHOICES))],
        "transfer": [StrOptions(set(TRANSFERS))],
    }

    def _make_sampler(self, space, rng):
        return GPSampler(self.acquisition, n_initial=self.n_initial, transfer=self.transfer)


@documented
class BOHBSearchCV(BaseTPEHybridSearch):
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
    transfer : {"rung", "none", "all", "surv", "same"}, default="rung"
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
    HyperbandSearchCV : The same without learning.
    TPEHalvingSearchCV : Shorter brackets.
    GPHyperbandSearchCV : The same with a Gaussian process.

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

    _parameter_constraints: dict = {
        **BaseTPEHybridSearch._parameter_constraints,
        "scheduler": [StrOptions({"hyperband", "asynchronous"})],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        factor=3,
        n_iterations=1,
        scheduler="hyperband",
        transfer="rung",
        n_initial=None,
        batch_size=1,
        resource="n_samples",
        min_resources="auto",
        max_resources="auto",
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        random_state=None,
        error_score=np.nan,
        return_train_score=False,
        initial_params=None,
        timeout=None,
        target_score=None,
        candidate_timeout=None,
        memory_limit=None,
        max_retries=1,
        devices=None,
        checkpoint_dir=None,
        ensemble_size=None,
    ):
        super().__init__(
            estimator,
            param_distributions,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
            initial_params=initial_params,
            timeout=timeout,
            target_score=target_score,
            candidate_timeout=candidate_timeout,
            memory_limit=memory_limit,
            max_retries=max_retries,
            devices=devices,
            checkpoint_dir=checkpoint_dir,
            ensemble_size=ensemble_size,
        )
        self.factor = factor
        self.n_iterations = n_iterations
        self.scheduler = scheduler
        self.transfer = transfer
        self.n_initial = n_initial
        self.batch_size = batch_size
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources

    def _make_halving(self, resource):
        if self.scheduler == "asynchronous":
            return AsyncHyperband(self.factor, self.n_iterations)
        return super()._make_halving(resource)


@documented
class GPHyperbandSearchCV(BaseGPHybridSearch):
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
    acquisition : str, default="ei_distribution"
        Of "ei_distribution" a bracket's candidates are draws from the expected improvement,
        taken as a density; for the others see `GPBayesSearchCV`.
    transfer : {"rung", "none", "all", "surv", "same", "joint"}, default="rung"
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
    BOHBSearchCV : The same with a Parzen estimator.
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

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        factor=3,
        n_iterations=1,
        acquisition="ei_distribution",
        transfer="rung",
        n_initial=None,
        batch_size=1,
        resource="n_samples",
        min_resources="auto",
        max_resources="auto",
        scoring=None,
        n_jobs=None,
        refit=True,
        cv=None,
        verbose=0,
        pre_dispatch="2*n_jobs",
        random_state=None,
        error_score=np.nan,
        return_train_score=False,
        initial_params=None,
        timeout=None,
        target_score=None,
        candidate_timeout=None,
        memory_limit=None,
        max_retries=1,
        devices=None,
        checkpoint_dir=None,
        ensemble_size=None,
    ):
        super().__init__(
            estimator,
            param_distributions,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            random_state=random_state,
            error_score=error_score,
            return_train_score=return_train_score,
            initial_params=initial_params,
            timeout=timeout,
            target_score=target_score,
            candidate_timeout=candidate_timeout,
            memory_limit=memory_limit,
            max_retries=max_retries,
            devices=devices,
            checkpoint_dir=checkpoint_dir,
            ensemble_size=ensemble_size,
        )
        self.factor = factor
        self.n_iterations = n_iterations
        self.acquisition = acquisition
        self.transfer = transfer
        self.n_initial = n_initial
        self.batch_size = batch_size
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
