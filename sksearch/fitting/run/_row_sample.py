"""Subsets of the training rows if the time is too short for all rows."""

import math
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sksearch._utils._clock import now
from sksearch._utils._compat import check_method_params, num_samples, safe_split, to_namespace_of
from sksearch._utils._numerics import one_blas_thread
from sksearch._utils._seeds import seeded
from sksearch._utils._time_limit import TimeLimit, on_more_rows
from sksearch._utils._typing import Samples, Targets
from sksearch.base._resource import fit
from sksearch.estimators._model_choice import model_of, named_of
from sksearch.executors._signals import Interrupts
from sksearch.fitting.run._folds import count_rows, trains_on_the_past
from sksearch.fitting.run._tasks import Context, RowSample

MIN_ROWS = 2_000  # number of rows of a training fold that is never too large
N_FITS = 24  # minimum number of fits of the untuned estimator within the time
STEP = 2  # ratio of the numbers of rows at which the cost is measured
LARGEST_GROWTH = 3.0  # exponent of seconds over rows
PROBABLE_GROWTH = 2.0  # largest exponent of most estimators
LEAST_GROWTH = 0.5  # with a smaller exponent, fewer rows save too little time
STEP_OF_MODELS = 4  # the same, for several models
FEWEST_OF_MODELS = 62  # rows, on which each is measured first
ENOUGH_FOR_GROWTH = 900  # rows, below which noise looks like a power of the rows
PART_OF_PACES = 0.1  # share of the time for measuring several models
MOST_OF_PACES = 0.25  # the same, if a few rows already take longer
PART_TO_PREDICT = 5  # training rows per predicted row, roughly as in five folds
SHORTEST = 1e-4  # in seconds; shorter times cannot be measured reliably
MANY_ROWS = 20_000  # with fewer rows, the measurements cost more than they save
SECONDS_A_ROW = 1 / 250  # time per row below which models are measured
WORTH = 0.75  # share of the rows from which on all rows are used


class TooLongError(TimeoutError):
    """The refit of a candidate would take too much of the time."""


def check_last_training(context: Context, trial_id: int, seconds: float) -> None:
    """Raise TooLongError if a candidate with this training time could not be refitted in time.

    Parameters
    ----------
    context : Context
        Context of the search.
    trial_id : int
        Id of the trial; the first one, which may be the untuned estimator, has no limit.
    seconds : float
        Seconds of its training on a part of the rows.
    """
    sample = context.sample
    if sample is None or sample.limit is None or trial_id == 0 or context.error_score == "raise":
        return
    last = on_more_rows(seconds, sample.n_rows, num_samples(context.X), sample.growth)
    if last > sample.limit:
        raise TooLongError(
            f"its fit on all rows would take about {last:.0f} s, but the timeout leaves "
            f"{sample.limit:.0f} s: pass a larger timeout."
        )


def choose_sample(
    seconds_of: Callable[[int], tuple[float, float]],
    n_train: int,
    n_samples: int,
    time: TimeLimit,
    n_workers: int = 1,
    n_folds: int = 1,
) -> RowSample | None:
    """Choose the largest number of rows that allows `N_FITS` fits within the time.

    The cost is measured at a few hundred rows, and then at repeatedly doubled numbers while this
    takes a small part of the time. For more rows it is predicted as a power of the number of rows.

    Parameters
    ----------
    seconds_of : callable
        ``seconds_of(n_rows)`` measures one training, and its scoring; NaN if they fail.
    n_train : int
        Number of rows of a training fold.
    n_samples : int
        Number of rows of the refit; 0 without a refit.
    time : TimeLimit
        Time of the search.
    n_workers : int, default=1
        Number of fits at a time.
    n_folds : int, default=1
        Number of folds. With many there should be time for two candidates on all of them.

    Returns
    -------
    sample : RowSample or None
        None: all rows.

    Examples
    --------
    >>> from sksearch._utils._time_limit import TimeLimit
    >>> from sksearch.fitting.run._row_sample import choose_sample
    >>> quadratic = lambda n_rows: ((n_rows / 10_000) ** 2, 0.0)  # seconds
    >>> choose_sample(quadratic, 16_000, 20_000, TimeLimit(20)).n_rows
    8164
    >>> choose_sample(quadratic, 16_000, 20_000, TimeLimit(70)) is None
    True
    """
    if n_train <= MIN_ROWS:
        return None

    def time_for_each(last: float) -> float:
        return time.of_each(max(N_FITS, 2 * n_folds), last) * n_workers

    rows = MIN_ROWS // STEP**2
    growths: tuple[float, ...] = (LARGEST_GROWTH, LARGEST_GROWTH)
    known: list[tuple[float, float]] = []  # seconds of the training, and with its scoring
    # 0 if the fit fails or the clock does not advance
    while (whole := sum(parts := seconds_of(rows))) > 0:
        known.append((parts[0], whole))
        if len(known) > 1:
            growths = tuple(map(_growth, *known[-3:]))
        # The exponent increases with the number of rows.
        most_alone, most = (max(each, PROBABLE_GROWTH) for each in growths)
        last = on_more_rows(parts[0], rows, n_samples, most_alone)
        if on_more_rows(whole, rows, n_train, most) <= time_for_each(last):
            return None
        is_dear = time.is_long(whole * STEP ** growths[1])
        if len(known) > 1 and (is_dear or rows * STEP >= n_train):
            break
        rows *= STEP
    else:
        return None
    alone, growth = max(growths[0], 1.0), growths[1]
    if growth < LEAST_GROWTH:
        return None
    last = on_more_rows(parts[0], rows, n_samples, alone)
    n_rows = max(MIN_ROWS, int(rows * (time_for_each(last) / whole) ** (1 / growth)))
    return RowSample(n_rows, alone, last) if n_rows < WORTH * n_train else None


def _growth(*seconds: float) -> float:
    """Exponent of the seconds over the number of rows, which grows by `STEP`."""
    if min(seconds) <= 0:
        return 0.0
    growth = math.log(seconds[-1] / seconds[0], STEP) / (len(seconds) - 1)
    return min(max(growth, 0.0), LARGEST_GROWTH)


def seconds_of_one_fit(context: Context, n_rows: int | None = None) -> tuple[float, float]:
    """Measure one training of the untuned estimator, on the largest fold, and its scoring.

    Parameters
    ----------
    context : Context
        Context of the search.
    n_rows : int or None, default=None
        Number of rows to train on. None: the rows that the search trains on, without a scoring.

    Returns
    -------
    training, scoring : float
        Seconds that each took.
    """
    sizes = [count_rows(train) for train, _ in context.splits]
    fold = sizes.index(max(sizes))
    train, test = context.splits[fold]
    sample = context.sample
    if n_rows is not None:
        sample = RowSample(n_rows, 1.0, 0.0, latest=trains_on_the_past(context.splits))
    if sample is not None:
        train = sample.rows(train, context.strata, context.seed, fold)
    train, test = to_namespace_of(context.X, (train, test))
    estimator = clone(context.estimator)
    X, y = safe_split(estimator, context.X, context.y, train)
    X_test, y_test = safe_split(estimator, context.X, context.y, test, train)
    params = check_method_params(context.X, params=context.fit_params, indices=train)
    score_params = check_method_params(context.X, params=context.score_params, indices=test)
    start = now()
    fit(estimator, X, y, params)
    fitted = now()
    if n_rows is not None:
        model, args = model_of(estimator), (X_test,) if y is None else (X_test, y_test)
        context.scorer(model, *args, **score_params)
    return fitted - start, now() - fitted


def seconds_of_models(context: Context) -> dict[str, float]:
    """Measure one training of each model among which the search chooses, all untuned.

    Parameters
    ----------
    context : Context
        Context of the search.

    Returns
    -------
    seconds : dict of str to float
        Seconds by name of the model; empty for a single model.
    """
    found = {}
    for name, _ in named_of(context.estimator):
        one = clone(context.estimator).set_params(model=name)
        found[name] = seconds_of_one_fit(replace(context, estimator=one))[0]
    return found


@dataclass(frozen=True)
class Pace:
    """Time of an untuned model, measured on few rows.

    Parameters
    ----------
    known : list of (int, float, float)
        Number of rows, seconds of a fit, and seconds of a fit with predictions for a fifth as many
        rows, for ascending numbers.
    """

    known: list[tuple[int, float, float]]

    def on(self, n_rows: int) -> tuple[float, float]:
        """Predict both for a number of rows.

        The time is a power of the number of rows, or a linear function with an intercept.
        """
        (n_before, _, before), (n, training, whole) = [(0, 0.0, 0.0), *self.known][-2:]
        slope = min(max(whole - before, 0.0) / (n - n_before), whole / n)
        times = 1 + slope * (n_rows - n) / whole
        if n >= ENOUGH_FOR_GROWTH and whole / before > n / n_before:
            growth = math.log(whole / before, n / n_before)
            times = (n_rows / n) ** min(growth, LARGEST_GROWTH)
        return training * times, whole * times

    @classmethod
    def of(cls, model: Any, X: Samples, y: Targets, most: float) -> "Pace | None":
        """Measure a model on more and more rows while this takes less than `most` seconds.

        There are at least two measurements, because the first may include loading code. None if
        all fits fail; the search itself then reports the failures.
        """
        n_rows, n = FEWEST_OF_MODELS, num_samples(X)
        rows = np.random.default_rng(0).permutation(n)
        known: list[tuple[int, float, float]] = []
        while n_rows <= n // 2 and (len(known) < 2 or known[-1][-1] * STEP_OF_MODELS < most):
            try:
                known.append((n_rows, *_seconds_of(clone(model), X, y, rows[:n_rows])))
            except Exception:  # a few rows may contain only one class
                if n_rows > MIN_ROWS:
                    break
            n_rows *= STEP_OF_MODELS
        return cls(known) if known else None


def _seconds_of(model: Any, X: Samples, y: Targets, rows: np.ndarray) -> tuple[float, float]:
    """Return the seconds of a fit, and of a fit with predictions for a fifth of the rows."""
    rows = np.sort(rows)
    data: tuple[Any, Any] = safe_split(model, X, y, rows)
    few, _ = safe_split(model, X, y, rows[: max(1, len(rows) // PART_TO_PREDICT)])
    with warnings.catch_warnings(), seeded(0):
        warnings.simplefilter("ignore")  # they are repeated later if relevant
        start = now()
        fit(model, *data, {})
        fitted = now()
        model.predict(few)
    Interrupts.heed()  # scikit-learn's MLP catches it
    return fitted - start, max(now() - start, SHORTEST)


def paces_of(
    models: Sequence[tuple[str, Any]], X: Samples, y: Targets, time: TimeLimit
) -> tuple[dict[str, Pace], list[str]]:
    """Measure the models of a list, and name those too slow for a time limit.

    A model is too slow if a fit on the minimum number of rows takes longer than its share of the
    time, if the refit takes longer than allowed, or if the time for measuring was up. The fastest
    model is always kept.

    Parameters
    ----------
    models : sequence of tuple (str, estimator)
        Models with their names.
    X, y : array-like
        Training data.
    time : TimeLimit
        Time of the search.

    Returns
    -------
    paces : dict of str to Pace
        Paces of the other models.
    left_out : list of str
        Names of models too slow.
    """
    timeout, n = time.timeout or math.inf, num_samples(X)
    most = PART_OF_PACES * timeout / len(models)
    paces: dict[str, Pace] = {}
    slow: list[str] = []
    with Interrupts(), one_blas_thread():  # as in the search
        for name, model in models:
            if paces and time.elapsed() > MOST_OF_PACES * timeout:
                slow.append(name)
            elif (pace := Pace.of(model, X, y, most)) is not None:
                paces[name] = pace
    last = time.of_last(0.0) or math.inf

    def is_slow(pace: Pace) -> bool:
        return pace.on(min(n, MIN_ROWS))[1] > timeout / len(models) or pace.on(n)[1] > last

    slow += [name for name, pace in paces.items() if is_slow(pace)]
    if paces and len(slow) == len(models):
        slow.remove(min(paces, key=lambda name: paces[name].on(n)[1]))
    kept = {name: pace for name, pace in paces.items() if name not in slow}
    return kept, [name for name, _ in models if name in slow]


def measured_sample(
    context: Context,
    time: TimeLimit,
    n_workers: int,
    refits: bool,
    paces: Collection[Pace] = (),
) -> RowSample | None:
    """Choose the rows of a search by the time that the untuned estimator takes.

    Parameters
    ----------
    context : Context
        Context of the search.
    time : TimeLimit
        Time of the search.
    n_workers : int
        Number of fits at a time.
    refits : bool
        True if the best candidate is refitted on all rows.
    paces : collection of Pace, default=()
        Measured times of several models, whose mean is taken.

    Returns
    -------
    sample : RowSample or None
        None: all rows, even if the estimator cannot be trained on few.
    """

    def seconds_of(n_rows: int) -> tuple[float, float]:
        if paces:
            training, whole = np.mean([pace.on(n_rows) for pace in paces], axis=0)
            return float(training), float(whole)
        with warnings.catch_warnings(), seeded(context.seed, n_rows):
            warnings.simplefilter("ignore")  # they are repeated later if relevant
            try:
                seconds = seconds_of_one_fit(context, n_rows)
            except Exception:
                return math.nan, math.nan
            Interrupts.heed()  # scikit-learn's MLP catches it
            return seconds

    n_train = max(count_rows(train) for train, _ in context.splits)
    n_samples = num_samples(context.X) if refits else 0
    sizes = n_train, n_samples
    with Interrupts():
        sample = choose_sample(seconds_of, *sizes, time, n_workers, len(context.splits))
    if sample is None:
        return None
    limit = time.of_last(sample.last_seconds) if refits else None
    return replace(sample, limit=limit, latest=trains_on_the_past(context.splits))
