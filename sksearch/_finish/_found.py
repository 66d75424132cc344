"""`Found`: what a run has found, as tables, fronts and models."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sklearn.base import clone

from sksearch._clock import now
from sksearch._finish._models import best_rows, make_ensemble
from sksearch._finish._refit import train_on_all
from sksearch._seeds import seeded
from sksearch._typing import Estimator
from sksearch.fitting import (
    AveragedClassifier,
    AveragedRegressor,
    Output,
    Row,
    RowScores,
    Run,
    name_error_scores,
    results_of,
    schedule_of,
    table_of,
    warn_if_none_keeps_bounds,
)
from sksearch.history import History, Result
from sksearch.reporting import ParetoFront


@dataclass(frozen=True)
class Found:
    """What a run has found.

    Parameters
    ----------
    run : Run
        That has ended.
    rows : list of Row
        Those of ``cv_results_``.
    """

    run: Run
    rows: list[Row]

    @property
    def history(self) -> History:
        """What has happened."""
        return self.run.study.history

    @cached_property
    def results(self) -> list[Result]:
        """What is known of the candidate of each row."""
        return results_of(self.history, self.rows)

    @property
    def outputs(self) -> list[Output]:
        """What all trainings brought."""
        return [output for row in self.rows for output in row.new_outputs]

    @property
    def test_scores(self) -> Any:
        """Those of a training: a number, or a dict by metric."""
        return self.rows[0].new_outputs[0].test_scores

    def check(self) -> None:
        """Raise ValueError if all has failed; warn of failures, and where no bound is kept."""
        self.run.check_failures(self.outputs)
        warn_if_none_keeps_bounds(self.results)

    def name_scores(self) -> None:
        """Give all trainings the same metrics, also those that failed."""
        name_error_scores(self.outputs)

    def row_scores(self) -> RowScores | None:
        """Return what blocks of test rows contribute to the scores."""
        return RowScores.of(self.rows, self.run.context)

    def table(self) -> dict[str, Any]:
        """Return ``cv_results_``."""
        return table_of(self.run.setup, self.history, self.rows)

    def front(self) -> ParetoFront:
        """Return the front of several objectives."""
        wins = self.run.plan.any_rung_wins
        return ParetoFront.of(self.run.context.aims, self.rows, self.results, wins)

    def schedule(self, index: int) -> list[dict[str, Any]]:
        """Return which params held from which count of units on, for the candidate of a row."""
        row = self.rows[index]
        return schedule_of(self.history.trials, row.trial_id, row.n_resources)

    def trained(self, index: int, best: Estimator) -> tuple[Any, float]:
        """Train an estimator on all rows of the data, by the path that a row was scored on.

        Parameters
        ----------
        index : int
            Of the row.
        best : estimator object
            Unfitted, with the params of the row.

        Returns
        -------
        estimator : estimator object
            Fitted.
        seconds : float
            That it took.
        """
        start, row = now(), self.rows[index]
        space = self.run.setup.problem.space
        outcome = space.outcome(self.history.trials[row.trial_id].params)
        found = outcome[0] if outcome else None
        estimator = train_on_all(self.run.context, best, row, found, self.schedule(index))
        return estimator, now() - start

    def seeds(self, index: int) -> AbstractContextManager[None]:
        """Return a context in which the global generators are those of the last training."""
        row, context = self.rows[index], self.run.context
        return seeded(context.seed, row.trial_id, len(context.splits), row.n_resources)

    def untrained(self, index: int) -> Any:
        """Return the estimator with the params of a row."""
        params = clone(self.rows[index].params, safe=False)
        return clone(self.run.context.estimator).set_params(**params)

    def ensemble(
        self, results: dict[str, Any], refit: object
    ) -> AveragedClassifier | AveragedRegressor | None:
        """Average the models of the best rows; None where there are none.

        Parameters
        ----------
        results : dict
            ``cv_results_``.
        refit : object
            May name the metric that counts.
        """
        setup = self.run.setup
        statuses, wins = [each.status for each in self.results], setup.plan.any_rung_wins
        size = setup.ensemble_size
        return make_ensemble(self.run, best_rows(self.rows, results, statuses, size, refit, wins))
