"""A wide bracket of successive halving and then short ones, with proposals that learn, by name."""

from dataclasses import replace

import numpy as np

from sksearch.schedulers import IteratedHalving
from sksearch.search._docs import documented
from sksearch.search._hybrids import BaseGPHybridSearch, BaseHybridSearch, BaseTPEHybridSearch


class BaseHalvingHybridSearch(BaseHybridSearch):
    """What hybrids with a wide bracket and then short ones share."""

    def _problem(self, space, resource, *args):
        problem = super()._problem(space, resource, *args)
        if self.min_resources == "auto":
            low = self._make_halving(resource).lowest(problem.max_resources)
            problem = replace(problem, min_resources=max(problem.min_resources, low))
        return problem

    def _make_halving(self, resource):
        return IteratedHalving(self.factor, self.n_iterations, resource.continues)


@documented
class GPHalvingSearchCV(BaseHalvingHybridSearch, BaseGPHybridSearch):
    """A wide bracket of successive halving, then short ones; a Gaussian process proposes.

    What to use if you do not know. The first bracket begins with 36 candidates at a 27th of the
    largest resource, each later one with nine at a ninth, and each ends with one at all of it,
    for the price of two or three full trainings (the first: four). One model learns from the
    results of all rungs, and a bracket's candidates are draws from what it expects of them at
    the largest resource.

    Parameters
    ----------
    {head}
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart; the first
        bracket has four, a later one three.
    n_iterations : int, default=8
        Count of brackets, each with new candidates; the first is as wide as Hyperband's budget
        for a bracket allows.
    acquisition : str, default="ei_distribution"
        Of "ei_distribution" a bracket's candidates are draws from the expected improvement,
        taken as a density; for the others see `GPBayesSearchCV`.
    transfer : {"rung", "none", "all", "surv", "same", "joint"}, default="joint"
        Which results the model learns from: all at once, the resource being one more coordinate,
        or those that `GPHyperbandSearchCV` names.
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
    TPEHalvingSearchCV : The same with a Parzen estimator, at a tenth of the overhead.
    GPHyperbandSearchCV : All brackets of Hyperband.
    GPBayesSearchCV : Full resource only.

    Notes
    -----
    ``min_resources="auto"`` is `max_resources` over the cube of `factor`. Where training does
    not continue, as with rows, the first bracket has 27 candidates instead of 36: no bracket
    costs more than one of Hyperband with the same rungs.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import GPHalvingSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GPHalvingSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=27, n_iterations=2, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([1, 3, 9, 27, 3, 9, 27], [36, 12, 4, 1, 9, 3, 1])
    """

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        factor=3,
        n_iterations=8,
        acquisition="ei_distribution",
        transfer="joint",
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


@documented
class TPEHalvingSearchCV(BaseHalvingHybridSearch, BaseTPEHybridSearch):
    """Short brackets of successive halving whose candidates a Parzen estimator proposes.

    The first bracket begins with 36 candidates at a 27th of the largest resource, each later one
    with nine at a ninth, and each ends with one at all of it, for the price of two or three full
    trainings (the first: four). So results that are worth learning from come soon and often: in
    our measurements it left a smaller regret than `BOHBSearchCV`, whose brackets hedge more.

    Parameters
    ----------
    {head}
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart; the first
        bracket has four, a later one three.
    n_iterations : int, default=8
        Count of brackets, each with new candidates; the first is as wide as Hyperband's budget
        for a bracket allows.
    transfer : {"rung", "none", "all", "surv", "same"}, default="rung"
        Which results the proposals learn from, see `BOHBSearchCV`.
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
    GPHalvingSearchCV : The same with a Gaussian process; what to use if you do not know.
    BOHBSearchCV : All brackets of Hyperband.
    TPESearchCV : The same proposals at full resource.

    Notes
    -----
    ``min_resources="auto"`` is `max_resources` over the cube of `factor`. Where training does
    not continue, as with rows, the first bracket has 27 candidates instead of 36: no bracket
    costs more than one of Hyperband with the same rungs.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import TPEHalvingSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = TPEHalvingSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=27, n_iterations=2, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([1, 3, 9, 27, 3, 9, 27], [36, 12, 4, 1, 9, 3, 1])
    """

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        factor=3,
        n_iterations=8,
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
        self.transfer = transfer
        self.n_initial = n_initial
        self.batch_size = batch_size
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources
