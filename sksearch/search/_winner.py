"""The winner of a search, by one metric or from a front."""

import copy
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from sksearch._compat import BaseSearchCV
from sksearch.fitting import COLUMNS, Setup
from sksearch.reporting import choose, index_by_rule, rule_of


class WinnerChoice(BaseSearchCV):
    """What a search does with `refit`, where it has several objectives and where it has one."""

    refit: Any
    objectives: Any
    _row_scores: Any

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

    def _check_refit_for_multimetric(self, scores: object) -> None:
        if not self.objectives:
            parent: Any = super()
            parent._check_refit_for_multimetric(scores)

    def _keep_rungs(self, setup: Setup, with_resources: bool) -> None:
        """Set what was planned, and the audited candidates."""
        if with_resources:
            self.min_resources_ = setup.problem.min_resources
            self.max_resources_ = setup.problem.max_resources
            self.n_resources_ = [rung.n_resources for rung in setup.plan.rungs]
            self.n_candidates_ = [rung.n_candidates for rung in setup.plan.rungs]
            self.n_iterations_ = len(setup.plan.rungs)
        audited = setup.scheduler.audited(self.history_)
        if audited is not None:
            trials = self.history_.trials
            self.audited_ = [i for i, r in audited.items() if r in trials[i].results]

    def _keep_best(self, refit_metric: str) -> None:
        """Set what is known of the winner before it is trained on all rows."""
        results, rule = self.cv_results_, rule_of(self.refit, self.scoring)
        if self.objectives:
            self.metric_ = refit_metric
            self.best_index_ = choose(self.refit, self.pareto_, results, refit_metric)
        elif callable(rule):
            self.best_index_ = index_by_rule(rule, results, self._row_scores)
        else:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
        if self.objectives or not callable(self.refit):
            self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]
        if "n_resources" in results:
            self.best_n_resources_ = int(results["n_resources"][self.best_index_])
