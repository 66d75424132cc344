"""Searches at several resources by name."""

from abc import abstractmethod
from numbers import Real

import numpy as np

from sksearch._compat import Interval, StrOptions
from sksearch.base import Resource, Scheduler
from sksearch.samplers import RandomSampler
from sksearch.schedulers import FullFidelity, Hyperband, SuccessiveHalving, ladder
from sksearch.search._base import POSITIVE_INT, BaseSearch
from sksearch.search._docs import documented


class BaseFidelitySearch(BaseSearch):
    """What searches with a resource share."""

    _parameter_constraints: dict = {
        **BaseSearch._parameter_constraints,
        "resource": [str, Resource],
        "min_resources": [POSITIVE_INT, StrOptions({"auto"})],
        "max_resources": [POSITIVE_INT, StrOptions({"auto"})],
        "factor": [Interval(Real, 1, None, closed="neither")],
    }

    def _make_sampler(self, space, rng):
        return RandomSampler()

    def _make_scheduler(self, problem, resource):
        rungs = ladder(problem.min_resources, problem.max_resources, self.factor)
        if len(rungs) == 1 and self.min_resources == "auto":
            # Nothing to halve, such as rows too few: be what RandomizedSearchCV would be.
            return FullFidelity(getattr(self, "n_candidates", None) or 10)
        return self._make_halving(resource)

    @abstractmethod
    def _make_halving(self, resource) -> Scheduler:
        """The scheduler, where there is more than one rung."""


@documented
class SuccessiveHalvingSearchCV(BaseFidelitySearch):
    """Successive halving: all candidates a little, the best ``1 / factor`` of them more.

    Unlike scikit-learn's ``HalvingRandomSearchCV`` it continues training where it can, keeps
    the test folds whole, and its last rung is always `max_resources`.

    Parameters
    ----------
    {head}
    n_candidates : int or None, default=None
        Count of candidates at the lowest rung. None: ``factor ** (n_rungs - 1)``, so that one
        reaches the last rung.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    {resources}
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    HyperbandSearchCV : Hedges over how early candidates can be told apart.

    References
    ----------
    .. [1] K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and
       hyperparameter optimization", AISTATS 2016.
       https://proceedings.mlr.press/v51/jamieson16.html

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sksearch import SuccessiveHalvingSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SuccessiveHalvingSearchCV(
    ...     RandomForestClassifier(random_state=0), {"min_samples_leaf": randint(1, 40)},
    ...     resource="n_estimators", max_resources=9, random_state=0,
    ... ).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([1, 3, 9], [9, 3, 1])
    """

    _parameter_constraints: dict = {
        **BaseFidelitySearch._parameter_constraints,
        "n_candidates": [POSITIVE_INT, None],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_candidates=None,
        factor=3,
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
        self.n_candidates = n_candidates
        self.factor = factor
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources

    def _make_halving(self, resource):
        return SuccessiveHalving(self.n_candidates, self.factor)


@documented
class HyperbandSearchCV(BaseFidelitySearch):
    """Hyperband: brackets of successive halving, from the most aggressive to none.

    Each bracket guesses anew how early candidates can be told apart, so nobody has to know. All
    counts are exact integers: ``max_resources=243`` has six rungs, and every unit of epochs,
    trees and folds is paid once.

    Parameters
    ----------
    {head}
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    n_iterations : int, default=1
        How often all brackets are gone through, each time with new candidates.
    candidates : {"table", "algorithm1"}, default="table"
        Candidates that the brackets begin with: for 81 units 81, 27, 9, 6, 5 as in the
        published table, or 81, 34, 15, 8, 5 as in Algorithm 1.
    {resources}
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    SuccessiveHalvingSearchCV : The most aggressive bracket alone.
    SearchCV : The same scheduler with another sampler.

    References
    ----------
    .. [1] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar, "Hyperband: a novel
       bandit-based approach to hyperparameter optimization", JMLR 18(185):1-52, 2018.
       https://jmlr.org/papers/v18/16-558.html

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import HyperbandSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = HyperbandSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, cv=3, random_state=0,
    ... )
    >>> print(search.plan(X, y))
    bracket iter       epochs candidates    fits
          0    0            1          9      27
          0    1            3          3       9
          0    2            9          1       3
          1    0            3          3       9
          1    1            9          1       3
          2    0            9          3       9
    15 candidates, 61 fits, 63 epochs in each of 3 folds
    >>> bool(search.fit(X, y).best_score_ > 0.8)
    True
    """

    _parameter_constraints: dict = {
        **BaseFidelitySearch._parameter_constraints,
        "n_iterations": [POSITIVE_INT],
        "candidates": [StrOptions({"table", "algorithm1"})],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        factor=3,
        n_iterations=1,
        candidates="table",
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
        self.candidates = candidates
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources

    def _make_halving(self, resource):
        return Hyperband(self.factor, self.n_iterations, self.candidates)
