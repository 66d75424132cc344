"""Incremental evaluation."""

import os
from numbers import Real
from typing import Any, Literal

import numpy as np

from sksearch._utils._compat import Interval, StrOptions
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
from sksearch.samplers import ForestSampler, GPSampler, RandomSampler
from sksearch.schedulers import IncrementalEvaluation
from sksearch.search._base import BaseSearch
from sksearch.search._groups import BATCHES
from sksearch.search._parts import COUNT, RESOURCE, Refit
from sksearch.space import Space

POPULATIONS = {"forest": ForestSampler, "gp": GPSampler, "random": RandomSampler}


class IncrementalEvaluationSearchCV(BaseSearch):
    """Incremental evaluation: one large population, of which only the best continue training.

    Most of the budget is spent on the first rung, the population. A model may propose its
    candidates. At each rung the best share `keep` of the candidates is trained for `step` more
    units, until one is left. In successive halving all rungs cost the same; here each rung costs
    about `keep` times the previous one, and unless the budget is large, the last candidate is
    trained far less than `max_resources`.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
    population : {"forest", "gp", "random"}, default="forest"
        Sampler of the population: a model (random forest or Gaussian process) of the scores at
        `min_resources`, or random draws.
    budget : int or None, default=None
        Maximum number of units for all candidates together, in each fold. None: the cost of ten
        candidates at `max_resources`.
    keep : float, default=0.25
        Share of the candidates promoted from each rung (r in [1]_).
    step : int or None, default=None
        Number of units between two rungs (b in [1]_). None: half of `min_resources`, at least 1.
    candidates : {"algorithm1", "largest"}, default="algorithm1"
        Size of the population: by the formula in [1]_, or the largest that `budget` allows.
    resource : str or Resource, default="n_samples"
        Resource to increase step by step: "epochs", "n_samples", "folds", "seconds" or the name of
        an integer parameter.
    min_resources : int or "auto", default="auto"
        Number of units for each candidate of the population (b_init in [1]_). "auto": a tenth of
        `max_resources`, like the 2 of 20 epochs in [1]_, and at least the minimum of the resource.
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
    sksearch.SuccessiveHalvingSearchCV : Spends the same budget at each rung.
    sksearch.schedulers.IncrementalEvaluation : Details, and differences from [1]_.

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
    >>> from sksearch.search import IncrementalEvaluationSearchCV
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

    _parameter_constraints = (
        BaseSearch._parameter_constraints
        | RESOURCE
        | {
            "population": [StrOptions(set(POPULATIONS))],
            "budget": [COUNT, None],
            "keep": [Interval(Real, 0, 1, closed="neither")],
            "step": [COUNT, None],
            "candidates": [StrOptions({"algorithm1", "largest"})],
            "workers": [BATCHES, None],
        }
    )

    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
        *,
        population: str = "forest",
        budget: int | None = None,
        keep: float = 0.25,
        step: int | None = None,
        candidates: Literal["algorithm1", "largest"] = "algorithm1",
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
        sampler: Any = POPULATIONS[self.population]
        # The population is chosen during its first epochs, from their results alone.
        sampler = sampler(transfer="none") if sampler().reads.results else sampler()
        return sampler, IncrementalEvaluation(self.budget, self.keep, self.step, self.candidates)
