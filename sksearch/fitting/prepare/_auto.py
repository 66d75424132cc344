"""Defaults of a search: space, first candidates, resource.

=====================  ==============================  ===========================================
left out               the search takes                when
=====================  ==============================  ===========================================
space                  ``space.default_space``         always
first candidates       the untuned estimator, then    with the space left out
                       ``space.first_candidates``
                       the same, if they lie in the   with the sampler left out
                       given space
folds                  ``StratifiedGroupKFold``        with ``groups=``, and no `cv` or a number,
                                                       if classes can be stratified
                       ``GroupKFold``                  with ``groups=``, and no `cv` or a number
                       ``TimeSeriesSplit``             with no `cv`, and times in order as the
                                                       index of X
                       as many as the rarer of two     with no `cv`, and fewer than 5 of its rows;
                       classes has rows                or of the most frequent of many classes
                       three                           with several models, if the timeout is
                                                       less than 2 ms for each model and row, and
                                                       no `cv` and no `checkpoint_dir`
                       as in scikit-learn              otherwise
sampler                Gaussian process, which looks   with a timeout and no count
                       for improvement per second
                       Gaussian process, which looks   otherwise
                       for improvement
scheduler, resource    a race over folds               with three folds or more, none of them in an
                                                       order or far larger than others, one
                                                       objective, no `Bound` and no function as
                                                       `refit`, which reads means over all folds
                       whole fits                      otherwise
rows of the folds      as many as leave time for 24    with a timeout and no count
                       fits, or two candidates on all
                       folds, 2,000 at least; measured
                       the latest as many              likewise, if the folds are in the order
                                                       of the rows
                       all                             otherwise
number of candidates   as many as these allow          with timeout, or stop without progress
                       50                              without
=====================  ==============================  ===========================================
"""

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from sksearch._utils._advice import glance
from sksearch._utils._compat import is_valid_value, num_samples
from sksearch._utils._terminal import counted, warn
from sksearch._utils._typing import Estimator, Samples
from sksearch.base import Resource, Sampler, Scheduler
from sksearch.base._declarations import have_lanes
from sksearch.estimators._composed import find_space, listed, unknown_parts
from sksearch.estimators._default import default_space
from sksearch.estimators._first import first_candidates
from sksearch.estimators._model_choice import (
    OneOf,
    columns_of,
    first_of_each,
    known_of_each,
    named_of,
    note_on_weights,
    union_of_spaces,
)
from sksearch.estimators._optima import without_optimum
from sksearch.estimators._parts import Size
from sksearch.executors._factory import count_workers
from sksearch.executors._limits import Workers
from sksearch.fitting.prepare._checks import (
    check_names,
    check_outcomes,
    check_values,
    cuts_training,
    warn_of_seeds,
)
from sksearch.fitting.prepare._options import Composer, Options
from sksearch.fitting.prepare._prior_results import given_guesses
from sksearch.fitting.run._folds import Folds
from sksearch.fitting.run._objectives import Allows, allowed_guesses
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._setup import learns
from sksearch.history import Problem
from sksearch.samplers._warm_start import EarlierTask
from sksearch.schedulers._brackets import MAX_LANES
from sksearch.space import Outcome, Space
from sksearch.space._values import equal


def make_space(
    options: Options, own: Space | dict | list | None, estimator: Estimator, X: Samples
) -> Space:
    """Make the space of a search, and check that the estimator has its parameters.

    Parameters
    ----------
    options : Options
        Options of the search.
    own : Space, dict or None
        The space as changed by a search with its own rules; None without such rules.
    estimator : estimator object
        Unfitted.
    X : array-like
        Training data.

    Returns
    -------
    space : Space
        The searched space.

    Raises
    ------
    ValueError
        If the estimator cannot be searched over it.
    """
    resource = options.spending.resource
    space = space_for(options.space, estimator, X, resource) if own is None else own
    if not isinstance(space, Space):
        space = Space(space, accepts=lambda name, value: is_valid_value(estimator, name, value))
    check_names(estimator, space)
    check_values(estimator, space)
    warn_of_seeds(space)
    check_outcomes(estimator, space, resource)
    _check_optimum(options, estimator, space)
    return space


def space_for(
    param_distributions: Any, estimator: Estimator, X: Samples, resource: str | Resource | None
) -> Any:
    """Return the user's space, or the default space of the estimator for these data.

    A default space excludes the resource parameter, and also a number of iterations found in
    training, if the resource splits training into pieces.
    """
    size, is_whole = _size(X), not cuts_training(resource)

    def left(space: dict) -> dict:
        return {
            name: values
            for name, values in space.items()
            if name != resource and (is_whole or not isinstance(values, Outcome))
        }

    if isinstance(estimator, OneOf):
        parts = union_of_spaces(
            estimator, param_distributions, lambda one: left(find_space(one, size) or {})
        )
        if parts is not None:
            return parts
    if param_distributions is not None:
        return param_distributions
    if any(isinstance(part, OneOf) for part in estimator.get_params().values()):
        raise ValueError(
            "One of the steps is a OneOf, which cannot be searched inside another estimator: pass "
            "the list of models to the search, each with its preceding steps."
        )
    return left(default_space(estimator, n_samples=size.n_samples, n_features=size.n_features))


def _check_optimum(options: Options, estimator: Estimator, space: Space) -> None:
    """Raise ValueError, or warn in a user's space, if the estimator's score has no optimum."""
    why = ""
    if options.goal.scoring is None:
        why = glance(without_optimum, estimator, space.names, otherwise="")
    if why and options.space is None:
        raise ValueError(why)
    if why:
        warn(why)


def first_guesses(
    options: Options,
    estimator: Estimator,
    space: Space,
    X: Samples,
    earlier: Sequence[EarlierTask] = (),
    allows: Allows | None = None,
) -> tuple[tuple[dict, ...], bool, int]:
    """Return the first candidates, and whether they begin with the untuned estimator.

    Parameters
    ----------
    options : Options
        Options of the search.
    estimator : estimator object
        Unfitted.
    space : Space
        The searched space.
    X : array-like
        Training data.
    earlier : sequence of EarlierTask
        Results of earlier searches. The best for the same task follow the user's; if there are
        any, no first candidates from other data sets are used.
    allows : Allows or None, default=None
        Whether a candidate may be evaluated.

    Returns
    -------
    guesses : tuple of dict
        Distinct candidates; untuned models first, if they may lie outside the space.
    has_baseline : bool
        True if the first is the untuned estimator, or the first of several untuned models.
    n_own : int
        Number of untuned models among the first candidates.
    """
    knowledge = options.knowledge
    if not (knowledge.is_left and options.is_auto):
        given = None if knowledge.is_left else knowledge.initial_params
        own = _own_candidates(options, estimator, space)[0] if given else ()
        first = given_guesses(given, space, earlier, allows, own)
        outside = [params for params in first if not space.contains(params)]
        return (*outside, *filter(space.contains, first)), False, len(outside)
    own, is_own = _own_candidates(options, estimator, space)
    first, is_own = allowed_guesses((own[:1] if earlier else own, is_own), allows, given=False)
    guesses = {space.key(params): params for params in first}
    known = () if earlier else _known_candidates(estimator, _size(X))
    others = filter(space.contains, (*given_guesses(None, space, earlier, None), *known))
    for params in allowed_guesses((tuple(others), False), allows, given=False)[0]:
        guesses.setdefault(space.key(params), params)
    return tuple(guesses.values()), is_own, len(first)


def _own_candidates(
    options: Options, estimator: Estimator, space: Space
) -> tuple[tuple[dict, ...], bool]:
    """Values of the untuned estimator or of each model, and whether the first are unchanged.

    In a default space, these values may lie outside the ranges. A user's space is never left, so
    constant parameters get the values of the space.
    """
    if isinstance(estimator, OneOf):
        firsts, is_own = first_of_each(estimator, options.space, space)
        return tuple(firsts), is_own
    values, is_given = estimator.get_params(), options.space is not None
    own = space.baseline(values, inside=is_given)
    if own is None:
        return (), False
    return (own,), not is_given or all(equal(own[k], values[k]) for k in own)


def _known_candidates(estimator: Estimator, size: Size) -> list[dict]:
    """Candidates with good results on many tables."""
    if isinstance(estimator, OneOf):
        return known_of_each(estimator, size)
    return first_candidates(estimator, n_samples=size.n_samples, n_features=size.n_features)


def choices(options: Options, filled: Composer, problem: Problem, folds: Folds) -> tuple[str, ...]:
    """Describe the chosen defaults; `filled` has the parts that the user did not pass."""
    notes = [f"folds: {note}" for note in folds.notes]
    if names := [name for name, _ in named_of(options.estimator)]:
        each = ", each starting with its own values" if problem.n_own == len(names) else ""
        where = ", or close to them if the given space lacks them" if options.space else ""
        notes.append(f"models: {', '.join(names)}{each}{each and where}")
    notes += note_on_weights(options.estimator)
    notes += [f"columns: {line}" for line in columns_of(options.estimator)]
    if options.space is None:
        names = [*problem.space.names, *problem.space.outcomes]
        unknown = listed(_unknown_of(options.estimator))
        rest = f"; no default space for {unknown}" if unknown else ""
        notes.append(f"space: the default for the estimator, {', '.join(sorted(names))}{rest}")
    if problem.has_baseline:
        n = len(problem.initial_params) - len(problem.own)
        more = f", then {n} that score well on many data sets" if n else ""
        each = "each untuned model" if len(problem.own) > 1 else "the untuned estimator"
        notes.append(f"first candidates: {each}{more}")
    elif problem.initial_params and options.knowledge.is_left:
        n = len(problem.initial_params)
        notes.append(f"first candidates: {n} well-known ones inside the space")
    if problem.changing is not None:
        fixed = sorted(set(problem.space.names) - set(problem.changing))
        rest = f"; drawn once and inherited: {', '.join(fixed)}" if fixed else ""
        notes.append(f"may change during training: {', '.join(problem.changing)}{rest}")
    notes += [
        f"{name}: {_brief(getattr(filled, name))}"
        for name in ("sampler", "scheduler")
        if name in options.left
    ]
    return tuple(notes)


def use_of_workers(
    workers: Workers, plan: SearchPlan, n_tasks: int, sampler: Sampler, scheduler: Scheduler
) -> tuple[str, ...]:
    """Return a line with the number of workers that are kept busy; empty for a single worker.

    Parameters
    ----------
    workers : Workers
        Settings of the workers.
    plan : SearchPlan
        The planned rungs.
    n_tasks : int
        Number of fits with which a candidate begins.
    sampler, scheduler : Sampler, Scheduler
        Parts of the search.

    Returns
    -------
    lines : tuple of str
        At most one.
    """
    n_workers = glance(count_workers, workers.n_jobs, otherwise=1)
    if n_workers == 1:
        return ()
    n, at_once = math.inf, scheduler.told.at_once
    if not at_once and learns(sampler, scheduler):
        n = workers.n_under_way(n_workers, n_tasks)
        at_once = n == math.inf
        if have_lanes(sampler, scheduler):
            n *= min(MAX_LANES, len({rung.bracket for rung in plan.rungs}))
    used = min(n_workers, plan.n_first_fits, n * n_tasks)
    how = "; results are used as they arrive" if at_once else ""
    if n * n_tasks < min(n_workers, plan.n_first_fits):
        how = f": {counted(int(n), 'candidate')} at a time, each with {counted(n_tasks, 'fit')}"
    elif used < n_workers:
        how = f": the search begins with {counted(int(used), 'fit')}{how}"
    return (f"workers: {used:.0f} of {n_workers} are used{how}",)


def _unknown_of(estimator: Estimator) -> dict[str, Any]:
    """Parts without a known space, by name, in each of several models."""
    models = named_of(estimator)
    if not models:
        return unknown_parts(estimator)
    return {
        f"{name}__{path}" if path else name: part
        for name, model in models
        for path, part in unknown_parts(model).items()
    }


def _brief(part: Sampler | Scheduler) -> str:
    """Text of a sampler or scheduler, with its non-default parameters."""
    if not is_dataclass(part):
        return str(part)
    given = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
    own = (f.name for f in fields(part) if f.init and given[f.name] != f.default)
    return f"{type(part).__name__}({', '.join(f'{name}={given[name]!r}' for name in own)})"


def _size(X: Samples) -> Size:
    shape: Any = getattr(X, "shape", ())
    n_features = int(shape[1]) if len(shape) == 2 else None
    return Size(max(1, num_samples(X)), n_features or None)
