"""Halving searches with scikit-learn's names, candidates and rows."""

import copy
import math
import os
import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
from sklearn.model_selection import ParameterSampler

from sksearch._utils._compat import (
    SklearnHalvingGrid,
    SklearnHalvingRandom,
    StrOptions,
    num_samples,
)
from sksearch._utils._typing import (
    Converged,
    Folding,
    KnownDict,
    Samples,
    Scoring,
    Seed,
    StopDict,
    Targets,
    WorkersDict,
)
from sksearch.base import Resource, Sampler, Scheduler, Start, Told
from sksearch.fitting.run._findings import Findings
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._results import ResultRow, best_of_last_iteration
from sksearch.fitting.run._setup import Setup
from sksearch.history import History, Params, Problem
from sksearch.resources._subsamples import RefittedParameterResource, SubsamplesResource
from sksearch.samplers import RandomSampler
from sksearch.samplers._listed import ListedSampler
from sksearch.schedulers._iterations import HalvingIterations
from sksearch.search._base import BaseSearch
from sksearch.search._full import CandidateDraws, is_for_scikit_learn
from sksearch.search._namesakes import GridSearchCV, constraints_of_grid
from sksearch.search._parts import AUTO, COUNT, HALVING, Refit
from sksearch.space import Space

#: Number of passes in which scikit-learn draws the candidates if rows are not the resource.
N_PASSES = 2


def _iterations_of(setup: Setup) -> HalvingIterations:
    return cast(HalvingIterations, setup.scheduler)


class _Halving(BaseSearch):
    """Shared parts: iterations, scikit-learn's rows, and its rule for the winner."""

    _parameter_constraints = BaseSearch._parameter_constraints | {
        "factor": HALVING["factor"],
        "resource": [str, Resource],
        "max_resources": [COUNT, AUTO],
        "min_resources": [COUNT, StrOptions({"exhaust", "smallest"})],
        "aggressive_elimination": [bool],
    }

    factor: float
    aggressive_elimination: bool

    # Not a parameter: the best of the last iteration wins, whatever the resource.
    select = "top"  # type: Any
    _columns: ClassVar[tuple[str, ...]] = ("iter", "n_resources")
    _known_as = ()  # a grid search is not a random search
    _is_namesake: ClassVar[bool] = True

    def _filled(self, folds: Folds) -> Self:
        """Use scikit-learn's rows and parameters; other resources work as in other searches."""
        filled = copy.copy(self)
        if self.resource == "n_samples":
            filled.resource = SubsamplesResource()
        elif isinstance(self.resource, str) and self.resource in self.estimator.get_params():
            filled.resource = RefittedParameterResource(self.resource)
        return filled

    def _scheduler(self, n_candidates: int | None, most: float = math.inf) -> HalvingIterations:
        exhausts = self.min_resources == "exhaust"
        return HalvingIterations(
            n_candidates, self.factor, exhausts, self.aggressive_elimination, most
        )

    def _prepare(
        self,
        X: Samples,
        y: Targets,
        params: dict[str, Any],
        rng: np.random.RandomState,
        unit: str | None = None,
    ) -> Setup:
        """Choose the rows once the number of candidates drawn before them is known."""
        if num_samples(X) == 0:
            raise ValueError("min_resources_=0: you might have passed an empty dataset X.")
        low, high = self.min_resources, self.max_resources
        if isinstance(low, Integral) and isinstance(high, Integral) and low > high:
            raise ValueError(f"min_resources_={low} is greater than max_resources_={high}.")
        generator = copy.deepcopy(rng)
        setup = super()._prepare(X, y, params, rng, unit)
        context, problem = setup.context, setup.problem
        in_sequence = not isinstance(self.random_state, Integral)
        if isinstance(context.resource, SubsamplesResource):
            if setup.ensemble:
                raise ValueError(
                    "ensemble averages predictions for whole test folds, but this search "
                    "subsamples them: use SuccessiveHalvingSearchCV, or leave ensemble out."
                )
            if in_sequence:
                self._draw(problem, generator)
            amounts = [rung.resource for rung in _iterations_of(setup).iterations(problem)]
            of = context.splits, num_samples(context.X), in_sequence
            context.resource = context.resource.drawing(generator, amounts, *of)
            context.kept = None  # likewise
            context.blocks = None  # part of the test rows does not predict the rest
        elif in_sequence:
            for _ in range(N_PASSES):
                self._draw(problem, generator)
        rng.set_state(generator.get_state())
        return setup

    def _draw(self, problem: Problem, generator: np.random.RandomState) -> None:
        """Advance a generator past the draws of the candidates."""

    def _rows(self, findings: Findings) -> list[ResultRow]:
        """Return rows by iteration; results that iterations share are measured once."""
        known = {(row.trial_id, row.n_resources): row for row in findings.rows()}
        scheduler = _iterations_of(findings.setup)
        table = scheduler.iterations(findings.setup.problem)
        members = scheduler.members(findings.history)
        return [
            replace(known[trial_id, rung.resource], iter=i)
            for i, (rung, ids) in enumerate(zip(table, members, strict=False))
            for trial_id in ids
            if (trial_id, rung.resource) in known
        ]

    def _keep_rungs(self, setup: Setup, with_resources: bool) -> None:
        """Set the planned rungs, including iterations with equal resources."""
        super()._keep_rungs(setup, with_resources)
        scheduler, problem = _iterations_of(setup), setup.problem
        table = scheduler.iterations(problem)
        self.n_resources_ = [rung.resource for rung in table]
        self.n_candidates_ = [rung.n_candidates for rung in table]
        self.n_iterations_ = len(table)
        self.n_required_iterations_ = scheduler.n_required(problem)
        self.n_possible_iterations_ = scheduler.n_possible(problem)
        self.n_remaining_candidates_ = math.ceil(self.n_candidates_[-1] / self.factor)

    @staticmethod
    def _select_best_index(
        refit: object, refit_metric: str | None, results: dict[str, Any]
    ) -> int:
        return best_of_last_iteration(results, refit_metric)


class HalvingGridSearchCV(GridSearchCV, _Halving):
    """Halving over a grid with the same ``cv_results_`` as scikit-learn's.

    All points of a grid are evaluated with a small amount of the resource. In the next iteration,
    the best ``1 / factor`` of them are evaluated with `factor` times as much. Time limits,
    checkpoints, clusters, `report` and the other parameters of this library's searches are added.
    No experimental import is needed.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_grid : dict or list of dict
        Lists of values by parameter name, as in scikit-learn.
    factor : float, default=3
        One in `factor` candidates is promoted after each iteration, and gets `factor` times the
        resource.
    resource : str or Resource, default="n_samples"
        "n_samples" draws rows of the training and the test folds. With the name of an integer
        parameter, such as ``"n_estimators"``, the candidates are fitted again in each iteration.
        Resources unknown to scikit-learn work as in `SuccessiveHalvingSearchCV`.
    max_resources : int or "auto", default="auto"
        Maximum amount of the resource for any candidate. "auto": all rows, or the value of the
        parameter set on the estimator.
    min_resources : int, "exhaust" or "smallest", default="exhaust"
        Amount of the resource in the first iteration. "smallest": 1; for rows, two of each
        class in each fold. "exhaust": the amount that leaves `max_resources` for the last
        iteration.
    aggressive_elimination : bool, default=False
        Whether to repeat the first iteration until few enough candidates are left, if the
        resources do not allow enough iterations.
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
    return_train_score : bool, default=True
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
    n_resources_, n_candidates_ : list of int
        Amount of the resource and number of candidates of each iteration.
    n_iterations_, n_required_iterations_, n_possible_iterations_ : int
        Number of iterations, number required to end with fewer than `factor` candidates, and
        number possible with the given resources.
    n_remaining_candidates_ : int
        Number of candidates left after the last iteration.
    min_resources_, max_resources_ : int
        Amount of the resource in the first iteration, and the maximum amount.
    best_n_resources_ : int
        Amount of the resource in the last iteration.
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

    See Also
    --------
    HalvingRandomSearchCV : Random candidates instead of all points.
    sksearch.SuccessiveHalvingSearchCV : Continues training, and tests on all rows.

    Notes
    -----
    Candidates, rows of data, scores, promotions, ranks and ``cv_results_`` are scikit-learn's; the
    winner is the best candidate of the last iteration. This also holds if `random_state` is a
    ``RandomState``, or None with the same global state. The differences are:

    - Iterations with the same resource, due to `aggressive_elimination` or to a small `factor`,
      reuse the results of a candidate. scikit-learn fits it again: with the same scores if
      `random_state` is an int, otherwise on different rows with different scores.
    - A callable `refit` selects the winner. scikit-learn documents this, but ignores the callable.
    - A candidate with a numeric `error_score` always ranks among the last.
    - Splitters that shuffle without a seed are accepted, because the folds are computed once.
    - ``max_resources="auto"`` with a parameter as the resource is the value set on the estimator.
    - Within an iteration the candidates with the best scores are fitted first, and each iteration
      is a task for callbacks.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch.model_selection import HalvingGridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"C": [0.1, 1, 10], "gamma": [0.01, 0.1, 1]}
    >>> search = HalvingGridSearchCV(SVC(), grid, random_state=0).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([30, 90], [9, 3])
    """

    _known_as = (*GridSearchCV._known_as, SklearnHalvingGrid)
    _parameter_constraints = constraints_of_grid(_Halving._parameter_constraints)

    def __init__(
        self,
        estimator: Any,
        param_grid: dict | list | tuple,
        *,
        factor: float = 3,
        resource: str | Resource = "n_samples",
        max_resources: int | Literal["auto"] = "auto",
        min_resources: int | Literal["exhaust", "smallest"] = "exhaust",
        aggressive_elimination: bool = False,
        scoring: "Scoring" = None,
        n_jobs: int | None = None,
        refit: "Refit" = True,
        cv: "Folding" = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Seed = None,
        error_score: float | str = np.nan,
        return_train_score: bool = True,
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
        sampler = ListedSampler(self._points(), repeats=True)
        return sampler, self._scheduler(self._n_points(space))


class HalvingRandomSearchCV(_Halving):
    """Halving over random candidates with the same ``cv_results_`` as scikit-learn's.

    Random candidates are evaluated with a small amount of the resource. In the next iteration, the
    best ``1 / factor`` of them are evaluated with `factor` times as much. The same `random_state`
    gives the same candidates on the same rows. Time limits, checkpoints, clusters, `report` and
    the other parameters of this library's searches are added. No experimental import is needed.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_candidates : int or "exhaust", default="exhaust"
        Number of candidates to draw. If the space consists of lists and has fewer candidates, all
        candidates are tried. "exhaust": the number that leaves `max_resources` for the last
        iteration.
    factor : float, default=3
        One in `factor` candidates is promoted after each iteration, and gets `factor` times the
        resource.
    resource : str or Resource, default="n_samples"
        "n_samples" draws rows of the training and the test folds. With the name of an integer
        parameter, such as ``"n_estimators"``, the candidates are fitted again in each iteration.
        Resources unknown to scikit-learn work as in `SuccessiveHalvingSearchCV`.
    max_resources : int or "auto", default="auto"
        Maximum amount of the resource for any candidate. "auto": all rows, or the value of the
        parameter set on the estimator.
    min_resources : int, "exhaust" or "smallest", default="smallest"
        Amount of the resource in the first iteration. "smallest": 1; for rows, two of each
        class in each fold. "exhaust": the amount that leaves `max_resources` for the last
        iteration, which needs an int as `n_candidates`.
    aggressive_elimination : bool, default=False
        Whether to repeat the first iteration until few enough candidates are left, if the
        resources do not allow enough iterations.
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
    return_train_score : bool, default=True
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
    n_resources_, n_candidates_ : list of int
        Amount of the resource and number of candidates of each iteration.
    n_iterations_, n_required_iterations_, n_possible_iterations_ : int
        Number of iterations, number required to end with fewer than `factor` candidates, and
        number possible with the given resources.
    n_remaining_candidates_ : int
        Number of candidates left after the last iteration.
    min_resources_, max_resources_ : int
        Amount of the resource in the first iteration, and the maximum amount.
    best_n_resources_ : int
        Amount of the resource in the last iteration.
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

    See Also
    --------
    HalvingGridSearchCV : All points of a grid.
    sksearch.SuccessiveHalvingSearchCV : Continues training, and tests on all rows.

    Notes
    -----
    See the notes of `HalvingGridSearchCV`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch.model_selection import HalvingRandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
    >>> search = HalvingRandomSearchCV(SVC(), space, factor=2, random_state=0).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([30, 60, 120], [5, 3, 2])
    """

    _known_as = (*BaseSearch._known_as, SklearnHalvingRandom)
    _parameter_constraints = _Halving._parameter_constraints | {
        "n_candidates": [COUNT, StrOptions({"exhaust"})]
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        n_candidates: int | Literal["exhaust"] = "exhaust",
        factor: float = 3,
        resource: str | Resource = "n_samples",
        max_resources: int | Literal["auto"] = "auto",
        min_resources: int | Literal["exhaust", "smallest"] = "smallest",
        aggressive_elimination: bool = False,
        scoring: "Scoring" = None,
        n_jobs: int | None = None,
        refit: "Refit" = True,
        cv: "Folding" = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Seed = None,
        error_score: float | str = np.nan,
        return_train_score: bool = True,
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
        """Draw like scikit-learn if possible, otherwise like the other searches."""
        if self.n_candidates == self.min_resources == "exhaust":
            raise ValueError(
                "n_candidates and min_resources cannot be both set to 'exhaust': each follows "
                "from the other, so pass one of them as a number."
            )
        n = self._n_draws()
        if not is_for_scikit_learn(space):
            return RandomSampler(), self._scheduler(n)
        # scikit-learn uses the last of several passes over a generator.
        by_rows = isinstance(self.resource, SubsamplesResource)
        n_passes = 1 if by_rows or isinstance(self.random_state, Integral) else N_PASSES
        draws = SettledDraws(space.given, n, rng, n_passes)
        return draws, self._scheduler(n, len(ParameterSampler(space.given, ALL)))

    def _n_draws(self) -> int | None:
        """Return the number of draws, None if it follows from the resources."""
        return None if self.n_candidates == "exhaust" else self.n_candidates

    def _draw(self, problem: Problem, generator: np.random.RandomState) -> None:
        if is_for_scikit_learn(problem.space):
            draws = SettledDraws(problem.space.given, self._n_draws(), generator)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # warn only once
                for _ in draws.sampler(problem, generator):
                    pass


#: More draws than any search makes.
ALL = 2**62


@dataclass(frozen=True, eq=False)
class SettledDraws(Sampler):
    """Draws of a ``ParameterSampler``, with a number that may depend on the resources.

    Parameters
    ----------
    given : dict or list of dict
        The space.
    n_candidates : int or None
        Number of draws. None: the quotient of the largest and the smallest resource.
    rng : RandomState
        State before the draws.
    n_passes : int, default=1
        Number of times to draw all candidates; the last draws are used.
    """

    given: Any
    n_candidates: int | None
    rng: np.random.RandomState
    n_passes: int = 1
    told = Told(repeats=True)

    def ask(self, history: History, start: Start, rng: np.random.Generator) -> Params:
        """Return the next draw."""
        if "draws" not in history.cache:
            sampler = self.sampler(history.problem, copy.deepcopy(self.rng))
            for _ in range(self.n_passes - 1):
                list(sampler)
            history.cache["draws"] = ListedSampler(CandidateDraws(sampler), repeats=True)
        return history.cache["draws"].ask(history, start, rng)

    def sampler(self, problem: Problem, generator: np.random.RandomState) -> ParameterSampler:
        """Return a sampler that draws from this generator."""
        n = self.n_candidates or problem.max_resources // problem.min_resources
        return ParameterSampler(self.given, n, random_state=generator)
