"""Searches with scikit-learn's names, candidates and rows."""

import os
import warnings
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn import model_selection
from sklearn.model_selection import ParameterGrid, ParameterSampler

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
from sksearch.base import Sampler, Scheduler
from sksearch.estimators._model_choice import alone_if_not_named
from sksearch.fitting.run._findings import Findings
from sksearch.fitting.run._objectives import make_allows
from sksearch.fitting.run._results import ResultRow
from sksearch.fitting.run._setup import Setup
from sksearch.samplers._listed import ListedSampler
from sksearch.schedulers import FullFidelity
from sksearch.search._base import BaseSearch
from sksearch.search._full import CandidateDraws, RandomSearchCV
from sksearch.search._parts import Refit
from sksearch.space import Space


def constraints_of_grid(constraints: dict[str, Any]) -> dict[str, Any]:
    """Return the constraints of a search with `param_grid` instead of `param_distributions`."""
    others = {name: each for name, each in constraints.items() if name != "param_distributions"}
    return others | {"param_grid": [dict, list, tuple]}


class GridSearchCV(BaseSearch):
    """Grid search with the same ``cv_results_`` as scikit-learn's.

    All points of a grid are tried, in the order of ``ParameterGrid``. Time limits, checkpoints,
    clusters, `report` and the other parameters of this library's searches are added.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_grid : dict or list of dict
        Lists of values by parameter name, as in scikit-learn. The dicts of a list are tried one
        after another.
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

    See Also
    --------
    RandomizedSearchCV : Random candidates instead of all points.
    sksearch.SearchCV : Better candidates in the same time, without a grid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch.model_selection import GridSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"kernel": ["linear", "rbf"], "C": [1, 10]}).fit(X, y)
    >>> search.cv_results_["rank_test_score"].tolist()
    [1, 4, 3, 1]
    """

    _known_as: ClassVar[tuple[Any, ...]] = (model_selection.GridSearchCV,)
    _is_namesake: ClassVar[bool] = True
    _parameter_constraints = constraints_of_grid(BaseSearch._parameter_constraints)

    def __init__(
        self,
        estimator: Any,
        param_grid: dict | list | tuple,
        *,
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

    @property
    def param_distributions(self) -> Any:
        """Alias of `param_grid`, the name of the space in other searches."""
        return self.param_grid

    @param_distributions.setter
    def param_distributions(self, grid: Any) -> None:
        self.param_grid = grid

    def _own_space(self, estimator: Estimator) -> Any:
        """Return the grid; raise scikit-learn's errors if it is invalid."""
        ParameterGrid(self._grid())
        with warnings.catch_warnings():
            # A pair is not a range here, and repeated values have their own rows.
            warnings.simplefilter("ignore")
            return Space(self._grid(), accepts=lambda name, value: True)

    def _prepare(self, *args: Any) -> Setup:
        try:
            return super()._prepare(*args)
        except (TypeError, ValueError) as error:
            # All searches share these checks, but the checked parameter has another name here.
            texts = [str(each).replace("param_distributions", "param_grid") for each in error.args]
            error.args = tuple(texts)
            raise

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return ListedSampler(self._points(), repeats=True), FullFidelity(self._n_points(space))

    def _points(self) -> CandidateDraws:
        return CandidateDraws(ParameterGrid(self._grid()))

    def _grid(self) -> Any:
        """Return the grid; models without a grid of their own are tried untuned."""
        return alone_if_not_named(self.estimator, self.param_grid)

    def _n_points(self, space: Space) -> int:
        """Return the number of points that the constraints allow."""
        points = self._points()
        allows = make_allows(self._group("known")["constraints"], space)
        return len(points) if allows is None else sum(map(allows, points))


class RandomizedSearchCV(RandomSearchCV):
    """Random search with the same ``cv_results_`` as scikit-learn's.

    The same `random_state` gives the same candidates, in the same order and with the same scores.
    The only difference from `RandomSearchCV` is that a candidate drawn twice, from discrete
    distributions, is fitted twice, as in scikit-learn.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_iter : int or None, default=10
        Number of candidates to draw. If the space consists of lists and has no more candidates,
        all candidates are tried in the order of ``ParameterGrid``. None: distinct candidates until
        `timeout` or `stop` end the search, or all of a finite space if neither is set.
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

    See Also
    --------
    sksearch.RandomSearchCV : Evaluates no candidate twice.
    GridSearchCV : All points of a grid.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sksearch.model_selection import RandomizedSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"n_neighbors": randint(1, 20)}
    >>> search = RandomizedSearchCV(KNeighborsClassifier(), space, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"]), len(search.history_.trials)
    (10, 10)
    """

    _is_namesake: ClassVar[bool] = True

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        sampler, scheduler = super()._compose(space, rng)
        one_dict = isinstance(space.given, Mapping)
        if one_dict and any(dimension.kind == "real" for dimension in space.dimensions):
            return sampler, scheduler  # real numbers are never drawn twice
        if isinstance(sampler, ListedSampler):
            sampler = ListedSampler(sampler.candidates, repeats=True)
            scheduler = FullFidelity(len(sampler.candidates))
        return sampler, scheduler

    def _draw_candidates(self, rng: np.random.RandomState) -> None:
        if self.n_iter is None or isinstance(self.random_state, Integral):
            return
        with warnings.catch_warnings(), suppress(Exception):  # raised again later
            warnings.simplefilter("ignore")
            deque(ParameterSampler(self.param_distributions, self.n_iter, random_state=rng), 0)

    def _rows(self, findings: Findings) -> list[ResultRow]:
        return findings.rows()  # each draw has its own row
