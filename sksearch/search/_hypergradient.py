"""A search that follows the gradient of the validation loss."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import loguniform

from sksearch._utils._typing import Estimator, Seed
from sksearch.base import Sampler, Scheduler, Start
from sksearch.fitting.run._setup import Setup
from sksearch.history import History, Params
from sksearch.hypergradients._models import CrossValidatedLoss, Parts, parts_of
from sksearch.schedulers import FullFidelity
from sksearch.search import BaseSearch, Count, documented
from sksearch.space import Space

#: Places in the range of each parameter where it may begin, by the count of parameters.
N_LEVELS = {1: 9, 2: 4, 3: 3}


class _UnknownError(Exception):
    """The optimizer asks for the loss of a candidate that was not started yet."""

    def __init__(self, params: Params) -> None:
        super().__init__()
        self.params = params


@dataclass(frozen=True)
class Level:
    """A distribution of vectors, of which a draw is one number for all entries.

    Parameters
    ----------
    low, high : float
        Ends of the range of each entry.
    """

    low: float
    high: float

    def rvs(self, random_state: Seed = None) -> float:
        """Draw a number, log-uniform."""
        return float(loguniform(self.low, self.high).rvs(random_state=random_state))


@dataclass(frozen=True)
class Descent(Sampler):
    """Propose what L-BFGS would evaluate next, if it minimised the loss.

    The optimizer begins again for each proposal and is told what is known, so it is a function of
    the candidates that were started. Where it has converged, it begins at the next best start.

    Parameters
    ----------
    loss : CrossValidatedLoss
        Loss and gradient of params.
    """

    loss: Any = None

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the first candidate on the optimizer's way that was not started yet."""
        space, loss = history.problem.space, self.loss
        values = history.cache.setdefault("hypergradients", {})
        guesses = [loss.params(loss.theta(guess)) for guess in history.problem.initial_params]
        tried = history.keys | {space.key(guess) for guess in guesses}

        def value(theta: np.ndarray) -> tuple[float, np.ndarray]:
            params = loss.params(theta)
            key = space.key(params)
            if key not in tried:
                raise _UnknownError(params)
            if key not in values:
                values[key] = loss(params)
            return values[key]

        try:
            for theta in self._starts(guesses, values):
                minimize(value, theta, jac=True, method="L-BFGS-B", bounds=loss.bounds)
        except _UnknownError as unknown:
            return unknown.params
        return space.sample(rng)

    def _starts(self, guesses: list, values: Any) -> np.ndarray:
        """Guesses, or the untuned estimator, and points of a grid, the best ones first.

        On the grid all penalties are the same.
        """
        if "starts" not in values:
            low, high = self.loss.bounds.T
            own = [self.loss.theta(guess) for guess in guesses] or [self.loss.theta({})]
            n = N_LEVELS[len(sizes := self.loss.sizes)]
            levels = product(np.arange(1, n + 1) / (n + 1), repeat=len(sizes))
            places = (low + np.repeat(each, sizes) * (high - low) for each in levels)
            starts = [np.clip(theta, low, high) for theta in (*own, *places)]
            values["starts"] = sorted(starts, key=self._look)
        return values["starts"]

    def _look(self, theta: np.ndarray) -> Any:
        """Loss on the first fold, which is enough to choose where to begin."""
        return self.loss(self.loss.params(theta), n_folds=1)[0]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class HypergradientSearchCV(BaseSearch):
    """Follow the gradient of the validation loss: a penalty for each of hundreds of features.

    For models that minimise a smooth loss, the derivatives of the validation loss by all their
    penalties cost no more than a training. Candidates are the steps of L-BFGS on the mean loss
    over the folds; each is trained and scored as in any other search, and the best score wins.

    Parameters
    ----------
    estimator : estimator object
        Ridge, RidgeClassifier, LogisticRegression, LinearSVC, LinearSVR with the loss
        "squared_epsilon_insensitive" or KernelRidge with a linear or an RBF kernel. In a Pipeline
        it is the last step, and `sksearch.hypergradients.FeaturePenalties` right before it gives
        each feature, or each group of features, a penalty of its own.
    param_distributions : dict or None, default=None
        ``scipy.stats.loguniform`` for each name: "featurepenalties__penalties" for the range of
        each penalty, and the model's ``alpha``, ``C`` or ``gamma``. None: the penalties, if there
        are any, and else the model's own parameters; of a kernel both.
    n_iter : int, default=10
        Count of candidates. More of them fit the folds better, and often other rows worse.
    {common}

    Attributes
    ----------
    {attributes}

    Raises
    ------
    ValueError
        From `fit`, before any training, for an estimator that cannot be differentiated, for
        other parameters or distributions, and for `objectives`, `constraints` and
        `prior_results`.

    See Also
    --------
    sksearch.hypergradients.FeaturePenalties : A penalty for each feature.
    sksearch.hypergradients.implicit : The gradient for models of your own.
    GPBayesSearchCV : For parameters of any kind, and few of them.

    Notes
    -----
    The loss is the mean squared error of regressors and of RidgeClassifier, the log loss of
    LogisticRegression and the squared hinge loss of LinearSVC, on the validation rows and without
    weights. The gradient is by implicit differentiation [1]_, [2]_ with a Cholesky factor of the
    Hessian: memory grows with the square of the count of features, time with its cube. A sparse X
    is made dense for it.

    The first candidates are `initial_params` or the untuned estimator. L-BFGS begins at the one
    with the least loss on the first fold among these and a coarse grid on which all penalties
    are the same; where it has converged before the end, it begins again at the next of them. Folds
    are fitted by hundreds of numbers, so `best_score_` is too good: measure on other rows.

    References
    ----------
    .. [1] Y. Bengio, "Gradient-based optimization of hyperparameters", Neural Computation 12,
       2000. https://doi.org/10.1162/089976600300015187
    .. [2] F. Pedregosa, "Hyperparameter optimization with approximate gradient", ICML 2016.
       https://arxiv.org/abs/1602.02355

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sksearch import HypergradientSearchCV
    >>> from sksearch.hypergradients import FeaturePenalties
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), FeaturePenalties(), Ridge())
    >>> search = HypergradientSearchCV(model, random_state=0).fit(X, y)
    >>> len(search.best_params_["featurepenalties__penalties"])
    10
    >>> bool(search.best_score_ > search.cv_results_["mean_test_score"][0])  # with 1 for all
    True
    """

    n_iter: Count = 10

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return Descent(), FullFidelity(self.n_iter)

    def _own_space(self, estimator: Estimator) -> Any:
        """The ranges, of which that of penalties is for each of them."""
        parts = parts_of(estimator)
        for name in ("objectives", "constraints", "prior_results"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name}={getattr(self, name)!r}: this search follows the gradient of one "
                    "loss, and looks at nothing else. Leave it out, or take GPBayesSearchCV."
                )
        given: Any = self.param_distributions
        if given is None:
            given = {name: loguniform(*parts.ranges()[name]) for name in parts.default_names()}
        _check_ranges(given, parts)
        if (name := parts.penalties_name) in given:
            return given | {name: Level(*_ends(name, given[name]))}
        return given

    def _prepare(self, *args: Any) -> Setup:
        """Prepare as all searches, with a sampler that knows the loss."""
        setup = super()._prepare(*args)
        context = setup.context
        given: Any = setup.problem.space.given
        bounds = {name: _ends(name, values) for name, values in given.items()}
        loss = CrossValidatedLoss(
            parts_of(context.estimator), bounds, context.X, context.y, context.splits,
            context.classes, context.fit_params,
        )  # fmt: skip
        return replace(setup, sampler=Descent(loss))


def _ends(name: str, values: object) -> tuple[float, float]:
    """Least and largest value."""
    if isinstance(values, Level):
        return values.low, values.high
    return Space({name: values}).all_dimensions[0].bounds


def _check_ranges(given: Mapping[str, Any], parts: Parts) -> None:
    """Raise ValueError for anything but a log-uniform range of what can be differentiated."""
    names = " or ".join(map(repr, parts.ranges()))
    if not isinstance(given, dict) or not given:
        raise ValueError(
            f"param_distributions={given!r} must be a dict of loguniform(low, high) for {names}."
        )
    for name, values in given.items():
        if name not in parts.ranges():
            raise ValueError(
                f"param_distributions has {name!r}, by which the loss is not differentiated: it "
                f"may have {names}; for a penalty of each feature put FeaturePenalties() before "
                "the model."
            )
        (dimension,) = Space({name: values}).all_dimensions
        if dimension.kind != "real" or not dimension.log:
            raise ValueError(
                f"param_distributions[{name!r}]={values!r} must be scipy.stats.loguniform(low, "
                "high): steps are made on the logarithm."
            )
