"""`BaseSearch`: scikit-learn's search estimator with a ``fit`` of its own.

scikit-learn's ``evaluate_candidates`` throws fitted estimators away and cannot change the
number of folds, so ``fit`` is ours; prediction, delegation, tags and routing are inherited.
"""

import copy
import os
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, indexable

from sksearch._clock import now
from sksearch._compat import (
    BaseSearchCV,
    Interval,
    check_method_params,
    fit_context,
    is_valid_value,
    num_samples,
    root_callback_context,
)
from sksearch._seeds import draw_seed
from sksearch.base import Resource, Sampler, Scheduler, State
from sksearch.checkpoint._recorder import Spool, recorder_of
from sksearch.executors import Interrupts, Limits, check_devices, drive, make_executor
from sksearch.fitting._best import best_rows, make_ensemble
from sksearch.fitting._checks import (
    check_ensemble,
    check_memory_limit,
    check_names,
    check_sample_weight,
    check_target,
    classes_of,
)
from sksearch.fitting._evaluation import Context, evaluate, seeded
from sksearch.fitting._plan import SearchPlan
from sksearch.fitting._results import cv_results, name_error_scores
from sksearch.fitting._run import Run
from sksearch.history import Problem
from sksearch.progress._progress import Watch
from sksearch.resources import WholeResource, as_resource
from sksearch.space import Space
from sksearch.study import Study

POSITIVE_INT = Interval(Integral, 1, None, closed="left")


@dataclass
class _Setup:
    """Everything that is settled before the first training."""

    X: Any
    y: Any
    params: dict
    routed: Any
    scorers: Any
    refit_metric: str
    splits: list
    classes: Any
    strata: Any
    resource: Resource
    problem: Problem
    sampler: Sampler
    scheduler: Scheduler
    plan: SearchPlan


class BaseSearch(BaseSearchCV):
    """What all searches share; a subclass names its sampler and its scheduler."""

    _parameter_constraints: dict = {
        **BaseSearchCV._parameter_constraints,
        "param_distributions": [dict, list, tuple],
        "random_state": ["random_state"],
        "initial_params": [dict, list, tuple, None],
        "timeout": [Interval(Real, 0, None, closed="neither"), None],
        "target_score": [Real, None],
        "candidate_timeout": [Interval(Real, 0, None, closed="neither"), None],
        "memory_limit": [POSITIVE_INT, None],
        "max_retries": [Interval(Integral, 0, None, closed="left")],
        "devices": [list, tuple, None],
        "checkpoint_dir": [str, os.PathLike, None],
        "ensemble_size": [POSITIVE_INT, None],
    }

    # Overridden by searches with several fidelities.
    resource: Any = None
    min_resources: Any = "auto"
    max_resources: Any = "auto"

    @abstractmethod
    def __init__(
        self,
        estimator,
        param_distributions,
        *,
        scoring,
        n_jobs,
        refit,
        cv,
        verbose,
        pre_dispatch,
        random_state,
        error_score,
        return_train_score,
        initial_params,
        timeout,
        target_score,
        candidate_timeout,
        memory_limit,
        max_retries,
        devices,
        checkpoint_dir,
        ensemble_size,
    ):
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions = param_distributions
        self.random_state = random_state
        self.initial_params = initial_params
        self.timeout = timeout
        self.target_score = target_score
        self.candidate_timeout = candidate_timeout
        self.memory_limit = memory_limit
        self.max_retries = max_retries
        self.devices = devices
        self.checkpoint_dir = checkpoint_dir
        self.ensemble_size = ensemble_size

    @abstractmethod
    def _make_sampler(self, space: Space, rng: np.random.RandomState) -> Sampler:
        """The sampler of this search; `rng` is for candidates that are settled beforehand."""

    @abstractmethod
    def _make_scheduler(self, problem: Problem, resource: Resource) -> Scheduler:
        """The scheduler of this search."""

    def _run_search(self, evaluate_candidates):
        raise NotImplementedError(
            "sksearch searches do not run through scikit-learn's evaluate_candidates, which "
            "cannot keep fitted models: compose SearchCV(sampler=..., scheduler=...) instead."
        )

    @fit_context
    def fit(self, X, y=None, **params):
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
            the first rung. Scores that are NaN only warn, as in ``GridSearchCV``.
        KeyboardInterrupt
            On Ctrl-C. The attributes are set from what was known, but there is no refit.
        """
        self._reset()
        with recorder_of(self) as recorder:
            self._fit(X, y, params, recorder)
        return self

    def _fit(self, X, y, params, recorder):
        rng = (
            recorder.rng(self.random_state) if recorder else check_random_state(self.random_state)
        )
        setup = self._prepare(X, y, params, rng)
        if recorder:
            recorder.open(self, setup)
        weight = setup.params.get("sample_weight")
        hook = {
            "estimator": self,
            "X": setup.X,
            "y": setup.y,
            "metadata": None if weight is None else {"sample_weight": weight},
        }
        root = root_callback_context(self, n_tasks=1 + (self.refit is not False))
        root.call_on_fit_task_begin(**hook)
        run = self._search(setup, root, recorder)
        self._keep_results(run, setup)
        if self.ensemble_size is not None:
            self._keep_ensemble(run, setup)
        if self.refit:
            self._refit(setup, run, root, hook)
        root.call_on_fit_task_end(**hook)

    @property
    def progress_(self):
        """How far the search is, a `Progress`; another thread may ask while ``fit`` runs."""
        if "_watch" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted: call fit first.")
        return self._watch.progress()

    def plan(self, X, y=None, **params):
        """Lay out brackets, rungs and their cost, without training anything.

        Parameters
        ----------
        X, y, **params
            As for `fit`; the data tell the counts of rows, classes and folds.

        Returns
        -------
        plan : SearchPlan
            Printed, it is a table. What `fit` does equals it, unless the search stops early or
            failures leave fewer to promote than planned.
        """
        self._validate_params()
        # Any generator will do: how much is spent does not depend on it.
        return self._prepare(X, y, params, check_random_state(0)).plan

    def __getstate__(self):
        # A copy, made at once: another thread may be setting attributes while this is pickled.
        return dict(super().__getstate__())

    # ---- before

    def _reset(self):
        """Forget an earlier fit, so that an interrupted one never mixes with it."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)
        self.__dict__.pop("_watch", None)

    def _prepare(self, X, y, params, rng):
        """Check all input, freeze the folds and compose the search."""
        check_memory_limit(self.memory_limit)
        check_devices(self.devices)
        scorers, refit_metric = self._get_scorers()
        X, y = indexable(X, y)
        params = check_method_params(X, params=params)
        check_target(self.estimator, y)
        check_sample_weight(X, params)
        routed = self._get_routed_params_for_fit(params)
        splits = self._split(X, y, routed.splitter.split)
        estimator = clone(self.estimator)
        space = Space(
            self.param_distributions,
            accepts=lambda name, value: is_valid_value(estimator, name, value),
        )
        check_names(estimator, space)
        resource = as_resource(self.resource, estimator, len(splits[0][0]))
        resource.check(estimator, space.names)
        classes, strata = classes_of(estimator, y)
        check_ensemble(self.ensemble_size, estimator, classes)
        # From a copy: the seed must not depend on how many candidates were settled beforehand.
        sampler = self._make_sampler(space, copy.deepcopy(rng))
        problem = self._problem(space, resource, estimator, X, classes, len(splits), rng)
        scheduler = self._make_scheduler(problem, resource)
        plan = SearchPlan.of(scheduler.plan(problem), resource, len(splits), bool(self.refit))
        return _Setup(
            X, y, params, routed, scorers, refit_metric, splits, classes, strata,
            resource, problem, sampler, scheduler, plan,
        )  # fmt: skip

    def _split(self, X, y, split_params):
        """The folds, made once: every candidate sees the same ones."""
        cv = check_cv(self._cv(), y, classifier=is_classifier(self.estimator))
        n_splits = cv.get_n_splits(X, y, **split_params)
        splits = list(cv.split(X, y, **split_params))
        if len(splits) != n_splits:
            raise ValueError(
                "cv.split and cv.get_n_splits return inconsistent results. Expected "
                f"{n_splits} splits, got {len(splits)}"
            )
        if not splits:
            raise ValueError(
                "No fits were performed. Was the CV iterator empty? Were there no candidates?"
            )
        return splits

    def _cv(self):
        """`cv`, with the folds of a one-shot iterator kept for a `fit` after a `plan`."""
        if not hasattr(self.cv, "__next__"):
            return self.cv
        if getattr(self, "_one_shot_cv", (None,))[0] is not self.cv:
            self._one_shot_cv = (self.cv, list(self.cv))
        return self._one_shot_cv[1]

    def _problem(self, space, resource, estimator, X, classes, n_splits, rng):
        n_samples = num_samples(X)
        n_classes = len(classes) if isinstance(classes, np.ndarray) else 1
        low, high = self.min_resources, self.max_resources
        if high == "auto" or low == "auto":
            limits = _limits(resource, estimator, n_samples, n_splits, n_classes, high)
            high = limits[1] if high == "auto" else high
            # Data too small for the usual minimum get a single rung.
            low = min(limits[0], high) if low == "auto" else low
        resource.check_max(high, n_samples, n_splits)
        seed = draw_seed(rng)
        return Problem(space, low, high, seed, space.check_guesses(self.initial_params))

    # ---- during

    def _search(self, setup, root, recorder):
        """Run to the end; whatever ends it before, what is known is kept."""
        context = self._context(setup, root, recorder)
        study = Study(setup.problem, setup.sampler, setup.scheduler)
        if self.verbose > 0:
            n_fits = setup.plan.n_fits - setup.plan.refit
            print(
                f"Fitting {len(setup.splits)} folds for each of {setup.plan.n_candidates} "
                f"candidates, totalling {n_fits} fits"
            )
        name = type(self).__name__.removesuffix("SearchCV") or "Search"
        self._watch = watch = Watch(setup.plan, study.history, name, self.timeout, self.verbose)
        run = Run(
            study, context, setup.plan, root, self.timeout, self.target_score, recorder, watch,
            self.ensemble_size,
        )  # fmt: skip
        if recorder:
            recorder.replay(run)
        limits = Limits(self.candidate_timeout, self.memory_limit, self.max_retries)
        folder = recorder.checkpoint.states if recorder else None
        try:
            with (
                watch,
                Interrupts(),
                make_executor(
                    evaluate, context, self.n_jobs, self.pre_dispatch, limits, folder, self.devices
                ) as executor,
            ):
                drive(study, executor, run, self._batch_size(setup.sampler))
                run.keep_models()
        except BaseException:
            run.close("interrupted")
            if run.outs:
                with suppress(Exception):  # the error that ended the search matters more
                    self._keep_results(run, setup, interrupted=True)
            raise
        left = run.seconds_left()
        run.close("finished" if left is None or left > 0 else "stopped")
        return run

    def _batch_size(self, sampler):
        """Count of jobs under way at a time where it matters to the proposals."""
        return getattr(self, "batch_size", 1) if sampler.learns else None

    def _context(self, setup, root, recorder):
        return Context(
            estimator=clone(self.estimator),
            X=setup.X,
            y=setup.y,
            splits=setup.splits,
            scorer=setup.scorers,
            metric=self.refit if isinstance(self.refit, str) else None,
            fit_params=setup.routed.estimator.fit,
            score_params=setup.routed.scorer.score,
            resource=setup.resource,
            strata=setup.strata,
            classes=setup.classes,
            seed=setup.problem.seed,
            error_score=self.error_score,
            return_train_score=self.return_train_score,
            verbose=self.verbose,
            n_candidates=setup.plan.n_candidates,
            search=self if root.listens else None,
            spool=Spool(recorder.checkpoint.spool) if recorder else None,
        )

    # ---- after

    def _keep_results(self, run, setup, interrupted=False):
        """Set the fitted attributes that do not need a refit."""
        self.interrupted_ = interrupted
        self.history_, self.plan_ = run.study.history, setup.plan
        self.n_splits_ = len(setup.splits)
        scorers = setup.scorers
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        if not isinstance(setup.resource, WholeResource):
            self._keep_schedule(setup)
        rows = self._rows(run, setup)
        results = [self.history_.trials[r["trial_id"]].results[r["n_resources"]] for r in rows]
        self.statuses_ = [result.status for result in results]
        self.errors_ = [result.error for result in results]
        outs = [out for row in rows for out in row["new_outs"]]
        if not interrupted:
            run.check_failures(outs)
        if callable(self.scoring):
            name_error_scores(outs)
        self.multimetric_ = isinstance(outs[0]["test_scores"], dict)
        refit_metric = setup.refit_metric
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(outs[0]["test_scores"])
            refit_metric = self.refit
        self.cv_results_ = cv_results(
            rows,
            self.n_splits_,
            self.return_train_score,
            with_resources=not isinstance(setup.resource, WholeResource),
        )
        if self.refit or not self.multimetric_:
            self._keep_best(refit_metric)

    def _rows(self, run, setup):
        """Rows of ``cv_results_``."""
        return run.rows()

    def _keep_best(self, refit_metric):
        results = self.cv_results_
        self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
        if not callable(self.refit):
            self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _keep_ensemble(self, run, setup):
        """Average the best candidates' models of all folds."""
        rows, statuses = self._rows(run, setup), self.statuses_
        rows = best_rows(rows, self.cv_results_, statuses, self.ensemble_size, self.refit)
        if (ensemble := make_ensemble(run, rows)) is not None:
            self.ensemble_ = ensemble

    def _keep_schedule(self, setup):
        self.min_resources_ = setup.problem.min_resources
        self.max_resources_ = setup.problem.max_resources
        self.n_resources_ = [rung.n_resources for rung in setup.plan.rungs]
        self.n_candidates_ = [rung.n_candidates for rung in setup.plan.rungs]
        self.n_iterations_ = len(setup.plan.rungs)

    def _refit(self, setup, run, root, hook):
        """Train the best candidate on all rows, by the path that it was scored on."""
        row = self._rows(run, setup)[self.best_index_]
        best = clone(self.estimator).set_params(**clone(row["params"], safe=False))
        leaf = root.subcontext(task_name="refit-with-best-params")
        with (
            leaf.propagate_callback_context(best),
            seeded(run.context.seed, row["trial_id"], self.n_splits_, row["n_resources"]),
        ):
            leaf.call_on_fit_task_begin(**hook)
            start = now()
            state = setup.resource.refit(
                State(best),
                setup.X,
                setup.y,
                row["n_resources"],
                int(np.median([out["n_steps"] for out in row["outs"]])),
                setup.classes,
                setup.routed.estimator.fit,
            )
            self.refit_time_ = now() - start
        self.best_estimator_ = state.estimator
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        leaf.call_on_fit_task_end(**hook)


def _limits(resource, estimator, n_samples, n_splits, n_classes, high):
    """The resource's own limits, of which the upper one may not be needed."""
    try:
        return resource.limits(estimator, n_samples, n_splits, n_classes)
    except ValueError:
        if high == "auto":
            raise
        return 1, high
