"""Evaluation of a candidate on one fold, like scikit-learn's ``_fit_and_score``, but continuable.

Its arguments and return value travel between processes, so they are plain data.
"""

import math
import os
import platform
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import pairwise
from traceback import format_exc
from typing import Any

from sklearn.base import clone

from sksearch._utils._clock import now, open_clock, wall_time
from sksearch._utils._compat import (
    check_method_params,
    num_samples,
    safe_split,
    to_namespace_of,
)
from sksearch._utils._seeds import seeded
from sksearch._utils._terminal import printable
from sksearch._utils._typing import Estimator, Scorer, Scores
from sksearch.base._state import State
from sksearch.estimators._family import family_of
from sksearch.estimators._growth import growth_of
from sksearch.estimators._mutable_params import change
from sksearch.estimators._pipeline import last_step
from sksearch.executors._base import TaskEnvironment
from sksearch.executors._limits import LostTask
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._ancestry import NOTHING, Stage
from sksearch.fitting.run._calibration import CalibratedOnFold
from sksearch.fitting.run._callbacks import Message, callback_arguments
from sksearch.fitting.run._curves import value_of
from sksearch.fitting.run._measures import measure
from sksearch.fitting.run._predictions import (
    as_classes,
    best_method_of,
    keep_predictions,
    weights_of,
)
from sksearch.fitting.run._row_sample import check_last_training
from sksearch.fitting.run._row_scores import RowListener
from sksearch.fitting.run._scores import (
    FoldRows,
    Part,
    error_scores,
    failure,
    reraise_if_not_the_candidates,
    score,
)
from sksearch.fitting.run._states import SavedState, as_state, dump_state, first_line, shortened
from sksearch.fitting.run._tasks import Context, Output, Task
from sksearch.history import Params


def evaluate(context: Context, task: Task, environment: TaskEnvironment) -> Output:
    """Train and score one candidate on one fold.

    Raises the candidate's error if ``error_score="raise"``.
    """
    began, start = wall_time(), now()
    with seeds_of(context, task.stage, task.fold, environment):
        output = _evaluate(context, task, environment)
    return as_it_travels(context, task, output, began, now() - start)


def as_it_travels(
    context: Context, task: Task, output: Output, began: float, seconds: float
) -> Output:
    """Return an output with its time and worker, after writing a copy to disk."""
    output.span = [began, began + seconds, worker_name()]
    if output.fit_error is not None:
        output.fit_error = shortened(output.fit_error)
    if context.spool is not None:
        # The disk may be full or missing on this machine; the file is optional
        with suppress(OSError):
            context.spool.write(task.name, output)
    return output


def output_of_lost(context: Context, task: Task, lost: LostTask) -> Output:
    """Return a substitute output for a task whose worker was lost."""
    error = f"{lost.status}: {lost.error}"
    if context.error_score == "raise":
        raise RuntimeError(f"A candidate was lost ({error}). Its parameters are {task.params}.")
    return Output(
        fit_error=f"{error}\n",
        status=lost.status,
        error=lost.error,
        fit_time=lost.seconds,
        test_scores=error_scores(context),
        train_scores=error_scores(context) if context.return_train_score else None,
        n_test_samples=num_samples(context.splits[task.fold][1]),
        seconds=lost.seconds,
    )


def worker_name() -> str:
    """Machine and process, and the thread if several may work in this process."""
    if open_clock() is not None:
        return ""
    name = f"{platform.node()}:{os.getpid()}"
    alone = threading.current_thread() is threading.main_thread()
    return name if alone else f"{name}:{threading.get_native_id()}"


def seeds_of(
    context: Context, stage: Stage, fold: int, environment: TaskEnvironment, nested: bool = False
) -> AbstractContextManager[None]:
    """Seed the global generators for a stage of a task, possibly within a later one's."""
    if not environment.owns_globals:
        return nullcontext()
    restores = nested or not environment.owns_process
    return seeded(context.seed, stage.trial_id, fold, stage.resource, restores=restores)


def _evaluate(context: Context, task: Task, environment: TaskEnvironment) -> Output:
    """Train and score without seeding the global generators."""
    message = Message(context, task)
    message.start()
    train, test = rows_of(context, task)
    fit_params = check_method_params(context.X, params=context.fit_params, indices=train)
    output, start = Output(n_test_samples=num_samples(test)), now()
    try:
        state, output.lost_state, stages = load_state(context, task)
        train_rows: tuple[Any, Any] = safe_split(state.estimator, context.X, context.y, train)
        test_rows = safe_split(state.estimator, context.X, context.y, test, train)
    except BaseException as error:  # such as parameters that the estimator does not have
        _fail(context, output, error, start)
        message.end(output)
        return output
    rows = (train, *train_rows), (test, *test_rows)
    start = now()
    hook = callback_arguments(context.search, *train_rows, fit_params)
    try:
        with task.callbacks.propagate_callback_context(state.estimator):
            task.callbacks.call_on_fit_task_begin(**hook)
            if task.curve:
                _record_curve(context, task, output, state, rows, fit_params)
            else:
                state = train_further(
                    context, task, environment, state, stages, train_rows, fit_params
                )
            check_last_training(context, task.trial_id, now() - start - output.score_time)
    except BaseException as error:
        _fail(context, output, error, start)
    else:
        output.fit_time = now() - start - output.score_time
        if not task.curve:
            _score_all(context, task, output, state, rows)
        if context.aims.measures and output.status == "ok":
            measure(context, task, output, state, test_rows[0])
        if task.keep and state.n_steps > 0:
            _save_state(environment, task, output, state)
    finally:
        output.stop = task.callbacks.call_on_fit_task_end(**hook)
    output.n_test_samples = num_samples(test_rows[0])
    output.n_steps, output.seconds = state.n_steps, state.seconds
    message.end(output)
    return output


def train_further(
    context: Context,
    task: Task,
    environment: TaskEnvironment,
    state: State,
    stages: Sequence[Stage],
    train_rows: tuple[Any, Any],
    fit_params: dict[str, Any],
) -> State:
    """Train a state further, stage by stage, starting at its own stage."""
    for before, stage in pairwise(stages):
        # A lost state is trained again with its original seeds.
        again = stage.resource < task.resource
        seeds = seeds_of(context, stage, task.fold, environment, nested=True) if again else None
        with seeds or nullcontext():
            if stage.trial_id != before.trial_id and state.n_steps:  # a new one has its parameters
                change_to(state, stage.params, context.changing)
            state = context.resource.train(
                state, *train_rows, stage.resource, before.resource, context.classes, fit_params
            )
        Interrupts.heed()  # scikit-learn's MLP catches it
        last = last_step(state.estimator, is_fitted=True)
        family_of(last).epochs.check_finite(last)
    return state


def change_to(state: State, params: Params, changing: tuple[str, ...] | None) -> None:
    """Set the changeable parameters of a state, even if it will be fitted again."""
    names = params if changing is None else params.keys() & set(changing)
    change(state.estimator, {name: clone(params[name], safe=False) for name in names})


def rows_of(context: Context, task: Task) -> tuple[Any, Any]:
    """Train and test rows of the task, as indices of X's namespace."""
    train, test = context.splits[task.fold]
    if context.sample is not None:
        train = context.sample.rows(train, context.strata, context.seed, task.fold)
    args = context.strata, task.resource, num_samples(context.X), context.seed
    rows = context.resource._split(task.fold, train, test, *args)
    return to_namespace_of(context.X, rows)


def load_state(context: Context, task: Task) -> tuple[State, str, list[Stage]]:
    """Return the state to continue from, the reason if it is lost, and the remaining stages.

    A lost state only costs time.
    """
    lost, at = "", task.before[-1] if task.before else NOTHING
    try:
        if task.state is not None:
            return as_state(task.state, context.home), "", [at, task.stage]
    except BaseException as error:  # unpickling may raise anything
        Interrupts.let_pass(error)
        lost = first_line(error)
    # Values may be estimators themselves, hence the clone.
    stages = [NOTHING, *task.before, task.stage] if task.continues else [at, task.stage]
    params = stages[1].params
    new = clone(context.estimator).set_params(**clone(params, safe=False))
    return State(new), lost, stages


def _save_state(environment: TaskEnvironment, task: Task, output: Output, state: State) -> None:
    """Put the state into the output in a portable form, or the reason if it cannot be written."""
    last = last_step(state.estimator, is_fitted=True)
    family_of(last).epochs.before_store(last)
    if environment.folder is None and environment.shares_memory:
        output.state = state
        return
    try:
        content = dump_state(state)
        if environment.folder is None:
            output.state = content
        else:
            output.state = SavedState.write(content, environment.folder, task.name)
    except BaseException as error:  # such as an attribute that cannot be pickled, or a full disk
        Interrupts.let_pass(error)
        output.lost_state = first_line(error)


def _record_curve(
    context: Context,
    task: Task,
    output: Output,
    state: State,
    rows: tuple[Part, Part],
    fit_params: dict[str, Any],
) -> None:
    """Train until the score on the test rows has passed its peak, and keep all finite scores."""
    train, test = rows
    wanted: Any = task.curve
    curve: list = []
    best = -math.inf
    tested = FoldRows(context, test, train[0])
    trained = FoldRows(context, train, train[0], is_used=True)

    def look(estimator: Estimator, count: int) -> float:
        nonlocal best
        Interrupts.heed()  # scikit-learn's MLP catches it
        before = now()
        listener = RowListener(context, test)
        scores, status, error = score_on(context, estimator, tested, listener.scorer())
        on_train = None
        if context.return_train_score:
            on_train, *_ = score_on(context, estimator, trained)
        output.score_time += now() - before
        if status == "ok":
            curve.append([count, scores, on_train])
        if status == "ok" or not curve:
            output.status, output.error = status, error
            output.test_scores, output.train_scores = scores, on_train
        if status != "ok":
            return math.nan
        value = value_of(scores, context.metric)
        mean = wanted.mean(count, value)
        # Best number of steps so far, which is equal or close to the one chosen later
        if mean > best:
            best, output.rows = mean, listener.contributions(value)
            if task.predicts:
                before = now()
                model, (_, X, _) = tested.of(estimator)
                keep_predictions(context, task.fold, model, X, output)
                output.score_time += now() - before
        return mean

    growth = growth_of(state.estimator, wanted.name)
    growth.curve(
        state, train[1:], wanted.last, context.classes, fit_params, look,
        wanted.allowance, growth.own or 1 if wanted.is_own else 1,
    )  # fmt: skip
    output.curve = curve or None  # `settle` finds the number for all folds


def _fail(context: Context, output: Output, error: BaseException, start: float) -> None:
    """Turn a candidate's exception into its failure."""
    reraise_if_not_the_candidates(context, error)
    output.fit_time = now() - start
    output.status, output.error = failure(error)
    output.curve = output.rows = output.predictions = None
    output.fit_error = printable(format_exc())
    output.test_scores = error_scores(context)
    output.train_scores = error_scores(context) if context.return_train_score else None


def _score_all(
    context: Context, task: Task, output: Output, state: State, rows: tuple[Part, Part]
) -> None:
    """Score on the test rows and, if requested, on the training rows."""
    train, test = rows
    start, is_repeated = now(), bool(task.predicts or context.calibrates)
    tested = FoldRows(context, test, train[0], is_repeated)
    if task.predicts:  # before the scoring: scorers may change the rows that they are given
        model, (_, X, _) = tested.of(state.estimator)
        keep_predictions(context, task.fold, model, X, output)
    listener = RowListener(context, test)
    output.test_scores, output.status, output.error = score_on(
        context, state.estimator, tested, listener.scorer()
    )
    if output.status == "ok":
        with suppress(Exception):  # reports do without
            output.rows = listener.contributions(value_of(output.test_scores, context.metric))
    else:
        output.predictions = None
    output.score_time = now() - start
    if context.return_train_score:
        trained = FoldRows(context, train, train[0], is_repeated, is_used=True)
        output.train_scores, *_ = score_on(context, state.estimator, trained)


def score_on(
    context: Context, estimator: Estimator, rows: FoldRows, scorer: Scorer | None = None
) -> tuple[Scores, str, str]:
    """Score a fitted estimator, with calibrated probabilities if its scorer needs them."""
    model, part = rows.of(estimator)
    if context.calibrates and best_method_of(model) in context.calibrates:
        _, (_, X, y) = rows.of(estimator)  # the model may change those that it has seen
        with suppress(Exception):  # the scorer reports failing predictions
            weights = weights_of(context, part[0])
            model = CalibratedOnFold.of(model, X, y, as_classes(context.classes), weights)
            model.rows = part[1]
    return score(context, model, *part, scorer=scorer)
