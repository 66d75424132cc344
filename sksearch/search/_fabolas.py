"""Params and the part of the resource they get, chosen together, by name."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sksearch.base import Sampler, Scheduler
from sksearch.samplers import QuasiRandomSampler
from sksearch.schedulers import Fabolas
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import (
    Count,
    CountOrAuto,
    ResourceParameters,
    documented,
)
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class FabolasSearchCV(ResourceParameters, BaseSearch):
    """Choose params and how much of the resource they get by what is gained per second.

    Trainings on few rows, or few epochs, say much of what is good on all, and cost little. A
    Gaussian process models the score over params and size, another one the seconds. Each step is
    the one with the largest expected improvement at full size over its cost: a new candidate at
    any size, or an old one at a larger size.

    Parameters
    ----------
    {head}
    n_iter : int or None, default=50
        Count of candidates, most of which are only ever trained at small sizes. None: as many as
        `timeout` allows.
    n_initial : int, default=20
        Count of quasi-random candidates, at most half of all, that are halved over four small
        sizes before the first model.
    cost : {"auto", "seconds", "resource"}, default="auto"
        Divisor of an improvement: measured seconds, or units of the resource. Seconds
        are what is paid, but they are not the same from run to run, and then nor is the search.
        "auto": seconds with a `timeout`, else units.
    {batch_size}
    {resources}
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    GPBayesSearchCV : All of the resource for each candidate.
    HyperbandSearchCV : Sizes by rank, without a model.
    schedulers.Fabolas : What is chosen, and where this departs from [1]_.

    Notes
    -----
    "auto" for `min_resources` is a 64th of `max_resources`, or what the resource needs at least.
    The plan is the most that can be done: all candidates at all sizes. What is done is mostly a
    small part of it.

    The candidate with the best predicted score gets all of the resource as soon as smaller sizes
    have cost more than that, and at the end. So with rows, where only the largest size counts,
    the winner was scored at full size, however early the search ends.

    It is made for trainings of a minute and more whose cost grows faster than the rows; over
    epochs `GPHalvingSearchCV` is better.

    References
    ----------
    .. [1] A. Klein, S. Falkner, S. Bartels, P. Hennig, F. Hutter, "Fast Bayesian optimization of
       machine learning hyperparameters on large datasets", AISTATS 2017.
       https://proceedings.mlr.press/v54/klein17a.html

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.svm import SVC
    >>> from sksearch import FabolasSearchCV
    >>> X, y = load_digits(return_X_y=True)
    >>> space = {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-6, 1e-1)}
    >>> search = FabolasSearchCV(SVC(), space, n_iter=10, cv=3, random_state=0).fit(X, y)
    >>> search.best_n_resources_  # it was scored on all rows
    1797
    >>> bool(search.best_score_ > 0.9)
    True
    """

    n_iter: Count | None = 50
    n_initial: Count = 20
    cost: Literal["auto", "seconds", "resource"] = "auto"
    batch_size: CountOrAuto = 1

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        by_time = "resource" if self.timeout is None else "seconds"
        cost = by_time if self.cost == "auto" else self.cost
        return QuasiRandomSampler(), Fabolas(self.n_iter, self.n_initial, cost)
