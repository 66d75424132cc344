"""Incremental evaluation, by name."""

from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np

from sksearch._utils._compat import Interval, StrOptions
from sksearch.base import Sampler, Scheduler
from sksearch.samplers import ForestSampler, GPSampler, RandomSampler
from sksearch.schedulers import IncrementalEvaluation
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import Count, ResourceParameters, documented
from sksearch.space import Space

POPULATIONS = {"forest": ForestSampler, "gp": GPSampler, "random": RandomSampler}


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class IncrementalEvaluationSearchCV(ResourceParameters, BaseSearch):
    """Incremental evaluation: a large population at first, a fixed step for those that are kept.

    Most of the budget goes into the population, which a model may choose; then the best `keep`
    of it go on by `step` units, again and again, until one is left. In successive halving all
    rungs cost the same; here each costs about `keep` of the one before, and the last candidate
    is trained far less than `max_resources`, if the budget is not large.

    Parameters
    ----------
    {head}
    population : {"forest", "gp", "random"}, default="forest"
        The chooser of the population: a random forest or a Gaussian process, which learn from the
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
        The resource that is spent step by step, see `HyperbandSearchCV`.
    min_resources : int or "auto", default="auto"
        Count of units that the population gets (b_init in [1]_). "auto" is a tenth of
        `max_resources`, as 2 of 20 epochs in [1]_, but at least what the resource needs.
    max_resources : int or "auto", default="auto"
        Count of units that no candidate exceeds. "auto" is 81 epochs, the estimator's own value
        of a parameter, all rows, all folds; seconds must be given.
    {select}
    audit : float, default=0.0
        Share of the candidates stopped early that are brought to the last rung nevertheless, see
        `HyperbandSearchCV`.
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

    population: Annotated[str, StrOptions(set(POPULATIONS))] = "forest"
    budget: Count | None = None
    keep: Annotated[float, Interval(Real, 0, 1, closed="neither")] = 0.25
    step: Count | None = None
    candidates: Literal["algorithm1", "largest"] = "algorithm1"
    batch_size: Count = 1

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler: Any = POPULATIONS[self.population]
        # The population is chosen while it is trained its first epochs, and from those alone.
        sampler = sampler(transfer="none") if sampler().reads.results else sampler()
        return sampler, IncrementalEvaluation(self.budget, self.keep, self.step, self.candidates)
