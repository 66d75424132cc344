"""Choice of the winner of a search, by one metric or from a Pareto front."""

import copy
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from sksearch._utils._compat import BaseSearchCV
from sksearch.fitting.finish._choose import index_by_rule, rule_of
from sksearch.fitting.finish._front import choose
from sksearch.fitting.run._keywords import meant_attribute
from sksearch.fitting.run._results import COLUMNS
from sksearch.fitting.run._setup import Setup

#: Attributes that require a winner, and attributes that require a model fitted on all rows.
OF_THE_WINNER = ("best_params_", "best_score_", "best_index_")
OF_THE_MODEL = (
    *("best_estimator_", "refit_time_", "classes_", "n_features_in_", "feature_names_in_"),
    *("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples"),
    *("transform", "inverse_transform"),
)


class WinnerChoice(BaseSearchCV):
    """Use of `refit` in a search with one or several objectives."""

    refit: Any
    objectives: Any
    _row_scores: Any

    #: Columns of ``cv_results_`` that identify a row if a candidate has several.
    _columns: ClassVar[tuple[str, ...]] = COLUMNS

    def score(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> float:
        """Score the best estimator on new data, as ``GridSearchCV`` does.

        Parameters
        ----------
        X, y : array-like
            Test rows.
        **params : dict of str to object
            Passed to the scorer.

        Returns
        -------
        score : float
            With several objectives, the score in the first metric among them.
        """
        if not self.objectives or not self.refit:
            return super().score(X, y, **params)
        single = copy.copy(self)
        single.refit, single.objectives = self.metric_, None
        return BaseSearchCV.score(single, X, y, **params)

    def __getattr__(self, name: str) -> Any:
        """Explain how to get an attribute not set yet, or excluded by `refit`."""
        try:
            return object.__getattribute__(self, name)
        except AttributeError as error:
            if cure := self._cure_of(name):
                error.args = (f"{error}: {cure}",)
            raise

    def _cure_of(self, name: str) -> str:
        """Return how to get an attribute, "" if it is unknown."""
        known = vars(self)
        is_fitted, is_outcome = "cv_results_" in known, name.endswith("_") and name[0] != "_"
        if not is_fitted and is_outcome and not hasattr(type(self), name):
            return "call fit(X, y) first."
        if name in OF_THE_WINNER and is_fitted and callable(known.get("refit")):
            return "refit is a function that returns a row: read cv_results_ at best_index_."
        if name in OF_THE_WINNER and is_fitted:
            return (
                "several metrics with refit=False have no best candidate; pass refit='a metric'."
            )
        if known.get("refit", True) is False and (name in OF_THE_MODEL):
            return (
                "refit=False trains no model on all rows; pass refit=True, or train one: "
                "clone(search.estimator).set_params(**search.best_params_).fit(X, y)."
            )
        if name == "best_estimator_" and known.get("interrupted_"):
            return "the search was interrupted before the refit; call fit(X, y) again."
        if name[0] == "_" or hasattr(type(self), name):
            return ""
        return meant_attribute(name, [*known, *dir(type(self))])

    def _check_refit_for_multimetric(self, scores: object) -> None:
        if not self.objectives:
            parent: Any = super()
            parent._check_refit_for_multimetric(scores)

    def _keep_rungs(self, setup: Setup, with_resources: bool) -> None:
        """Set the planned rungs and the audited candidates."""
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
        """Set the winner's attributes that do not need the refit."""
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
