"""A wide bracket of successive halving and then short ones, with proposals that learn, by name."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sksearch._utils._compat import StrOptions
from sksearch.acquisition import Acquisition
from sksearch.base import Sampler, Scheduler
from sksearch.samplers import CHOICES, TRANSFERS, WITHOUT_JOINT, GPSampler, TPESampler
from sksearch.schedulers import IteratedHalving
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import (
    HalvingParameters,
    Iterations,
    ModelParameters,
    documented,
)
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class GPHalvingSearchCV(ModelParameters, HalvingParameters, BaseSearch):
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
    acquisition : str or Acquisition, default="ei_distribution"
        "ei_distribution" draws a bracket's candidates from the expected improvement, taken as a
        density; for the others see `GPBayesSearchCV`.
    transfer : {"rung", "none", "all", "survivors", "same", "joint"}, default="joint"
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
    TPEHalvingSearchCV : A Parzen estimator proposes, at a tenth of the overhead.
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

    n_iterations: Iterations = 8
    acquisition: Annotated[str, StrOptions(set(CHOICES))] | Acquisition = "ei_distribution"
    transfer: Annotated[str, StrOptions(set(TRANSFERS))] = "joint"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler = GPSampler(self.acquisition, n_initial=self.n_initial, transfer=self.transfer)
        return sampler, IteratedHalving(self.factor, self.n_iterations)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class TPEHalvingSearchCV(ModelParameters, HalvingParameters, BaseSearch):
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
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
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
    GPHalvingSearchCV : A Gaussian process proposes; what to use if you do not know.
    BOHBSearchCV : All brackets of Hyperband.
    TPESearchCV : A Parzen estimator proposes, at full resource.

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

    n_iterations: Iterations = 8
    transfer: Annotated[str, StrOptions(set(WITHOUT_JOINT))] = "rung"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler = TPESampler(n_initial=self.n_initial, transfer=self.transfer)
        return sampler, IteratedHalving(self.factor, self.n_iterations)
