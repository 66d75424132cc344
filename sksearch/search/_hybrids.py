"""Hyperband, and short brackets of successive halving, with samplers that learn."""

import os
from typing import Any, Literal

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
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.samplers import GPSampler, TPESampler
from sksearch.samplers._observations import WITHOUT_JOINT
from sksearch.schedulers import Hyperband
from sksearch.schedulers._async_hyperband import AsyncHyperband
from sksearch.schedulers._iterated_halving import IteratedHalving
from sksearch.search._base import BaseSearch
from sksearch.search._groups import BATCHES
from sksearch.search._parts import HALVING, ITERATIONS, MODEL, Refit
from sksearch.space import Space

#: Samplers of `HalvingSearchCV` by name.
SAMPLERS: dict[str, Sampler] = {
    "gp": GPSampler("ei_distribution", transfer="joint"),
    "tpe": TPESampler(),
}


class BOHBSearchCV(BaseSearch):
    """Hyperband with candidates proposed by a Parzen estimator.

    Hyperband decides how long each candidate is trained, and the estimator proposes new candidates
    from the results so far. Every bracket costs as much as in Hyperband.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart (eta in [2]_).
    n_iterations : int, default=1
        Number of times to run all brackets, each time with new candidates.
    scheduler : {"hyperband", "asynchronous"}, default="hyperband"
        "asynchronous" never waits for a rung to end: results then depend on the number and speed
        of the workers, and the batch size is ignored.
    transfer : {"rung", "none", "all", "survivors", "same"}, default="rung"
        Results to learn from. "rung": results at the largest resource with enough results, as in
        [1]_, and at least a fortieth of `max_resources`. The other values use the results of the
        current bracket at its lowest rung, and results of earlier brackets at the same resource:
        no results ("none"), all results ("all"), only results of candidates that reached the last
        rung ("survivors"), or only results of candidates stopped there ("same"). With "none",
        up to 20 brackets run at the same time.
    n_initial : int or None, default=None
        Number of quasi-random candidates before the first model. None: 4 to 10, depending on the
        number of parameters.
    resource : str or Resource, default="n_samples"
        Resource to increase step by step: "epochs", "n_samples", "folds", "seconds" or the name of
        an integer parameter.
    min_resources : int or "auto", default="auto"
        Smallest amount of the resource. "auto": 1 unit, or for rows, four rows of each class and
        at least 1/81 of all rows.
    max_resources : int or "auto", default="auto"
        Largest amount of the resource. "auto": 81 epochs, all rows, all folds, or the value of the
        integer parameter set on the estimator.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win: all of them ("best"), or only those with the largest resource
        ("top").
    audit : float, default=0.0
        Share of the early-stopped candidates to train up to the last rung at the end. This shows
        whether early stopping discarded good candidates.
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
    audited_ : list of int
        Trials stopped early, but trained up to the last rung at the end of the search, if `audit`
        is not 0.
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
    HyperbandSearchCV : Hyperband with random candidates, or with a Gaussian process.
    HalvingSearchCV : Shorter brackets.

    Notes
    -----
    In [1]_ a third of all candidates is random. Here only the first candidates are quasi-random.
    The uniform component of the densities keeps the search from narrowing too early.

    References
    ----------
    .. [1] S. Falkner, A. Klein, F. Hutter, "BOHB: robust and efficient hyperparameter
       optimization at scale", ICML 2018. https://proceedings.mlr.press/v80/falkner18a.html
    .. [2] L. Li, K. Jamieson, G. DeSalvo, A. Rostamizadeh, A. Talwalkar, "Hyperband: a novel
       bandit-based approach to hyperparameter optimization", JMLR 18(185):1-52, 2018.
       https://jmlr.org/papers/v18/16-558.html

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import BOHBSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = BOHBSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=9, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_candidates_
    [9, 3, 1, 3, 1, 3]
    """

    _parameter_constraints = (
        BaseSearch._parameter_constraints
        | MODEL
        | HALVING
        | ITERATIONS
        | {
            "scheduler": [StrOptions({"hyperband", "asynchronous"})],
            "transfer": [StrOptions(set(WITHOUT_JOINT))],
        }
    )

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        factor: float = 3,
        n_iterations: int = 1,
        scheduler: Literal["hyperband", "asynchronous"] = "hyperband",
        transfer: str = "rung",
        n_initial: int | None = None,
        resource: str | Resource = "n_samples",
        min_resources: int | Literal["auto"] = "auto",
        max_resources: int | Literal["auto"] = "auto",
        select: Literal["auto", "best", "top"] = "auto",
        audit: float = 0.0,
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
        asynchronous = self.scheduler == "asynchronous"
        scheduler = AsyncHyperband if asynchronous else Hyperband
        sampler = TPESampler(n_initial=self.n_initial, transfer=self.transfer)
        return sampler, scheduler(self.factor, self.n_iterations)


class HalvingSearchCV(BaseSearch):
    """Short brackets of successive halving, with candidates proposed by a model.

    The default choice for epochs, trees or rows. The first bracket begins with 36 candidates at a
    27th of the largest resource, each later one with nine at a ninth. A bracket ends with one
    candidate at the largest resource, at the cost of two or three full fits (the first: four), so
    useful results arrive early.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    sampler : {"gp", "tpe"} or Sampler, default="gp"
        Model that proposes the candidates. "gp": a Gaussian process that learns from the results
        of all rungs. Candidates are drawn with probabilities proportional to their expected
        improvement at the largest resource. "tpe": a Parzen estimator, as in `BOHBSearchCV`, at a
        tenth of the overhead.
    factor : float, default=3
        One candidate in `factor` is promoted, and rungs are `factor` times apart. The first
        bracket has four rungs, a later one three.
    n_iterations : int, default=8
        Number of brackets, each with new candidates. The first has the largest number of
        candidates within the budget of a Hyperband bracket.
    resource : str or Resource, default="n_samples"
        Resource to increase step by step: "epochs", "n_samples", "folds", "seconds" or the name of
        an integer parameter.
    min_resources : int or "auto", default="auto"
        Smallest amount of the resource. "auto": 1 unit, or for rows, four rows of each class and
        at least 1/81 of all rows.
    max_resources : int or "auto", default="auto"
        Largest amount of the resource. "auto": 81 epochs, all rows, all folds, or the value of the
        integer parameter set on the estimator.
    select : {"auto", "best", "top"}, default="auto"
        Candidates that may win: all of them ("best"), or only those with the largest resource
        ("top").
    audit : float, default=0.0
        Share of the early-stopped candidates to train up to the last rung at the end. This shows
        whether early stopping discarded good candidates.
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
    audited_ : list of int
        Trials stopped early, but trained up to the last rung at the end of the search, if `audit`
        is not 0.
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
    HyperbandSearchCV : All brackets of Hyperband, also with a Gaussian process.
    BOHBSearchCV : All brackets of Hyperband, with TPE.
    GPBayesSearchCV, TPESearchCV : Full resource only.

    Notes
    -----
    ``min_resources="auto"`` is ``max_resources / factor**3``. If training does not continue, as
    with rows, the first bracket has 27 candidates instead of 36: no bracket costs more than a
    Hyperband bracket with the same rungs.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch import HalvingSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = HalvingSearchCV(
    ...     SGDClassifier(random_state=0), {"alpha": loguniform(1e-5, 1)}, resource="epochs",
    ...     max_resources=27, n_iterations=2, cv=3, random_state=0,
    ... ).fit(X, y)
    >>> search.n_resources_, search.n_candidates_
    ([1, 3, 9, 27, 3, 9, 27], [36, 12, 4, 1, 9, 3, 1])
    """

    _parameter_constraints = (
        BaseSearch._parameter_constraints
        | HALVING
        | ITERATIONS
        | {"sampler": [StrOptions(set(SAMPLERS)), Sampler], "workers": [BATCHES, None]}
    )

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        sampler: Literal["gp", "tpe"] | Sampler = "gp",
        factor: float = 3,
        n_iterations: int = 8,
        resource: str | Resource = "n_samples",
        min_resources: int | Literal["auto"] = "auto",
        max_resources: int | Literal["auto"] = "auto",
        select: Literal["auto", "best", "top"] = "auto",
        audit: float = 0.0,
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
        sampler = SAMPLERS[self.sampler] if isinstance(self.sampler, str) else self.sampler
        return sampler, IteratedHalving(self.factor, self.n_iterations)
