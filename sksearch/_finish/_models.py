"""The models of an ensemble: those of the best candidates, trained again where they are lost."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

from sksearch._plain import warn
from sksearch.estimators import model_of
from sksearch.executors import Executor, Interrupts, SerialExecutor
from sksearch.fitting import (
    NO_CALLBACKS,
    AveragedClassifier,
    AveragedRegressor,
    Row,
    Run,
    Task,
    evaluate,
    legs_to,
)
from sksearch.history import Trial


def best_rows(
    rows: list[Row],
    results: dict[str, Any],
    statuses: list[str],
    size: int | None,
    refit: object,
    any_rung_wins: bool = False,
) -> list[Row]:
    """Choose the rows of an ensemble, best first: those that got as much as the best of all.

    If `any_rung_wins`, it is each candidate's best row. `refit` may name the metric that counts,
    else it is the first. No row is in it that breaks bounds more than the best does.
    """
    ranked = [name for name in results if name.startswith("rank_test_")]
    ranks = results[f"rank_test_{refit}" if f"rank_test_{refit}" in ranked else ranked[0]]
    ok = [i for i in np.argsort(ranks, kind="stable") if statuses[i] == "ok"]
    violations = results.get("violation", np.zeros(len(rows)))
    order = [rows[i] for i in ok if violations[i] <= violations[ok[0]]]
    top = max((row.n_resources for row in order), default=0)
    chosen: dict[int, Row] = {}  # a trial has several rows, also where a list has it twice
    for row in order:
        if any_rung_wins or row.n_resources == top:
            chosen.setdefault(row.trial_id, row)
    return list(chosen.values())[:size]


def make_ensemble(run: Run, rows: list[Row]) -> AveragedClassifier | AveragedRegressor | None:
    """Average the models of rows, all their folds; None, after a warning, if there is none."""
    models = []
    context = replace(run.context, spool=None, search=None, verbose=0)
    with Interrupts(), SerialExecutor(evaluate, context) as executor:
        for row in rows:
            for fold in range(len(row.outputs)):
                model = _model(run, executor, row.trial_id, fold, row.n_resources)
                if model is not None:
                    models.append(FrozenEstimator(model_of(model)))
    if not models:
        warn(
            "No candidate has a finite score, so there are no models to average: ensemble_ is "
            "not set.",
            UserWarning,
            stacklevel=2,
        )
        return None
    classifies = is_classifier(run.context.estimator)
    return (AveragedClassifier if classifies else AveragedRegressor)(models)


def _model(run: Run, executor: Executor, trial_id: int, fold: int, resource: int) -> Any:
    """The model of a candidate at a resource on a fold, None if it cannot be had again."""
    trial = run.study.history.trials[trial_id]
    if trial.resource == resource and (trial_id, fold) in run.models:
        return run.models[trial_id, fold]
    output = executor.submit(_task_again(run, trial, fold, resource)).result()
    if output.state is None:
        warn(
            f"The model of candidate {trial_id} on fold {fold} was lost, and to train it again "
            f"failed ({output.error}): the ensemble does without.",
            UserWarning,
            stacklevel=4,
        )
        return None
    return output.state.estimator


def _task_again(run: Run, trial: Trial, fold: int, resource: int) -> Task | None:
    """What was last trained on this fold on the way to a resource, as it was."""
    task = None
    legs = legs_to(run.study.history.trials, trial.id, resource)
    for i, leg in enumerate(legs):
        spent = legs[i - 1].resource if i else 0
        if fold in run.context.folds(leg.resource, spent):
            task = run.task(
                trial_id=leg.trial_id,
                fold=fold,
                params=leg.params,
                resource=leg.resource,
                spent=spent,
                state=None,
                before=legs[:i],
                keep=False,
                final=True,
                callbacks=NO_CALLBACKS,
            )
    return task
