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
from sklearn.base import clone
from sklearn.model_selection import RandomizedSearchCV
from sklearn.utils import check_random_state, indexable

from sksearch._clock import now
from sksearch._compat import (
    BaseSearchCV,
    Interval,
    check_method_params,
    fit_context,
    num_samples,
)
from sksearch._earlier import read_earlier, with_knowledge
from sksearch._plain import plain_errors, say
from sksearch._seeds import seeded
from sksearch._time_limit import TimeLimit
from sksearch.base import Sampler, Scheduler
from sksearch.checkpoint import recorder_of
from sksearch.executors import Interrupts, Limits, check_devices, drive, make_executor
from sksearch.fitting._aims import Bound
from sksearch.fitting._callbacks import CV_LINES, callback_arguments, root_callback_context
from sksearch.fitting._checks import (
    check_ensemble,
    check_memory_limit,
    check_schedule,
    check_training,
    classes_of,
    planned,
)
from sksearch.fitting._evaluation import Context, evaluate
from sksearch.fitting._folds import Folds
from sksearch.fitting._input import (
    check_columns,
    check_containers,
    check_cv,
    check_folder,
    check_n_jobs,
    check_overtime,
    check_pre_dispatch,
    check_refit,
    check_sample_weight,
    check_target,
    warn_of_index,
    with_plain_numbers,
)
from sksearch.fitting._keywords import KnownNames
from sksearch.fitting._lineage import schedule_of
from sksearch.fitting._out_of_fold import digest_of_folds
from sksearch.fitting._plan import SearchPlan
from sksearch.fitting._refit import refit
from sksearch.fitting._results import cv_results, name_error_scores, warn_if_none_keeps_bounds
from sksearch.fitting._row_sample import seconds_of_one_fit
from sksearch.fitting._row_scores import RowScores, blocks_of_rows
from sksearch.fitting._run import Run, Stops, check_hope
from sksearch.fitting._scores import scores_have_names
from sksearch.fitting._scoring import check_task
from sksearch.fitting._setup import Setup, adapt, make_problem
from sksearch.fitting._top_trials import best_rows, make_ensemble
from sksearch.progress import Progress, Watch
from sksearch.reporting import AfterSearch
from sksearch.reporting._autolog import autologged
from sksearch.reporting._front import ParetoFront
from sksearch.resources import WholeResource, as_resource
from sksearch.schedulers import Audited
from sksearch.search._auto import (
    choices,
    choose_rows,
    count_under_way,
    first_guesses,
    limits_trainings,
    make_space,
    with_rows,
)
from sksearch.search._parameters import Count, FieldConstraints, Score, Seconds, documented
from sksearch.search._parts import CanFit
from sksearch.search._split import make_folds
from sksearch.search._winner import WinnerChoice, aimed, aims_of, rule_for, scorers_of
from sksearch.space import Space


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
    ensemble_size: Count | None = None

    # Searches at several resources have parameters of these names.
    resource = None  # type: Any
    audit = 0.0  # type: Any
    min_resources = max_resources = select = "auto"  # type: Any
    # And so have searches whose proposals learn.
    batch_size = 1  # type: Any
    # A search that is left the folds, too, chooses them by groups and times.
    _chooses_cv = False
    # A search with rules of its own for a space has a method of this name, which returns it.
    _own_space = None  # type: Any

    _parameter_constraints = FieldConstraints(
        BaseSearchCV._parameter_constraints | {"scoring": "no_validation"}  # `check_scoring`
    )

    #: What other libraries take a search for: they ask ``isinstance(search, RandomizedSearchCV)``.
    _known_as: ClassVar[tuple[Any, ...]] = (RandomizedSearchCV,)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for kind in cls._known_as:
            kind.register(cls)

    @abstractmethod
    def _compose(self, space: Space, rng: np.random.RandomState) -> tuple[Sampler, Scheduler]:
        """Name the sampler and the scheduler; `rng` is for candidates settled beforehand."""

    def _run_search(self, evaluate_candidates):
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
            If an argument is not usable, before any training; if all trainings failed, after
            the first rung, or sooner if others would fail alike; the first line has the cause.
            Scores that are NaN only warn, as in ``GridSearchCV``.
        TimeoutError
            If no candidate had its score when `timeout` and `overtime` were up.
        KeyboardInterrupt
            On Ctrl-C. The attributes are set from what was known, but there is no refit.
        """
        self._reset()
        check_folder(self.checkpoint_dir)
        with recorder_of(self, X, y) as recorder:
            setup = self._prepare(X, y, params, recorder.rng(self.random_state), recorder.unit)
            if not recorder.goes_on:
                choose_rows(self, setup)
            recorder.open(self, setup)
            self._fit(setup, recorder)
        return self

    def _fit(self, setup, recorder):
        """Search, keep what was found, and train the best candidate on all rows."""
        root = root_callback_context(self, n_tasks=1 + (self.refit is not False))
        setup.context.search = self if root.listens else None
        setup.context.spool = recorder.spool
        hook = callback_arguments(self, setup.context.X, setup.context.y, setup.params)
        root.call_on_fit_task_begin(**hook)
        run = self._search(setup, root, recorder)
        self._keep_results(run, setup)
        if self.ensemble_size is not None:
            rows = best_rows(
                self._rows(run, setup), self.cv_results_, self.statuses_,
                self.ensemble_size, self.refit, setup.plan.any_rung_wins,
            )  # fmt: skip
            if (ensemble := make_ensemble(run, rows)) is not None:
                self.ensemble_ = ensemble
        if self.refit:
            self._refit(run, setup, root, hook)
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
            Whether the estimator as it is is trained once, on the largest fold, to tell how long
            the search will take. Nothing is trained otherwise.
        **params : dict of str to object
            As for `fit`.

        Returns
        -------
        plan : SearchPlan
            Printed, and in a notebook, it is a table. What `fit` does equals it, unless the search
            stops early or failures leave fewer to promote than planned.
        """
        self._validate_params()
        # Any generator will do: how much is spent does not depend on it.
        setup = self._prepare(X, y, params, check_random_state(0))
        if not measure:
            return setup.plan
        choose_rows(self, setup)
        return replace(with_rows(setup), seconds_per_fit=seconds_of_one_fit(setup.context)[0])

    def __dask_tokenize__(self):
        # Of a dataclass Dask takes the fields alone: a fitted search would be as an unfitted one.
        return type(self), self.__getstate__()

    def __getstate__(self):
        # A copy, made at once: another thread may be setting attributes while this is pickled.
        return dict(super().__getstate__())

    # ---- before

    def _reset(self):
        """Forget an earlier fit, so that an interrupted one never mixes with it."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        self.__dict__.pop("_watch", None)

    def _prepare(self, X, y, params, rng, unit=None):
        """Check all input, freeze the folds and compose the search."""
        scorers, refit_metric = scorers_of(self, y)
        X, y, params = self._check_input(X, y, params)
        routed = self._get_routed_params_for_fit(params)
        folds = make_folds(self, X, y, routed.splitter.split, unit)
        splits = folds.splits
        estimator = clone(self.estimator)
        space = make_space(self, estimator, X)
        filled = with_plain_numbers(self._filled(folds))
        given = space.names, routed.estimator.fit
        resource = as_resource(filled.resource, estimator, len(splits[0][0]), *given)
        check_training(resource, estimator, space, routed.estimator.fit, X)
        classes, strata = classes_of(estimator, y)
        check_ensemble(self.ensemble_size, estimator, classes)
        # From a copy: the seed must not depend on how many candidates were settled beforehand.
        sampler, scheduler = filled._compose(space, copy.deepcopy(rng))
        scheduler = Audited(scheduler, self.audit) if self.audit else scheduler
        earlier = read_earlier(self.prior_results, space)
        aims, allows = aims_of(self, space, scorers, earlier)
        guesses = first_guesses(self, estimator, space, X, earlier, allows)
        limits = filled.min_resources, filled.max_resources
        args = space, resource, estimator, X, classes, len(splits), limits, rng, guesses
        problem, sampler = with_knowledge(make_problem(*args), sampler, earlier, self.prior)
        problem, sampler = aimed(problem, sampler, aims, allows)
        how = sampler, scheduler, resource, estimator
        problem, scheduler = adapt(problem, *how, limits[0])
        rule, refit_metric = rule_for(self, aims, scorers, refit_metric, problem, len(splits))
        rungs = planned(scheduler, problem)
        plan = SearchPlan.of(rungs, resource, len(splits), bool(self.refit), self.select)
        check_schedule(plan, scheduler, resource, self, aims)
        plan = replace(plan, notes=choices(self, filled, problem, folds), timeout=self.timeout)
        context = Context(
            estimator=estimator,
            X=X, y=y, splits=splits,
            scorer=scorers,
            metric=rule if isinstance(rule, str) else None,
            has_names=scores_have_names(self.scoring, rule, scorers),
            fit_params=routed.estimator.fit, score_params=routed.scorer.score,
            resource=resource,
            strata=strata, classes=classes, seed=problem.seed,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            verbose=self.verbose,
            n_candidates=plan.n_candidates,
            aims=aims,
            blocks=blocks_of_rows(splits, num_samples(X), routed.splitter.split.get("groups")),
        )  # fmt: skip
        parts = problem, sampler, scheduler, plan
        time = TimeLimit(self.timeout, self.overtime)
        return Setup(context, *parts, params, refit_metric, folds, earlier, time)

    def _check_input(self, X, y, params):
        """Check what can be checked by itself, and return the data as they are used."""
        check_n_jobs(self.n_jobs)
        check_cv(self.cv, params)
        check_memory_limit(self.memory_limit)
        check_devices(self.devices)
        check_pre_dispatch(self.pre_dispatch)
        check_overtime(self.timeout, self.overtime)
        check_refit(self.refit)
        check_containers(X, y)
        check_columns(params)
        warn_of_index(X, y)
        X, y = indexable(X, y)
        params = check_method_params(X, params=params)
        check_target(self.estimator, y)
        check_task(self.scoring, self.estimator, y)
        check_sample_weight(X, params)
        return X, y, params

    def _cv(self):
        """`cv`, with the folds of a one-shot iterator kept for a `fit` after a `plan`."""
        if not hasattr(self.cv, "__next__"):
            return self.cv
        if getattr(self, "_one_shot_cv", (None,))[0] is not self.cv:
            self._one_shot_cv = (self.cv, list(self.cv))
        return self._one_shot_cv[1]

    # ---- during

    def _search(self, setup, root, recorder):
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
        may_train = not limits_trainings(self)
        stops = Stops(self.target_score, self.patience, self.stop, may_train)
        rule = self.refit if callable(self.refit) else None
        run = Run(study, setup, root, recorder, watch, stops, self.ensemble_size, rule)
        recorder.replay(run)
        run.done |= recorder.ending.why == "callback" and root.listens
        may_be_stopped = self.overtime is not None
        limits = Limits(
            self.candidate_timeout, self.memory_limit, self.max_retries, may_be_stopped
        )
        args = (self.n_jobs, self.pre_dispatch, limits, recorder.folder, self.devices)
        learns = setup.sampler.learns or setup.scheduler.races or setup.scheduler.learns
        batch_size = count_under_way(self, setup.context) if learns else None
        try:
            with watch, Interrupts(), make_executor(evaluate, context, *args) as executor:
                check_hope(run)
                drive(study, executor, run, batch_size)
                run.keep_models()
        except BaseException:
            run.close(interrupted=True)
            if run.outputs.reached:
                with suppress(Exception):  # the error that ended the search matters more
                    self._keep_results(run, setup, interrupted=True)
            raise
        run.close()
        return run

    # ---- after

    def _keep_results(self, run, setup, interrupted=False):
        """Set the fitted attributes that do not need a refit."""
        context, self.plan_ = setup.context, with_rows(setup)
        with_resources = not isinstance(context.resource, WholeResource)
        self.interrupted_ = interrupted
        self.history_ = run.study.history
        self.n_splits_ = len(context.splits)
        self._folds, self._sample = digest_of_folds(context.splits), context.sample
        self._notes_on_folds = setup.folds.notes
        self.scorer_ = getattr(context.scorer, "_scorers", context.scorer)
        self._keep_rungs(setup, with_resources)
        rows = self._rows(run, setup)
        self._trial_ids = [row.trial_id for row in rows]
        results = [self.history_.trials[row.trial_id].results[row.n_resources] for row in rows]
        self.statuses_ = [result.status for result in results]
        self.errors_ = [result.error for result in results]
        outputs = [output for row in rows for output in row.new_outputs]
        if not interrupted:
            run.check_failures(outputs)
            warn_if_none_keeps_bounds(results)
        name_error_scores(outputs)
        self._row_scores = RowScores.of(rows, context)
        self.multimetric_ = isinstance(outputs[0].test_scores, dict)
        refit_metric = setup.refit_metric
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(outputs[0].test_scores)
            refit_metric = context.metric if self.objectives else self.refit
        self.cv_results_ = cv_results(
            rows, self.n_splits_, self.return_train_score, self._columns * with_resources,
            setup.plan.any_rung_wins,
            [result.violation for result in results] if context.aims.bounds else None,
            setup.plan.by_folds,
        )  # fmt: skip
        if self.objectives:
            wins = setup.plan.any_rung_wins
            self.pareto_ = ParetoFront.of(context.aims, rows, results, wins)
        if self.refit or not self.multimetric_:
            self._keep_best(refit_metric)
            row = rows[self.best_index_]
            run.recorder.record_winner(row.trial_id, row.n_resources)
            if setup.scheduler.inherits:
                trials = self.history_.trials
                self.schedule_ = schedule_of(trials, row.trial_id, row.n_resources)

    def _rows(self, run, setup):
        """Rows of ``cv_results_``."""
        return run.rows()

    def _refit(self, run, setup, root, hook):
        """Train the best candidate on all rows, by the path that it was scored on."""
        self.interrupted_ = True  # until it has ended
        row, context = self._rows(run, setup)[self.best_index_], setup.context
        best = clone(context.estimator).set_params(**clone(row.params, safe=False))
        leaf = root.subcontext(task_name="refit-with-best-params")
        with (
            leaf.propagate_callback_context(best),
            seeded(context.seed, row.trial_id, self.n_splits_, row.n_resources),
        ):
            leaf.call_on_fit_task_begin(**hook)
            start = now()
            outcome = setup.problem.space.outcome(self.history_.trials[row.trial_id].params)
            schedule = schedule_of(self.history_.trials, row.trial_id, row.n_resources)
            args = outcome and outcome[0], schedule
            self.best_estimator_ = refit(context, best, row, *args)
            self.refit_time_ = now() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        leaf.call_on_fit_task_end(**hook)
        self.interrupted_ = False
