"""Which trainings look for a count of iterations, and how long they may."""

from sksearch.estimators import growth_of
from sksearch.fitting._curves import CurveTask, common
from sksearch.fitting._results import Outputs
from sksearch.fitting._setup import Setup
from sksearch.fitting._tasks import Context, Output
from sksearch.history import Params


class CurveTasks:
    """Makes the `CurveTask` of a training on a fold.

    Parameters
    ----------
    setup : Setup
        Of the search.
    outputs : Outputs
        What trainings brought.
    """

    def __init__(self, setup: Setup, outputs: Outputs) -> None:
        self._setup, self._outputs = setup, outputs

    def task(self, trial_id: int, params: Params, before: list[Output]) -> CurveTask | None:
        """Return the count that training finds for a candidate, None where there is none to find.

        `before` are the outputs on earlier folds.

        The estimator as it is is fitted plainly, and has no curve, where its own fit ends
        otherwise.
        """
        context, problem = self._setup.context, self._setup.problem
        seconds = self._setup.time.of_curve(len(context.splits))
        outcome = problem.space.outcome(params)
        is_baseline = trial_id == 0 and problem.has_baseline
        if not outcome or (is_baseline and _is_fitted_otherwise(context, outcome[0])):
            return None
        if seconds is not None and problem.has_baseline:
            # Less than the one to beat has had would be too little to beat it.
            baseline = self._outputs.reached.get((0, self._setup.plan.top), ())
            seconds = max([seconds, *(out.fit_time + out.score_time for out in baseline)])
        curves = [output.curve for output in before if output.curve]
        earlier = common(curves, context.metric) if len(curves) == len(before) else {}
        return CurveTask(outcome[0], outcome[1].high, seconds, is_baseline, earlier)


def _is_fitted_otherwise(context: Context, name: str) -> bool:
    """Whether the estimator as it is is not among the models of its curve by this parameter."""
    try:
        return not growth_of(context.estimator, name).is_as_fitted
    except ValueError:  # a step that has it is searched, and the own one has not
        return True
