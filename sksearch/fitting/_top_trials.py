"""The models of the best candidates: kept while the search runs, trained again where lost."""

import bisect
import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator

from sksearch._plain import warn
from sksearch.executors import Interrupts
from sksearch.executors._in_process import SerialExecutor
from sksearch.fitting._callbacks import NO_CALLBACKS
from sksearch.fitting._ensemble import AveragedClassifier, AveragedRegressor
from sksearch.fitting._evaluation import evaluate
from sksearch.fitting._lineage import legs_to
from sksearch.fitting._results import Row
from sksearch.fitting._states import StateStore, as_state


class TopTrials:
    """The best trials, at most `size`, in the order of rows of ``cv_results_``.

    Those at one resource, or, if `any_rung_wins`, each at the rung where it was best.
    """

    def __init__(self, size: int | None, any_rung_wins: bool = False):
        self.size = size or 0
        self._any_rung_wins = any_rung_wins
        # (-score, -resource, bracket, id), best first
        self._entries: list[tuple[float, int, int, int]] = []

    @classmethod
    def of(cls, history, size, any_rung_wins=False):
        """The best of a history, at the largest resource that any trial has a score at."""
        scored = [
            (resource, trial, result.feasible_score)
            for trial in history.trials
            for resource, result in trial.results.items()
            if math.isfinite(result.feasible_score)
        ]
        top = max((resource for resource, _, _ in scored), default=0)
        best = cls(size, any_rung_wins)
        for resource, trial, score in scored:
            if any_rung_wins or resource == top:
                best.enter(trial, resource, score)
        return best

    def __contains__(self, trial_id):
        return any(entry[-1] == trial_id for entry in self._entries)

    def __len__(self):
        return len(self._entries)

    def enter(self, trial: Any, resource: int, score: float) -> list[int]:
        """Give a trial its place; return the id of the one that has none, if there is one."""
        entry = (-score, -resource, trial.bracket, trial.id)
        known = next((e for e in self._entries if e[-1] == trial.id), None)
        if known is not None and not entry < known:  # it was better, at an earlier rung
            return []
        if not math.isfinite(score):
            return [trial.id]
        if known is not None:
            self._entries.remove(known)
        bisect.insort(self._entries, entry)
        return [self._entries.pop()[-1]] if len(self._entries) > self.size else []


def models_of(states: StateStore, best: TopTrials) -> dict[tuple[int, int], Any]:
    """Return the models of the best, by trial and fold, as far as states can be read."""
    models = {}
    for key, state in states.items():
        if key[0] in best:
            with suppress(Exception):
                models[key] = as_state(state).estimator
    return models


def best_rows(
    rows: list[Row],
    results: dict,
    statuses: list[str],
    size: int | None,
    refit: Any,
    any_rung_wins: bool = False,
) -> list[Row]:
    """Choose the rows of an ensemble, best first: those that got as much as the best of all.

    If `any_rung_wins`, it is each candidate's best row. `refit` may name the metric that counts,
    else it is the first. Nobody is in it who breaks bounds more than the best does.
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


def make_ensemble(run: Any, rows: list[Row]) -> AveragedClassifier | AveragedRegressor | None:
    """Average the models of rows, all their folds; None, after a warning, if there is none."""
    models = []
    context = replace(run.context, spool=None, search=None, verbose=0)
    with Interrupts(), SerialExecutor(evaluate, context) as executor:
        for row in rows:
            for fold in range(len(row.outputs)):
                model = _model(run, executor, row.trial_id, fold, row.n_resources)
                if model is not None:
                    models.append(FrozenEstimator(model))
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


def _model(run, executor, trial_id, fold, resource):
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


def _task_again(run, trial, fold, resource):
    """What was last trained on this fold on the way to a resource, as it was."""
    task = None
    legs = legs_to(run.study.history.trials, trial.id, resource)
    for i, leg in enumerate(legs):
        spent = legs[i - 1].resource if i else 0
        if fold in run.folds(leg.resource, spent):
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
