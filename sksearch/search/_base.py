"""`BaseSearch`: scikit-learn's search estimator with a ``fit`` of its own.

scikit-learn's ``evaluate_candidates`` throws fitted estimators away and cannot change the
number of folds, so ``fit`` is ours; prediction, delegation, tags and routing are inherited.
"""

import copy
import os
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import RandomizedSearchCV
from sklearn.utils import check_random_state

from sksearch._finish import Found
from sksearch._prepare import (
    Goal,
    Knowledge,
    Options,
    Spending,
    check_folder,
    choose_rows,
    most_averaged,
    prepare,
    with_rows,
)
from sksearch._utils._advice import glance
from sksearch._utils._clock import now
from sksearch._utils._compat import BaseSearchCV, Interval, fit_context
from sksearch._utils._plain import plain_errors, say
from sksearch._utils._typing import Samples, Targets
from sksearch.base import Sampler, Scheduler
from sksearch.checkpoint import recorder_of
from sksearch.estimators import as_models, model_of, settle, settled
from sksearch.executors import Interrupts, Limits, Workers
from sksearch.fitting import (
    CV_LINES,
    Bound,
    CallbackContext,
    Folds,
    KnownNames,
    Recorder,
    Row,
    Run,
    SearchPlan,
    Setup,
    Stops,
    callback_arguments,
    digest_of_folds,
    metric_that_counts,
    root_callback_context,
    seconds_of_models,
    seconds_of_one_fit,
)
from sksearch.progress import Progress, Watch
from sksearch.reporting import AfterSearch, about_fit, autologged
from sksearch.search._parameters import Count, FieldConstraints, Score, Seconds, documented
from sksearch.search._parts import CanFit
from sksearch.search._winner import WinnerChoice
from sksearch.space import Space, with_frozen_laws


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class BaseSearch(KnownNames, AfterSearch, WinnerChoice):
    """What all searches share; a subclass names its sampler and its scheduler in ``_compose``.

    Subclasses are dataclasses: a parameter is a field, and its annotation says what it may be.

    Parameters
    ----------
    {head}
    {common}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sksearch.samplers import RandomSampler
    >>> from sksearch.schedulers import FullFidelity
    >>> from sksearch.search import BaseSearch
    >>> @dataclass(kw_only=True, eq=False, repr=False)
    ... class MySearchCV(BaseSearch):
    ...     def _compose(self, space, rng):
    ...         return RandomSampler(), FullFidelity(2)
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"alpha": [1e-4, 1e-3, 1e-2]}
    >>> search = MySearchCV(SGDClassifier(), space)
    >>> len(search.fit(X, y).history_.trials)
    2
    """

    estimator: Annotated[Any, CanFit()] = field(kw_only=False)
    param_distributions: dict | list | tuple | None = field(default=None, kw_only=False)
    scoring: Any = None
    n_jobs: Any = None
    refit: Annotated[Any, "boolean", str, callable, dict, Bound] = True
    cv: Any = None
    verbose: Any = 0
    pre_dispatch: Any = "2*n_jobs"
    random_state: Annotated[Any, "random_state"] = None
    error_score: Any = np.nan
    return_train_score: Any = False
    objectives: Any = None
    constraints: Any = None
    initial_params: dict | list | tuple | Literal["auto"] | None = "auto"
    prior_results: Any = None
    prior: dict | None = None
    timeout: Seconds | None = None
    overtime: Annotated[float, Interval(Real, 0, None, closed="left")] | None = None
    target_score: Score | None = None
    patience: Count | None = None
    stop: Literal["converged"] | None = None
    candidate_timeout: Seconds | None = None
    memory_limit: Count | None = None
    max_retries: Annotated[int, Interval(Integral, 0, None, closed="left")] = 1
    devices: list | tuple | None = None
    checkpoint_dir: str | os.PathLike | None = None
    ensemble: Annotated[Any, "boolean", Interval(Integral, 1, None, closed="left")] = False

    # Searches at several resources have parameters of these names.
    resource = None  # type: Any
    audit = 0.0  # type: Any
    min_resources = max_resources = select = "auto"  # type: Any
    # And so have searches whose proposals learn.
    batch_size = 1  # type: Any
    # A search with rules of its own for a space has a method of this name, which returns it.
    _own_space = None  # type: Any

    _parameter_constraints = FieldConstraints(
        BaseSearchCV._parameter_constraints | {"scoring": "no_validation"}  # `check_scoring`
    )

    #: What other libraries take a search for: they ask ``isinstance(search, RandomizedSearchCV)``.
    _known_as: ClassVar[tuple[Any, ...]] = (RandomizedSearchCV,)
    #: Whether it has the name of scikit-learn's, and so ends as that does.
    _is_namesake: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for kind in cls._known_as:
            kind.register(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "estimator":
            with suppress(TypeError, ValueError):  # which `fit` raises
                value = as_models(value)
        super().__setattr__(name, value)

    @abstractmethod
    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        """Name the sampler and the scheduler; `rng` is for candidates settled beforehand."""

    def _run_search(self, evaluate_candidates: object) -> None:
        raise NotImplementedError(
            "sksearch searches do not run through scikit-learn's evaluate_candidates, which "
            "cannot keep fitted models: compose SearchCV(sampler=..., scheduler=...) instead."
        )

    def _filled(self, folds: Folds) -> "BaseSearch":
        """Return a search with the parameters that its user left to it, for these folds."""
        return self

    @plain_errors
    @autologged
    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Self:
        """Search, and train the best candidate on all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Training data; anything indexable that the estimator takes, passed on as it is.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Target.
        **params : dict of str to object
            Passed on as ``GridSearchCV`` does: ``groups`` to the splitter, the rest to the
            estimator's ``fit`` (and its ``partial_fit``), sliced to each fold where it has one
            entry for each row; routed by request where metadata routing is on.

        Returns
        -------
        self : object
            Fitted.

        Raises
        ------
        ValueError, TypeError
            If an argument is not usable, before any fit; if all fits failed, at the latest after
            the last rung; the first line has the cause. If no score is finite; with the names of
            scikit-learn's searches this only warns, as there.
        TimeoutError
            If no candidate had its score when `timeout` and `overtime` were up.
        KeyboardInterrupt
            On Ctrl-C. The attributes are set from what was known, but there is no refit.
        """
        self._reset()
        settle(self.estimator, X, y)
        check_folder(self.checkpoint_dir)
        with recorder_of(self.checkpoint_dir, X, y) as recorder:
            self._cv()  # folds of a generator are drawn before all else, as by scikit-learn
            setup = self._prepare(X, y, params, recorder.rng(self.random_state), recorder.unit)
            if not recorder.goes_on:
                choose_rows(self._options(), setup)
            recorder.open(type(self), self.get_params(deep=False), setup)
            self._fit(setup, recorder)
        return self

    def _fit(self, setup: Setup, recorder: Recorder) -> None:
        """Search, keep what was found, and train the best candidate on all rows."""
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
        """How far the search is, a `Progress`; another thread may ask while ``fit`` runs."""
        if "_watch" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted: call fit first.")
        return self._watch.progress()

    @plain_errors
    def plan(
        self, X: ArrayLike, y: ArrayLike | None = None, *, measure: bool = False, **params: Any
    ) -> SearchPlan:
        """Lay out brackets, rungs and their cost, before anything is spent.

        Parameters
        ----------
        X, y : array-like
            As for `fit`; the data tell the counts of rows, classes and folds.
        measure : bool, default=False
            Whether the untuned estimator, or each of several models, is trained once, on the
            largest fold, to tell how long the search will take. Nothing is trained otherwise.
        **params : dict of str to object
            As for `fit`.

        Returns
        -------
        plan : SearchPlan
            Printed, and in a notebook, it is a table. What `fit` does equals it, unless the search
            stops early or failures leave fewer to promote than planned.
        """
        self._validate_params()
        settle(self.estimator, X, y)
        # Any generator will do: how much is spent does not depend on it.
        setup = self._prepare(X, y, params, check_random_state(0))
        if not measure:
            return setup.plan
        choose_rows(self._options(), setup)
        by_model = seconds_of_models(setup.context)
        seconds = [*by_model.values()] or [seconds_of_one_fit(setup.context)[0]]
        return replace(
            with_rows(setup), seconds_per_fit=float(np.mean(seconds)), seconds_by_model=by_model
        )

    def __dask_tokenize__(self) -> tuple[type, dict[str, Any]]:
        # Of a dataclass Dask takes the fields alone: a fitted search would be as an unfitted one.
        return type(self), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        # A copy, made at once: another thread may be setting attributes while this is pickled.
        return dict(super().__getstate__())

    # ---- before

    def _reset(self) -> None:
        """Forget an earlier fit, so that an interrupted one never mixes with it."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        self.__dict__.pop("_watch", None)

    def _prepare(
        self,
        X: Samples,
        y: Targets,
        params: dict[str, Any],
        rng: np.random.RandomState,
        unit: str | None = None,
    ) -> Setup:
        """Check all input, freeze the folds and compose the search."""
        own = rng
        if self._is_namesake:  # what the user passed has only the draws of scikit-learn's search
            own = copy.deepcopy(rng)
            self._draw_candidates(rng)
        return prepare(self, self._options(), X, y, params, own, unit)

    def _draw_candidates(self, rng: np.random.RandomState) -> None:
        """Draw from the user's generator what scikit-learn draws before the folds."""

    def _options(self) -> Options:
        """What the user has asked for, by concern."""
        may_be_stopped, space = self.overtime is not None, self.param_distributions
        limits = Limits(
            self.candidate_timeout, self.memory_limit, self.max_retries, may_be_stopped
        )
        return Options(
            estimator=settled(self.estimator),
            space=with_frozen_laws(space) if self._is_namesake else space,
            cv=self.cv,
            goal=Goal(self.scoring, self.refit, self.objectives, self.constraints),
            knowledge=Knowledge(self.initial_params, self.prior_results, self.prior),
            stops=Stops(self.target_score, self.patience, self.stop),
            spending=Spending(
                self.resource, self.min_resources, self.max_resources, self.select, self.audit,
                getattr(self, "n_iter", None),  # which a search may lack
            ),
            workers=Workers(
                self.n_jobs, self.pre_dispatch, self.devices, limits, self.batch_size
            ),
            timeout=self.timeout,
            overtime=self.overtime,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            verbose=self.verbose,
            ensemble=most_averaged(self.ensemble),
            left=self._left(),
        )  # fmt: skip

    def _left(self) -> frozenset[str]:
        """Return which of "cv", "sampler" and "scheduler" are left to the search."""
        return frozenset()

    def _cv(self) -> Any:
        """`cv`, with the folds of a one-shot iterator kept for a `fit` after a `plan`."""
        if not hasattr(self.cv, "__next__"):
            return self.cv
        if getattr(self, "_one_shot_cv", (None,))[0] is not self.cv:
            self._one_shot_cv = (self.cv, list(self.cv))
        return self._one_shot_cv[1]

    # ---- during

    def _run(self, setup: Setup, root: CallbackContext, recorder: Recorder) -> Run:
        """Run to the end; whatever ends it before, what is known is kept."""
        study, context, plan = setup.study(), setup.context, setup.plan
        if self.verbose > 0:
            of = f"of {plan.n_candidates} candidates, totalling {plan.n_fits - plan.refit} fits"
            of = "candidate until the time is up" if plan.is_endless else of
            say(f"Fitting {len(context.splits)} folds for each {of}")
        name = type(self).__name__.removesuffix("SearchCV") or "Search"
        # From 3 on the lines are scikit-learn's: two voices at a time are read by nobody.
        verbose = self.verbose if self.verbose < CV_LINES else 0
        self._watch = watch = Watch(plan, study.history, name, verbose, setup.time)
        run = Run(study, setup, root, recorder, watch)
        run.go_on()
        try:
            run.drive()
        except BaseException:
            run.close(interrupted=True)
            if run.outputs.reached:
                with suppress(Exception):  # the error that ended the search matters more
                    self._keep_results(run, interrupted=True)
            raise
        run.close()
        return run

    # ---- after

    def _keep_results(self, run: Run, interrupted: bool = False) -> Found:
        """Set the fitted attributes that do not need a refit."""
        setup, context = run.setup, run.context
        self.plan_, self.interrupted_ = with_rows(setup), interrupted
        self.history_, self.n_splits_ = run.study.history, len(context.splits)
        self._folds, self._sample = digest_of_folds(context.splits), context.sample
        self._notes_on_folds = setup.folds.notes
        took = self._watch.progress().seconds
        args = context.X, context.y, setup.folds.cv, self.estimator, took
        self._about = glance(about_fit, *args)
        self.scorer_ = getattr(context.scorer, "_scorers", context.scorer)
        self._keep_rungs(setup, context.resource.acts_on != "fits")
        found = Found(run, self._rows(run))
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

    def _rows(self, run: Run) -> list[Row]:
        """Rows of ``cv_results_``."""
        return run.rows()

    def _refit(self, found: Found, root: CallbackContext, hook: dict[str, Any]) -> None:
        """Train the best candidate on all rows."""
        self.interrupted_ = True  # until it has ended
        training, context = found.last_training(self.best_index_), found.run.context
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
        self.refit_time_ = now() - start
        self.interrupted_ = False
