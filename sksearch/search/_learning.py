"""Searches at full resource that learn from results."""

import os
from typing import Any

import numpy as np

from sksearch._utils._compat import StrOptions
from sksearch._utils._typing import (
    BatchWorkersDict,
    Converged,
    Folding,
    KnownDict,
    Scoring,
    Seed,
    StopDict,
)
from sksearch.acquisition._functions import Acquisition
from sksearch.base import Sampler, Scheduler
from sksearch.samplers import ForestSampler, GPSampler, TPESampler
from sksearch.samplers._gp import CHOICES
from sksearch.schedulers import FullFidelity
from sksearch.search._base import BaseSearch
from sksearch.search._parts import COUNT, MODEL, Refit
from sksearch.space import Space


class GPBayesSearchCV(BaseSearch):
    """Bayesian optimisation with a Gaussian process.

    After a few quasi-random candidates, each candidate maximises the expected improvement. The
    search needs fewer candidates than `RandomizedSearchCV`. Use it if a fit takes longer than a
    proposal, which takes a few hundredths of a second.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_iter : int, default=50
        Number of candidates; a finite space may have fewer.
    acquisition : str or Acquisition, default="log_ei"
        Function to maximise: "log_ei" (expected improvement), "log_pi" (probability of
        improvement), "lcb" (confidence bound), "ei_per_second", "thompson", "entropy", "portfolio"
        or "ei_distribution"; see `sksearch.samplers.GPSampler`.
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: 4 to 10, depending on the
        number of parameters.
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
    TPESearchCV : Faster proposals, for thousands of candidates.
    BOHBSearchCV : Stops weak candidates early.
    sksearch.samplers.GPSampler : The model, with more options, for `SearchCV`.

    References
    ----------
    .. [1] J. Snoek, H. Larochelle, R. P. Adams, "Practical Bayesian optimization of machine
       learning algorithms", NeurIPS 2012. https://arxiv.org/abs/1206.2944

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import GPBayesSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = GPBayesSearchCV(SVC(), space, n_iter=15, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    _parameter_constraints = (
        BaseSearch._parameter_constraints
        | MODEL
        | {"n_iter": [COUNT], "acquisition": [StrOptions(set(CHOICES)), Acquisition]}
    )

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        n_iter: int = 50,
        acquisition: "str | Acquisition" = "log_ei",
        n_initial: int | None = None,
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
    ) -> None:
        self._store(locals())

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return GPSampler(self.acquisition, n_initial=self.n_initial), FullFidelity(self.n_iter)


class _ModelSearchCV(BaseSearch):
    """Parameters shared by searches with a model."""

    _parameter_constraints = BaseSearch._parameter_constraints | MODEL | {"n_iter": [COUNT]}

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        n_iter: int = 50,
        n_initial: int | None = None,
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
    ) -> None:
        self._store(locals())


class TPESearchCV(_ModelSearchCV):
    """Bayesian optimisation with a tree-structured Parzen estimator (TPE).

    After a few quasi-random candidates, the sampler models two densities, one of the good
    candidates and one of the others, and proposes candidates with a large ratio of the two. A
    proposal takes about a millisecond, even after a thousand candidates.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_iter : int, default=50
        Number of candidates; a finite space may have fewer.
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: 4 to 10, depending on the
        number of parameters.
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
    GPBayesSearchCV : Needs fewer candidates.
    BOHBSearchCV : TPE in the brackets of Hyperband.

    References
    ----------
    .. [1] J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, "Algorithms for hyper-parameter
       optimization", NeurIPS 2011.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import TPESearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = TPESearchCV(SVC(), space, n_iter=30, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.97)
    True
    """

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return TPESampler(n_initial=self.n_initial), FullFidelity(self.n_iter)


class ForestBayesSearchCV(_ModelSearchCV):
    """Bayesian optimisation with a random forest.

    A forest is suited to categories, conditions and plateaus. If scores vary smoothly, a Gaussian
    process needs fewer candidates.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    n_iter : int, default=50
        Number of candidates; a finite space may have fewer.
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: 4 to 10, depending on the
        number of parameters.
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
    sksearch.GPBayesSearchCV : Bayesian optimisation with a Gaussian process.

    References
    ----------
    .. [1] F. Hutter, H. H. Hoos, K. Leyton-Brown, "Sequential model-based optimization for
       general algorithm configuration", LION 2011. https://doi.org/10.1007/978-3-642-25566-3_40

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch.search import ForestBayesSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(1e-3, 1e3), "gamma": loguniform(1e-4, 1e1)}
    >>> search = ForestBayesSearchCV(SVC(), space, n_iter=20, random_state=0).fit(X, y)
    >>> bool(search.best_score_ > 0.96)
    True
    """

    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        return ForestSampler(n_initial=self.n_initial), FullFidelity(self.n_iter)
