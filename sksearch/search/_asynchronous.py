"""Searches that never wait for a rung to end."""

import numpy as np

from sksearch._compat import StrOptions
from sksearch.schedulers import ASHA
from sksearch.search._docs import documented
from sksearch.search._fidelity import BaseFidelitySearch
from sksearch.search._search import POSITIVE_INT


@documented
class ASHASearchCV(BaseFidelitySearch):
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
    SuccessiveHalvingSearchCV : The same with rungs that are waited for, and repeatable for any
        `n_jobs`.

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

    _parameter_constraints: dict = {
        **BaseFidelitySearch._parameter_constraints,
        "n_candidates": [POSITIVE_INT, None],
        "variant": [StrOptions({"promotion", "stopping"})],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        n_candidates=None,
        factor=3,
        variant="promotion",
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
        )
        self.n_candidates = n_candidates
        self.factor = factor
        self.variant = variant
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources

    def _make_halving(self):
        return ASHA(self.n_candidates, self.factor, self.variant)
