"""`prepare`: from the user's options to the setup of a run."""

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import process_routing

from sksearch._utils._advice import glance
from sksearch._utils._compat import MultimetricScorer, check_method_params, num_samples
from sksearch._utils._time_limit import TimeLimit
from sksearch._utils._typing import Estimator, Samples, Scorer, Targets
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.base._state import Labels
from sksearch.executors._factory import check_devices
from sksearch.fitting.prepare._aiming import aimed, aims_of, check_metric, rule_for
from sksearch.fitting.prepare._auto import choices, first_guesses, make_space, use_of_workers
from sksearch.fitting.prepare._averaging import check_ensemble, with_kept_rows
from sksearch.fitting.prepare._checks import (
    check_memory_limit,
    check_rates,
    check_schedule,
    check_training,
    classes_of,
    planned,
)
from sksearch.fitting.prepare._input import (
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
from sksearch.fitting.prepare._options import Composer, Options
from sksearch.fitting.prepare._prior_results import read_earlier, with_knowledge
from sksearch.fitting.prepare._problem import adapt, make_problem
from sksearch.fitting.prepare._scoring import (
    check_scoring,
    doubt_of_folds,
    doubt_of_task,
    warn_of_task,
    with_classes,
)
from sksearch.fitting.prepare._split import make_folds
from sksearch.fitting.prepare._target_checks import warn_of_ids, warn_of_target
from sksearch.fitting.run._early_abort import fails_everywhere
from sksearch.fitting.run._evaluation import evaluate
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._objectives import Aims
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._row_scores import blocks_of_rows
from sksearch.fitting.run._scores import scores_have_names
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._tasks import Context
from sksearch.history import Problem
from sksearch.resources import as_resource
from sksearch.samplers._warm_start import EarlierTask
from sksearch.schedulers._audited import Audited
from sksearch.space import Space


def prepare(
    search: Composer,
    options: Options,
    estimator: Estimator,
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
        Search that provides sampler, scheduler, folds and scorers.
    options : Options
        Options passed by the user.
    estimator : estimator object
        A clone of the user's.
    X, y : array-like
        Training data.
    params : dict
        Further arguments of ``fit``.
    rng : RandomState
        For all draws before the first training.
    unit : str or None, default=None
        Unit spent by an earlier process of this search, if any.

    Returns
    -------
    setup : Setup
        All that the run needs.

    Raises
    ------
    ValueError, TypeError
        If an argument is not usable, or parts do not fit together.
    """
    options = replace(options, spending=with_plain_numbers(options.spending))
    scoring = _scoring_of(search, options, y)
    data = _data_of(search, options, X, y, params, unit)
    scoring = _scoring_of_folds(search, options, scoring, data)
    parts = _parts_of(search, options, estimator, data, rng)
    aim = _aim_of(options, parts, data, scoring, rng)
    plan = _plan_of(options, parts, data, aim)
    context = _context_of(
        options, parts.estimator, data, resource=parts.resource, scorer=scoring.scorers,
        aims=aim.aims, metric=aim.rule if isinstance(aim.rule, str) else None,
        seed=aim.problem.seed, n_candidates=plan.n_candidates,
        has_names=scores_have_names(options.goal.scoring, aim.rule, scoring.scorers),
    )  # fmt: skip
    _check_doubt(search, options, context, aim.problem)
    return Setup(
        with_kept_rows(options, context), aim.problem, aim.sampler, aim.scheduler, plan,
        data.folds, evaluate, aim.earlier, params=data.params, refit_metric=aim.metric,
        time=TimeLimit(options.timeout, options.overtime),
        stops=options.stops, workers=options.workers, ensemble=options.ensemble,
        rule=options.goal.refit if callable(options.goal.refit) else None,
        is_namesake=search._is_namesake,
        columns=() if parts.resource.acts_on == "fits" else search._columns,
    )  # fmt: skip


# ---- the steps, in their order


@dataclass(frozen=True)
class Scoring:
    """The scorers, and the metric that selects the winner by default."""

    scorers: Scorer
    metric: str


def _scoring_of(search: Composer, options: Options, y: Targets) -> Scoring:
    """Make the scorers."""
    check_scoring(options.goal.scoring, 2 if y is None else 3)
    scorers, metric = search._get_scorers()
    check_metric(options.goal, options.stops.target_score, scorers, metric)
    return Scoring(scorers, metric)


@dataclass(frozen=True)
class Data:
    """Checked arguments of ``fit``."""

    X: Samples
    y: Targets
    params: dict[str, Any]  # passed next to them
    routed: Any  # the same, by receiver
    folds: Folds
    classes: Labels
    strata: np.ndarray | None  # class index of each row
    doubt: str  # why fits to the data are likely to fail, or ""

    @property
    def fit_params(self) -> dict[str, Any]:
        """Arguments of the estimator's ``fit``."""
        return self.routed.estimator.fit

    def n_longest(self, refit: Any) -> int:
        """Number of rows of the longest fit, which is the refit if enabled."""
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
        if doubt:  # the likely cause of the error
            raise ValueError(doubt) from error
        raise
    return Data(X, y, params, routed, folds, *classes_of(options.estimator, y), doubt)


def _scoring_of_folds(search: Composer, options: Options, scoring: Scoring, data: Data) -> Scoring:
    """Let log loss know the classes; ValueError if a metric is not defined on some fold.

    With several metrics, arguments that none of them requests are an error here, as they are with
    one: the scorer would only raise it when it is called.
    """
    if isinstance(scoring.scorers, MultimetricScorer) and get_config()["enable_metadata_routing"]:
        process_routing(scoring.scorers, "score", **data.routed.scorer.score)
    classes = data.classes, data.strata, data.folds.splits
    doubt = glance(doubt_of_folds, options.goal.scoring, *classes, otherwise="")
    if doubt and not search._is_namesake:
        raise ValueError(doubt)
    known = glance(with_classes, scoring.scorers, *classes, otherwise=scoring.scorers)
    return replace(scoring, scorers=known)


def _doubt_of(options: Options, X: Samples, y: Targets) -> str:
    """Return why all candidates are likely to fail with these data, otherwise ""."""
    scoring, estimator = options.goal.scoring, options.estimator
    return (
        glance(doubt_of_rows, X, y, otherwise="")
        or glance(doubt_of_target, estimator, y, otherwise="")
        or glance(doubt_of_task, scoring, estimator, y, otherwise="")
    )


@dataclass(frozen=True)
class Composition:
    """The parts of a search, composed, and the unfitted estimator that it tunes."""

    search: Composer  # the search, which composes the parts that the user did not pass
    estimator: Estimator
    space: Space
    resource: Resource
    sampler: Sampler
    scheduler: Scheduler


def _parts_of(
    search: Composer,
    options: Options,
    estimator: Estimator,
    data: Data,
    rng: np.random.RandomState,
) -> Composition:
    """Compose the search; ValueError if the estimator cannot be trained on the resource."""
    own = None if search._own_space is None else search._own_space(estimator)
    space = make_space(options, own, estimator, data.X)
    filled = with_plain_numbers(search._filled(data.folds))
    n_rows = len(data.folds.splits[0][0])
    resource = as_resource(filled.resource, estimator, n_rows, space.names, data.fit_params)
    check_training(resource, estimator, space, data.fit_params, data.X)
    check_ensemble(options.ensemble, estimator, options.goal)
    # Use a copy of the generator, so that the seed does not depend on the number of candidates
    # drawn.
    sampler, scheduler = filled._compose(space, copy.deepcopy(rng))
    audit = options.spending.audit
    scheduler = Audited(scheduler, audit) if audit else scheduler
    return Composition(filled, estimator, space, resource, sampler, scheduler)


@dataclass(frozen=True)
class Aim:
    """The problem, with the sampler and the scheduler adapted to it."""

    problem: Problem
    sampler: Sampler
    scheduler: Scheduler
    aims: Aims
    earlier: tuple[EarlierTask, ...]
    rule: Any  # rule that chooses the winner
    metric: str  # metric of its score


def _aim_of(
    options: Options, parts: Composition, data: Data, scoring: Scoring, rng: np.random.RandomState
) -> Aim:
    """Make the problem with prior knowledge, and adapt sampler and scheduler to it."""
    goal, spending = options.goal, options.spending
    estimator, space, resource = parts.estimator, parts.space, parts.resource
    n_splits = len(data.folds.splits)
    earlier = read_earlier(options.knowledge.prior_results, space, estimator.get_params())
    aims, allows = aims_of(goal, options.estimator, space, scoring.scorers, earlier)
    guesses = first_guesses(options, estimator, space, data.X, earlier, allows)
    limits = spending.min_resources, spending.max_resources
    args = space, resource, estimator, data.X, data.classes, n_splits, limits, rng, guesses
    known, learner = with_knowledge(
        make_problem(*args), parts.sampler, earlier, options.knowledge.prior
    )
    aimed_at, sampler = aimed(known, learner, aims, allows)
    problem, scheduler = adapt(
        aimed_at, sampler, parts.scheduler, resource, estimator, spending.min_resources
    )
    rule, metric = rule_for(goal, aims, scoring.scorers, scoring.metric, problem, n_splits)
    check_rates(resource, estimator, space, data.n_longest(goal.refit), problem.max_resources)
    return Aim(problem, sampler, scheduler, aims, earlier, rule, metric)


def _plan_of(options: Options, parts: Composition, data: Data, aim: Aim) -> SearchPlan:
    """Plan the budget; ValueError if parts do not fit, or the search would never end."""
    rungs = planned(aim.scheduler, aim.problem)
    n_splits, refits = len(data.folds.splits), bool(options.goal.refit)
    plan = SearchPlan.of(rungs, parts.resource, n_splits, refits, options.spending.select)
    plan = replace(plan, timeout=options.timeout)
    check_schedule(plan, aim.scheduler, parts.resource, options.stops, aim.aims)
    n_tasks = len(parts.resource.folds(n_splits, aim.problem.min_resources, 0))
    return replace(
        plan,
        notes=choices(options, parts.search, aim.problem, data.folds),
        on_workers=use_of_workers(options.workers, plan, n_tasks, aim.sampler, aim.scheduler),
    )


def _context_of(options: Options, estimator: Estimator, data: Data, **rest: Any) -> Context:
    """Shared context of all tasks; `rest` has the fields other than options and data."""
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


def _check_doubt(search: Composer, options: Options, context: Context, problem: Problem) -> None:
    """Raise ValueError if the data are probably wrong and the whole space fails on them.

    Some estimators accept such data, such as a text target for a regressor. Searches with
    scikit-learn's names behave like scikit-learn's.
    """
    may_try = not (search._is_namesake or options.workers.are_needed)
    if context.doubt and may_try and fails_everywhere(context, problem):
        raise ValueError(context.doubt)


def _checked_input(
    options: Options, X: Samples, y: Targets, params: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Check the data, and return them in the form used by the search."""
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
