"""The best candidate so far, and what it will take to train it on all rows."""

import math
from typing import Any

from sksearch._compat import num_samples
from sksearch._time_limit import on_more_rows
from sksearch.base import Job
from sksearch.estimators import growth_of
from sksearch.fitting._curves import CurveTask, common
from sksearch.fitting._folds import count_rows
from sksearch.fitting._lineage import legs_to
from sksearch.history import History, Trial


class Incumbent:
    """The best score at the largest resource, watched while a search runs.

    Attributes
    ----------
    n_in_vain : int
        Count of candidates since the best one.
    """

    def __init__(self, refits: bool):
        self._refits, self._score = refits, -math.inf
        self.n_in_vain = 0

    def compare(self, run: Any, job: Job, score: float) -> None:
        """Enter a candidate that has got the largest resource."""
        self.n_in_vain += 1
        if score > self._score:
            self._score, self.n_in_vain = score, 0
            self.expect(run, job)

    def expect(self, run: Any, job: Job) -> None:
        """Keep the time for the last training, if it is of this candidate."""
        if self._refits:
            seconds = _seconds_to_refit(run, job)
            run.time.keep_for_last(seconds, leaves_some=run.context.sample is not None)


def _seconds_to_refit(run, job):
    """Seconds on the folds, and as many times more as all rows cost more than those of a fold."""
    context, history = run.context, run.study.history
    done = [(job.trial_id, job.resource)]
    if history.problem.continues:
        legs = legs_to(history.trials, *done[0])
        done = [(leg.trial_id, leg.resource) for leg in legs]
    fits = [output for key in done for output in run.outputs.new[key]]
    n_rows = [count_rows(train) for train, _ in context.splits]
    growth = 1.0
    if context.sample is not None:
        n_rows, growth = [min(n, context.sample.n_rows) for n in n_rows], context.sample.growth
    seconds = sum(output.fit_time for output in fits) / len(run.folds(job.resource, 0))
    return on_more_rows(seconds, sum(n_rows) / len(n_rows), num_samples(context.X), growth)


def knows_baseline(history: History) -> bool:
    """Whether the candidate to beat, if there is one, has a result that it can be judged by."""
    if not history.problem.has_baseline or not history.trials:
        return True
    return bool(history.trials[0].results)


def unfinished_first(history: History, top: int) -> Trial | None:
    """Return the first candidate without a failure, where it has some folds of a race, not all."""
    if not history.problem.races:
        return None
    told = (trial for trial in history.trials if trial.results)
    first = next((t for t in told if not math.isnan(t.results[max(t.results)].score)), None)
    return first if first is not None and max(first.results) < top else None


def curve_task(run: Any, trial_id: int, params: dict, before: list) -> CurveTask | None:
    """Return the count that training finds for a candidate, None where there is none to find.

    `before` are the outputs on earlier folds.

    The estimator as it is is fitted plainly, and has no curve, where its own fit ends otherwise.
    """
    problem = run.study.history.problem
    seconds = run.time.of_curve(len(run.context.splits))
    outcome = problem.space.outcome(params)
    is_baseline = trial_id == 0 and problem.has_baseline
    if not outcome or (is_baseline and _is_fitted_otherwise(run.context, outcome[0])):
        return None
    if seconds is not None and problem.has_baseline:
        # Less than the one to beat has had would be too little to beat it.
        baseline = run.outputs.reached.get((0, run.top), ())
        seconds = max([seconds, *(out.fit_time + out.score_time for out in baseline)])
    curves = [output.curve for output in before]
    earlier = common(curves, run.context.metric) if all(curves) else {}
    return CurveTask(outcome[0], outcome[1].high, seconds, is_baseline, earlier)


def _is_fitted_otherwise(context, name):
    """Whether the estimator as it is is not among the models of its curve by this parameter."""
    try:
        return not growth_of(context.estimator, name).is_as_fitted
    except ValueError:  # a step that has it is searched, and the own one has not
        return True
