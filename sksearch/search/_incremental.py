"""Incremental evaluation by name."""

from dataclasses import replace
from numbers import Real

import numpy as np

from sksearch._compat import Interval, StrOptions
from sksearch.base import Resource
from sksearch.samplers import ForestSampler, GPSampler, RandomSampler
from sksearch.schedulers import IncrementalEvaluation
from sksearch.search._base import POSITIVE_INT, BaseSearch
from sksearch.search._docs import documented

_POPULATIONS = {"forest": ForestSampler, "gp": GPSampler, "random": RandomSampler}
BEGINNING = 10  # the document's candidates begin with 2 of at most 20 epochs: one tenth


@documented
class IncrementalEvaluationSearchCV(BaseSearch):
    """Incremental evaluation: a large population at first, a fixed step for those who are kept.

    Most of the budget goes into the population, which a model may choose; then the best `keep`
    of it go on by `step` units, again and again, until one is left. In successive halving all
    rungs cost the same; here each costs about `keep` of the one before, and the last candidate
    is trained far less than `max_resources`, if the budget is not large.

    Parameters
    ----------
    {head}
    population : {"forest", "gp", "random"}, default="forest"
        Who chooses the population: a random forest or a Gaussian process, which learn from the
        scores at `min_resources`, or chance.
    budget : int or None, default=None
        Count of units for all candidates together, in each fold; never exceeded. None: what ten
        candidates cost at `max_resources`.
    keep : float, default=0.25
        The part of a rung that goes on (r in [1]_).
    step : int or None, default=None
        Count of units between two rungs (b in [1]_). None: half of `min_resources`, at least 1.
    candidates : {"algorithm1", "largest"}, default="algorithm1"
        Size of the population: by the formula in [1]_, or as many as `budget` pays for.
    {batch_size}
    resource : str or Resource, default="n_samples"
        What is spent on a candidate step by step, see `HyperbandSearchCV`.
    min_resources : int or "auto", default="auto"
        Count of units that the population gets (b_init in [1]_). "auto" is a tenth of
        `max_resources`, as 2 of 20 epochs in [1]_, but at least what the resource needs.
    max_resources : int or "auto", default="auto"
        Count of units that no candidate exceeds. "auto" is 81 epochs, the estimator's own value
        of a parameter, all rows, all folds; seconds must be given.
    {common}

    Attributes
    ----------
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    SuccessiveHalvingSearchCV : Spends as much on the last candidates as on the first ones.
    sksearch.schedulers.IncrementalEvaluation : The counts, and where they depart from [1]_.

    References
    ----------
    .. [1] M. Wistuba, "Bayesian optimization combined with incremental evaluation for neural
       network architecture optimization", AutoML workshop at ECML PKDD 2017.
       https://ceur-ws.org/Vol-1998/paper_01.pdf

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sksearch import IncrementalEvaluationSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = IncrementalEvaluationSearchCV(
    ...     make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
    ...     {"sgdclassifier__alpha": loguniform(1e-5, 1)}, resource="epochs", max_resources=20,
    ...     budget=60, cv=3, random_state=0,
    ... )
    >>> print(search.plan(X, y))
    bracket iter       epochs candidates    fits
          0    0            2         25      75
          0    1            3          6      18
          0    2            4          1       3
    25 candidates, 97 fits, 57 epochs in each of 3 folds
    >>> bool(search.fit(X, y).best_score_ > 0.8)
    True
    """

    _parameter_constraints: dict = {
        **BaseSearch._parameter_constraints,
        "population": [StrOptions(set(_POPULATIONS))],
        "budget": [POSITIVE_INT, None],
        "keep": [Interval(Real, 0, 1, closed="neither")],
        "step": [POSITIVE_INT, None],
        "candidates": [StrOptions({"algorithm1", "largest"})],
        "batch_size": [POSITIVE_INT],
        "resource": [str, Resource],
        "min_resources": [POSITIVE_INT, StrOptions({"auto"})],
        "max_resources": [POSITIVE_INT, StrOptions({"auto"})],
    }

    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        population="forest",
        budget=None,
        keep=0.25,
        step=None,
        candidates="algorithm1",
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
        self.population = population
        self.budget = budget
        self.keep = keep
        self.step = step
        self.candidates = candidates
        self.batch_size = batch_size
        self.resource = resource
        self.min_resources = min_resources
        self.max_resources = max_resources

    def _make_sampler(self, space, rng):
        sampler = _POPULATIONS[self.population]
        # The population is chosen while it is trained its first epochs, and from those alone.
        return sampler(transfer="none") if sampler.learns else sampler()

    def _problem(self, space, resource, *args):
        problem = super()._problem(space, resource, *args)
        if self.min_resources == "auto":
            low = max(problem.min_resources, problem.max_resources // BEGINNING)
            problem = replace(problem, min_resources=low)
        return problem

    def _make_scheduler(self, problem, resource):
        return IncrementalEvaluation(
            self.budget, self.keep, self.step, resource.continues, self.candidates
        )
