"""The best candidate so far, and the predicted time of its refit."""

import math

from sksearch._utils._compat import num_samples
from sksearch._utils._time_limit import on_more_rows
from sksearch.base._decisions import Job
from sksearch.fitting.run._ancestry import stages_to
from sksearch.fitting.run._folds import count_rows
from sksearch.fitting.run._results import Outputs
from sksearch.fitting.run._setup import Setup
from sksearch.history import History, Trial


class Incumbent:
    """The best score at the largest resource, watched while a search runs.

    Parameters
    ----------
    setup : Setup
        Setup of the search.
    history : History
        The history of the search.
    outputs : Outputs
        Outputs of fits.

    Attributes
    ----------
    n_without_improvement : int
        Number of candidates since the best one.
    trial_id : int or None
        Id of the best one, otherwise None.
    """

    def __init__(self, setup: Setup, history: History, outputs: Outputs) -> None:
        self._setup, self._history, self._outputs = setup, history, outputs
        self._score, self.n_without_improvement = -math.inf, 0
        self.trial_id: int | None = None

    def compare(self, job: Job, score: float) -> None:
        """Enter a candidate at the largest resource."""
        self.n_without_improvement += 1
        if score > self._score:
            self._score, self.n_without_improvement = score, 0
            self.trial_id = job.trial_id
            self.expect(job)

    def expect(self, job: Job) -> None:
        """Reserve the time for the last training, if this candidate leads."""
        if self._setup.plan.refit:
            leaves_some = self._setup.context.sample is not None
            seconds = self.seconds_to_refit(job.trial_id, job.resource)
            self._setup.time.keep_for_last(seconds, leaves_some)

    def seconds_to_refit(self, trial_id: int, resource: int) -> float:
        """Predict the seconds of training a candidate on all rows.

        Scales the seconds on the folds by the cost ratio of all rows to the rows of a fold.
        """
        context, history = self._setup.context, self._history
        done = [(trial_id, resource)]
        if history.problem.continues:
            stages = stages_to(history.trials, *done[0])
            done = [(stage.trial_id, stage.resource) for stage in stages]
        fits = [output for key in done for output in self._outputs.new[key]]
        n_rows = [count_rows(train) for train, _ in context.splits]
        growth = 1.0
        if context.sample is not None:
            most, growth = context.sample.n_rows, context.sample.growth
            n_rows = [min(n, most) for n in n_rows]
        seconds = sum(output.fit_time for output in fits) / len(context.folds(resource, 0))
        return on_more_rows(seconds, sum(n_rows) / len(n_rows), num_samples(context.X), growth)


def knows_baseline(history: History) -> bool:
    """True if the untuned estimator, if it is a candidate, has a usable result."""
    if not history.problem.has_baseline or not history.trials:
        return True
    return bool(history.trials[0].results)


def unfinished_first(history: History, top: int) -> Trial | None:
    """Return the first candidate without a failure, if it has only some folds of a race."""
    if not history.problem.races:
        return None
    told = (trial for trial in history.trials if trial.results)
    first = next((t for t in told if not math.isnan(t.results[max(t.results)].score)), None)
    return first if first is not None and max(first.results) < top else None
