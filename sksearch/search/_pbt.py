"""Population-based training."""

import os
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from sksearch._utils._compat import Interval, check_method_params, num_samples
from sksearch._utils._seeds import seeded
from sksearch._utils._typing import (
    Converged,
    Folding,
    KnownDict,
    Scoring,
    Seed,
    StopDict,
    WorkersDict,
)
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.fitting.finish._refit import follow
from sksearch.fitting.prepare._checks import classes_of
from sksearch.resources import as_resource
from sksearch.samplers import RandomSampler
from sksearch.schedulers import PopulationBasedTraining
from sksearch.search._base import BaseSearch
from sksearch.search._parts import AUTO, COUNT, SELECT, Refit
from sksearch.space import Space


class PBTSearchCV(BaseSearch):
    """Population-based training: finds a schedule of parameters while the models are trained.

    All models of a population are trained at the same time. At each step, copies of the best 20 %
    of the models (on all folds) replace the worst 20 %, and continue with changed parameters. The
    result is a schedule of parameters, such as a learning rate that is large at first and small at
    the end. The best model is then fitted on all rows with this schedule.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    population_size : int, default=20
        Number of models in the population, at least 2. All are trained to the full resource.
    step : int or None, default=None
        Number of units from one selection to the next. None: a twentieth of `max_resources`.
    resource : str or Resource, default="epochs"
        Resource in which a step is measured: "epochs" (calls of ``partial_fit``, also of the last
        step of a Pipeline), or the name of an integer parameter by which an ensemble grows, such
        as ``"max_iter"`` of HistGradientBoosting or ``"n_estimators"`` of LightGBM and XGBoost.
        Training must be able to continue from a fitted model.
    max_resources : int or "auto", default="auto"
        Largest amount of the resource. "auto": 81 epochs, all rows, all folds, or the value of the
        integer parameter set on the estimator.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win: all of them ("best"), or only those with the largest resource
        ("top").
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
    schedule_ : list of dict
        Schedule of the best candidate: each entry has ``params`` and ``n_resources``, the number
        of units after which they apply. The first entry applies from the beginning.
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
    best_n_resources_ : int
        Amount of the resource for which the best candidate was selected, also used by the fit on
        all rows.
    min_resources_, max_resources_ : int
        Smallest and largest amount of the resource.
    n_resources_, n_candidates_ : list of int
        Amount of the resource and number of candidates of each planned rung, bracket by bracket.
    n_iterations_ : int
        Number of planned rungs.

    See Also
    --------
    HyperbandSearchCV : Searches parameters that stay constant.
    sksearch.plotting.ScheduleDisplay : Draws the schedule.
    sksearch.schedulers.PopulationBasedTraining : How parameters change.

    Notes
    -----
    A parameter can change only if continued training uses its new value. `plan` lists these
    parameters. Other parameters are drawn once and inherited. Parameters that can change are, for
    SGD, ``alpha``, ``eta0``, ``power_t``, ``l1_ratio``, ``learning_rate``, ``penalty`` and
    ``epsilon``; for MLP ``learning_rate_init``, ``alpha`` and ``batch_size``; for skorch nets
    ``lr``, ``batch_size`` and ``optimizer__*``; for boosting and forests the parameters of the
    trees. ``learning_rate`` can change for all boosters except GradientBoosting, because these
    boosters store the rate of each tree. All parameters of other estimators may change, so such an
    estimator must read them again at each training step (see `sksearch.estimators.Family`).

    Each row of ``cv_results_`` describes a member of the population at one amount of the resource,
    with the parameters of the step that ends there. A trial ends when it is replaced. In
    ``history_``, the attribute ``parent`` of the new trial is the trial from which the model was
    copied.

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

    _parameter_constraints = BaseSearch._parameter_constraints | {
        "population_size": [Interval(Integral, 2, None, closed="left")],
        "step": [COUNT, None],
        "resource": [str, Resource],
        "max_resources": [COUNT, AUTO],
        "select": [SELECT],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        population_size: int = 20,
        step: int | None = None,
        resource: str | Resource = "epochs",
        max_resources: int | Literal["auto"] = "auto",
        select: Literal["auto", "best", "top"] = "auto",
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
        return RandomSampler(), PopulationBasedTraining(self.population_size, self.step)

    def replay(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Any:
        """Train a new model on other data with the schedule found by the search.

        Parameters
        ----------
        X, y : array-like
            Training rows.
        **params : dict of str to object
            As for `fit`, except ``groups``.

        Returns
        -------
        estimator : estimator object
            Fitted estimator. A model trained on the rows of the search is bit-identical to
            `best_estimator_`.

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
