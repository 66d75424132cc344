"""Predictions of candidates for rows that they were not trained on."""

import hashlib
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from sksearch._utils._compat import (
    check_method_params,
    num_samples,
    safe_split,
    to_namespace_of,
    to_numpy,
)
from sksearch._utils._typing import Samples
from sksearch.base._state import State
from sksearch.estimators._growth import growth_of
from sksearch.estimators._model_choice import model_of
from sksearch.executors._base import Executor, TaskEnvironment
from sksearch.executors._factory import make_executor
from sksearch.executors._limits import LostTask
from sksearch.fitting.run._ancestry import Stage, stages_to
from sksearch.fitting.run._callbacks import NO_CALLBACKS
from sksearch.fitting.run._evaluation import load_state, rows_of, seeds_of, train_further
from sksearch.fitting.run._predictions import columns_of
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._tasks import Context, Task
from sksearch.history import History, Params, Trial

METHODS = ("predict_proba", "decision_function", "predict")


@dataclass(frozen=True)
class FoldPredictor:
    """Trains a candidate on one fold as the search did, and predicts the fold's test rows.

    Parameters
    ----------
    methods : dict of int to str
        Method of the model by trial id.
    found : dict of int to str
        Parameter found by training, by trial id, if any.
    """

    methods: dict[int, str]
    found: dict[int, str] = field(default_factory=dict)

    def __call__(
        self, context: Context, task: Task, environment: TaskEnvironment
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the test rows and their predictions, a column for each class of all of y."""
        with seeds_of(context, task.stage, task.fold, environment):
            rows, _ = rows_of(context, task)
            (test,) = to_namespace_of(context.X, (context.splits[task.fold][1],))
            params = check_method_params(context.X, params=context.fit_params, indices=rows)
            state, _, stages = load_state(context, task)
            data: tuple[Any, Any] = safe_split(state.estimator, context.X, context.y, rows)
            X_test, _ = safe_split(state.estimator, context.X, context.y, test, rows)
            state = self._train(context, task, environment, state, stages, data, params)
            return np.asarray(context.splits[task.fold][1]), self._predict(
                context, task, state, X_test
            )

    def _train(
        self,
        context: Context,
        task: Task,
        environment: TaskEnvironment,
        state: State,
        stages: Sequence[Stage],
        data: tuple[Any, Any],
        params: dict[str, Any],
    ) -> State:
        """Train to the count found, if any."""
        name = self.found.get(task.trial_id)
        if name is not None and name in task.params:
            growth = growth_of(state.estimator, name)
            return growth.refit(state, data, task.params[name], context.classes, params)
        return train_further(context, task, environment, state, stages, data, params)

    def _predict(self, context: Context, task: Task, state: State, X: Samples) -> np.ndarray:
        """Predictions; 0 or the lowest value for classes not seen by the fold."""
        model, method = state.estimator, self.methods[task.trial_id]
        given, classes = getattr(model, method)(X), context.classes
        if isinstance(given, list) and classes is not None:  # one for each output
            parts = zip(given, model.classes_, classes, strict=True)
            return np.hstack([columns_of(*part, 0.0) for part in parts])
        given = to_numpy(given)
        if method == "predict" or not isinstance(classes, np.ndarray):
            return given
        # The training fold contains only two of the classes
        if given.ndim == 1 and len(classes) > 2:
            given = np.column_stack([-given, given])
        if given.ndim != 2 or given.shape[1] != len(model.classes_):  # a column for each pair
            return given
        lowest = 0.0 if method == "predict_proba" else given.min()
        return columns_of(given, model.classes_, classes, lowest)


def _method_of(model: object, method: str) -> str:
    """Return the name of the method to call; ValueError if a model has none."""
    methods: tuple[str, ...] = (method,)
    if method == "auto":
        methods = METHODS if is_classifier(model) else METHODS[2:]
    found = next((name for name in methods if hasattr(model, name)), None)
    if found is None:
        name = type(model_of(model)).__name__
        raise ValueError(f"method={method!r}: {name} has no {' and no '.join(methods)}.")
    return found


def out_of_fold(
    setup: Setup, history: History, chosen: list[tuple[Trial, int, Params]], method: str
) -> list[np.ndarray]:
    """Train candidates again, and predict every row by a model trained without it.

    Parameters
    ----------
    setup : Setup
        Setup of the search, with its seed and executor.
    history : History
        History of the search.
    chosen : list of (Trial, int, dict)
        Trials, each with its deciding resource and its parameters there.
    method : str
        "auto", or one of `METHODS`.

    Returns
    -------
    predictions : list of ndarray of shape (n_samples, ...)
        Means over the folds that test a row.

    Raises
    ------
    ValueError
        If a candidate has no such method, or labels would have to be averaged.
    """
    context = setup.context
    models = {
        trial.id: clone(context.estimator).set_params(**clone(params, safe=False))
        for trial, _, params in chosen
    }
    methods = {i: _method_of(model, method) for i, model in models.items()}
    outcomes = [(trial.id, setup.problem.space.outcome(trial.params)) for trial, *_ in chosen]
    function = FoldPredictor(methods, {i: found[0] for i, found in outcomes if found})
    jobs = [
        [
            _task(context, params, stages_to(history.trials, trial.id, resource), fold)
            for fold in range(len(context.splits))
        ]
        for trial, resource, params in chosen
    ]
    workers = setup.workers
    args = (workers.n_jobs, workers.pre_dispatch, None, None, workers.devices)
    with make_executor(function, context, *args) as executor:
        futures = [[executor.submit(task) for task in tasks] for tasks in jobs]
        found = [[_wait(executor, future) for future in row] for row in futures]
    n = num_samples(context.X)
    is_label = [methods[i] == "predict" and is_classifier(models[i]) for i in methods]
    return [_assembled(*each, n) for each in zip(found, is_label, strict=True)]


def digest_of_folds(splits: list) -> str:
    """Return a fingerprint of the folds."""
    digest = hashlib.blake2b(digest_size=16)
    for pair in splits:
        for rows in pair:
            array = np.ascontiguousarray(to_numpy(rows))
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def _wait(executor: Executor, future: Future) -> Any:
    """The result of a task; RuntimeError if its worker was lost."""
    while not future.done():
        executor.wait([future], None)
    result = future.result()
    if isinstance(result, LostTask):
        raise RuntimeError(f"A fit was lost ({result.status}): {result.error}.")
    return result


def _task(context: Context, params: Params, stages: tuple[Stage, ...], fold: int) -> Task:
    """The last trained state on this fold on the way to a resource, from the beginning."""
    spent = last = 0
    for i, stage in enumerate(stages):
        if fold in context.resource.folds(len(context.splits), stage.resource, spent):
            last = i
        spent = stage.resource
    before = stages[:last]
    stage, spent = stages[last], before[-1].resource if before else 0
    task = Task(stage.trial_id, fold, params, stage.resource, spent, NO_CALLBACKS)
    task.before, task.continues = before, context.resource.continues and bool(before)
    return task


def _assembled(
    parts: list[tuple[np.ndarray, np.ndarray]], is_label: bool, n_samples: int
) -> np.ndarray:
    """One array of the predictions of all folds; numbers are averaged."""
    counts = np.zeros(n_samples, dtype=int)
    for rows, _ in parts:
        counts[rows] += 1
    first = parts[0][1]
    if not counts.all():
        raise ValueError(
            f"{(counts == 0).sum()} rows are not in a test fold, so every model was trained on "
            "them: pass a cv with test folds that cover all rows, such as KFold."
        )
    if first.dtype.kind == "f" and not is_label:
        total = np.zeros((n_samples, *first.shape[1:]))
        for rows, given in parts:
            total[rows] += given
        return total / counts.reshape(-1, *[1] * (first.ndim - 1))
    if counts.max() > 1:
        raise ValueError(
            "Several folds test the same row, but labels cannot be averaged: pass "
            "method='predict_proba', or a cv that tests each row once."
        )
    labels = np.empty((n_samples, *first.shape[1:]), dtype=np.result_type(*[p for _, p in parts]))
    for rows, given in parts:
        labels[rows] = given
    return labels
