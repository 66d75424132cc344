"""One candidate on one fold: the twin of scikit-learn's ``_fit_and_score`` that can continue.

Its arguments and what it returns travel between processes, so they are plain data.
"""

import numbers
import random
import sys
import warnings
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from traceback import format_exc
from typing import Any

import numpy as np
from joblib.logger import short_format_time
from sklearn.base import clone

from sksearch._clock import now
from sksearch._compat import (
    MultimetricScorer,
    check_method_params,
    num_samples,
    safe_split,
    to_namespace_of,
)
from sksearch.base import Resource, State
from sksearch.executors import Interrupts, LostTask, TaskEnvironment
from sksearch.fitting._states import SavedState, as_state, dump_state, first_line

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
    spool : Spool or None
        Where to leave a copy of each output until the search has noted it; None for nowhere.
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
    spool: Any = None


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
    state : State, SavedState, bytes or None
        From the last rung; None for a new candidate or a lost state.
    rungs : tuple of int
        Resources that the trial was brought up to before.
    continues : bool
        Whether there was a state; one that is lost is then trained again, rung by rung.
    keep : bool
        Whether a later rung may go on from here.
    final : bool
        Whether the model itself is wanted, since no later rung trains it.
    callbacks : CallbackContext
        Leaf of the tree of tasks.
    """

    trial_id: int
    fold: int
    params: dict
    resource: int
    spent: int
    state: Any
    rungs: tuple[int, ...]
    continues: bool
    keep: bool
    final: bool
    callbacks: Any

    @property
    def name(self) -> str:
        """A name that no other task of the search has, good for a file."""
        return f"{self.trial_id}.{self.resource}.{self.fold}"

    def carrying(self):
        """The task with the content of its state's file, for a worker that does not see it."""
        if not isinstance(self.state, SavedState):
            return self
        try:
            return replace(self, state=self.state.path.read_bytes())
        except OSError:
            return replace(self, state=None)


def evaluate(context: Context, task: Task, place: TaskEnvironment) -> dict:
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
    with _seeded(context, task, task.resource, place):
        out = _evaluate(context, task, place)
    if context.spool is not None:
        with suppress(OSError):  # not there on this machine, or full: nothing depends on it
            context.spool.write(task.name, out)
    return out


def lost_output(context: Context, task: Task, lost: LostTask) -> dict:
    """What `evaluate` would have returned for a task that its worker did not return from."""
    error = f"{lost.status}: {lost.error}"
    if context.error_score == "raise":
        raise RuntimeError(f"A candidate was lost ({error}). Its params are {task.params}.")
    out = {
        "fit_error": f"{error}\n",
        "status": lost.status,
        "error": lost.error,
        "state": None,
        "lost_state": "",
        "test_scores": _error_scores(context),
        "fit_time": lost.seconds,
        "score_time": 0.0,
        "stop": False,
        "n_test_samples": num_samples(context.splits[task.fold][1]),
        "n_steps": 0,
        "seconds": lost.seconds,
    }
    return out | ({"train_scores": _error_scores(context)} if context.return_train_score else {})


def _seeded(context, task, resource, place):
    if not place.owns_globals:
        return nullcontext()
    return seeded(context.seed, task.trial_id, task.fold, resource)


def _evaluate(context, task, place):
    message = _Message(context, task)
    message.start()
    train, test = _rows(context, task)
    fit_params = check_method_params(context.X, params=context.fit_params, indices=train)
    state, lost, steps = _load_state(context, task)
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
            for spent, resource in steps:
                # What is lost is trained again with the seeds that it was trained with.
                lost_step = resource < task.resource
                with _seeded(context, task, resource, place) if lost_step else nullcontext():
                    state = context.resource.train(
                        state, X_train, y_train, resource, spent, context.classes, fit_params
                    )
    except BaseException as error:
        _reraise_if_not_the_candidates(context, error)
        out |= _failure(error) | {"fit_error": format_exc()}
        out["test_scores"] = out["train_scores"] = _error_scores(context)
        out["fit_time"], out["score_time"] = now() - start, 0.0
    else:
        out["fit_time"] = now() - start
        out |= _score_all(context, state, train, test, (X_train, y_train), (X_test, y_test))
        if task.final and out["status"] == "ok":
            out |= _save_state(place, task, replace(state, rows=None))
        elif task.keep and state.n_steps > 0:
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
    """The state to go on from, why an earlier one is lost, and the (spent, resource) to train.

    A lost state costs time, nothing more.
    """
    lost, step = "", (task.spent, task.resource)
    try:
        if task.state is not None:
            return as_state(task.state), "", [step]
    except Exception as error:
        lost = first_line(error)
    # Values may be estimators themselves, hence the clone.
    new = clone(context.estimator).set_params(**clone(task.params, safe=False))
    if not task.continues:
        return State(new), lost, [step]
    return State(new), lost, list(pairwise((0, *task.rungs, task.resource)))


def _save_state(place, task, state):
    """The state as it can travel; None if it cannot be written."""
    if place.folder is None and place.shares_memory:
        return {"state": state}
    try:
        content = dump_state(state)
        if place.folder is None:
            return {"state": content}
        return {"state": SavedState.write(content, place.folder / task.name)}
    except Exception as error:  # an attribute without pickle, a full disk
        return {"state": None, "lost_state": first_line(error)}


# ---- failures


def _reraise_if_not_the_candidates(context, error):
    """Let pass what is not a candidate's failure: Ctrl-C, and all if the user wants to see it."""
    if isinstance(error, KeyboardInterrupt | SystemExit) and Interrupts.pending:
        raise error
    if isinstance(error, GeneratorExit):
        raise error
    if context.error_score == "raise" and isinstance(error, Exception):
        raise error


def _failure(error):
    status = "memory" if isinstance(error, MemoryError) else "error"
    return {"status": status, "error": first_line(error)}


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
