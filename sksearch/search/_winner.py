"""Who wins a search, by one metric or from a front."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sksearch._compat import BaseSearchCV, is_scorer
from sksearch._earlier import check_same_task
from sksearch.base import Sampler
from sksearch.fitting._aims import Aims, Allows, Bound, make_aims, make_allows
from sksearch.fitting._results import COLUMNS, chosen_index
from sksearch.fitting._scoring import check_losses, check_scoring, check_target_score
from sksearch.history import Problem
from sksearch.reporting._choose import check_rule, rule_of
from sksearch.reporting._front import check_choice, choose
from sksearch.samplers import for_aims
from sksearch.schedulers import Audited
from sksearch.space import Space

N_DRAWS = 20  # candidates of which one must be able to predict


class WinnerChoice(BaseSearchCV):
    """What a search does with `refit`, where it has several objectives and where it has one."""

    refit: Any
    objectives: Any

    #: Columns of ``cv_results_`` that say what a row is of, where candidates have several.
    _columns: ClassVar[tuple[str, ...]] = COLUMNS

    def score(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> float:
        """Score the best estimator on new data, as ``GridSearchCV`` does.

        Parameters
        ----------
        X, y : array-like
            Rows to score on.
        **params : dict of str to object
            For the scorer.

        Returns
        -------
        score : float
            Of several objectives that of the first that is a metric to be large.
        """
        if not self.objectives or not self.refit:
            return super().score(X, y, **params)
        single = copy.copy(self)
        single.refit, single.objectives = self.metric_, None
        return BaseSearchCV.score(single, X, y, **params)

    def _check_refit_for_multimetric(self, scores):
        if not self.objectives:
            parent: Any = super()
            parent._check_refit_for_multimetric(scores)

    def _keep_rungs(self, setup, with_resources):
        """Set what was planned, and who was audited."""
        if with_resources:
            self.min_resources_ = setup.problem.min_resources
            self.max_resources_ = setup.problem.max_resources
            self.n_resources_ = [rung.n_resources for rung in setup.plan.rungs]
            self.n_candidates_ = [rung.n_candidates for rung in setup.plan.rungs]
            self.n_iterations_ = len(setup.plan.rungs)
        if isinstance(setup.scheduler, Audited):
            chosen = setup.scheduler.chosen(self.history_).items()
            self.audited_ = [i for i, r in chosen if r in self.history_.trials[i].results]

    def _keep_best(self, refit_metric):
        """Set what is known of the winner before it is trained on all rows."""
        results, rule = self.cv_results_, rule_of(self.refit, self.scoring)
        if self.objectives:
            self.metric_ = refit_metric
            self.best_index_ = choose(self.refit, self.pareto_, results, refit_metric)
        elif callable(rule):
            self.best_index_ = chosen_index(rule, results)
        else:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
        if self.objectives or not callable(self.refit):
            self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]
        if "n_resources" in results:
            self.best_n_resources_ = int(results["n_resources"][self.best_index_])


def aims_of(
    search: Any, space: Space, scorers: Any, earlier: Sequence[Any]
) -> tuple[Aims, Allows | None]:
    """Return objectives and bounds, and what is allowed; errors if they do not fit the search."""
    aims = make_aims(search.objectives, search.constraints, search.scoring, scorers)
    if "predict_time" in aims.measures and not _may_predict(search.estimator, space):
        raise ValueError(
            f"'predict_time' is an objective or a bound, and {type(search.estimator).__name__} "
            "has no predict: leave it out."
        )
    check_same_task(aims, earlier)
    return aims, make_allows(search.constraints, space)


def _may_predict(estimator: Any, space: Space) -> bool:
    """Whether the estimator has ``predict``, as it is or with other steps that are searched."""
    if hasattr(estimator, "predict"):
        return True
    rng = np.random.default_rng(0)
    drawn = (clone(estimator).set_params(**space.sample(rng)) for _ in range(N_DRAWS))
    return any(hasattr(each, "predict") for each in drawn)


def aimed(
    problem: Problem, sampler: Sampler, aims: Aims, allows: Allows | None
) -> tuple[Problem, Sampler]:
    """Give the problem its aims, and find a sampler that looks at them."""
    bounds = tuple(bound.metric for bound in aims.bounds)
    problem = replace(problem, objectives=aims.names, bounds=bounds, allows=allows)
    return problem, for_aims(sampler, problem)


def rule_for(
    search: Any, aims: Aims, scorers: Any, refit_metric: str, problem: Problem, n_splits: int
) -> tuple[Any, str]:
    """Return what chooses the winner, and the metric that its score is of.

    ValueError for a `refit` that chooses nobody.
    """
    if not aims.objectives:
        if isinstance(search.refit, Bound | Mapping):
            raise ValueError(
                f"refit={search.refit} chooses from the front of several objectives: pass "
                "objectives=, or True, False, the name of a metric or a function."
            )
        names = [*problem.space.names, *problem.space.outcomes]
        check_rule(search.refit, search.scoring, names, n_splits)
        return rule_of(search.refit, search.scoring), refit_metric
    by_function = callable(search.scoring) and not is_scorer(search.scoring)
    metrics = None if by_function else list(getattr(scorers, "_scorers", ()))
    check_choice(search.refit, aims, metrics)
    has_names = by_function or isinstance(search.scoring, list | tuple | set | dict)
    return aims.metric, str(aims.metric) if has_names else "score"


def scorers_of(search: Any, y: Any) -> tuple[Any, str]:
    """Scorers and the metric of the refit, as scikit-learn finds them."""
    check_scoring(search.scoring, 2 if y is None else 3)
    scorers, metric = search._get_scorers()
    if not (search.objectives or callable(search.refit)):
        check_losses(scorers, metric)
        check_target_score(search.target_score, scorers, metric)
    return scorers, metric
