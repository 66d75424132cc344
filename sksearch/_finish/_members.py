"""The average of the best candidates: which they are, and their models, trained on all rows."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

from sksearch._finish._average import Average, AverageScores, choose_average
from sksearch._finish._refit import LastTraining
from sksearch._plain import warn
from sksearch._typing import Predictor
from sksearch.base import State
from sksearch.estimators import model_of
from sksearch.executors import Interrupts, LostTask, TaskEnvironment, make_executor
from sksearch.fitting import (
    AveragedClassifier,
    AveragedRegressor,
    Context,
    Row,
    Setup,
    as_state,
    dump_state,
    first_line,
    read_predictions,
)
from sksearch.history import Result


def rows_like(
    rows: list[Row], index: int, ranks: np.ndarray, results: Sequence[Result]
) -> list[int]:
    """Return the rows of ``cv_results_`` that may be averaged with the winner, which is the first.

    The others follow best first: of each candidate the best row of those that have predictions on
    the folds of the winner and break no bound by more than it.
    """
    n_folds, violation = len(rows[index].outputs), results[index].violation
    found = {
        rows[index].trial_id: index
    }  # a trial has several rows, also where a list has it twice
    for i in map(int, np.argsort(ranks, kind="stable")):
        is_like = len(rows[i].outputs) == n_folds and results[i].violation <= violation
        if results[i].status == "ok" and is_like and _has_predictions(rows[i]):
            found.setdefault(rows[i].trial_id, i)
    return list(found.values()) if _has_predictions(rows[index]) else [index]


def _has_predictions(row: Row) -> bool:
    return all(output.predictions for output in row.outputs)


@dataclass
class Members:
    """Chooses and trains the members of an average.

    Parameters
    ----------
    setup : Setup
        Of the search.
    rows : list of Row
        Those that may be averaged, by their index in ``cv_results_``; the first is the winner.
    trainings : dict of int to LastTraining
        How each is trained on all rows.
    seconds : list of float
        Seconds that the training of each will take.
    """

    setup: Setup
    rows: Mapping[int, Row]
    trainings: Mapping[int, LastTraining]
    seconds: Sequence[float]

    def average(self, winner: Predictor) -> tuple[Average, Predictor]:
        """Return the weights by row, and the average of the models.

        `winner` is the first one's model. Where the others bring nothing, it is returned.
        """
        context, names = self.setup.context, list(self.rows)
        scores = AverageScores(context, len(self.rows[names[0]].outputs))
        predictions = [scores.divide(self._predictions(row)) for row in self.rows.values()]
        limit = self.setup.time.of_members(self.seconds)
        costs = [0.0, *self.seconds[1:]]
        models, lost = {0: winner}, set[int]()
        while True:
            chosen = choose_average(
                scores, predictions, costs, limit, self.setup.ensemble, without=lost
            )
            new = [i for i in chosen.weights if i not in models]
            models |= self._trained({i: self.trainings[names[i]] for i in new})
            missing = {i for i in new if i not in models}
            if not missing:
                break
            lost |= missing
        average = replace(chosen, weights={names[i]: w for i, w in chosen.weights.items()})
        if set(chosen.weights) == {0}:
            return average, winner
        parts = [FrozenEstimator(model_of(models[i])) for i in chosen.weights]
        weights = list(chosen.weights.values())
        if not is_classifier(context.estimator):
            return average, AveragedRegressor(parts, weights)
        several = context.classes if isinstance(context.classes, list) else None
        return average, AveragedClassifier(parts, weights, several)

    def _predictions(self, row: Row) -> list[np.ndarray]:
        context = self.setup.context
        found = [output.predictions or b"" for output in row.outputs]
        return [read_predictions(context, fold, content) for fold, content in enumerate(found)]

    def _trained(self, trainings: Mapping[int, LastTraining]) -> dict[int, Any]:
        """Train models where the search has trained; one that fails is left out with a warning."""
        if not trainings:
            return {}
        context = replace(self.setup.context, spool=None, search=None, verbose=0)
        workers, found = self.setup.workers, {}
        args = workers.n_jobs, workers.pre_dispatch, None, None, workers.devices
        with Interrupts(), make_executor(train_member, context, *args) as executor:
            futures = {i: executor.submit(training) for i, training in trainings.items()}
            for i, future in futures.items():
                while not future.done():
                    executor.wait([future], None)
                model, error = _model_of(future.result(), context)
                if error:
                    row = trainings[i].row
                    warn(
                        f"Candidate {row.trial_id} is left out of the ensemble: its training on "
                        f"all rows failed ({error}). Its params are {row.params}.",
                        UserWarning,
                        stacklevel=2,
                    )
                else:
                    found[i] = model
        return found


def train_member(
    context: Context, training: LastTraining, environment: TaskEnvironment
) -> tuple[Any, str]:
    """Train a model on all rows; return it, pickled if it has to travel, and its error, if any."""
    try:
        with training.seeds(context) if environment.owns_globals else nullcontext():
            state = State(training.run(context, training.untrained(context)))
        return (state if environment.shares_memory else dump_state(state)), ""
    except BaseException as error:
        Interrupts.heed()
        return None, first_line(error)


def _model_of(found: "LostTask | tuple[Any, str]", context: Context) -> tuple[Any, str]:
    """Return a model, and why there is none."""
    if isinstance(found, LostTask):
        return None, f"{found.status}: {found.error}"
    state, error = found
    if error:
        return None, error
    try:
        return as_state(state, context.home).estimator, ""
    except Exception as unreadable:
        return None, first_line(unreadable)
