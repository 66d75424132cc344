"""Conversion of a scorer's return value to numbers, and of exceptions to failures."""

import math
import numbers
from contextlib import suppress
from traceback import format_exc
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sksearch._utils._compat import (
    MultimetricScorer,
    check_method_params,
    is_scorer,
    reads_predictions,
    safe_split,
)
from sksearch._utils._terminal import warn
from sksearch._utils._typing import Estimator, Samples, Scorer, Scores, Scoring, Targets
from sksearch.estimators._model_choice import model_of
from sksearch.estimators._pipeline import inner_of, own_rows, predictor, prepared
from sksearch.estimators._skorch import DivergedError
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._row_sample import TooLongError
from sksearch.fitting.run._states import first_line
from sksearch.fitting.run._tasks import Context

#: Rows of a fold: their indices, X and y.
Part = tuple[Any, Any, Any]

#: In the text of PyTorch's RuntimeError, since it has no class for a full CPU memory.
MEMORY_WORDS = ("can't allocate memory", "not enough memory", "out of memory")


#: In the text of errors after which a process cannot use its GPU any more.
STICKY = (
    "device-side assert",
    "illegal memory access",
    "misaligned address",
    "unspecified launch failure",
    "illegal instruction was encountered",
    "uncorrectable ECC error",
)


NO_SCORE = "scoring must return a number, got None (<class 'NoneType'>) instead"
#: Number of first jobs without a score after which the scorer is considered the cause.
N_INVALID, N_WITHOUT_SCORE = 3, 10


class InvalidScoreError(TypeError, ValueError):
    """A scorer's return value is not a score."""


# ---- failures


def reraise_if_not_the_candidates(context: Context, error: BaseException) -> None:
    """Re-raise exceptions that are not failures of a candidate: Ctrl-C, or all if requested."""
    Interrupts.let_pass(error)
    if context.error_score == "raise" and isinstance(error, Exception):
        raise error


def failure(error: BaseException) -> tuple[str, str]:
    """Return status and first line of a candidate's exception."""
    text = first_line(error)
    if isinstance(error, DivergedError):
        return "nan", text
    if isinstance(error, TooLongError):
        return "timeout", text
    if is_gpu_broken(error):
        return "crash", text
    is_full = isinstance(error, MemoryError) or any(
        cls.__name__ == "OutOfMemoryError"
        for cls in type(error).__mro__  # errors of PyTorch and CuPy
    )
    if not is_full and isinstance(error, RuntimeError):
        is_full = any(words in text for words in MEMORY_WORDS)
    return "memory" if is_full else "error", text


def is_gpu_broken(error: BaseException) -> bool:
    """True if a CUDA error makes the GPU unusable for the rest of this process."""
    return isinstance(error, RuntimeError) and any(words in str(error) for words in STICKY)


def error_scores(context: Context) -> Scores:
    """Return the score of a failed fit, for each metric known in advance."""
    # With "raise", only errors such as SystemExit reach this line.
    score = np.nan if context.error_score == "raise" else context.error_score
    if isinstance(context.scorer, MultimetricScorer):
        return dict.fromkeys(context.scorer._scorers, score)
    return score


# ---- scores


class FoldRows:
    """Rows of a fold for scoring, which transformers of a pipeline may change in place.

    If a pipeline predicts on them `repeatedly`, they are transformed once: training that finds its
    length is scored after many steps, with the same transformers.

    Parameters
    ----------
    context : Context
        Context of the search.
    rows : tuple
        Indices, X and y of the rows.
    train : array-like
        Indices of the training rows, for precomputed kernels.
    repeatedly : bool, default=True
        False if they are scored once.
    is_used : bool, default=False
        True if a composition has been trained on this X.
    """

    def __init__(
        self,
        context: Context,
        rows: Part,
        train: ArrayLike,
        repeatedly: bool = True,
        is_used: bool = False,
    ):
        self._context, (self._indices, self._X, self._y) = context, rows
        self._train, self._transforms, self._is_used = train, repeatedly, is_used
        self._prepared: Any = None

    def of(self, estimator: Estimator) -> tuple[Any, Part]:
        """Return a fitted model with the same scores, and its rows.

        They are the predictor and the transformed rows, or the estimator itself and new rows if
        its scorer reads more than predictions, or if its transformers fail.
        """
        if self._transforms:
            self._transforms = False
            with suppress(Exception):  # the score reports it
                if reads_predictions(self._context.scorer, model_of(estimator)):
                    self._prepared = prepared(estimator, self._new(estimator))
        if self._prepared is not None:
            model = predictor(estimator)
            _, part = inner_of(model) or ("", model)  # a regressor of a transformed target
            return model, (self._indices, own_rows(part, self._prepared), self._y)
        return estimator, (self._indices, self._new(estimator), self._y)

    def _new(self, estimator: Estimator) -> Samples:
        """Return X, which no step of a composition has changed."""
        is_used, self._is_used = self._is_used, True
        if not is_used or inner_of(model_of(estimator)) is None:
            return self._X
        context = self._context
        X, _ = safe_split(estimator, context.X, context.y, self._indices, self._train)
        return X


def score(
    context: Context,
    estimator: Estimator,
    indices: ArrayLike,
    X: Samples,
    y: Targets,
    *,
    scorer: Scorer | None = None,
) -> tuple[Scores, str, str]:
    """Score a fitted estimator; a list of models passes its chosen model to the scorer.

    Parameters
    ----------
    context : Context
        Context of the search.
    estimator : estimator object
        Fitted.
    indices : array-like
        Indices of the rows, for arguments of ``fit`` with one entry per row.
    X, y : array-like
        The rows; y may be None.
    scorer : callable or None, default=None
        A scorer equivalent to the search's. None: the search's scorer.

    Returns
    -------
    scores : float or dict of str to float
        One, or several by metric.
    status, error : str
        Status and error of the deciding metric, as in `Result`.

    Raises
    ------
    Exception
        The scorer's exception, or `InvalidScoreError`, if ``error_score="raise"``.
    """
    params = check_method_params(context.X, params=context.score_params, indices=indices)
    args = (X,) if y is None else (X, y)
    try:
        scores = (scorer or context.scorer)(model_of(estimator), *args, **params)
        return _as_numbers(context, scores)
    except BaseException as error:
        reraise_if_not_the_candidates(context, error)
        _warn_scoring_failed(context, format_exc())
        return error_scores(context), *failure(error)


def _as_numbers(context: Context, scores: object) -> tuple[Scores, str, str]:
    """Scores as numbers, with status and error of the deciding one."""
    _check_names(context, scores)
    try:
        context.aims.check(scores, context.scorer)
    except ValueError as missing:
        raise InvalidScoreError(str(missing)) from None
    if not isinstance(scores, dict):
        return _as_number(scores, context.scorer), "ok", ""
    counts = context.metric or next(iter(scores))
    found, status, text = {}, "ok", ""
    for name, value in scores.items():
        if isinstance(context.scorer, MultimetricScorer) and isinstance(value, str):
            details, error = value, value.strip().splitlines()[-1]  # last line of a traceback
        else:
            try:
                found[str(name)] = _as_number(value, name)
                continue
            except InvalidScoreError as invalid:
                if context.error_score == "raise":
                    raise
                details = error = first_line(invalid)
        # The other metrics may have a score.
        _warn_scoring_failed(context, details)
        found[str(name)] = context.error_score
        if name == counts:
            status, text = "error", error
    return found, status, text


def _check_names(context: Context, scores: object) -> None:
    """Raise InvalidScoreError if the deciding metric is missing."""
    wanted = context.metric
    if not isinstance(scores, dict):
        if context.has_names:
            raise InvalidScoreError(
                f"scoring must return a dict with the metric {wanted!r} of refit, got {scores} "
                f"({type(scores)}) instead. (scorer={context.scorer})"
            )
    elif context.has_names is False:
        raise InvalidScoreError(
            f"scoring must return a number, got the metrics {[*scores]} instead. For multi-metric "
            "scoring, the parameter refit must be set to a scorer key or a callable, or to False. "
            f"(scorer={context.scorer})"
        )
    elif not scores or wanted not in (None, *scores):
        asked = "at least one metric" if wanted is None else f"{wanted!r} of refit"
        raise InvalidScoreError(
            f"scoring must return {asked}, got the metrics {[*scores]}. For multi-metric scoring, "
            "the parameter refit must be set to a scorer key or a callable to refit. "
            f"(scorer={context.scorer})"
        )


def _as_number(score: object, scorer: object) -> float:
    """The score as a float; InvalidScoreError if invalid."""
    if hasattr(score, "item"):
        with suppress(ValueError, RuntimeError):
            score = score.item()  # 0-d arrays and memory-mapped scalars
    if isinstance(score, numbers.Number):
        with suppress(TypeError, ValueError, OverflowError):  # complex, 10**400
            return float(score)  # type: ignore[arg-type]  # not all numbers can
    if score is None:
        raise InvalidScoreError(f"{NO_SCORE}. Does it end with return? (scorer={scorer})")
    raise InvalidScoreError(
        f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})"
    )


def _warn_scoring_failed(context: Context, details: str) -> None:
    warn(
        "Scoring failed. The score on this train-test partition for these parameters will be "
        f"set to {context.error_score}. Details: \n{details}",
    )


def scores_have_names(scoring: Scoring, refit: object, scorer: Scorer) -> bool | None:
    """Return whether scores are a dict by metric, None if a user's function decides.

    Parameters
    ----------
    scoring, refit : object
        As passed by the user.
    scorer : callable
        The scorer that ``scoring`` names.
    """
    if isinstance(scorer, MultimetricScorer):
        return True
    if not callable(scoring) or is_scorer(scoring):
        return False
    if isinstance(refit, str):
        return True
    return None if callable(refit) or not refit else False


def check_scorer(outputs: list, n_jobs: float = math.inf) -> None:
    """Raise InvalidScoreError if the scorer returned a score for none of these outputs.

    Parameters
    ----------
    outputs : list of Output
        Outputs of one or more jobs.
    n_jobs : float, default=inf
        Number of these jobs. None means that a candidate has no score, so the scorer is only
        considered the cause after several jobs.
    """
    start = f"{InvalidScoreError.__name__}: "
    if all(output.error.startswith(start) for output in outputs):
        is_none = all(output.error.startswith(f"{start}{NO_SCORE}") for output in outputs)
        if n_jobs >= (N_WITHOUT_SCORE if is_none else N_INVALID):
            raise InvalidScoreError(outputs[0].error.removeprefix(start))
