"""Results of a run: best candidate, decisions to stop, warnings and errors."""

import math

from sksearch._utils._compat import warn_or_raise_about_fit_failures
from sksearch._utils._terminal import warn
from sksearch._utils._time_limit import N_MEMBERS
from sksearch.base._decisions import Job
from sksearch.fitting.run._convergence import Convergence
from sksearch.fitting.run._early_abort import N_ALIKE, AbortRule, common_cause, explained
from sksearch.fitting.run._incumbent import Incumbent, unfinished_first
from sksearch.fitting.run._results import Outputs, ResultRow, job_result, table_of, try_rule
from sksearch.fitting.run._scores import (
    N_INVALID,
    N_WITHOUT_SCORE,
    InvalidScoreError,
    check_scorer,
)
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._tasks import Output
from sksearch.fitting.run._top_trials import N_AVERAGED, TopTrials
from sksearch.history import History, Result
from sksearch.progress._progress import Watch

PART = 0.1  # share of the time after which the speed is known well enough


class Findings:
    """Results of a run, updated after each job.

    Parameters
    ----------
    setup : Setup
        Setup of the search.
    history : History
        History of the running search.
    watch : Watch
        Counts the budget spent.

    Attributes
    ----------
    outputs : Outputs
        Outputs of fits.
    incumbent : Incumbent
        The best candidate so far.
    """

    def __init__(self, setup: Setup, history: History, watch: Watch) -> None:
        self.setup, self.context, self.plan = setup, setup.context, setup.plan
        self.history, self._watch = history, watch
        self.outputs = Outputs()
        self.incumbent = Incumbent(setup, history, self.outputs)
        self._best = TopTrials(0 if self.context.kept is None else N_AVERAGED)
        may_train = not setup.workers.are_needed
        self._abort_rule = AbortRule(
            setup.context, setup.problem, may_train, setup.plan.is_endless
        )
        converges = setup.stops.converged
        self._convergence = Convergence(setup.plan.top) if converges else None
        self._rule, self._n_finite = setup.rule, 0
        rungs = [rung for rung in setup.plan.rungs if rung.bracket == 0]
        self._units = sum(rung.resources for rung in rungs)
        # If candidates may be dropped, the cost is unknown.
        self._time_is_known = len(rungs) < 2 or setup.plan.is_most

    def rows(self) -> list[ResultRow]:
        """Make the rows of ``cv_results_``, by bracket, rung and trial."""
        args = self.context.resource.params, self.setup.problem.space.outcome, self.plan.by_folds
        return self.outputs.rows(self.history.trials, *args)

    def may_be_averaged(self, job: Job) -> bool:
        """True if a candidate may be averaged with others after a job."""
        return self._best.size > 0 and (self._may_win(job) or self.plan.by_folds)

    # ---- while it runs

    def enter(self, job: Job, first: int, outputs: list[Output]) -> Result:
        """Keep the outputs of a job, from its `first` fold on, and make its result."""
        kept = self.outputs.reached.get((job.trial_id, job.spent), [])[:first]
        metric = self.context.metric
        self.outputs.add(job.trial_id, job.resource, kept, outputs, metric)
        reached = self.outputs.reached[job.trial_id, job.resource]
        return job_result(reached, outputs, metric, self.context.aims)

    def see(self, job: Job, retired: list[int], is_news: bool) -> bool:
        """Process a result of the history; True if it ends the search.

        `retired` are the trials that the scheduler will never continue.
        """
        result = self.history.trials[job.trial_id].results[job.resource]
        score, stops = result.feasible_score, self.setup.stops
        self._forget_predictions(job, retired, score)
        self._warn_of_time()
        if self.setup.aborts:
            folds = self.context.folds(job.resource, job.spent)
            self._abort_rule.see(job, folds, self.outputs.new[job.trial_id, job.resource])
        if is_news:
            self.check_hope()
        n_jobs = len(self.outputs.new)
        if n_jobs in (N_INVALID, N_WITHOUT_SCORE) and not self.context.is_function:
            check_scorer(self.outputs.all_new(), n_jobs)
        ends = False
        if self._may_win(job):
            self.incumbent.compare(job, score)
            ends = self.incumbent.n_without_improvement >= (stops.patience or math.inf)
            if self._convergence is not None and not ends:
                ends = self._convergence.reached(self.history)
            ends |= stops.target_score is not None and score >= stops.target_score
        elif (first := unfinished_first(self.history, self.plan.top)) and first.id == job.trial_id:
            self.incumbent.expect(job)
        self._keep_time_for_members()
        self._n_finite += math.isfinite(result.score)
        if self._rule is not None and math.isfinite(result.score):
            # Call the user's refit function as soon as possible, so that its errors appear early.
            rule, self._rule = self._rule, None
            try_rule(rule, table_of(self.setup, self.history, self.rows()))
        return ends

    def _may_win(self, job: Job) -> bool:
        """True if a candidate may win after a job."""
        return self.plan.any_rung_wins or job.resource == self.plan.top

    def _forget_predictions(self, job: Job, retired: list[int], score: float) -> None:
        """Drop all predictions except the best candidates'."""
        if self._best.size == 0:
            return
        gone, trials = set(retired), self.history.trials
        if self._may_win(job):
            gone.update(self._best.enter(trials[job.trial_id], job.resource, score))
        for trial_id in gone:
            if trial_id not in self._best:
                self.outputs.forget_predictions(trials[trial_id])

    def _keep_time_for_members(self) -> None:
        """Reserve time for refitting the other members of the average."""
        if self.setup.ensemble > 1 and self._best:
            places = self._best.places()[: 1 + N_MEMBERS]
            seconds = [self.incumbent.seconds_to_refit(*place) for place in places]
            self.setup.time.for_members = self.setup.time.of_members(seconds)

    def _warn_of_time(self) -> None:
        """Warn once, early, if the first bracket is unlikely to finish."""
        timeout = self.setup.time.timeout
        if self._time_is_known or timeout is None:
            return
        elapsed = self.setup.time.elapsed()
        if not PART * timeout <= elapsed < timeout:
            return
        self._time_is_known = True
        seconds = elapsed * self._units / self._watch.progress().spent
        if seconds > timeout:
            warn(
                f"The first bracket will take about {seconds:.0f} s at this speed, but "
                f"timeout={timeout:g}: candidates are compared before the maximum number of "
                f"{self.plan.unit}. Pass a larger timeout, fewer candidates or a smaller "
                "max_resources; or use a search without brackets.",
            )

    # ---- what is raised

    def check_hope(self) -> None:
        """Raise ValueError if all fits have failed, and all others would fail."""
        if self._abort_rule.is_lost:
            outputs = self.outputs.all_new()
            if all(output.fit_error is not None for output in outputs):
                self.check_failures(outputs)
            raise ValueError(explained(self.context, outputs, outputs[0].error))

    def check_rung(self, job: Job) -> None:
        """Raise ValueError if all fits of a finished rung failed, and others would also fail."""
        if len(self.plan.rungs) < 2 or self.context.is_function:
            return
        # With rows or small parameters, a larger size may succeed.
        is_last = job.resource == self.plan.top or self.history.problem.continues
        outputs = self.outputs.all_new()
        if is_last and all(output.fit_error is not None for output in outputs):
            # Nothing can be promoted, and later candidates are likely to fail in the same way.
            self.check_failures(outputs)

    def check_end(self, is_up: bool) -> None:
        """Raise TimeoutError or ValueError if there is no result; warn if time `is_up`."""
        time, history = self.setup.time, self.history
        seconds = time.left_to_stop()
        if seconds is not None and seconds <= 0 and not history.has_results:
            raise TimeoutError(
                f"No candidate was scored within timeout={time.timeout:g} and "
                f'stop["overtime"]={time.overtime:g} seconds: increase either, or pass fewer rows.'
            )
        if not history.trials:
            raise ValueError(
                "The scheduler did not start a candidate: its next must return a Start for an "
                "empty history."
            )
        first = unfinished_first(history, self.plan.top)
        if is_up and first is not None:
            is_untuned = first.id == 0 and history.problem.has_baseline
            warn(
                f"timeout={time.timeout:g} was up after {max(first.results)} of {self.plan.top} "
                f"folds of the first candidate{', the untuned estimator' * is_untuned}: pass a "
                "larger timeout, fewer folds or fewer rows.",
            )

    def check_failures(self, outputs: list[Output]) -> None:
        """Warn about failed fits, or raise ValueError, with errors grouped, if all failed."""
        check_scorer(outputs)
        errors = [{"fit_error": output.fit_error} for output in outputs]
        try:
            warn_or_raise_about_fit_failures(errors, self.context.error_score)
        except ValueError as error:
            raise ValueError(explained(self.context, outputs, str(error))) from None
        history = self.history
        ids = {
            t.id for t in history.trials if any(math.isfinite(r.score) for r in t.results.values())
        }
        if ids == {0} and history.problem.has_baseline and len(history.trials) > N_ALIKE:
            warn(
                "Only the first candidate, the untuned estimator, has a score, so the result is "
                "not tuned. See errors_, or report().",
            )
        if self._n_finite == 0:
            cause, first = common_cause(self.context, outputs)
            common = f" ({first.rstrip('.')})" if first else ""
            cure = cause or "Check the scorer, or pass error_score='raise'."
            text = f"No candidate has a finite score, so none is the best{common}. {cure}"
            if not self.setup.is_namesake:
                # Data of a wrong type stay a TypeError, which scikit-learn's refit would raise.
                raise InvalidScoreError(text) if " (TypeError" in common else ValueError(text)
            warn(text)
