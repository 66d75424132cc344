"""Searches that never wait for a rung to end."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sksearch.base import Sampler, Scheduler
from sksearch.samplers import RandomSampler
from sksearch.schedulers import ASHA, PASHA
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import Count, HalvingParameters, documented
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ASHASearchCV(HalvingParameters, BaseSearch):
    """Asynchronous successive halving: a free worker never waits for a rung to end.

    It promotes a candidate that is among the best ``1 / factor`` of its rung so far, and starts a
    new one if there is none. With many workers, or trainings that take unlike long, all of them
    are always busy; but which candidates are promoted depends on which results came first.

    Parameters
    ----------
    {head}
    n_candidates : int or None, default=None
        Count of candidates at the lowest rung. None: ``factor ** (n_rungs - 1)``.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [1]_).
    variant : {"promotion", "stopping"}, default="promotion"
        "stopping" decides once, when a candidate reaches a rung, and keeps no fitted model for
        later.
    {resources}
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    SuccessiveHalvingSearchCV : Waits for each rung, and repeats exactly for any `n_jobs`.
    PASHASearchCV : Its largest resource grows only while ranks change.

    Notes
    -----
    With one worker runs repeat exactly. The plan is the least that is done: a candidate that was
    promoted early may fall behind later.

    References
    ----------
    .. [1] L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht,
       A. Talwalkar, "A system for massively parallel hyperparameter tuning", MLSys 2020.
       https://arxiv.org/abs/1810.05934

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import ASHASearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = ASHASearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_resources_
    [1, 3, 9]
    """

    n_candidates: Count | None = None
    variant: Literal["promotion", "stopping"] = "promotion"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return RandomSampler(), ASHA(self.n_candidates, self.factor, self.variant)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PASHASearchCV(HalvingParameters, BaseSearch):
    """Progressive asynchronous halving: nobody is trained longer than ranks go on changing.

    Asynchronous successive halving whose candidates are promoted to the second rung only, and to
    each further one only after the ranking there was not that of the rung below, by more than
    noise can explain. In the end the best candidate alone is brought up to `max_resources`.

    Parameters
    ----------
    {head}
    n_candidates : int or None, default=None
        Count of candidates at the lowest rung. None: ``factor ** (n_rungs - 1)``.
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
    ASHASearchCV : All rungs are open from the beginning.
    schedulers.PASHA : How rankings are compared, and where this departs from [1]_.

    Notes
    -----
    With one worker runs repeat exactly. The plan is that of `ASHASearchCV`: what is done if
    ranks change up to the end. Where they do not, less is done.

    References
    ----------
    .. [1] O. Bohdal, L. Balles, M. Wistuba, B. Ermis, C. Archambeau, G. Zappella, "PASHA:
       efficient HPO and NAS with progressive resource allocation", ICLR 2023.
       https://arxiv.org/abs/2207.06940

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import PASHASearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = PASHASearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=27, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> int(search.cv_results_["n_resources"].max())
    27
    """

    n_candidates: Count | None = None

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return RandomSampler(), PASHA(self.n_candidates, self.factor)
