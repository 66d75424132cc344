"""Measurements of a fitted model in addition to its scores: seconds and bytes."""

from sksearch._utils._clock import now
from sksearch._utils._compat import num_samples
from sksearch._utils._typing import Predictor, Samples
from sksearch.base._state import State
from sksearch.estimators._model_choice import model_of
from sksearch.fitting.run._scores import failure, reraise_if_not_the_candidates
from sksearch.fitting.run._states import size_of
from sksearch.fitting.run._tasks import Context, Output, Task

# Repetitions of a prediction; the fastest is used, because others may include waiting
N_REPEATS = 3


def measure(context: Context, task: Task, output: Output, state: State, X: Samples) -> None:
    """Take the measures needed by objectives and bounds; an error makes the output a failure.

    Parameters
    ----------
    context : Context
        Context of the search.
    task : Task
        The candidate on a fold.
    output : Output
        With its scores; gets the measures.
    state : State
        Fitted.
    X : array-like
        The test rows.
    """
    output.measures = found = {}
    try:
        for name in context.aims.measures:
            if name == "fit_time":
                found[name] = task.seconds_before + output.fit_time
            elif name == "predict_time":
                found[name] = _predict_time(model_of(state.estimator), X)
            else:
                found[name] = size_of(State(model_of(state.estimator)))
    except BaseException as error:
        reraise_if_not_the_candidates(context, error)
        output.status, output.error = failure(error)


def _predict_time(estimator: Predictor, X: Samples) -> float:
    """Seconds that the estimator takes to predict a row of X."""
    seconds = []
    for _ in range(N_REPEATS):
        start = now()
        estimator.predict(X)
        seconds.append(now() - start)
    return max(0.0, min(seconds)) / num_samples(X)
