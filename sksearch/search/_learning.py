"""Searches at full resource that learn from results, by name."""

import numpy as np

from sksearch._compat import StrOptions
from sksearch.samplers import ForestSampler, GPSampler, TPESampler
from sksearch.samplers._gp import CHOICES
from sksearch.schedulers import FullFidelity
from sksearch.search._base import POSITIVE_INT, BaseSearch
from sksearch.search._docs import documented


class BaseLearningSearch(BaseSearch):
    """What searches with `n_iter` proposals that learn share."""

    _parameter_constraints: dict = {
        **BaseSearch._parameter_constraints,
        "n_iter": [POSITIVE_INT],
        "n_initial": [POSITIVE_INT, None],
        "batch_size": [POSITIVE_INT],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_iter=50,
        n_initial=None,
        batch_size=1,
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
        self.n_iter = n_iter
        self.n_initial = n_initial
        self.batch_size = batch_size

    def _make_scheduler(self, problem, resource):
        return FullFidelity(self.n_iter)

    def _n_initial(self, sampler_type, space):
        """The user's count, else the sampler's."""
        if self.n_initial is not None:
            return self.n_initial
        return sampler_type.default_n_initial(space, self.n_iter)


@documented
class GPBayesSearchCV(BaseLearningSearch):
    """Bayesian optimisation with a Gaussian process.

    After a few quasi-random candidates each next one is where the model expects the largest
    improvement. Compared with ``RandomizedSearchCV`` it needs fewer candidates; use it where a
    training takes longer than the hundredths of a second that a proposal costs.

    Parameters
    ----------
    {head}
    n_iter : int, default=50
        Count of candidates; a finite space may have fewer.
    acquisition : str, default="log_ei"
        What is maximised: "log_ei" (expected improvement), "log_pi" (probability of one), "lcb"
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

    _parameter_constraints: dict = {
        **BaseLearningSearch._parameter_constraints,
        "acquisition": [StrOptions(set(CHOICES))],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_iter=50,
        acquisition="log_ei",
        n_initial=None,
        batch_size=1,
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
            n_iter=n_iter,
            n_initial=n_initial,
            batch_size=batch_size,
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
        self.acquisition = acquisition

    def _make_sampler(self, space, rng):
        return GPSampler(self.acquisition, n_initial=self._n_initial(GPSampler, space))


@documented
class TPESearchCV(BaseLearningSearch):
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
    BOHBSearchCV : The same proposals in Hyperband.

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

    def _make_sampler(self, space, rng):
        return TPESampler(n_initial=self._n_initial(TPESampler, space))


@documented
class ForestBayesSearchCV(BaseLearningSearch):
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
    GPBayesSearchCV : The same with a Gaussian process.

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

    def _make_sampler(self, space, rng):
        return ForestSampler(n_initial=self._n_initial(ForestSampler, space))
