"""`prepare`: from what the user has asked for to everything that a run needs."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import indexable

from sksearch._compat import check_method_params, num_samples
from sksearch._earlier import read_earlier, with_knowledge
from sksearch._time_limit import TimeLimit
from sksearch.executors import check_devices
from sksearch.fitting._evaluation import Context
from sksearch.fitting._plan import SearchPlan
from sksearch.fitting._row_scores import blocks_of_rows
from sksearch.fitting._scores import scores_have_names
from sksearch.fitting._setup import Setup
from sksearch.prepare._aiming import aimed, aims_of, check_metric, rule_for
from sksearch.prepare._auto import choices, first_guesses, make_space
from sksearch.prepare._checks import (
    check_ensemble,
    check_memory_limit,
    check_schedule,
    check_training,
    classes_of,
    planned,
)
from sksearch.prepare._input import (
    check_columns,
    check_containers,
    check_cv,
    check_n_jobs,
    check_overtime,
    check_pre_dispatch,
    check_refit,
    check_sample_weight,
    check_target,
    warn_of_index,
)
from sksearch.prepare._options import Composer, Options
from sksearch.prepare._problem import adapt, make_problem
from sksearch.prepare._scoring import check_scoring, check_task
from sksearch.prepare._split import make_folds
from sksearch.resources import as_resource
from sksearch.schedulers import Audited


def prepare(
    search: Composer,
    options: Options,
    X: Any,
    y: Any,
    params: dict[str, Any],
    rng: np.random.RandomState,
    unit: str | None = None,
) -> Setup:
    """Check all input, freeze the folds and compose the search.

    Parameters
    ----------
    search : Composer
        Names its parts.
    options : Options
        What its user has asked for.
    X, y : array-like
        Training data.
    params : dict
        What was passed to ``fit`` beside them.
    rng : RandomState
        Settles the search.
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
    goal, spending = options.goal, options.spending
    check_scoring(goal.scoring, 2 if y is None else 3)
    scorers, refit_metric = search._get_scorers()
    check_metric(goal, options.stops.target_score, scorers, refit_metric)
    X, y, params = _checked_input(options, X, y, params)
    routed = search._get_routed_params_for_fit(params)
    folds = make_folds(options, search._cv(), X, y, routed.splitter.split, unit)
    splits = folds.splits
    estimator = clone(options.estimator)
    own = None if search._own_space is None else search._own_space(estimator)
    space = make_space(options, own, estimator, X)
    filled = search._filled(folds)
    given = space.names, routed.estimator.fit
    resource = as_resource(filled.resource, estimator, len(splits[0][0]), *given)
    check_training(resource, estimator, space, routed.estimator.fit, X)
    classes, strata = classes_of(estimator, y)
    check_ensemble(options.ensemble_size, estimator, classes)
    # From a copy: the seed must not depend on how many candidates were settled beforehand.
    sampler, scheduler = filled._compose(space, copy.deepcopy(rng))
    scheduler = Audited(scheduler, spending.audit) if spending.audit else scheduler
    earlier = read_earlier(options.knowledge.prior_results, space)
    aims, allows = aims_of(goal, options.estimator, space, scorers, earlier)
    guesses = first_guesses(options, estimator, space, X, earlier, allows)
    limits = spending.min_resources, spending.max_resources
    args = space, resource, estimator, X, classes, len(splits), limits, rng, guesses
    prior = options.knowledge.prior
    problem, sampler = with_knowledge(make_problem(*args), sampler, earlier, prior)
    problem, sampler = aimed(problem, sampler, aims, allows)
    how = sampler, scheduler, resource, estimator
    problem, scheduler = adapt(problem, *how, limits[0])
    rule, refit_metric = rule_for(goal, aims, scorers, refit_metric, problem, len(splits))
    rungs = planned(scheduler, problem)
    plan = SearchPlan.of(rungs, resource, len(splits), bool(goal.refit), spending.select)
    plan = replace(plan, timeout=options.timeout)
    check_schedule(plan, scheduler, resource, options.stops, aims)
    plan = replace(plan, notes=choices(options, filled, problem, folds))
    context = Context(
        estimator=estimator,
        X=X, y=y, splits=splits,
        scorer=scorers,
        metric=rule if isinstance(rule, str) else None,
        has_names=scores_have_names(goal.scoring, rule, scorers),
        fit_params=routed.estimator.fit, score_params=routed.scorer.score,
        resource=resource,
        strata=strata, classes=classes, seed=problem.seed,
        error_score=options.error_score,
        return_train_score=options.return_train_score,
        verbose=options.verbose,
        n_candidates=plan.n_candidates,
        aims=aims,
        blocks=blocks_of_rows(splits, num_samples(X), routed.splitter.split.get("groups")),
    )  # fmt: skip
    return Setup(
        context, problem, sampler, scheduler, plan, params, refit_metric, folds, earlier,
        TimeLimit(options.timeout, options.overtime), options.stops, options.workers,
        options.ensemble_size, goal.refit if callable(goal.refit) else None,
        () if resource.acts_on == "fits" else search._columns,
    )  # fmt: skip


def _checked_input(
    options: Options, X: Any, y: Any, params: dict[str, Any]
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
    check_columns(params)
    warn_of_index(X, y)
    X, y = indexable(X, y)
    params = check_method_params(X, params=params)
    check_target(options.estimator, y)
    check_task(options.goal.scoring, options.estimator, y)
    check_sample_weight(X, params)
    return X, y, params
