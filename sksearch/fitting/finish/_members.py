"""The average of the best candidates: which they are, and their models, trained on all rows."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

from sksearch._utils._compat import to_numpy
from sksearch._utils._terminal import warn
from sksearch._utils._typing import Predictor
from sksearch.base._state import State
from sksearch.estimators._model_choice import model_of, named_of
from sksearch.executors._base import TaskEnvironment
from sksearch.executors._factory import make_executor
from sksearch.executors._limits import LostTask
from sksearch.executors._signals import Interrupts
from sksearch.fitting.finish._averaged import AveragedClassifier, AveragedRegressor
from sksearch.fitting.finish._fixed_predictors import (
    NotOfPredictionsError,
    warn_of_no_average,
    why_not_of_predictions,
)
from sksearch.fitting.finish._greedy_selection import Average, AverageScores, choose_average
from sksearch.fitting.finish._refit import LastTraining
from sksearch.fitting.run._calibration import Calibrated, best_map, cross_mapped, fit_maps
from sksearch.fitting.run._curves import value_of
from sksearch.fitting.run._predictions import as_classes, read_predictions, weights_of
from sksearch.fitting.run._results import ResultRow
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._states import as_state, dump_state, first_line
from sksearch.fitting.run._tasks import Context
from sksearch.history import Result

OWN = "the model's own"  # name of the model's own probabilities


def rows_like(
    rows: list[ResultRow], index: int, ranks: np.ndarray, results: Sequence[Result]
) -> list[int]:
    """Return the rows of ``cv_results_`` that may be averaged, the winner first.

    The others follow best first: the best row of each candidate with predictions on the winner's
    folds and no larger violation of a bound.
    """
    n_folds, violation = len(rows[index].outputs), results[index].violation
    found = {rows[index].trial_id: index}  # a trial may have several rows, even twice in a list
    for i in map(int, np.argsort(ranks, kind="stable")):
        is_like = len(rows[i].outputs) == n_folds and results[i].violation <= violation
        if results[i].status == "ok" and is_like and has_predictions(rows[i]):
            found.setdefault(rows[i].trial_id, i)
    return list(found.values()) if has_predictions(rows[index]) else [index]


def has_predictions(row: ResultRow) -> bool:
    return all(output.predictions for output in row.outputs)


@dataclass
class Members:
    """Chooses and trains the members of an average.

    Parameters
    ----------
    setup : Setup
        Setup of the search.
    rows : list of ResultRow
        Those that may be averaged, by their index in ``cv_results_``; the first is the winner.
    trainings : dict of int to LastTraining
        How each is trained on all rows.
    seconds : list of float
        Seconds that the training of each will take.
    """

    setup: Setup
    rows: Mapping[int, ResultRow]
    trainings: Mapping[int, LastTraining]
    seconds: Sequence[float]

    def average(self, winner: Predictor) -> tuple[Average | None, Predictor]:
        """Return the weights by row, and the average of the models.

        `winner` is the first one's model. It is returned if the others bring nothing; weights are
        omitted if averages cannot be scored.
        """
        context, names = self.setup.context, list(self.rows)
        try:
            if why := why_not_of_predictions(context, winner):
                raise NotOfPredictionsError(why)
            chosen, models = self._chosen(winner)
        except NotOfPredictionsError as found:
            warn_of_no_average(str(found))
            return None, winner
        average = replace(chosen, weights={names[i]: w for i, w in chosen.weights.items()})
        if set(chosen.weights) == {0}:
            return average, winner
        parts = [FrozenEstimator(models[i]) for i in chosen.weights]
        weights = list(chosen.weights.values())
        if not is_classifier(context.estimator):
            return average, AveragedRegressor(parts, weights)
        several = context.classes if isinstance(context.classes, list) else None
        return average, AveragedClassifier(parts, weights, several)

    def _chosen(self, winner: Predictor) -> tuple[Average, dict[int, Any]]:
        """Choose the members, and train those chosen; both by position among the rows."""
        context, rows = self.setup.context, list(self.rows.values())
        scores = AverageScores(context, len(rows[0].outputs))
        predictions = [scores.divide(predictions_of(context, row)) for row in rows]
        limit, costs = self.setup.time.of_members(self.seconds), [0.0, *self.seconds[1:]]
        models, lost = {0: winner}, set[int]()
        while True:
            chosen = choose_average(
                scores, predictions, costs, limit, self.setup.ensemble, lost, self._own(scores)
            )
            new = [i for i in chosen.weights if i not in models]
            trainings = [*self.trainings.values()]
            found = self._trained({i: trainings[i] for i in new})
            models |= {
                i: with_probabilities(context, rows[i], model_of(m)) for i, m in found.items()
            }
            missing = {i for i in new if i not in models}
            if not missing:
                return chosen, models
            lost |= missing

    def _own(self, scores: AverageScores) -> dict[int, list[float]]:
        """Return the scores by part of candidates alone, which their models had in the search.

        They are known if parts are whole folds. Probabilities calibrated over all folds replace
        those from a single fold.
        """
        context, kept = self.setup.context, self.setup.context.kept
        outputs = [row.outputs for row in self.rows.values()]
        sizes = [len(test) for _, test in context.splits]
        if len(scores) != len(outputs[0]) or [*map(len, kept or [])] != sizes:
            return {}
        return {
            i: [value_of(output.test_scores, context.metric) for output in each]
            for i, each in enumerate(outputs)
            if not (context.calibrates and any(output.are_decisions for output in each))
        }

    def _trained(self, trainings: Mapping[int, LastTraining]) -> dict[int, Any]:
        """Train models on the search's executor; failed ones are dropped with a warning."""
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
                        f"Candidate {row.trial_id} is left out of the ensemble: its fit on all "
                        f"rows failed ({error}). Its parameters are {row.params}.",
                    )
                else:
                    found[i] = model
        return found


def predictions_of(context: Context, row: ResultRow) -> list[np.ndarray]:
    """Return the predictions of a candidate by fold: numbers, or probabilities of classes.

    Decision values are calibrated on each fold by the other folds.
    """
    found = [
        read_predictions(context, i, out.predictions or b"") for i, out in enumerate(row.outputs)
    ]
    if not any(output.are_decisions for output in row.outputs):
        return found
    classes, y = as_classes(context.classes), labels_of_kept(context, len(found))
    decided = [i for i, output in enumerate(row.outputs) if output.are_decisions]
    w = weights_of_kept(context, len(found))
    mapped = cross_mapped(*([each[i] for i in decided] for each in (found, y, w)), classes=classes)
    for i, shares in zip(decided, mapped, strict=True):
        found[i] = shares
    return found


def with_probabilities(context: Context, row: ResultRow, model: Any) -> Any:
    """Return the model of a candidate, with probabilities from its predictions for test folds."""
    decided = [i for i, output in enumerate(row.outputs) if output.are_decisions]
    if not decided or hasattr(model, "predict_proba") or not has_predictions(row):
        return model
    classes, y = as_classes(context.classes), labels_of_kept(context, len(row.outputs))
    decisions = [read_predictions(context, i, row.outputs[i].predictions or b"") for i in decided]
    w = weights_of_kept(context, len(row.outputs))
    labels, weights = (np.concatenate([each[i] for i in decided]) for each in (y, w))
    maps = fit_maps(np.vstack(decisions), labels, classes, weights)
    return Calibrated(model, maps, classes)


def with_honest_probabilities(
    context: Context, weights: Mapping[int, float], rows: Sequence[ResultRow], model: Any
) -> tuple[Any, str]:
    """Return a list's model, or an average, with calibrated probabilities, and a note on them.

    Parameters
    ----------
    context : Context
        Context of the search.
    weights : dict of int to float
        Weights of the candidates by row of ``cv_results_``.
    rows : list of ResultRow
        Rows of ``cv_results_``.
    model : estimator object
        The model, trained on all rows.

    Returns
    -------
    model : estimator object
        `model`, if no map of its probabilities has less log loss.
    note : str
        A line for the report; "" if no probabilities are expected.
    """
    if not (named_of(context.estimator) and is_classifier(context.estimator)):
        return model, ""
    chosen = [rows[i] for i in weights]
    if context.kept is None or not all(map(has_predictions, chosen)):
        return model, f"{OWN}: predictions for the test folds were not kept"
    if len(weights) == 1:
        model = with_probabilities(context, chosen[0], model)
    classes = as_classes(context.classes)
    if len(classes) > 1 or not hasattr(model, "predict_proba"):
        return model, f"{OWN}: only those of a single target are calibrated"
    parts = zip(*(predictions_of(context, row) for row in chosen), strict=True)
    shares = [np.average(part, axis=0, weights=[*weights.values()]) for part in parts]
    y, w = (of(context, len(shares)) for of in (labels_of_kept, weights_of_kept))
    found = best_map(shares, y, classes[0], w)
    if not found.name:
        of = "from decision values" if isinstance(model, Calibrated) else OWN
        return model, f"{of}: no map reduces their log loss on the folds, {found.before:.3g}"
    maps = model.maps if isinstance(model, Calibrated) else None
    model = model.model if isinstance(model, Calibrated) else model
    note = f"log loss {found.after:.3g} on the folds, {found.before:.3g} without"
    return Calibrated(model, maps, classes, found.map), f"calibrated by {found.name}: {note}"


def labels_of_kept(context: Context, n_folds: int) -> list[np.ndarray]:
    """Return the labels of the test rows with predictions, by fold."""
    y = to_numpy(context.y)
    return [y[rows] for rows in rows_of_kept(context, n_folds)]


def weights_of_kept(context: Context, n_folds: int) -> list[np.ndarray]:
    """Return the weights in ``fit`` of the test rows with predictions, by fold."""
    return [weights_of(context, rows) for rows in rows_of_kept(context, n_folds)]


def rows_of_kept(context: Context, n_folds: int) -> list[np.ndarray]:
    """Return the test rows with predictions, by fold."""
    kept: Any = context.kept
    return [context.splits[fold][1][kept[fold]] for fold in range(n_folds)]


def train_member(
    context: Context, training: LastTraining, environment: TaskEnvironment
) -> tuple[Any, str]:
    """Train a model on all rows; return it, pickled if it has to travel, and its error, if any."""
    try:
        with training.seeds(context) if environment.owns_globals else nullcontext():
            state = State(training.run(context, training.untrained(context)))
        return (state if environment.shares_memory else dump_state(state)), ""
    except BaseException as error:
        Interrupts.let_pass(error)
        return None, first_line(error)


def _model_of(found: "LostTask | tuple[Any, str]", context: Context) -> tuple[Any, str]:
    """Return a model, or the reason for its absence."""
    if isinstance(found, LostTask):
        return None, f"{found.status}: {found.error}"
    state, error = found
    if error:
        return None, error
    try:
        return as_state(state, context.home).estimator, ""
    except Exception as unreadable:
        return None, first_line(unreadable)
