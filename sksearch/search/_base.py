"""`BaseSearch`: scikit-learn's search estimator with its own ``fit``.

scikit-learn's ``evaluate_candidates`` discards fitted estimators and cannot change the number of
folds, so ``fit`` is ours; prediction, delegation, tags and routing are inherited.
"""

import copy
import os
from abc import abstractmethod
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV
from sklearn.utils import check_random_state

from sksearch._utils._advice import glance
from sksearch._utils._clock import now
from sksearch._utils._compat import BaseSearchCV, fit_context
from sksearch._utils._terminal import plain_errors, say
from sksearch._utils._time_limit import TimeLimit
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
from sksearch.base import Sampler, Scheduler
from sksearch.checkpoint._recorder_of import recorder_of
from sksearch.estimators._model_choice import as_models, model_of, settle, settled, without
from sksearch.executors._limits import Limits, Workers
from sksearch.executors._signals import Interrupts
from sksearch.fitting.finish._out_of_fold import digest_of_folds
from sksearch.fitting.finish._outcome import Found
from sksearch.fitting.prepare._input import check_containers, check_folder
from sksearch.fitting.prepare._options import Goal, Knowledge, Options, Spending, most_averaged
from sksearch.fitting.prepare._prepare import prepare
from sksearch.fitting.prepare._rows import EMPTY, choose_rows, measured_models, with_rows
from sksearch.fitting.run._callbacks import (
    CV_LINES,
    CallbackContext,
    callback_arguments,
    root_callback_context,
)
from sksearch.fitting.run._findings import Findings
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._keywords import KnownNames
from sksearch.fitting.run._objectives import Bound
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._results import ResultRow
from sksearch.fitting.run._row_sample import seconds_of_models, seconds_of_one_fit
from sksearch.fitting.run._run import Recorder, Run
from sksearch.fitting.run._setup import Setup, Stops
from sksearch.progress._progress import Progress, Watch
from sksearch.reader._values import metric_that_counts
from sksearch.reporting._after import AfterSearch, about_fit
from sksearch.reporting._autolog import autologged
from sksearch.search._groups import COUNT, GROUPS, SECONDS, Grouped
from sksearch.search._parts import CanFit, Refit
from sksearch.search._winner import WinnerChoice
from sksearch.space import Space
from sksearch.space._distributions import with_frozen_laws


class BaseSearch(KnownNames, Grouped, AfterSearch, WinnerChoice):
    """Base class of all searches; a subclass names its sampler and scheduler in ``_compose``.

    Parameters
    ----------
    estimator : estimator object, or list of estimators or of pairs (str, estimator)
        Estimator to tune: anything with scikit-learn's interface, Pipelines included. From a list
        of models, the search chooses and tunes the best one.
    param_distributions : dict, list of dict or None, default=None
        Dict with parameter names as keys and lists or distributions as values, as for
        `RandomizedSearchCV`, or a list of such dicts. None: the default space of the estimator.
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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.search import BaseSearch
    >>> class MySearchCV(BaseSearch):
    ...     def _compose(self, space, rng):
    ...         return RandomSampler(), FullFidelity(2)
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"alpha": [1e-4, 1e-3, 1e-2]}
    >>> search = MySearchCV(SGDClassifier(), space)
    >>> len(search.fit(X, y).history_.trials)
    2
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = BaseSearchCV._parameter_constraints | {
        "estimator": [CanFit()],
        "param_distributions": [dict, list, tuple, None],
        "scoring": "no_validation",  # `check_scoring` does it
        "refit": ["boolean", str, callable, dict, Bound],
        "random_state": ["random_state"],
        "timeout": [SECONDS, None],
        "checkpoint_dir": [str, os.PathLike, None],
        "ensemble": ["boolean", COUNT],
        "objectives": "no_validation",  # `fit` looks at it itself
        **GROUPS,
    }

    # Parameters of searches with several rungs.
    resource = None  # type: Any
    audit = 0.0  # type: Any
    min_resources = max_resources = select = "auto"  # type: Any
    # Method with which a search derives its space, if it has special rules.
    _own_space = None  # type: Any
    # Models of a list, too slow for the time of this fit.
    _left_out: tuple[str, ...] = ()

    #: Base class for ``isinstance(search, RandomizedSearchCV)`` checks in other libraries.
    _known_as: ClassVar[tuple[Any, ...]] = (RandomizedSearchCV,)
    #: True for searches with the names of scikit-learn's, which end as those do.
    _is_namesake: ClassVar[bool] = False

    # Long types are strings so that ``help`` and editors show their names, not their parts.
    def __init__(
        self,
        estimator: Any,
        param_distributions: dict | list | tuple | None = None,
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

    def _store(self, given: dict[str, Any]) -> None:
        """Set the parameters of ``__init__``, and nothing else, as scikit-learn requires."""
        for name, value in given.items():
            if name != "self":
                setattr(self, name, value)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for kind in cls._known_as:
            kind.register(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "estimator":
            with suppress(TypeError, ValueError):  # `fit` raises these errors
                value = as_models(value)
        super().__setattr__(name, value)

    @abstractmethod
    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        """Return the sampler and the scheduler; `rng` is for candidates drawn in advance."""

    def _run_search(self, evaluate_candidates: object) -> None:
        raise NotImplementedError(
            "sksearch searches do not call scikit-learn's evaluate_candidates, which cannot keep "
            "fitted models: compose SearchCV(sampler=..., scheduler=...) instead."
        )

    def _filled(self, folds: Folds) -> "BaseSearch":
        """Return a search with the parameters that the user left open filled in."""
        return self

    @plain_errors
    @autologged
    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Self:
        """Run the search and fit the best candidate on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Training data: any indexable object that the estimator accepts.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target.
        **params : dict of str to object
            Passed on as in ``GridSearchCV``: ``groups`` to the splitter, the others to ``fit`` and
            ``partial_fit`` of the estimator. Arguments with one entry for each row are split into
            folds. If metadata routing is enabled, arguments are routed by requests.

        Returns
        -------
        self : object
            Fitted.

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid (before any fit), if all fits failed, or if no score is
            finite. In the last case, searches with scikit-learn's names only warn, as in
            scikit-learn.
        TimeoutError
            If no candidate was scored within `timeout` and the overtime of `stop`.
        KeyboardInterrupt
            On Ctrl-C. The attributes are set from the results so far, without a refit.
        """
        self._reset()
        check_containers(X, y)
        settle(self.estimator, X, y, params)
        check_folder(self.checkpoint_dir)
        with recorder_of(self.checkpoint_dir, X, y) as recorder:
            self._cv()  # like scikit-learn, draw the folds of a generator first
            rng, unit = recorder.rng(self.random_state), recorder.unit
            setup = self._measured(X, y, params, rng, unit, recorder if recorder.goes_on else None)
            recorder.open(type(self), self._flat_params(), setup)
            self._fit(setup, recorder)
        return self

    def _fit(self, setup: Setup, recorder: Recorder) -> None:
        """Run the search, keep its results, and fit the best candidate on all rows."""
        root = root_callback_context(self, n_tasks=1 + (self.refit is not False))
        setup.context.search = self if root.listens else None
        setup.context.spool = recorder.spool
        hook = callback_arguments(self, setup.context.X, setup.context.y, setup.params)
        root.call_on_fit_task_begin(**hook)
        found = self._keep_results(self._run(setup, root, recorder))
        if self.refit:
            self._refit(found, root, hook)
        root.call_on_fit_task_end(**hook)

    @property
    def progress_(self) -> Progress:
        """A `Progress` of the search, which another thread may read while ``fit`` runs."""
        if "_watch" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted: call fit first.")
        return self._watch.progress()

    @plain_errors
    def plan(
        self, X: ArrayLike, y: ArrayLike | None = None, *, measure: bool = False, **params: Any
    ) -> SearchPlan:
        """Return brackets, rungs and their cost without fitting.

        Parameters
        ----------
        X, y : array-like
            Same as for `fit`. X and y determine the numbers of rows, classes and folds.
        measure : bool, default=False
            Whether to estimate the duration of the search by fitting the untuned estimator, or
            each of several models, once on the largest fold. Otherwise nothing is fitted.
        **params : dict of str to object
            Same as for `fit`.

        Returns
        -------
        plan : SearchPlan
            Plan, shown as a table by ``print`` and in notebooks. `fit` follows it exactly, unless
            the search stops early, or failures leave fewer candidates to promote than planned.
        """
        self._validate_params()
        check_containers(X, y)
        settle(self.estimator, X, y, params)
        # The cost does not depend on the generator.
        if not measure:
            self._left_out = ()
            return self._prepare(X, y, params, check_random_state(0)).plan
        setup = self._measured(X, y, params, check_random_state(0))
        by_model = seconds_of_models(setup.context)
        seconds = [*by_model.values()] or [seconds_of_one_fit(setup.context)[0]]
        return replace(
            with_rows(setup), seconds_per_fit=float(np.mean(seconds)), seconds_by_model=by_model
        )

    def __getstate__(self) -> dict[str, Any]:
        # Copy the dict at once: another thread may be setting attributes during pickling.
        return dict(super().__getstate__())

    # ---- before

    def _reset(self) -> None:
        """Discard an earlier fit, so that an interrupted one never mixes with it."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        for name in ("_watch", "_about_probabilities"):
            self.__dict__.pop(name, None)

    def _measured(
        self,
        X: Samples,
        y: Targets,
        params: dict[str, Any],
        rng: np.random.RandomState,
        unit: str | None = None,
        recorder: Recorder | None = None,
    ) -> Setup:
        """Prepare a search, without the models and rows for which the time is too short.

        The `recorder` of a resumed search contains both.
        """
        self._left_out = () if recorder is None else tuple(recorder.left_out)
        time, paces = TimeLimit(self.timeout), EMPTY
        if recorder is None:
            args = self._options(), X, y, time
            paces, self._left_out = glance(measured_models, *args, otherwise=(EMPTY, ()))
        spent = time.elapsed() if paces else 0.0
        setup = self._prepare(X, y, params, rng, unit)
        setup.left_out = self._left_out
        if recorder is None:
            setup.time.go_on(spent)
            choose_rows(self._options(), setup, paces)
        return setup

    def _prepare(
        self,
        X: Samples,
        y: Targets,
        params: dict[str, Any],
        rng: np.random.RandomState,
        unit: str | None = None,
    ) -> Setup:
        """Check all input, freeze the folds and compose the search."""
        options, own = self._options(), rng
        # Before all draws, as in scikit-learn: the estimator may share the generator
        estimator = clone(options.estimator)
        if self._is_namesake:  # the user's generator makes only scikit-learn's draws
            own = copy.deepcopy(rng)
            self._draw_candidates(rng)
        return prepare(self, options, estimator, X, y, params, own, unit)

    def _draw_candidates(self, rng: np.random.RandomState) -> None:
        """Draw the candidates as scikit-learn does, before the folds."""

    def _options(self) -> Options:
        """Group the user's parameters by concern."""
        space = self.param_distributions
        workers, stop, known = map(self._group, ("workers", "stop", "known"))
        may_be_stopped = stop["overtime"] is not None
        limits = Limits(workers["timeout"], workers["memory"], workers["retries"], may_be_stopped)
        n_at_once = workers.get("batch_size", 1)  # not a key of every search
        n_iter = getattr(self, "n_iter", None)  # not a parameter of every search
        spending = Spending(
            self.resource, self.min_resources, self.max_resources, self.select, self.audit, n_iter
        )
        return Options(
            estimator=without(settled(self.estimator), self._left_out),
            space=with_frozen_laws(space) if self._is_namesake else space,
            cv=self.cv,
            goal=Goal(self.scoring, self.refit, self.objectives, known["constraints"]),
            knowledge=Knowledge(known["params"], known["results"], known["prior"]),
            stops=Stops(stop["score"], stop["patience"], stop["converged"]),
            spending=spending,
            workers=Workers(self.n_jobs, self.pre_dispatch, workers["devices"], limits, n_at_once),
            timeout=self.timeout,
            overtime=stop["overtime"],
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            verbose=self.verbose,
            ensemble=most_averaged(self.ensemble),
            left=self._left(),
        )

    def _left(self) -> frozenset[str]:
        """Return the subset of "cv", "n_folds", "sampler" and "scheduler" that it chooses."""
        return frozenset()

    def _cv(self) -> Any:
        """`cv`, with the folds of a one-shot iterator kept for a `fit` after a `plan`."""
        cv: Any = self.cv
        if not hasattr(cv, "__next__"):
            return cv
        if getattr(self, "_one_shot_cv", (None,))[0] is not cv:
            self._one_shot_cv = (cv, list(cv))
        return self._one_shot_cv[1]

    # ---- during

    def _run(self, setup: Setup, root: CallbackContext, recorder: Recorder) -> Run:
        """Run to the end, and keep the results so far if it ends early."""
        study, context, plan = setup.study(), setup.context, setup.plan
        if self.verbose > 0:
            of = f"of {plan.n_candidates} candidates, totalling {plan.n_fits - plan.refit} fits"
            of = "candidate until the time is up" if plan.is_endless else of
            say(
                "\n".join([f"Fitting {len(context.splits)} folds for each {of}", *plan.on_workers])
            )
        name = type(self).__name__.removesuffix("SearchCV") or "Search"
        # From 3 on, lines are printed as in scikit-learn, and a status line would interfere.
        verbose = self.verbose if self.verbose < CV_LINES else 0
        self._watch = watch = Watch(plan, study.history, name, verbose, setup.time)
        run = Run(study, setup, root, recorder, watch)
        run.go_on()
        try:
            run.drive()
        except BaseException:
            if run.findings.outputs.reached:
                with suppress(Exception):  # do not hide the error that ended the search
                    self._keep_results(run, interrupted=True)
            raise
        return run

    # ---- after

    def _keep_results(self, run: Run, interrupted: bool = False) -> Found:
        """Set the fitted attributes that do not need a refit."""
        setup, context = run.setup, run.context
        self.plan_, self.interrupted_ = with_rows(setup), interrupted
        self._cut = run.cut() if interrupted or run.done or run.is_up else []
        self._is_up = run.is_up
        self.history_, self.n_splits_ = run.study.history, len(context.splits)
        self._folds, self._sample = digest_of_folds(context.splits), context.sample
        self._notes_on_folds = setup.folds.notes
        args = context.X, context.y, setup.folds.cv, self.estimator, setup.time.elapsed()
        self._about = glance(about_fit, *args)
        self.scorer_ = getattr(context.scorer, "_scorers", context.scorer)
        self._keep_rungs(setup, context.resource.acts_on != "fits")
        found = Found(run.findings, self._rows(run.findings))
        self._trial_ids = [row.trial_id for row in found.rows]
        self.statuses_ = [result.status for result in found.results]
        self.errors_ = [result.error for result in found.results]
        if not interrupted:
            found.check()
        found.name_scores()
        self.multimetric_ = isinstance(found.test_scores, dict)
        self._row_scores, self._untuned_scores = found.row_scores(), found.untuned_scores()
        self._outcome_luck = found.outcome_luck()
        refit_metric: Any = setup.refit_metric
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(found.test_scores)
            refit_metric = context.metric if self.objectives else self.refit
        self.cv_results_ = found.table()
        if self.objectives:
            self.pareto_ = found.front()
        if self.refit or not self.multimetric_:
            self._keep_best(refit_metric)
            row = found.rows[self.best_index_]
            run.recorder.record_winner(row.trial_id, row.n_resources)
            if setup.scheduler.reads.states:
                self.schedule_ = found.schedule(self.best_index_)
        return found

    def _rows(self, findings: Findings) -> list[ResultRow]:
        """Rows of ``cv_results_``."""
        return findings.rows()

    def _refit(self, found: Found, root: CallbackContext, hook: dict[str, Any]) -> None:
        """Fit the best candidate on all rows."""
        self.interrupted_ = True  # until the search has ended
        training, context = found.last_training(self.best_index_), found.findings.context
        best, start = training.untrained(context), now()
        leaf = root.subcontext(task_name="refit-with-best-params")
        with Interrupts(), leaf.propagate_callback_context(best), training.seeds(context):
            leaf.call_on_fit_task_begin(**hook)
            best = training.run(context, best)
            self.best_estimator_ = model_of(best)
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        leaf.call_on_fit_task_end(**hook)
        if self.ensemble:
            metric = metric_that_counts(self.cv_results_, self.refit)
            ranks = self.cv_results_[f"rank_test_{metric}"]
            args = ranks, int(self.best_index_), self.best_estimator_
            self.ensemble_, self.best_estimator_ = found.ensemble(*args)
        weights = self.ensemble_.weights if self.ensemble else {int(self.best_index_): 1.0}
        model, self._about_probabilities = found.with_probabilities(weights, self.best_estimator_)
        self.best_estimator_ = model
        self.refit_time_ = now() - start
        self.interrupted_ = False
