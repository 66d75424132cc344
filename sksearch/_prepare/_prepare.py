"""`prepare`: from what the user has asked for to everything that a run needs."""

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable

from sksearch._earlier import read_earlier, with_knowledge
from sksearch._prepare._aiming import aimed, aims_of, check_metric, rule_for
from sksearch._prepare._auto import choices, first_guesses, make_space
from sksearch._prepare._averaging import check_ensemble, servable, with_kept_rows
from sksearch._prepare._checks import (
    check_memory_limit,
    check_rates,
    check_schedule,
    check_training,
    classes_of,
    planned,
)
from sksearch._prepare._input import (
    check_columns,
    check_containers,
    check_cv,
    check_labels,
    check_n_jobs,
    check_overtime,
    check_pre_dispatch,
    check_refit,
    check_sample_weight,
    doubt_of_rows,
    doubt_of_target,
    warn_of_index,
    with_plain_numbers,
)
from sksearch._prepare._leaks import warn_of_ids, warn_of_target
from sksearch._prepare._options import Composer, Options
from sksearch._prepare._problem import adapt, make_problem
from sksearch._prepare._scoring import check_scoring, doubt_of_task, warn_of_task
from sksearch._prepare._split import make_folds
from sksearch._utils._advice import glance
from sksearch._utils._compat import check_method_params, num_samples
from sksearch._utils._time_limit import TimeLimit
from sksearch._utils._typing import Estimator, Samples, Scorer, Targets
from sksearch.base import Resource, Scheduler
from sksearch.estimators import Labels
from sksearch.executors import check_devices
from sksearch.fitting import (
    Aims,
    Context,
    Folds,
    SearchPlan,
    Setup,
    blocks_of_rows,
    fails_everywhere,
    scores_have_names,
)
from sksearch.history import Problem
from sksearch.resources import as_resource
from sksearch.schedulers import Audited
from sksearch.space import Space


def prepare(
    search: Composer,
    options: Options,
    X: Samples,
    y: Targets,
    params: dict[str, Any],
    rng: np.random.RandomState,
    unit: str | None = None,
) -> Setup:
    """Check all input, freeze the folds and compose the search.

    Parameters
    ----------
    search : Composer
        Asked for its sampler, scheduler, folds and scorers.
    options : Options
        The options of its user.
    X, y : array-like
        Training data.
    params : dict
        Further arguments of ``fit``.
    rng : RandomState
        For all draws before the first training.
    unit : str or None, default=None
        What an earlier process spends on a candidate, if it has begun this search.

    Returns
    -------
    setup : Setup
        All that the run needs.

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable, or parts do not fit together.
    """
    goal, spending = options.goal, with_plain_numbers(options.spending)
    check_scoring(goal.scoring, 2 if y is None else 3)
    scorers, refit_metric = search._get_scorers()
    check_metric(goal, options.stops.target_score, scorers, refit_metric)
    data = _data_of(search, options, X, y, params, unit)
    options, left_out = servable(options, lambda: _probe(options, data, scorers))
    estimator, n_splits = clone(options.estimator), len(data.folds.splits)
    own = None if search._own_space is None else search._own_space(estimator)
    space = make_space(options, own, estimator, data.X)
    filled = with_plain_numbers(search._filled(data.folds))
    resource = _resource_of(filled, estimator, space, data)
    check_ensemble(options.ensemble, estimator, goal)
    # From a copy: the seed must not depend on how many candidates were settled beforehand.
    sampler, scheduler = filled._compose(space, copy.deepcopy(rng))
    scheduler = Audited(scheduler, spending.audit) if spending.audit else scheduler
    earlier = read_earlier(options.knowledge.prior_results, space, estimator.get_params())
    aims, allows = aims_of(goal, options.estimator, space, scorers, earlier)
    guesses = first_guesses(options, estimator, space, data.X, earlier, allows)
    limits = spending.min_resources, spending.max_resources
    args = space, resource, estimator, data.X, data.classes, n_splits, limits, rng, guesses
    problem = make_problem(*args)
    problem, sampler = with_knowledge(problem, sampler, earlier, options.knowledge.prior)
    problem, sampler = aimed(problem, sampler, aims, allows)
    problem, scheduler = adapt(problem, sampler, scheduler, resource, estimator, limits[0])
    rule, refit_metric = rule_for(goal, aims, scorers, refit_metric, problem, n_splits)
    check_rates(resource, estimator, space, data.n_longest(goal.refit), problem.max_resources)
    notes = choices(options, filled, problem, data.folds) + left_out
    plan = replace(_plan_of(options, problem, scheduler, resource, n_splits, aims), notes=notes)
    context = _context_of(
        options, estimator, data, resource=resource, scorer=scorers, aims=aims,
        metric=rule if isinstance(rule, str) else None, seed=problem.seed,
        has_names=scores_have_names(goal.scoring, rule, scorers), n_candidates=plan.n_candidates,
    )  # fmt: skip
    return Setup(
        with_kept_rows(options, _without_doubt(search, options, context, problem)), problem,
        sampler, scheduler, plan, data.params, refit_metric, folds=data.folds, earlier=earlier,
        time=TimeLimit(options.timeout, options.overtime),
        stops=options.stops, workers=options.workers, ensemble=options.ensemble,
        rule=goal.refit if callable(goal.refit) else None, is_namesake=search._is_namesake,
        columns=() if resource.acts_on == "fits" else search._columns,
    )  # fmt: skip


@dataclass(frozen=True)
class Data:
    """What ``fit`` was given, checked."""

    X: Samples
    y: Targets
    params: dict[str, Any]  # passed beside them
    routed: Any  # the same, by receiver
    folds: Folds
    classes: Labels
    strata: np.ndarray | None  # class index of each row
    doubt: str  # why no candidate is likely to be fitted to them, or ""

    @property
    def fit_params(self) -> dict[str, Any]:
        """What the estimator gets."""
        return self.routed.estimator.fit

    def n_longest(self, refit: Any) -> int:
        """Count of rows of the longest training, that of a refit if there is one."""
        return num_samples(self.X) if refit else max(len(i) for i, _ in self.folds.splits)


def _data_of(
    search: Composer,
    options: Options,
    X: Samples,
    y: Targets,
    params: dict[str, Any],
    unit: str | None,
) -> Data:
    """Check the data, and freeze the folds."""
    X, y, params = _checked_input(options, X, y, params)
    routed = search._get_routed_params_for_fit(params)
    doubt = _doubt_of(options, X, y)
    try:
        folds = make_folds(options, search._cv(), X, y, routed.splitter.split, unit)
    except Exception as error:
        if doubt:
            raise ValueError(doubt) from error
        raise
    return Data(X, y, params, routed, folds, *classes_of(options.estimator, y), doubt)


def _doubt_of(options: Options, X: Samples, y: Targets) -> str:
    """Say why no candidate is likely to succeed with these data, "" if nothing says so."""
    scoring, estimator = options.goal.scoring, options.estimator
    return (
        glance(doubt_of_rows, X, y, otherwise="")
        or glance(doubt_of_target, estimator, y, otherwise="")
        or glance(doubt_of_task, scoring, estimator, y, otherwise="")
    )


def _without_doubt(
    search: Composer, options: Options, context: Context, problem: Problem
) -> Context:
    """Return a context; ValueError if all of a space fails on data which are likely to be wrong.

    A class of the user's, or a value in the space, may make sense of them: a target of texts for
    a regressor, say. Searches with scikit-learn's names end as theirs do.
    """
    may_try = not (search._is_namesake or options.workers.are_needed)
    if context.doubt and may_try and fails_everywhere(context, problem):
        raise ValueError(context.doubt)
    return context


def _resource_of(filled: Composer, estimator: Estimator, space: Space, data: Data) -> Resource:
    """Make the resource, on which the estimator can be trained."""
    n_rows = len(data.folds.splits[0][0])
    resource = as_resource(filled.resource, estimator, n_rows, space.names, data.fit_params)
    check_training(resource, estimator, space, data.fit_params, data.X)
    return resource


def _plan_of(
    options: Options,
    problem: Problem,
    scheduler: Scheduler,
    resource: Resource,
    n_splits: int,
    aims: Aims,
) -> SearchPlan:
    """Lay out what will be spent; ValueError if parts do not fit, or it would never end."""
    rungs = planned(scheduler, problem)
    refits, select = bool(options.goal.refit), options.spending.select
    plan = SearchPlan.of(rungs, resource, n_splits, refits, select)
    plan = replace(plan, timeout=options.timeout)
    check_schedule(plan, scheduler, resource, options.stops, aims)
    return plan


def _context_of(options: Options, estimator: Estimator, data: Data, **rest: Any) -> Context:
    """What all tasks share; `rest` has the fields that neither options nor data tell."""
    splits, groups = data.folds.splits, data.routed.splitter.split.get("groups")
    return Context(
        estimator=estimator,
        X=data.X, y=data.y, splits=splits,
        fit_params=data.fit_params, score_params=data.routed.scorer.score,
        strata=data.strata, classes=data.classes,
        error_score=options.error_score,
        return_train_score=options.return_train_score,
        verbose=options.verbose,
        **rest,
        blocks=blocks_of_rows(splits, num_samples(data.X), groups), doubt=data.doubt,
    )  # fmt: skip


def _probe(options: Options, data: Data, scorer: Scorer) -> Context:
    """Return a context in which scorers can be called, before there is a space."""
    refit = options.goal.refit
    rest: dict[str, Any] = {"has_names": None, "seed": 0, "n_candidates": 0, "resource": None}
    metric = refit if isinstance(refit, str) else None
    return _context_of(options, options.estimator, data, scorer=scorer, metric=metric, **rest)


def _checked_input(
    options: Options, X: Samples, y: Targets, params: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Check what can be checked by itself, and return the data as they are used."""
    workers = options.workers
    check_n_jobs(workers.n_jobs)
    check_cv(options.cv, params)
    check_memory_limit(workers.limits.memory)
    check_devices(workers.devices)
    check_pre_dispatch(workers.pre_dispatch)
    check_overtime(options.timeout, options.overtime)
    check_refit(options.goal.refit)
    check_containers(X, y)
    check_columns(options.estimator, params)
    warn_of_index(X, y)
    X, y = indexable(X, y)
    params = check_method_params(X, params=params)
    check_labels(options.estimator, y)
    warn_of_task(options.goal.scoring, options.estimator, y)
    warn_of_target(options.estimator, X, y)
    warn_of_ids(options.estimator, X)
    check_sample_weight(options.estimator, X, params)
    return X, y, params
