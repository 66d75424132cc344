"""Number of training rows of candidates, chosen by measurements if there is a time limit."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from joblib import effective_n_jobs

from sksearch._utils._compat import num_samples
from sksearch._utils._terminal import warn
from sksearch._utils._time_limit import TimeLimit
from sksearch._utils._typing import Samples, Targets
from sksearch.estimators._model_choice import named_of
from sksearch.fitting.prepare._options import Options
from sksearch.fitting.run._folds import count_rows
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._row_sample import (
    MANY_ROWS,
    SECONDS_A_ROW,
    Pace,
    measured_sample,
    paces_of,
)
from sksearch.fitting.run._setup import Setup

EMPTY: Mapping[str, Pace] = MappingProxyType({})


def may_measure(options: Options) -> bool:
    """True if time is the only limit, and the search chooses how to spend it."""
    if not options.leaves_spending or options.workers.are_needed or options.goal.has_aims:
        return False
    return options.timeout is not None and options.spending.n_iter is None


def measured_models(
    options: Options, X: Samples, y: Targets, time: TimeLimit
) -> tuple[dict[str, Pace], tuple[str, ...]]:
    """Measure the models of a list if the time is short, and name models that are too slow.

    Models with a user's space or first candidates are kept.
    """
    models, n = named_of(options.estimator), num_samples(X)
    is_free = options.space is None and options.knowledge.is_left
    if len(models) < 2 or n < MANY_ROWS or y is None or not (is_free and may_measure(options)):
        return {}, ()
    if time.left_at(0.0) > n * SECONDS_A_ROW:
        return {}, ()
    paces, left_out = paces_of(models, X, y, time)
    return paces, tuple(left_out)


def choose_rows(options: Options, setup: Setup, paces: Mapping[str, Pace] = EMPTY) -> None:
    """Measure the number of training rows for which there is time, if rows may be left out.

    `paces` are the measurements of several models.
    """
    if not may_measure(options):
        return
    timeout, refits = setup.time.timeout, setup.plan.refit
    n_workers = effective_n_jobs(options.workers.n_jobs)
    args = setup.context, setup.time, n_workers, refits, paces.values()
    sample = measured_sample(*args)
    setup.context.sample = sample
    if timeout is not None and sample is not None and refits and sample.last_seconds > timeout:
        warn(
            f"The refit on all rows will take about {sample.last_seconds:.0f} s, estimated from "
            f"the untuned estimator, but timeout={timeout:g}. Pass a larger timeout, or fewer "
            "rows.",
        )


def with_rows(setup: Setup) -> SearchPlan:
    """Return the plan of a search, with a note on the rows left out."""
    sample, plan = setup.context.sample, setup.plan
    if setup.left_out:
        names = ", ".join(setup.left_out)
        note = f"models left out, too slow for timeout={plan.timeout:g} by a small fit: {names}"
        plan = replace(plan, notes=(*plan.notes, note))
    if sample is None:
        return plan
    n = max(count_rows(train) for train, _ in setup.context.splits)
    which = "the latest " if sample.latest else ""
    of = f"{which}{sample.n_rows:,} of {n:,} in each training fold"
    note = f"rows: {of}, and all rows in the refit"
    return replace(plan, notes=(*plan.notes, note))
