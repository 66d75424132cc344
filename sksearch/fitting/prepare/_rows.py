"""Number of training rows of the candidates, measured if time is the limit."""

from dataclasses import replace

from joblib import effective_n_jobs

from sksearch._utils._terminal import warn
from sksearch.fitting.prepare._options import Options
from sksearch.fitting.run._folds import count_rows
from sksearch.fitting.run._plan import SearchPlan
from sksearch.fitting.run._row_sample import measured_sample
from sksearch.fitting.run._setup import Setup


def choose_rows(options: Options, setup: Setup) -> None:
    """Measure how many rows the training folds may have, if the search may leave some out.

    It may if time is the limit and the search decides how to spend it.
    """
    if not options.leaves_spending or options.workers.are_needed or options.goal.has_aims:
        return
    timeout, refits = setup.time.timeout, setup.plan.refit
    if timeout is None or options.spending.n_iter is not None:
        return
    n_workers = effective_n_jobs(options.workers.n_jobs)
    sample = measured_sample(setup.context, setup.time, n_workers, refits)
    setup.context.sample = sample
    if sample is not None and refits and sample.last_seconds > timeout:
        warn(
            f"The refit on all rows will take about {sample.last_seconds:.0f} s, estimated from "
            f"the untuned estimator, but timeout={timeout:g}. Pass a larger timeout, or fewer "
            "rows.",
        )


def with_rows(setup: Setup) -> SearchPlan:
    """Return the plan of a search, with the number of rows left out."""
    sample = setup.context.sample
    if sample is None:
        return setup.plan
    n = max(count_rows(train) for train, _ in setup.context.splits)
    which = "the latest " if sample.latest else ""
    of = f"{which}{sample.n_rows:,} of {n:,} in each training fold"
    note = f"rows: {of}, and all rows in the refit"
    return replace(setup.plan, notes=(*setup.plan.notes, note))
