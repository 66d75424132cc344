"""Population-based training, by name."""

from dataclasses import dataclass
from numbers import Integral
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from sksearch._utils._compat import Interval, check_method_params, num_samples
from sksearch._utils._seeds import seeded
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.fitting.finish._refit import follow
from sksearch.fitting.prepare._checks import classes_of
from sksearch.resources import as_resource
from sksearch.samplers import RandomSampler
from sksearch.schedulers import PopulationBasedTraining
from sksearch.search._base import BaseSearch
from sksearch.search._parameters import Count, CountOrAuto, Select, documented
from sksearch.space import Space


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PBTSearchCV(BaseSearch):
    """Population-based training: finds a schedule of params while the models are trained.

    A population of models is trained, all at the same time. At each step the worst 20 % copy the
    fitted models of the best 20 %, those of all folds, and go on with other params. So what wins
    has a history of params: a large learning rate first and a small one in the end, for instance.
    The best model is trained again on all rows by that schedule.

    Parameters
    ----------
    {head}
    population_size : int, default=20
        Count of members, at least 2. All of them together are always trained as much as so many
        candidates at full resource.
    step : int or None, default=None
        Count of units from one selection to the next. None: a twentieth of `max_resources`.
    resource : str or Resource, default="epochs"
        Resource of a step: "epochs" (calls of ``partial_fit``, also of the last step of a
        Pipeline), or the name of an integer parameter by which an ensemble grows, such as
        ``"max_iter"`` of HistGradientBoosting or ``"n_estimators"`` of LightGBM and XGBoost.
        Training has to go on from a fitted model.
    max_resources : int or "auto", default="auto"
        Count of units that all members get. "auto" is 81 epochs, or the estimator's own value of
        a parameter.
    {select}
    {common}

    Attributes
    ----------
    schedule_ : list of dict
        How the best candidate was trained: each entry has ``n_resources``, the count of units
        from which on its ``params`` held. The first is at 0.
    {attributes}
    {fidelity_attributes}

    See Also
    --------
    HyperbandSearchCV : Finds params that stay the same.
    sksearch.plotting.ScheduleDisplay : Draws the schedule.
    sksearch.schedulers.PopulationBasedTraining : How params change.

    Notes
    -----
    Params change where a training that goes on obeys them: `plan` lists which those are, and
    which are drawn once and inherited. Of SGD they are ``alpha``, ``eta0``, ``power_t``,
    ``l1_ratio``, ``learning_rate``, ``penalty`` and ``epsilon``, of MLP ``learning_rate_init``,
    ``alpha`` and ``batch_size``, of nets of skorch ``lr``, ``batch_size`` and ``optimizer__*``,
    of boosting and forests those of the trees, and of all boosting but GradientBoosting
    ``learning_rate``, too: each tree keeps the rate that it was made with. An estimator of which
    nothing is known (`sksearch.estimators.Family`) has to read its params whenever it is trained.

    A row of ``cv_results_`` is a member at one count of units, and its params are those of the
    last step. A trial ends where it is replaced, and the one that takes its place has it as
    ``parent`` in ``history_`` from which it copied the model.

    References
    ----------
    .. [1] M. Jaderberg, V. Dalibard, S. Osindero, W. M. Czarnecki, J. Donahue, A. Razavi, O.
       Vinyals, T. Green, I. Dunning, K. Simonyan, C. Fernando, K. Kavukcuoglu, "Population based
       training of neural networks", 2017. https://doi.org/10.48550/arXiv.1711.09846

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sksearch import PBTSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = PBTSearchCV(
    ...     make_pipeline(StandardScaler(), SGDClassifier(learning_rate="constant", eta0=1)),
    ...     {"sgdclassifier__eta0": loguniform(1e-4, 10)}, population_size=8, step=2,
    ...     max_resources=10, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> [entry["n_resources"] for entry in search.schedule_][0]
    0
    >>> bool(search.best_score_ > 0.9)
    True
    >>> search.replay(X[:100], y[:100]).score(X[:100], y[:100]) > 0.9  # on other rows
    True
    """

    population_size: Annotated[int, Interval(Integral, 2, None, closed="left")] = 20
    step: Count | None = None
    resource: str | Resource = "epochs"
    max_resources: CountOrAuto = "auto"
    select: Select = "auto"

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return RandomSampler(), PopulationBasedTraining(self.population_size, self.step)

    def replay(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Any:
        """Train a new model by the schedule that was found, on other data.

        Parameters
        ----------
        X, y : array-like
            Rows to train on.
        **params : dict of str to object
            As for `fit`, but for ``groups``, which have no use here.

        Returns
        -------
        estimator : estimator object
            Fitted. On the rows of the search it is `best_estimator_` to the last bit.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        """
        check_is_fitted(self, "schedule_")
        X, y = indexable(X, y)
        params = check_method_params(X, params=params)
        estimator = clone(self.estimator)
        resource = as_resource(self.resource, estimator, num_samples(X))
        classes, _ = classes_of(estimator, y)
        fit_params = self._get_routed_params_for_fit(params).estimator.fit
        problem, trial_id = self.history_.problem, self.cv_results_["trial_id"][self.best_index_]
        args = self.schedule_, self.best_n_resources_, problem.changing
        with seeded(problem.seed, trial_id, self.n_splits_, self.best_n_resources_):
            return follow(resource, estimator, *args, X, y, classes, fit_params)
