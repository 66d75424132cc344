"""Fits that determine the number of iterations, with time limits."""

from itertools import accumulate
from statistics import fmean as mean

from sksearch.estimators._growth import Allowance, growth_of
from sksearch.fitting.run._curves import common, value_of
from sksearch.fitting.run._incumbent import Incumbent
from sksearch.fitting.run._results import Outputs
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._tasks import Context, CurveTask, Output
from sksearch.history import Params


class CurveTasks:
    """Makes the `CurveTask` of a fit on a fold.

    Parameters
    ----------
    setup : Setup
        Setup of the search.
    outputs : Outputs
        Outputs of fits.
    incumbent : Incumbent
        The best candidate so far.
    """

    def __init__(self, setup: Setup, outputs: Outputs, incumbent: Incumbent) -> None:
        self._setup, self._outputs, self._incumbent = setup, outputs, incumbent

    def task(
        self, trial_id: int, params: Params, before: list[Output], n_now: int
    ) -> CurveTask | None:
        """Return the task of finding the number of iterations of a candidate, otherwise None.

        `before` are the outputs on earlier folds, `n_now` the number of folds in this job.

        The untuned estimator is fitted without a curve if its own ``fit`` stops differently.
        """
        context, problem = self._setup.context, self._setup.problem
        outcome = problem.space.outcome(params)
        is_baseline = trial_id == 0 and problem.has_baseline
        if not outcome or (is_baseline and _is_fitted_otherwise(context, outcome[0])):
            return None
        curves = [output.curve for output in before if output.curve]
        earlier = common(curves, context.metric) if len(curves) == len(before) else {}
        allowance = self._allowance(len(before), n_now)
        return CurveTask(outcome[0], outcome[1].high, allowance, is_baseline, earlier)

    def _allowance(self, n_before: int, n_now: int) -> Allowance | None:
        """Return how long a fit may take on the fold after `n_before` others."""
        time, n_folds = self._setup.time, len(self._setup.context.splits)
        seconds, longest = time.of_curve(n_folds), time.limit_while_improving(n_folds, n_now)
        if seconds is None or longest is None:
            return None
        if self._setup.problem.has_baseline:
            # To beat the best candidate, a candidate needs at least the same time.
            baseline = self._outputs.reached.get((0, self._setup.plan.top), ())
            seconds = max([seconds, *map(_seconds_of, baseline)])
        return Allowance(seconds, longest, self._rival(n_before + 1))

    def _rival(self, n_folds: int) -> tuple[tuple[float, float], ...]:
        """Return the best candidate's progress on this number of folds, by seconds on the last."""
        if self._incumbent.trial_id is None:
            return ()
        key, metric = (self._incumbent.trial_id, self._setup.plan.top), self._setup.context.metric
        outputs = self._outputs.reached[key][:n_folds]
        seconds = _seconds_of(outputs[-1])
        curves = [output.curve for output in outputs if output.curve]
        if len(curves) < n_folds:
            return ((seconds, mean([value_of(out.test_scores, metric) for out in outputs])),)
        pace, scores = seconds / curves[-1][-1][0], common(curves, metric)
        best = accumulate((mean(values) for values in scores.values()), max)
        return tuple((pace * count, score) for count, score in zip(scores, best, strict=True))


def _seconds_of(output: Output) -> float:
    return output.fit_time + output.score_time


def _is_fitted_otherwise(context: Context, name: str) -> bool:
    """True if the untuned estimator differs from all models of its learning curve."""
    try:
        return not growth_of(context.estimator, name).is_as_fitted
    # The parameter belongs to a searched step, and the current step does not have it
    except ValueError:
        return True
