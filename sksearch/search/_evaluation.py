"""One candidate on one fold: the twin of scikit-learn's ``_fit_and_score`` that can continue.

Its arguments and what it returns travel between processes, so they are plain data.
"""

import numbers
import pickle
import random
import sys
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exc
from typing import Any

import numpy as np
from joblib.logger import short_format_time
from sklearn.base import clone

from sksearch._clock import now
from sksearch._compat import (
    MultimetricScorer,
    check_method_params,
    cloudpickle,
    num_samples,
    safe_split,
    to_namespace_of,
)
from sksearch.base import Resource, State
from sksearch.executors import Interrupts, Place

SEED_RANGE = 2**32


class InvalidScoreError(TypeError, ValueError):
    """A scorer returned something that is no number."""


@dataclass
class Context:
    """What all tasks of a search share.

    Parameters
    ----------
    estimator : estimator object
        Unfitted.
    X, y : array-like
        As the user gave them.
    splits : list of (train, test)
        The frozen folds.
    scorer : callable
        Scorer of one metric or of several.
    metric : str or None
        The metric to optimise, None for the only one or the first.
    fit_params, score_params : dict
        Routed to the estimator and to the scorer.
    resource : Resource
        What one unit is.
    strata : ndarray of shape (n_samples,) or None
        Class index of each row.
    classes : ndarray, list of ndarray or None
        Labels of the whole y.
    seed : int
        Of the search.
    error_score : float or "raise"
        As in scikit-learn.
    return_train_score : bool
        As in scikit-learn.
    verbose : int
        As in scikit-learn.
    n_candidates : int
        Planned, for messages.
    search : SearchCV or None
        For callbacks; None if there are none.
    """

    estimator: Any
    X: Any
    y: Any
    splits: list
    scorer: Any
    metric: str | None
    fit_params: dict
    score_params: dict
    resource: Resource
    strata: np.ndarray | None
    classes: Any
    seed: int
    error_score: Any
    return_train_score: bool
    verbose: int
    n_candidates: int
    search: Any = None


@dataclass
class Task:
    """One candidate to be brought up to a resource on one fold.

    Parameters
    ----------
    trial_id, fold : int
        Which.
    params : dict
        The candidate's.
    resource, spent : int
        Where to bring it, and what was paid before.
    state : State, Path or None
        From the last rung; None for a new candidate or a lost state.
    keep : bool
        Whether a later rung may go on from here.
    callbacks : CallbackContext
        Leaf of the tree of tasks.
    """

    trial_id: int
    fold: int
    params: dict
    resource: int
    spent: int
    state: Any
    keep: bool
    callbacks: Any


def evaluate(context: Context, task: Task, place: Place) -> dict:
    """Train and score.

    Returns
    -------
    out : dict
        ``test_scores``, ``train_scores`` (if asked for), ``n_test_samples``, ``fit_time`` and
        ``score_time`` in seconds, ``fit_error`` (traceback or None) as in scikit-learn;
        ``status`` and ``error`` as in `Result`; ``state``, ``n_steps``, ``seconds`` (of
        training since the beginning) and ``stop`` (whether a callback asks to stop).

    Raises
    ------
    InvalidScoreError
        If the scorer returns no number.
    Exception
        Whatever ``set_params`` raises; what training and scoring raise if
        ``error_score="raise"``.
    """
    if not place.owns_globals:
        return _evaluate(context, task, place)
    with seeded(context.seed, task.trial_id, task.fold, task.resource):
        return _evaluate(context, task, place)


def _evaluate(context, task, place):
    message = _Message(context, task)
    message.start()
    train, test = _rows(context, task)
    fit_params = check_method_params(context.X, params=context.fit_params, indices=train)
    state, lost = _load_state(context, task)
    start = now()
    X_train, y_train = safe_split(state.estimator, context.X, context.y, train)
    X_test, y_test = safe_split(state.estimator, context.X, context.y, test, train)
    weight = fit_params.get("sample_weight")
    hook = {
        "estimator": context.search,
        "X": X_train,
        "y": y_train,
        "metadata": None if weight is None else {"sample_weight": weight},
    }
    out = {"fit_error": None, "status": "ok", "error": "", "state": None, "lost_state": lost}
    try:
        with task.callbacks.propagate_callback_context(state.estimator):
            task.callbacks.call_on_fit_task_begin(**hook)
            state = context.resource.train(
                state, X_train, y_train, task.resource, task.spent, context.classes, fit_params
            )
    except BaseException as error:
        _reraise_if_not_the_candidates(context, error)
        out |= _failure(error) | {"fit_error": format_exc()}
        out["test_scores"] = out["train_scores"] = _error_scores(context)
        out["fit_time"], out["score_time"] = now() - start, 0.0
    else:
        out["fit_time"] = now() - start
        out |= _score_all(context, state, train, test, (X_train, y_train), (X_test, y_test))
        if task.keep and state.n_steps > 0:
            out |= _save_state(place, task, state)
    finally:
        out["stop"] = task.callbacks.call_on_fit_task_end(**hook)
    if not context.return_train_score:
        out.pop("train_scores", None)
    out["n_test_samples"] = num_samples(X_test)
    out["n_steps"], out["seconds"] = state.n_steps, state.seconds
    message.end(out)
    return out


def _rows(context, task):
    """Train and test rows of the task, as indices of X's namespace."""
    train, test = context.splits[task.fold]
    rng = np.random.default_rng((context.seed, task.fold))
    train = context.resource.rows(
        train, context.strata, task.resource, num_samples(context.X), rng
    )
    return to_namespace_of(context.X, (train, test))


def _load_state(context, task):
    """The state to go on from, and why an earlier one is lost: that costs time, nothing more."""
    lost = ""
    if isinstance(task.state, Path):
        try:
            with open(task.state, "rb") as file:
                return _StateUnpickler(file).load(), ""
        except Exception as error:
            lost = _first_line(error)
    elif task.state is not None:
        return task.state, ""
    # Values may be estimators themselves, hence the clone.
    new = clone(context.estimator).set_params(**clone(task.params, safe=False))
    return State(new), lost


def _save_state(place, task, state):
    """The state, or the path of its file; None if it cannot be written."""
    if place.folder is None:
        return {"state": state}
    path = place.folder / f"{task.trial_id}.{task.fold}.{task.resource}"
    try:
        with open(path, "wb") as file:
            _StatePickler(file, protocol=5).dump(state)
    except Exception as error:  # an attribute without pickle, a full disk
        path.unlink(missing_ok=True)
        return {"state": None, "lost_state": _first_line(error)}
    return {"state": path}


# Estimators with random_state=None may hold numpy's global generator itself. It must be the
# one of the process that goes on, which is seeded for each task, and not a copy.
GLOBAL_GENERATOR = "numpy's global RandomState"


class _StatePickler(cloudpickle.CloudPickler):
    def persistent_id(self, obj):
        return GLOBAL_GENERATOR if obj is np.random.mtrand._rand else None


class _StateUnpickler(pickle.Unpickler):
    def persistent_load(self, pid):
        return np.random.mtrand._rand


# ---- failures


def _reraise_if_not_the_candidates(context, error):
    """Let pass what is not a candidate's failure: Ctrl-C, and all if the user wants to see it."""
    if isinstance(error, KeyboardInterrupt) and Interrupts.pending:
        raise error
    if isinstance(error, GeneratorExit):
        raise error
    if context.error_score == "raise" and isinstance(error, Exception):
        raise error


def _failure(error):
    status = "memory" if isinstance(error, MemoryError) else "error"
    return {"status": status, "error": _first_line(error)}


def _first_line(error):
    try:
        text = str(error)
    except Exception:  # an error whose text cannot be made is still an error
        text = "<no text>"
    return f"{type(error).__name__}: {text}".strip().splitlines()[0]


def _error_scores(context):
    """The score of a failed fit, once for each metric that is known beforehand."""
    # With "raise" only SystemExit and the like come here.
    score = np.nan if context.error_score == "raise" else context.error_score
    if isinstance(context.scorer, MultimetricScorer):
        return dict.fromkeys(context.scorer._scorers, score)
    return score


# ---- scores


def _score_all(context, state, train, test, train_rows, test_rows):
    """Scores on the test rows, and on the training rows if asked for."""
    start = now()
    scores, problem = _score(context, state.estimator, *test_rows, test)
    out = {"test_scores": scores, "score_time": now() - start} | problem
    if context.return_train_score:
        out["train_scores"], _ = _score(context, state.estimator, *train_rows, train)
    return out


def _score(context, estimator, X, y, rows):
    """Scores as numbers, and what went wrong as fields of the output."""
    params = check_method_params(context.X, params=context.score_params, indices=rows)
    args = (X,) if y is None else (X, y)
    problem = {}
    try:
        scores = context.scorer(estimator, *args, **params)
    except BaseException as error:
        _reraise_if_not_the_candidates(context, error)
        _warn_scoring_failed(context, format_exc())
        return _error_scores(context), _failure(error)
    if not isinstance(scores, dict):
        return _as_number(scores, context.scorer), problem
    for name, score in scores.items():
        if isinstance(context.scorer, MultimetricScorer) and isinstance(score, str):
            # The text of a traceback: this metric failed, the others need not have.
            _warn_scoring_failed(context, score)
            scores[name] = context.error_score
            if name == (context.metric or next(iter(scores))):
                problem = {"status": "error", "error": score.strip().splitlines()[-1]}
        else:
            scores[name] = _as_number(score, name)
    return scores, problem


def _warn_scoring_failed(context, details):
    warnings.warn(
        "Scoring failed. The score on this train-test partition for these parameters will be "
        f"set to {context.error_score}. Details: \n{details}",
        UserWarning,
        stacklevel=2,
    )


def _as_number(score, scorer):
    if hasattr(score, "item"):
        with suppress(ValueError, RuntimeError):
            score = score.item()  # 0-d arrays and memory-mapped scalars
    if not isinstance(score, numbers.Number) or isinstance(score, complex):
        raise InvalidScoreError(
            f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})"
        )
    return score


# ---- seeds


@contextmanager
def seeded(*words):
    """Seed the global generators for a while, as a function of what is computed.

    Estimators with ``random_state=None`` draw from them, so without this their scores would
    depend on ``n_jobs`` and on what ran before.

    Parameters
    ----------
    *words : int
        Seed of the search, trial, fold, resource.
    """
    seed = int(np.random.SeedSequence(words).generate_state(1)[0])
    legacy, own = np.random.get_state(), random.getstate()
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None else None
    np.random.seed(seed)
    random.seed(seed)
    if torch is not None:
        torch.manual_seed(seed)
    try:
        yield
    finally:
        np.random.set_state(legacy)
        random.setstate(own)
        if torch is not None:
            torch.set_rng_state(torch_state)


# ---- messages


class _Message:
    """scikit-learn's ``[CV] END`` lines."""

    def __init__(self, context, task):
        self.verbose = context.verbose
        if self.verbose <= 1:
            return
        self.progress = ""
        if self.verbose > 2:
            self.progress = f" {task.fold + 1}/{len(context.splits)}"
        if self.verbose > 9:
            self.progress += f"; {task.trial_id + 1}/{context.n_candidates}"
        params = context.resource.params(task.params, task.resource)
        self.params = ", ".join(f"{name}={params[name]}" for name in sorted(params))

    def start(self):
        if self.verbose > 9:
            line = f"[CV{self.progress}] START {self.params}"
            print(f"{line}{(80 - len(line)) * '.'}")

    def end(self, out):
        if self.verbose <= 1:
            return
        text = self.params + (";" if self.params else "")
        if self.verbose > 2:
            text += self._scores(out["test_scores"], out.get("train_scores"))
        text += f" total time={short_format_time(out['fit_time'] + out['score_time'])}"
        head = f"[CV{self.progress}] END "
        print(f"{head}{'.' * (80 - len(head) - len(text))}{text}")

    @staticmethod
    def _scores(test, train):
        def one(test, train):
            return f"test={test:.3f}" if train is None else f"train={train:.3f}, test={test:.3f}"

        if isinstance(test, dict):
            trains = train or {}
            return "".join(f" {k}: ({one(test[k], trains.get(k))})" for k in sorted(test))
        if train is None:
            return f", score={test:.3f}"
        return f", score=({one(test, train)})"
