"""Searches at full resource, and `SearchCV`, which combines any sampler and scheduler."""

import copy
import math
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import GroupKFold, ParameterGrid, ParameterSampler

from sksearch._utils._compat import StrOptions
from sksearch._utils._terminal import warn
from sksearch._utils._typing import (
    BatchWorkersDict,
    Converged,
    Folding,
    KnownDict,
    Scoring,
    Seed,
    StopDict,
    WorkersDict,
)
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.fitting.prepare._problem import fits_whole
from sksearch.fitting.prepare._split import leaves_folds
from sksearch.fitting.run._findings import Findings
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._results import ResultRow
from sksearch.history import Params
from sksearch.samplers import (
    GPSampler,
    GridSampler,
    HypervolumeSampler,
    QuasiRandomSampler,
    RandomSampler,
)
from sksearch.samplers._listed import ListedSampler
from sksearch.samplers._quasi_random import METHODS
from sksearch.schedulers import FoldRace, FullFidelity
from sksearch.search._base import BaseSearch
from sksearch.search._groups import BATCHES
from sksearch.search._parts import AUTO, COUNT, SELECT, PartOf, Refit
from sksearch.space import Outcome, Space
from sksearch.space._conditions import When
from sksearch.space._values import native

N_CANDIDATES = 50  # if nothing else ends the search


class SearchCV(BaseSearch):
    """Search with good defaults: an estimator and a time limit are enough.

    The search chooses the parameters that you do not pass: the space and the first candidates
    depend on the estimator; the sampler, the scheduler and the resource depend on the estimator,
    the data and the folds. The first candidate is the untuned estimator, unless the given space
    excludes it, so the best cross-validation score is never lower than the score without tuning.
    You can also make every choice yourself: any sampler works with any scheduler and any resource.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_iter : int or None, default=None
        Number of candidates, if the search chooses the scheduler. None: no limit except `timeout`
        and `stop`, or 50 if neither is set.
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
        - ``"batch_size"``: number of candidates evaluated at the same time. "auto", the default:
          one candidate if its folds occupy all `n_jobs` workers, otherwise enough candidates to
          keep all workers busy.
    checkpoint_dir : str, path-like or None, default=None
        Directory in which the search stores its progress. If the search is interrupted, the same
        `fit` resumes from there.
    ensemble : bool or int, default=False
        Whether `best_estimator_` averages the best candidates, or the maximum number of candidates
        to average.
    sampler : Sampler or None, default=None
        Sampler to use. None: a Gaussian process, which maximises the improvement per second if
        there is a `timeout` and no `n_iter`. With several `objectives`,
        `sksearch.samplers.HypervolumeSampler`.
    scheduler : Scheduler or None, default=None
        Scheduler to use. None: a race over folds, `sksearch.schedulers.FoldRace`, if there are at
        least three unordered folds (see Notes), one objective, no `Bound` and no callable `refit`;
        otherwise every candidate is evaluated on all folds.
    resource : str, Resource or None, default="auto"
        Resource to increase step by step, see `HyperbandSearchCV`. "auto": "folds" for a race,
        otherwise None. If `timeout` is too short for 24 fits and `n_iter` is None, "auto" trains
        on a subset of the rows, shown by `plan_`; "folds" always trains on all rows. None: every
        candidate is trained completely.
    min_resources : int or "auto", default="auto"
        Smallest amount of the resource. "auto": 1 unit, or for rows, four rows of each class and
        at least 1/81 of all rows.
    max_resources : int or "auto", default="auto"
        Largest amount of the resource. "auto": 81 epochs, all rows, all folds, or the value of the
        integer parameter set on the estimator.

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
    tune : The same in one function call, with a summary.
    sksearch.space.default_space : The space if none is given.
    HyperbandSearchCV : Brackets of successive halving.

    Notes
    -----
    If `cv` is None, the search chooses the folds, and `plan` explains the choice.

    - If ``groups`` are passed to `fit`, even if `cv` is an int: ``StratifiedGroupKFold`` for
      classes, ``GroupKFold`` for other targets. With fewer than five groups, each group is a fold.
    - If the index of a pandas DataFrame X contains ordered times: ``TimeSeriesSplit``. Rows with
      the same time stay together, and folds with a single class are dropped.
    - Otherwise the same folds as in scikit-learn's ``GridSearchCV``.

    Folds count as ordered in three cases: all test rows of a fold come after its training rows; no
    fold trains on the test rows of a later fold; or the largest training fold has at least 1.5
    times the rows of the smallest. In these cases the first folds are not representative, so a
    race takes place only with ``resource="folds"``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import SearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SearchCV(SVC(), timeout=2, random_state=0).fit(X, y)
    >>> search.cv_results_["params"][0]["gamma"]  # the untuned estimator
    'scale'
    >>> bool(search.best_score_ > 0.97)
    True

    The best of several models:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> models = [KNeighborsClassifier(), SVC()]
    >>> search = SearchCV(models, n_iter=6, random_state=0).fit(X, y)
    >>> sorted({params["model"] for params in search.cv_results_["params"]})
    ['kneighborsclassifier', 'svc']

    Everything by hand:

    >>> from scipy.stats import loguniform
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.samplers import QuasiRandomSampler
    >>> from sksearch.schedulers import SuccessiveHalving
    >>> search = SearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, sampler=QuasiRandomSampler(), scheduler=SuccessiveHalving(),
    ...     random_state=0,
    ... ).fit(X, y)
    >>> search.n_candidates_
    [9, 3, 1]
    """

    _parameter_constraints = BaseSearch._parameter_constraints | {
        "n_iter": [COUNT, None],
        "sampler": [PartOf(Sampler, "sksearch.samplers.TPESampler()"), None],
        "scheduler": [PartOf(Scheduler, "sksearch.schedulers.Hyperband()"), None],
        "resource": [str, Resource, None],
        "min_resources": [COUNT, AUTO],
        "max_resources": [COUNT, AUTO],
        "workers": [BATCHES, None],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        n_iter: int | None = None,
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
        workers: "BatchWorkersDict | None" = None,
        checkpoint_dir: str | os.PathLike | None = None,
        ensemble: bool | int = False,
        sampler: Sampler | None = None,
        scheduler: Scheduler | None = None,
        resource: str | Resource | None = "auto",
        min_resources: int | Literal["auto"] = "auto",
        max_resources: int | Literal["auto"] = "auto",
    ) -> None:
        self._store(locals())

    @property
    def select(self) -> Any:
        """Candidates that may win: the choice of the scheduler, otherwise "auto"."""
        found = getattr(self.scheduler, "select", "auto")
        return "auto" if callable(found) else found

    def _validate_params(self) -> None:
        super()._validate_params()
        if not SELECT.is_satisfied_by(self.select):
            raise ValueError(f"scheduler.select={self.select!r} must be {SELECT}.")

    def _left(self) -> frozenset[str]:
        """Return the parts left to the search; the folds only if no splitter is passed.

        The number of folds is fixed with a `checkpoint_dir`: a resumed search may have more time.
        """
        parts = {name for name in ("sampler", "scheduler") if getattr(self, name) is None}
        return frozenset({"cv", *parts, *(["n_folds"] if self.checkpoint_dir is None else [])})

    def get_metadata_routing(self) -> Any:
        """Return the metadata routing of this object; see scikit-learn's user guide.

        Returns
        -------
        routing : MetadataRouter
            ``groups`` are routed to the splitter if the search chooses the folds.
        """
        if not leaves_folds(self.cv):
            return super().get_metadata_routing()
        by_group = copy.copy(self)
        by_group.cv = GroupKFold()
        return super(SearchCV, by_group).get_metadata_routing()

    def _filled(self, folds: Folds) -> Self:
        """Choose sampler, scheduler and resource if they are not given."""
        filled = copy.copy(self)
        scheduler, resource, n_iter = self.scheduler, self.resource, self.n_iter
        if resource == "auto":
            if scheduler is None:
                races = self._options().may_race(len(folds.splits)) and not folds.unlike
            else:
                races = (
                    scheduler.told.by_fold and self.min_resources == self.max_resources == "auto"
                )
            filled.resource = resource = "folds" if races else None
        if n_iter is None and not self._options().ends_early:
            n_iter = N_CANDIDATES
        if scheduler is None:
            filled.scheduler = (FoldRace if resource == "folds" else FullFidelity)(n_iter)
        if self.sampler is None:
            is_by_time = self.timeout is not None and n_iter is None
            one = GPSampler("ei_per_second" if is_by_time else "log_ei")
            filled.sampler = HypervolumeSampler() if self.objectives else one
        return filled

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        """Return the given or chosen sampler and scheduler; rungs need a resource."""
        if self.sampler is None or self.scheduler is None:
            return self._filled(Folds([]))._compose(space, rng)
        if self.n_iter is not None and self.n_iter != getattr(
            self.scheduler, "n_candidates", None
        ):
            raise ValueError(
                f"n_iter={self.n_iter} applies only to the default scheduler: leave it out, since "
                f"{self.scheduler} sets its own numbers of candidates."
            )
        if self.resource is None and not (
            fits_whole(self.scheduler, space)
            and self.min_resources == self.max_resources == "auto"
        ):
            raise ValueError(
                f"scheduler={self.scheduler}, min_resources={self.min_resources} and "
                f"max_resources={self.max_resources} need resource=, the unit of training of a "
                "candidate, such as 'epochs', 'n_samples' or 'folds'."
            )
        return self.sampler, self.scheduler


class RandomSearchCV(BaseSearch):
    """Random search: independent draws, each at full resource.

    With the same `random_state`, the candidates and their scores are the same as in
    `RandomizedSearchCV`, except that a candidate is never evaluated twice: a repeated draw is
    replaced by a new one.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_iter : int or None, default=10
        Number of candidates. If the space consists of lists and has no more candidates, all
        candidates are tried in the order of ``ParameterGrid``. Repeated entries of a list share
        their score. None: no limit except `timeout` and `stop`, or all of a finite space if
        neither is set.
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
    sksearch.model_selection.RandomizedSearchCV : Evaluates repeated draws, as in scikit-learn.
    sksearch.search.QuasiRandomSearchCV : Covers the space more evenly.
    HyperbandSearchCV : More candidates for the same cost.

    References
    ----------
    .. [1] J. Bergstra, Y. Bengio, "Random search for hyper-parameter optimization", JMLR
       13:281-305, 2012. https://jmlr.org/papers/v13/bergstra12a.html

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomSearchCV(SVC(), {"C": loguniform(1e-3, 1e3)}, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    _parameter_constraints = BaseSearch._parameter_constraints | {"n_iter": [COUNT, None]}

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        n_iter: int | None = 10,
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
        scheduler = FullFidelity(self.n_iter)
        if self.n_iter is None:
            return self._without_count(space), scheduler
        if not is_for_scikit_learn(space):  # scikit-learn has no draws to match
            return _all_or(RandomSampler(), space, self.n_iter), scheduler
        candidates = ParameterSampler(space.given, self.n_iter, random_state=rng)
        return ListedSampler(CandidateDraws(candidates)), scheduler

    def _without_count(self, space: Space) -> Sampler:
        """Return endless draws, or all candidates of a finite space in its order."""
        if self._options().ends_early:
            return RandomSampler()
        if space.size < math.inf:
            return GridSampler()
        raise ValueError(
            "n_iter=None would never end, since the space is infinite. Pass timeout=, "
            "stop='converged' or stop={'patience': 20}, or a number as n_iter."
        )

    def _rows(self, findings: Findings) -> list[ResultRow]:
        rows, space = findings.rows(), findings.setup.problem.space
        is_drawn = any(hasattr(v, "rvs") for v in _values(space.given))
        if len(rows) < space.size or is_drawn or not is_for_scikit_learn(space):
            return rows
        # The whole grid was tried: return all of its rows; repeated entries share their scores.
        sampler = findings.setup.sampler
        listed = getattr(sampler, "candidates", ())  # absent if mixed with another sampler
        times = Counter(map(space.key, listed))
        return [row for row in rows for _ in range(max(1, times[space.key(row.params)]))]


class QuasiRandomSearchCV(BaseSearch):
    """Quasi-random search: candidates that cover the space evenly, each at full resource.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_iter : int, default=10
        Number of candidates. If a finite space has no more candidates, all candidates are tried in
        the order of ``ParameterGrid``.
    method : {"sobol", "halton", "hammersley", "lhs"}, default="sobol"
        Design: scrambled Sobol or Halton sequence, Hammersley set or Latin hypercube.
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
    sksearch.RandomSearchCV : Independent draws.
    sksearch.samplers.QuasiRandomSampler : The designs.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch.search import QuasiRandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = QuasiRandomSearchCV(SVC(), space, n_iter=16, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    _parameter_constraints = BaseSearch._parameter_constraints | {
        "n_iter": [COUNT],
        "method": [StrOptions(set(METHODS))],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        n_iter: int = 10,
        method: str = "sobol",
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
        sampler = QuasiRandomSampler(self.method, self.n_iter)
        return _all_or(sampler, space, self.n_iter), FullFidelity(self.n_iter)


class CandidateDraws(Sequence):
    """Candidates of a ``ParameterSampler`` or a grid, in its order, drawn when they are read.

    Drawing on demand keeps plans of many candidates, and searches that end early, fast.
    """

    def __init__(self, sampler: ParameterSampler | ParameterGrid) -> None:
        self._n, self._iterator = len(sampler), iter(sampler)
        # Draw the first one now, so that a warning or an error appears early.
        self._drawn = [_with_python_scalars(params) for params in islice(self._iterator, 1)]

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, i: Any) -> Any:
        new = islice(self._iterator, max(0, range(self._n)[i] + 1 - len(self._drawn)))
        self._drawn += map(_with_python_scalars, new)
        return self._drawn[i]

    def __getstate__(self) -> dict:
        self[-1]  # draw all: a generator cannot be pickled or copied
        return vars(self) | {"_iterator": iter(())}


def is_for_scikit_learn(space: Space) -> bool:
    """Return whether ``ParameterSampler`` can draw: no conditions and no outcomes."""
    return not any(isinstance(v, (When, Outcome)) for v in _values(space.given))


def _values(given: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> list:
    """Return lists and distributions of all parameters of all dicts."""
    dicts = [given] if isinstance(given, Mapping) else given
    return [values for each in dicts for values in each.values()]


def _with_python_scalars(params: dict[str, Any]) -> Params:
    """Convert NumPy scalars to Python's, which every estimator and JSON accept."""
    return {name: native(value) for name, value in params.items()}


def _all_or(sampler: Sampler, space: Space, n_iter: int) -> Sampler:
    """Return the sampler, or the grid's order if `n_iter` covers the whole space."""
    if space.size > n_iter:
        return sampler
    if space.size < n_iter:
        warn(
            f"The total space of parameters {space.size} is smaller than n_iter={n_iter}: "
            f"all {space.size} candidates are tried.",
        )
    return GridSampler()
