"""Scorers, objectives and bounds of a search, and the rule that chooses the winner."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sksearch._utils._compat import is_scorer
from sksearch._utils._typing import Estimator, Scorer
from sksearch.base import Sampler
from sksearch.fitting.finish._choose import check_rule, rule_of
from sksearch.fitting.finish._front import check_choice
from sksearch.fitting.prepare._options import Goal
from sksearch.fitting.prepare._prior_results import check_same_task
from sksearch.fitting.prepare._scoring import check_target_score, warn_of_losses
from sksearch.fitting.run._objectives import Aims, Allows, Bound, make_aims, make_allows
from sksearch.history import Problem
from sksearch.samplers._scalarised import for_aims
from sksearch.samplers._warm_start import EarlierTask
from sksearch.space import Space

N_DRAWS = 20  # at least one of this number of candidates must be able to predict


def aims_of(
    goal: Goal, estimator: Estimator, space: Space, scorers: Scorer, earlier: Sequence[EarlierTask]
) -> tuple[Aims, Allows | None]:
    """Return objectives, bounds and constraints; raise errors if they do not fit the goal."""
    aims = make_aims(goal.objectives, goal.constraints, goal.scoring, scorers)
    if "predict_time" in aims.measures and not _may_predict(estimator, space):
        raise ValueError(
            f"'predict_time' is an objective or a bound, but {type(estimator).__name__} has no "
            "predict: leave it out."
        )
    check_same_task(aims, earlier)
    return aims, make_allows(goal.constraints, space)


def _may_predict(estimator: Estimator, space: Space) -> bool:
    """True if the estimator has ``predict``, possibly after replacing searched steps."""
    if hasattr(estimator, "predict"):
        return True
    rng = np.random.default_rng(0)
    drawn = (clone(estimator).set_params(**space.sample(rng)) for _ in range(N_DRAWS))
    return any(hasattr(each, "predict") for each in drawn)


def aimed(
    problem: Problem, sampler: Sampler, aims: Aims, allows: Allows | None
) -> tuple[Problem, Sampler]:
    """Add objectives and bounds to the problem, and choose a sampler that supports them."""
    bounds = tuple(bound.metric for bound in aims.bounds)
    problem = replace(problem, objectives=aims.names, bounds=bounds, allows=allows)
    return problem, for_aims(sampler, problem)


def rule_for(
    goal: Goal, aims: Aims, scorers: Scorer, refit_metric: str, problem: Problem, n_splits: int
) -> tuple[Any, str]:
    """Return the rule that chooses the winner, and its metric.

    ValueError for a `refit` that chooses no candidate.
    """
    if not aims.objectives:
        if isinstance(goal.refit, Bound | Mapping):
            raise ValueError(
                f"refit={goal.refit} chooses from the Pareto front of several objectives: pass "
                "objectives=, or set refit to True, False, the name of a metric or a function."
            )
        names = [*problem.space.names, *problem.space.outcomes]
        check_rule(goal.refit, goal.scoring, names, n_splits)
        return rule_of(goal.refit, goal.scoring), refit_metric
    by_function = callable(goal.scoring) and not is_scorer(goal.scoring)
    metrics = None if by_function else list(getattr(scorers, "_scorers", ()))
    check_choice(goal.refit, aims, metrics)
    has_names = by_function or isinstance(goal.scoring, list | tuple | set | dict)
    return aims.metric, str(aims.metric) if has_names else "score"


def check_metric(goal: Goal, target_score: float | None, scorers: Scorer, metric: str) -> None:
    """Warn if the deciding metric is a loss; raise ValueError for an unreachable target."""
    if not (goal.objectives or callable(goal.refit)):
        warn_of_losses(scorers, metric)
        check_target_score(target_score, scorers, metric)
