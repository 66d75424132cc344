"""A search that follows the gradient of the validation loss."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import loguniform

from sksearch._utils._typing import (
    Converged,
    Estimator,
    Folding,
    KnownDict,
    Scoring,
    Seed,
    StopDict,
    WorkersDict,
)
from sksearch.base import Sampler, Scheduler, Start
from sksearch.fitting.run._setup import Setup
from sksearch.history import History, Params
from sksearch.hypergradients._models import CrossValidatedLoss, Parts, parts_of
from sksearch.schedulers import FullFidelity
from sksearch.search import COUNT, BaseSearch
from sksearch.search._parts import Refit
from sksearch.space import Space

#: Grid of starting points in the range of each parameter, by the number of parameters.
N_LEVELS = {1: 9, 2: 4, 3: 3}


class _UnknownError(Exception):
    """Raised if the optimizer needs the loss of a candidate not started yet."""

    def __init__(self, params: Params) -> None:
        super().__init__()
        self.params = params


@dataclass(frozen=True)
class Level:
    """Distribution of constant vectors: one draw, repeated for all entries.

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
    """Propose the steps of L-BFGS on the loss.

    The optimizer is run again for each proposal with the known losses, so the proposal is a
    function of the candidates started so far. After convergence it continues from the next best
    start.

    Parameters
    ----------
    loss : CrossValidatedLoss
        Loss of a candidate, and its gradient.
    """

    loss: Any = None

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the optimizer's first candidate not started yet."""
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
        except _UnknownError as unknown:  # the optimizer runs again from its start, each time
            return unknown.params
        return space.sample(rng)

    def _starts(self, guesses: list, values: Any) -> np.ndarray:
        """Return guesses (or the untuned estimator) and grid points, the best ones first.

        All penalties of a grid point are equal.
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
        """Return the loss on the first fold, which suffices to choose a start."""
        return self.loss(self.loss.params(theta), n_folds=1)[0]


class HypergradientSearchCV(BaseSearch):
    """Gradient-based search for one penalty per feature, even for hundreds of features.

    If a model minimises a smooth loss, the derivatives of the validation loss with respect to all
    penalties cost no more than one fit. Candidates are the steps of L-BFGS on the mean loss over
    the folds. Each candidate is fitted and scored as in any other search, and the best score wins.

    Parameters
    ----------
    estimator : estimator object
        Ridge, RidgeClassifier, LogisticRegression, LinearSVC, LinearSVR with
        ``loss="squared_epsilon_insensitive"`` or KernelRidge with a linear or RBF kernel, or a
        Pipeline that ends with one of these. A `sksearch.hypergradients.FeaturePenalties` directly
        before the last step assigns a separate penalty to each feature or group of features.
    param_distributions : dict or None, default=None
        Dict with parameter names as keys and ranges as values, each a ``scipy.stats.loguniform``:
        "featurepenalties__penalties" is the range of each penalty; ``alpha``, ``C`` and ``gamma``
        are parameters of the model. None: the penalties if the Pipeline has a `FeaturePenalties`,
        otherwise the parameters of the model. With an RBF kernel, ``alpha`` is searched in
        addition to the penalties.
    n_iter : int, default=10
        Number of candidates. With more candidates, the penalties fit the folds better, but often
        generalise worse.
    scoring : str, callable, list, tuple, dict or None, default=None
        Metric or metrics to evaluate, as in scikit-learn's searches. None: the estimator's `score`
        method.
    n_jobs : int or None, default=None
        Number of jobs (fits of candidates and folds) to run in parallel on the active joblib
        backend.
    refit : bool, str, callable, Bound or dict, default=True
        Whether to fit the best candidate on all rows, and the metric or rule that selects it.
    cv : int, cross-validation generator, iterable or None, default=None
        Cross-validation splitting strategy, as in scikit-learn's searches. None: 5 folds.
    verbose : int, default=0
        Verbosity: 0 is silent, 1 shows a status line, 2 adds a line for each rung, 3 and more
        print a line for each fit.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of jobs handed to the workers in advance.
    random_state : int, RandomState instance or None, default=None
        Seed of the candidates, of the row subsets and, during each fit, of the global generators.
    error_score : "raise" or numeric, default=np.nan
        Score of a failed fit in `cv_results_`. "raise" raises the error at once.
    return_train_score : bool, default=False
        If True, `cv_results_` contains training scores.
    objectives : list of str or None, default=None
        Two or more objectives to optimise at the same time: metrics of `scoring`, "fit_time",
        "predict_time" or "model_size".
    known : dict or None, default=None
        Knowledge about the candidates:

        - ``"params"``: dict or list of dicts, candidates to evaluate first. "auto", the default:
          the untuned estimator and known good values if no space is given. None: no first
          candidates.
        - ``"results"``: one or more earlier searches to learn from: fitted searches, their
          `cv_results_`, a `checkpoint_dir` or Optuna studies.
        - ``"prior"``: your belief about good values, as a dict with parameter names as keys. Each
          value is a distribution (for a number), or a dict of weights (for the choices of a list).
        - ``"constraints"``: a function ``f(params) -> bool``, called before any fit; a `Bound` on
          a measured value; or a list of functions and bounds.
    timeout : float or None, default=None
        Time limit in seconds, including the refit. The duration of the refit is estimated from the
        fits on the folds.
    stop : "converged", dict or None, default=None
        Conditions that end the search before its time limit or its number of candidates is
        reached. "converged" is short for ``{"converged": True}``:

        - ``"score"``: stop when a candidate reaches this score.
        - ``"patience"``: stop after this number of consecutive candidates at full resource without
          an improvement.
        - ``"converged"``: if True, stop when doubling the time would probably gain less than the
          cross-validation noise.
        - ``"overtime"``: seconds after `timeout` at which candidates still running are stopped.
          Otherwise the search waits for these candidates.
    workers : dict or None, default=None
        Limits and devices of the workers:

        - ``"timeout"``: time limit in seconds for fitting and scoring a candidate on one fold,
          from one rung to the next.
        - ``"memory"``: maximum number of bytes that a candidate may allocate on one fold, in
          addition to the data. Linux only.
        - ``"retries"``: number of times to repeat a fit if its worker process dies. After that,
          the fit fails with the status "crash". Default: 1.
        - ``"devices"``: list of CUDA devices to distribute over the worker processes, by number or
          UUID. Default: all visible devices.
    checkpoint_dir : str, path-like or None, default=None
        Directory in which the search stores its progress. If the search is interrupted, the same
        `fit` resumes from there.
    ensemble : bool or int, default=False
        Whether `best_estimator_` averages the best candidates, or the maximum number of candidates
        to average.

    Attributes
    ----------
    cv_results_ : dict of numpy arrays
        Results of all candidates, as in scikit-learn's searches.
    best_estimator_ : estimator object
        Best candidate fitted on all rows, or the average of the best candidates if `ensemble` is
        set. Not available if ``refit=False``.
    best_score_ : float
        Mean cross-validated score of the best candidate. Not available if `refit` is a callable.
    best_params_ : dict
        Parameters of the best candidate.
    best_index_ : int
        Row of the best candidate in `cv_results_`.
    scorer_ : callable or dict
        Scorer, or a dict of scorers for several metrics.
    n_splits_ : int
        Number of folds.
    ensemble_ : sksearch.search.Ensemble
        Candidates averaged by `best_estimator_`, with their weights, if `ensemble` is set.
    refit_time_ : float
        Seconds for the refit, including the other candidates of an ensemble.
    multimetric_ : bool
        Whether there are several metrics.
    statuses_, errors_ : list of str
        Status of each row ("ok", "error", "nan", "timeout", "memory" or "crash"), and the first
        line of its error.
    history_ : History
        Every trial, with the status, error and cost of each result.
    pareto_ : sksearch.search.ParetoFront
        Pareto front, if there are several `objectives`.
    metric_ : str
        Metric of `best_score_`, if there are several `objectives`.
    plan_ : SearchPlan
        Plan of the search, made before any fit.
    progress_ : Progress
        Progress of the search, which another thread may read while `fit` runs.
    interrupted_ : bool
        Whether Ctrl-C, SIGTERM or an error ended the search. Results known by then are kept.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if the best estimator is a classifier.
    n_features_in_ : int
        Number of features, if the best estimator has this attribute.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the best estimator has this attribute.

    Raises
    ------
    ValueError
        In `fit`, before any training, for an estimator that cannot be differentiated, for other
        parameters or distributions, and for `objectives`, constraints and earlier results.

    See Also
    --------
    sksearch.hypergradients.FeaturePenalties : A penalty for each feature.
    sksearch.hypergradients.implicit : Hypergradients of custom models.
    sksearch.GPBayesSearchCV : For a few parameters of any kind.

    Notes
    -----
    The loss is the mean squared error of regressors and of RidgeClassifier, the log loss of
    LogisticRegression and the squared hinge loss of LinearSVC, on the validation rows and without
    weights. The gradient uses implicit differentiation [1]_, [2]_ with a Cholesky factor of the
    Hessian: memory grows with the square of the number of features, time with its cube. A sparse X
    is converted to a dense array.

    The first candidates are those in `known` or the untuned estimator. L-BFGS starts from the
    candidate with the smallest loss on the first fold, among these and a coarse grid with equal
    penalties. If it converges before `n_iter` candidates, it restarts from the next best one.
    Hundreds of numbers are fitted to the folds, so `best_score_` is optimistic: measure the score
    on other rows.

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
    >>> from sksearch.search import HypergradientSearchCV
    >>> from sksearch.hypergradients import FeaturePenalties
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), FeaturePenalties(), Ridge())
    >>> search = HypergradientSearchCV(model, random_state=0).fit(X, y)
    >>> len(search.best_params_["featurepenalties__penalties"])
    10
    >>> bool(search.best_score_ > search.cv_results_["mean_test_score"][0])  # with 1 for all
    True
    """

    _parameter_constraints = BaseSearch._parameter_constraints | {"n_iter": [COUNT]}

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        n_iter: int = 10,
        scoring: "Scoring" = None,
        n_jobs: int | None = None,
        refit: "Refit" = True,
        cv: "Folding" = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Seed = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        objectives: list | tuple | None = None,
        known: "KnownDict | None" = None,
        timeout: float | None = None,
        stop: "StopDict | Converged | None" = None,
        workers: "WorkersDict | None" = None,
        checkpoint_dir: str | os.PathLike | None = None,
        ensemble: bool | int = False,
    ) -> None:
        self._store(locals())

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return Descent(), FullFidelity(self.n_iter)

    def _own_space(self, estimator: Estimator) -> Any:
        """Return the ranges; the range of penalties applies to each of them."""
        parts = parts_of(estimator)
        params = self._flat_params()
        for name in ("objectives", 'known["constraints"]', 'known["results"]'):
            if params[name] is not None:
                raise ValueError(
                    f"{name}={params[name]!r}: this search only follows the gradient of "
                    "one loss. Leave it out, or use GPBayesSearchCV."
                )
        given: Any = self.param_distributions
        if given is None:
            given = {name: loguniform(*parts.ranges()[name]) for name in parts.default_names()}
        _check_ranges(given, parts)
        if (name := parts.penalties_name) in given:
            return given | {name: Level(*_ends(name, given[name]))}
        return given

    def _prepare(self, *args: Any) -> Setup:
        """Prepare like all searches, with a sampler that evaluates the loss."""
        setup = super()._prepare(*args)
        c = setup.context
        given: Any = setup.problem.space.given
        bounds = {name: _ends(name, values) for name, values in given.items()}
        loss = CrossValidatedLoss(
            parts_of(c.estimator), bounds, c.X, c.y, c.splits, c.classes, c.fit_params
        )
        return replace(setup, sampler=Descent(loss))


def _ends(name: str, values: object) -> tuple[float, float]:
    """Return the smallest and largest value."""
    if isinstance(values, Level):
        return values.low, values.high
    return Space({name: values}).all_dimensions[0].bounds


def _check_ranges(given: Mapping[str, Any], parts: Parts) -> None:
    """Raise ValueError unless all ranges are log-uniform and differentiable."""
    names = " or ".join(map(repr, parts.ranges()))
    if not isinstance(given, dict) or not given:
        raise ValueError(
            f"param_distributions={given!r} must be a dict of loguniform(low, high) for {names}."
        )
    for name, values in given.items():
        if name not in parts.ranges():
            raise ValueError(
                f"param_distributions contains {name!r}, by which the loss cannot be "
                f"differentiated: pass {names}; for a penalty of each feature put "
                "FeaturePenalties() before the model."
            )
        (dimension,) = Space({name: values}).all_dimensions
        if dimension.kind != "real" or not dimension.log:
            raise ValueError(
                f"param_distributions[{name!r}]={values!r} must be scipy.stats.loguniform(low, "
                "high), since steps are taken on a log scale."
            )
