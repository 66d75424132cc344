"""Searches by evolution and by swarms, by name."""

from dataclasses import dataclass
from numbers import Real
from typing import Annotated

import numpy as np

from sksearch._utils._compat import Interval
from sksearch.base import Sampler, Scheduler
from sksearch.samplers import CMAESSampler, DESampler, GeneticSampler, PSOSampler
from sksearch.schedulers import FullFidelity, Hyperband
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import (
    Count,
    HalvingParameters,
    Iterations,
    PopulationParameters,
    documented,
)
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CMAESSearchCV(PopulationParameters, BaseSearch):
    """CMA-ES: a normal distribution that follows the results, with margins for mixed spaces.

    It learns which parameters go together, at the cost of a hundred candidates or more. It needs
    the package ``cmaes``: ``pip install ".[cma]"`` in a checkout.

    Parameters
    ----------
    {head}
    n_iter : int, default=100
        Count of candidates; a finite space may have fewer.
    sigma : float, default=0.2
        First standard deviation, as a share of each parameter's range. Smaller values stay near
        the first of `initial_params`.
    {population_size}
    {batch_size}
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    GPBayesSearchCV : Needs fewer candidates.
    DESearchCV : Learns no distribution.
    sksearch.samplers.CMAESSampler : Populations, restarts, and what is done with choices.

    References
    ----------
    .. [1] R. Hamano, S. Saito, M. Nomura, K. Uchida, S. Shirakawa, "CatCMA with margin:
       stochastic optimization for continuous, integer, and categorical variables", GECCO 2025.
       https://arxiv.org/abs/2504.07884

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import CMAESSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = CMAESSearchCV(SVC(), space, n_iter=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    n_iter: Count = 100
    sigma: Annotated[float, Interval(Real, 0, 1, closed="right")] = 0.2

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return CMAESSampler(self.population_size, self.sigma), FullFidelity(self.n_iter)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DESearchCV(PopulationParameters, BaseSearch):
    """Differential evolution: members of a population move by differences of others.

    Steps shrink by themselves as the population gathers. There is no model to be misled, and
    hardly anything to compute.

    Parameters
    ----------
    {head}
    n_iter : int, default=100
        Count of candidates; a finite space may have fewer.
    {population_size}
    {batch_size}
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DEHBSearchCV : Most candidates at a part of the resource.
    CMAESSearchCV : Learns which parameters go together.
    sksearch.samplers.DESampler : How members compete.

    References
    ----------
    .. [1] R. Storn, K. Price, "Differential evolution: a simple and efficient heuristic for
       global optimization over continuous spaces", J. Global Optimization 11, 1997.
       https://doi.org/10.1023/A:1008202821328

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import DESearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = DESearchCV(SVC(), space, n_iter=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    n_iter: Count = 100

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return DESampler(self.population_size), FullFidelity(self.n_iter)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class DEHBSearchCV(PopulationParameters, HalvingParameters, BaseSearch):
    """Hyperband whose candidates are made by differential evolution.

    Hyperband decides how far each candidate is trained, and members of a population, those of the
    largest resource that has enough results, are moved by differences of others. Every bracket
    costs what it costs in Hyperband.

    Parameters
    ----------
    {head}
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    n_iterations : int, default=1
        How often all brackets are gone through, each time with new candidates.
    {population_size}
    {batch_size}
    {resources}
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    BOHBSearchCV : Hyperband whose candidates densities propose.
    DESearchCV : Full resource only.

    Notes
    -----
    In [1]_ every rung has a population of its own, and after the first bracket all candidates of
    a higher rung are made again. Here the best of the lower rung are promoted, as in Hyperband, so
    that what was trained is not paid for again.

    References
    ----------
    .. [1] N. Awad, N. Mallik, F. Hutter, "DEHB: evolutionary Hyperband for scalable, robust and
       efficient hyperparameter optimization", IJCAI 2021. https://arxiv.org/abs/2105.09821

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import DEHBSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = DEHBSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([1, 3, 9, 3, 9, 9], [9, 3, 1, 3, 1, 3])
    """

    n_iterations: Iterations = 1

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return DESampler(self.population_size), Hyperband(self.factor, self.n_iterations)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class GeneticSearchCV(PopulationParameters, BaseSearch):
    """A genetic algorithm: the best candidates are crossed and mutated.

    Choices, integers and conditional parameters are inherited like any other, so it suits spaces
    with many of them.

    Parameters
    ----------
    {head}
    n_iter : int, default=100
        Count of candidates; a finite space may have fewer.
    {population_size}
    {batch_size}
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    ForestBayesSearchCV : A model for such spaces, which needs fewer candidates.
    DESearchCV : For numbers.
    sksearch.samplers.GeneticSampler : Crossover and mutation.

    References
    ----------
    .. [1] L. J. Eshelman, J. D. Schaffer, "Real-coded genetic algorithms and
       interval-schemata", Foundations of Genetic Algorithms 2, 1993.
       https://doi.org/10.1016/B978-0-08-094832-4.50018-0

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import GeneticSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = GeneticSearchCV(SVC(), space, n_iter=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    n_iter: Count = 100

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return GeneticSampler(self.population_size), FullFidelity(self.n_iter)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PSOSearchCV(PopulationParameters, BaseSearch):
    """Particle swarm: candidates fly on, drawn to the best places that were found.

    Parameters
    ----------
    {head}
    n_iter : int, default=100
        Count of candidates; a finite space may have fewer.
    asynchronous : bool, default=True
        Whether each particle knows all results so far. False: only those of earlier rounds, as
        in [1]_.
    {population_size}
    {batch_size}
    {common}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    DESearchCV : Found better candidates in our measurements.
    sksearch.samplers.PSOSampler : How particles move.

    References
    ----------
    .. [1] J. Kennedy, R. Eberhart, "Particle swarm optimization", ICNN 1995.
       https://doi.org/10.1109/ICNN.1995.488968

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import PSOSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = PSOSearchCV(SVC(), space, n_iter=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    n_iter: Count = 100
    asynchronous: bool = True

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return PSOSampler(self.population_size, self.asynchronous), FullFidelity(self.n_iter)
