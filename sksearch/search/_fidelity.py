"""Searches at several resources, by name."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sksearch.base import Sampler, Scheduler
from sksearch.samplers import RandomSampler
from sksearch.schedulers import Hyperband, SuccessiveHalving
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import Count, HalvingParameters, Iterations, documented
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SuccessiveHalvingSearchCV(HalvingParameters, BaseSearch):
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

    n_candidates: Count | None = None

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return RandomSampler(), SuccessiveHalving(self.n_candidates, self.factor)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class HyperbandSearchCV(HalvingParameters, BaseSearch):
    """Hyperband: brackets of successive halving, from the most aggressive to none.

    Each bracket guesses again how early candidates can be told apart, so nobody has to know. All
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
    SearchCV : Composes the scheduler with another sampler.

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

    n_iterations: Iterations = 1
    candidates: Literal["table", "algorithm1"] = "table"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return RandomSampler(), Hyperband(self.factor, self.n_iterations, self.candidates)
