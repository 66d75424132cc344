"""The problem: a space and limits of the resource, adapted by the scheduler."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from sksearch._utils._compat import num_samples
from sksearch._utils._seeds import draw_seed
from sksearch._utils._typing import Estimator, Samples
from sksearch.base import Plan, Resource, Sampler, Scheduler
from sksearch.base._decisions import ENDLESS
from sksearch.base._state import Labels
from sksearch.fitting.prepare._checks import check_inheritance, planned
from sksearch.history import Params, Problem
from sksearch.space import Space

MANY = 1_000  # resource units of a plan for testing, enough for several rungs


def make_problem(
    space: Space,
    resource: Resource,
    estimator: Estimator,
    X: Samples,
    classes: Labels,
    n_splits: int,
    limits: tuple[Any, Any],
    rng: np.random.RandomState,
    guesses: tuple[tuple[Params, ...], bool, int],
) -> Problem:
    """Make the problem, with the limits of the resource for "auto".

    The smallest resource is the minimum of the resource; the scheduler may raise it later.
    `guesses` are the first candidates, whether the first of them is the untuned estimator, and how
    many are models with their own values.
    """
    high: Any = limits[1]
    low: Any = "auto" if isinstance(limits[0], str) else limits[0]
    n_samples = num_samples(X)
    if "auto" in (low, high):
        n_classes = len(classes) if isinstance(classes, np.ndarray) else 1
        smallest, largest = _own_limits(resource, estimator, n_samples, n_splits, n_classes, high)
        high = largest if high == "auto" else high
        # Data too small for the usual minimum get a single rung.
        low = min(smallest, high) if low == "auto" else low
    resource.check_max(high, n_samples, n_splits)
    seed = draw_seed(rng)
    initial_params, has_baseline, n_own = guesses
    return Problem(
        space,
        low,
        high,
        seed,
        initial_params,
        continues=resource.continues,
        has_baseline=has_baseline,
        n_own=n_own,
    )


def adapt(
    problem: Problem,
    sampler: Sampler,
    scheduler: Scheduler,
    resource: Resource,
    estimator: Estimator,
    min_resources: int | str,
) -> tuple[Problem, Scheduler]:
    """Add properties of the scheduler: lowest rung, number at full resource, changing parameters.

    Also add whether the sampler repeats candidates. ValueError if parameters are to change during
    a fit that does not support it.
    """
    problem = replace(problem, repeats=sampler.told.repeats)
    if scheduler.reads.states:
        changing = check_inheritance(scheduler, resource, estimator, problem.space)
        problem = replace(problem, changing=changing)
    # Before `adapt`, which may replace a scheduler without room for rungs, see below.
    n_candidates = _count_at_full(scheduler, problem.space, max(MANY, problem.max_resources))
    problem = replace(problem, n_candidates=n_candidates)
    if isinstance(min_resources, str):
        scheduler, low = scheduler.adapt(problem)
        problem = replace(problem, min_resources=low)
    return problem, scheduler


def fits_whole(scheduler: Scheduler, space: Space) -> bool:
    """True if a scheduler plans only complete fits, for any resource."""
    return _is_whole(_plan_of(scheduler, space, MANY), MANY)


def _count_at_full(scheduler: Scheduler, space: Space, n_units: int) -> int | None:
    """Number of candidates if all get the full resource; None if unlimited."""
    plan = _plan_of(scheduler, space, n_units)
    if not (scheduler.told.by_fold or _is_whole(plan, n_units)):
        return None
    return plan.n_candidates if 0 < plan.n_candidates < ENDLESS else None


def _is_whole(plan: Plan, n_units: int) -> bool:
    """True if each candidate gets all units at once."""
    brackets = plan.brackets
    return bool(brackets) and all(
        len(rungs) == 1 and rungs[0].resource == n_units for rungs in brackets
    )


def _plan_of(scheduler: Scheduler, space: Space, n_units: int) -> Plan:
    """Plan of a scheduler for a problem with many units and unlimited candidates.

    Warnings and errors are ignored here; the plan for the actual problem shows them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return planned(scheduler, Problem(space, 1, n_units, repeats=True))
        except Exception:  # a custom scheduler may raise an error for this problem
            return Plan(())


def _own_limits(
    resource: Resource,
    estimator: Estimator,
    n_samples: int,
    n_splits: int,
    n_classes: int,
    high: int | str,
) -> tuple[int, Any]:
    """Default limits of the resource; an unknown upper limit is allowed if the user sets one."""
    try:
        return resource.limits(estimator, n_samples, n_splits, n_classes)
    except ValueError:
        if high == "auto":
            raise
        return 1, high  # only the upper limit was unknown, and the user has set it
