"""`Found`: results of a run, as tables, fronts and models."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sksearch._utils._advice import glance
from sksearch._utils._typing import Predictor
from sksearch.estimators._growth import growth_of
from sksearch.fitting.finish._ensemble import Ensemble
from sksearch.fitting.finish._front import ParetoFront
from sksearch.fitting.finish._members import (
    Members,
    rows_like,
    with_honest_probabilities,
    with_probabilities,
)
from sksearch.fitting.finish._refit import LastTraining
from sksearch.fitting.run._ancestry import schedule_of
from sksearch.fitting.run._curves import luck_of_counts, scores_at
from sksearch.fitting.run._findings import Findings
from sksearch.fitting.run._results import (
    ResultRow,
    name_error_scores,
    results_of,
    table_of,
    warn_if_none_keeps_bounds,
)
from sksearch.fitting.run._row_scores import RowScores
from sksearch.fitting.run._tasks import Output
from sksearch.fitting.run._top_trials import N_AVERAGED
from sksearch.history import History, Result


@dataclass(frozen=True)
class Found:
    """Results of a run.

    Parameters
    ----------
    findings : Findings
        Findings of a finished run.
    rows : list of ResultRow
        Rows of ``cv_results_``.
    """

    findings: Findings
    rows: list[ResultRow]

    @property
    def history(self) -> History:
        """History of the run."""
        return self.findings.history

    @cached_property
    def results(self) -> list[Result]:
        """Facts about the candidate of each row."""
        return results_of(self.history, self.rows)

    @property
    def outputs(self) -> list[Output]:
        """Outputs of all fits."""
        return [output for row in self.rows for output in row.new_outputs]

    @property
    def test_scores(self) -> Any:
        """Scores of a fit: a number, or a dict by metric."""
        return self.rows[0].new_outputs[0].test_scores

    def check(self) -> None:
        """Raise ValueError if all fits failed; warn of failures and of unmet bounds."""
        self.findings.check_failures(self.outputs)
        warn_if_none_keeps_bounds(self.results)

    def name_scores(self) -> None:
        """Give all fits the same metrics, even failed ones."""
        name_error_scores(self.outputs)

    def row_scores(self) -> RowScores | None:
        """Return the contributions of blocks of test rows to the scores."""
        return RowScores.of(self.rows, self.findings.context)

    def outcome_luck(self) -> float:
        """Return the optimism of scores that also selected the values found by training."""
        curves = [[output.curve or [] for output in row.outputs] for row in self.rows]
        return luck_of_counts([each for each in curves if all(each)], self.findings.context.metric)

    def untuned_scores(self) -> list[float] | None:
        """Return the scores of the untuned estimator, by fold, at its own number of iterations.

        None if it was not evaluated, has no early-stopping count, or did not reach its own count.
        """
        context, trials = self.findings.context, self.history.trials
        outcome = self.findings.setup.problem.space.outcome(trials[0].params)
        curves = [out.curve or [] for row in self.rows if row.trial_id == 0 for out in row.outputs]
        if not self.history.problem.has_baseline or not outcome or not all([curves, *curves]):
            return None
        return scores_at(curves, growth_of(context.estimator, outcome[0]).own, context.metric)

    def table(self) -> dict[str, Any]:
        """Return ``cv_results_``."""
        return table_of(self.findings.setup, self.history, self.rows)

    def front(self) -> ParetoFront:
        """Return the front of several objectives."""
        wins = self.findings.plan.any_rung_wins
        return ParetoFront.of(self.findings.context.aims, self.rows, self.results, wins)

    def schedule(self, index: int) -> list[dict[str, Any]]:
        """Return the parameter schedule of a row's candidate: values by first unit."""
        row = self.rows[index]
        return schedule_of(self.history.trials, row.trial_id, row.n_resources)

    def last_training(self, index: int) -> LastTraining:
        """Return how the candidate of a row is trained on all rows of the data."""
        row = self.rows[index]
        outcome = self.findings.setup.problem.space.outcome(
            self.history.trials[row.trial_id].params
        )
        outputs = [replace(out, curve=None, rows=None, predictions=None) for out in row.outputs]
        light = replace(row, outputs=outputs, new_outputs=[])
        return LastTraining(light, outcome[0] if outcome else None, self.schedule(index))

    def with_probabilities(
        self, weights: Mapping[int, float], model: Predictor
    ) -> tuple[Predictor, str]:
        """Return the final model with calibrated probabilities, and a note on them.

        `weights` are those of rows of ``cv_results_`` in the model.
        """
        args = self.findings.context, weights, self.rows, model
        failed = model, "the model's own: they could not be calibrated"
        return glance(with_honest_probabilities, *args, otherwise=failed)

    def ensemble(
        self, ranks: np.ndarray, index: int, winner: Predictor
    ) -> tuple[Ensemble, Predictor]:
        """Average the best candidates.

        Parameters
        ----------
        ranks : ndarray of int
            Ranks of the rows, by the metric that counts.
        index : int
            Row of the winner.
        winner : estimator object
            The model of the winner, trained on all rows.

        Returns
        -------
        ensemble : Ensemble
            The ensemble of the best candidates.
        model : estimator object
            The average; `winner` if others bring nothing.
        """
        winner = with_probabilities(self.findings.context, self.rows[index], winner)
        alone = Ensemble({index: 1.0}, [self.rows[index].params], None, None)
        names = rows_like(self.rows, index, ranks, self.results)[:N_AVERAGED]
        if len(names) == 1:
            return alone, winner
        rows = {i: self.rows[i] for i in names}
        trainings = {i: self.last_training(i) for i in names}
        foretell = self.findings.incumbent.seconds_to_refit
        seconds = [foretell(row.trial_id, row.n_resources) for row in rows.values()]
        average, model = Members(self.findings.setup, rows, trainings, seconds).average(winner)
        if average is None:
            return alone, winner
        params = [self.rows[i].params for i in average.weights]
        return Ensemble(average.weights, params, average.score, average.alone), model
