"""One run of a search: jobs into tasks, outputs into results, and when to stop."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from pickle import PicklingError
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sksearch._utils._compat import warn_or_raise_about_fit_failures
from sksearch._utils._terminal import warn
from sksearch._utils._time_limit import N_MEMBERS
from sksearch._utils._typing import Seed
from sksearch.base import Job, State
from sksearch.executors import (
    Executor,
    Interrupts,
    LostTask,
    SerialExecutor,
    Workload,
    drive,
    make_executor,
)
from sksearch.fitting.run._ancestry import stages_to
from sksearch.fitting.run._budget import Budget
from sksearch.fitting.run._callbacks import CallbackContext, RungContexts
from sksearch.fitting.run._convergence import Convergence
from sksearch.fitting.run._curve_tasks import CurveTasks
from sksearch.fitting.run._early_abort import N_ALIKE, AbortRule, explained
from sksearch.fitting.run._evaluation import output_of_lost
from sksearch.fitting.run._incumbent import Incumbent, knows_baseline, unfinished_first
from sksearch.fitting.run._results import Outputs, ResultRow, job_result, table_of, try_rule
from sksearch.fitting.run._scores import (
    N_INVALID,
    N_WITHOUT_SCORE,
    InvalidScoreError,
    check_scorer,
)
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._states import Kept, StateStore, dump_state, first_line
from sksearch.fitting.run._tasks import Output, Task
from sksearch.fitting.run._top_trials import N_AVERAGED, TopTrials
from sksearch.history import Result
from sksearch.progress import Watch
from sksearch.study import Study


@dataclass(frozen=True)
class Ending:
    """How a search has ended, in the words of `Recorder.stop`; `why` is "" while it has not."""

    why: str = ""
    up: float = 0.0  # the timeout that was up, seconds
    won: tuple[int, int] | None = None  # trial and resource of the winner


class Recorder:
    """Records what a run does; this one nothing, since the search has no ``checkpoint_dir``.

    Attributes
    ----------
    folder : Path or None
        Where workers leave states for good.
    spool : object or None
        Where workers leave a copy of each output, by ``write(name, output)``.
    goes_on : bool
        Whether an earlier process has begun the search.
    unit : str or None
        What that spends on a candidate, step by step.
    unfinished_jobs : list of Job
        Jobs that an earlier process had asked for when it died, oldest first.
    ending : Ending
        Whether the search has ended, and how.
    """

    folder: Path | None = None
    spool: Any = None
    goes_on: bool = False
    unit: str | None = None
    unfinished_jobs: Sequence[Job] = ()
    ending: Ending = Ending()

    def rng(self, random_state: Seed) -> np.random.RandomState:
        """Return the generator that settles the search."""
        return check_random_state(random_state)

    def open(self, kind: type, params: dict[str, Any], setup: Setup) -> None:
        """See that the record is of this search, or begin it."""

    def replay(self, run: "Run") -> None:
        """Bring a run to where the record ends."""

    def recorded_output(self, task: Task) -> Output | None:
        """Return the output of a task that an earlier process has run, None if it has not."""
        return None

    def adopt(self, task: Task, output: Output) -> None:
        """Put a state that came from another machine where it lasts."""

    def keep(self, task: Task, output: Output) -> None:
        """Keep an output of a job that waits for others, if its worker could not."""

    def record_job(self, job: Job, exhausted: bool) -> None:
        """Record a job that begins."""

    def record_outputs(self, job: Job, tasks: list[Task], outputs: list[Output]) -> None:
        """Record the outputs of a job that has ended."""

    def stop(self, why: str, timeout: float | None = None) -> None:
        """Record that the search has ended, and `timeout` if it was up.

        It is "finished", was "stopped" by the user's limits or by a "callback", or "interrupted".
        """

    def record_winner(self, trial_id: int, resource: int) -> None:
        """Record the winner, and with which resource."""


class Run(Workload):
    """The `Workload` of one ``fit``: everything that lives no longer than it."""

    def __init__(
        self,
        study: Study,
        setup: Setup,
        callbacks: CallbackContext,
        recorder: Recorder,
        watch: Watch,
    ) -> None:
        self.study, self.context, self.plan = study, setup.context, setup.plan
        self.recorder, self.watch, self.stops = recorder, watch, setup.stops
        self.setup, self.time = setup, setup.time
        self.outputs = Outputs()
        self.states = StateStore()
        self._any_rung_wins = setup.plan.any_rung_wins
        self.best = TopTrials(N_AVERAGED if setup.ensemble else 0)
        self.done = self.heard_stop = self.is_up = False
        self._n_finite = 0
        #: Functions fail as they please, and scikit-learn's searches end with what they have.
        self._ends_early = not (setup.is_namesake or setup.context.is_function)
        may_train = not setup.workers.are_needed
        self.abort_rule = AbortRule(setup.context, setup.problem, may_train, setup.plan.is_endless)
        self.incumbent = Incumbent(setup, study.history, self.outputs)
        self._curves = CurveTasks(setup, self.outputs, self.incumbent)
        self._tasks: dict[int, list[Task]] = {}  # of the trials that run
        self._is_news = True  # for the record: not while replaying, nor after an interrupt
        endless = study.scheduler.told.at_once or study.scheduler.told.by_fold
        self._rungs = RungContexts(callbacks, setup.plan, setup.context.search, endless)
        self._warned, self._listens = False, callbacks.listens
        self._rule = setup.rule
        self._max_resources = setup.problem.max_resources
        self.top = setup.plan.top
        self._budget = Budget(setup.plan, watch, setup.time)
        self._convergence = Convergence(self.top) if setup.stops.stop == "converged" else None

    def go_on(self) -> None:
        """Bring the run to where an earlier process has ended."""
        self.recorder.replay(self)
        if self.recorder.ending.why == "callback":
            self.done |= self._listens
            self._ask_callback()

    def drive(self) -> None:
        """Run to the end."""
        workers, folder = self.setup.workers, self.recorder.folder
        args = workers.n_jobs, workers.pre_dispatch, workers.limits, folder, workers.devices
        n = workers.n_under_way(len(self.context.folds(1, 0))) if self.setup.learns else None
        executor = make_executor(self.setup.evaluate, self.context, *args)
        try:
            with self.watch, Interrupts(), self._entered(executor):
                self.check_hope()
                drive(self.study, executor, self, n)
                self._check_end()
        except BaseException:
            self._close(interrupted=True)
            raise
        self._close()

    # ---- what the loop calls

    def unfinished_jobs(self) -> Sequence[Job]:
        """Return the jobs that an earlier process had asked for when it died."""
        return self.recorder.unfinished_jobs

    def recorded_output(self, task: Task) -> Output | None:
        """Return the output of a task that an earlier process has run."""
        return self.recorder.recorded_output(task)

    def tasks(self, job: Job) -> list[Task]:
        """Make one task for each fold that the job evaluates."""
        if self._is_news:
            self.recorder.record_job(job, self.study.history.exhausted)
        before = stages_to(self.study.history.trials, job.trial_id, job.spent)
        tasks = self._tasks[job.trial_id] = [
            self.task(
                trial_id=job.trial_id,
                fold=fold,
                params=job.params,
                resource=job.resource,
                spent=job.spent,
                state=self._state_for(job, fold),
                before=before,
                keep=job.resource < self._max_resources,
                predicts=self._may_be_averaged(job),
                callbacks=self._rungs.leaf(job),
            )
            for fold in self.context.folds(job.resource, job.spent)
        ]
        return tasks

    def task(self, trial_id: int, fold: int, spent: int, **rest: Any) -> Task:
        """Make a `Task`, which continues if what was spent has left steps of training."""
        stages = rest["before"]
        reached = self.outputs.reached.get((stages[-1].trial_id, spent), []) if stages else []
        continues = any(output.n_steps > 0 for output in reached[fold : fold + 1])
        folds = self.context.folds(rest["resource"], spent)
        curve = self._curves.task(trial_id, rest["params"], reached[: folds[0]], len(folds))
        measured = (reached[fold].measures or {}) if continues else {}
        return Task(
            trial_id=trial_id, fold=fold, spent=spent, continues=continues, curve=curve,
            seconds_before=measured.get("fit_time", 0.0), **rest,
        )  # fmt: skip

    def collect(self, job: Job, outputs: list[Output]) -> Result:
        """Keep outputs and states, and make the result."""
        tasks = self._tasks.pop(job.trial_id)
        outputs = [
            output_of_lost(self.context, task, out) if isinstance(out, LostTask) else out
            for task, out in zip(tasks, outputs, strict=True)
        ]
        for task, output in zip(tasks, outputs, strict=True):
            self.recorder.adopt(task, output)
        kept = self.outputs.reached.get((job.trial_id, job.spent), [])[: tasks[0].fold]
        self.outputs.add(job.trial_id, job.resource, kept, outputs, self.context.metric)
        reached = self.outputs.reached[job.trial_id, job.resource]
        result = job_result(reached, outputs, self.context.metric, self.context.aims)
        # What has no result must not be recorded: it would have none for ever.
        if self._is_news:
            self.recorder.record_outputs(job, tasks, outputs)
        for task, output in zip(tasks, outputs, strict=True):
            self.states.replace(task.trial_id, task.fold, output.state)
            self._warn_lost_state(output.lost_state)
            output.state, output.lost_state = None, ""
            self.heard_stop |= output.stop
        self.done |= self.heard_stop
        return result

    def on_output(self, task: Task, output: Output) -> None:
        """Have the output kept until its job is told; a task that was lost is run again."""
        if not isinstance(output, LostTask):
            self.recorder.keep(task, output)

    def on_interrupt(self) -> None:
        """Keep results that come now, but do not record them: a replay has no such order.

        A search that goes on later finds them where their workers left them.
        """
        self._is_news, self.states.keeps_files = False, True

    def on_result(self, job: Job) -> None:
        """Free states, report, and stop where there is nothing more to find."""
        history = self.study.history
        self.watch.update()
        result = history.trials[job.trial_id].results[job.resource]
        score = result.feasible_score
        self._free(job, score)
        self._budget.check()
        new = self.outputs.new[job.trial_id, job.resource]
        if self._ends_early:
            self.abort_rule.see(job, self.context.folds(job.resource, job.spent), new)
        if self._is_news:
            self.check_hope()
        n_jobs = len(self.outputs.new)
        if n_jobs in (N_INVALID, N_WITHOUT_SCORE) and not self.context.is_function:
            check_scorer(self.outputs.all_new(), n_jobs)
        if self._any_rung_wins or job.resource == self.top:
            self.incumbent.compare(job, score)
            self.done |= self.incumbent.n_without_improvement >= (self.stops.patience or math.inf)
            if self._convergence is not None and not self.done:
                self.done = self._convergence.reached(history)
        elif (first := unfinished_first(history, self.top)) and first.id == job.trial_id:
            self.incumbent.expect(job)
        if self.setup.ensemble > 1 and self.best:
            places = self.best.places()[: 1 + N_MEMBERS]
            seconds = [self.incumbent.seconds_to_refit(*place) for place in places]
            self.time.for_members = self.time.of_members(seconds)
        self._n_finite += math.isfinite(result.score)
        self._try_rule(result)
        target = self.stops.target_score
        may_win = self._any_rung_wins or job.resource == self.top
        is_reached = target is not None and may_win and score >= target
        self.done |= is_reached
        if self._is_news and not is_reached:
            self._ask_callback()
        if not self._rungs.tell(job):
            return
        stop = self._rungs.end(job)
        if not self._is_news:
            return
        self.heard_stop |= stop
        self.done |= stop
        outputs = self.outputs.all_new()
        # Of rows, or of small parameters, a larger size may be what is missing.
        is_last = job.resource == self.top or history.problem.continues
        is_last &= not self.context.is_function
        if len(self.plan.rungs) > 1 and is_last and all(o.fit_error is not None for o in outputs):
            # Nothing can be promoted, and what comes after is likely to fail in this way.
            self.check_failures(outputs)

    def seconds_left(self) -> float | None:
        """Until the deadline; 0 once it was reached, or when something else ends the search."""
        if self.done or self.is_up:
            return 0.0
        left = self.time.left() if knows_baseline(self.study.history) else None
        self.is_up = left is not None and left <= 0
        return left

    def seconds_to_stop(self) -> float | None:
        """Until what runs is stopped, so that there is time for the last training."""
        return self.time.left_to_stop()

    # ---- before and afterwards

    def replay(self, job: Job, outputs: list[Output]) -> None:
        """Enter the outputs that a job had in an earlier process."""
        self._is_news, self.states.keeps_files = False, True
        self.tasks(job)
        for output in outputs:
            output.stop = False
        self.study.tell(job, self.collect(job, outputs))
        self.on_result(job)
        self._is_news, self.states.keeps_files = True, False

    def _check_end(self) -> None:
        """Raise if nothing has a result, and warn where the time was too short."""
        self._check_results()
        if self.is_up and not self.done:
            self._warn_of_folds_left_out()

    def _close(self, interrupted: bool = False) -> None:
        """End the contexts of rungs that were cut short, and record why no more is to come."""
        self._rungs.close()
        why = "stopped" if self.done or self.is_up else "finished"
        why = "interrupted" if interrupted else "callback" if self.heard_stop else why
        self.recorder.stop(why, self.time.timeout if self.is_up else None)

    def _try_rule(self, result: Result) -> None:
        """Ask a function that will choose the winner once it can be asked, and not at the end."""
        if self._rule is None or not math.isfinite(result.score):
            return
        rule, self._rule = self._rule, None
        try_rule(rule, table_of(self.setup, self.study.history, self.rows()))

    def rows(self) -> list[ResultRow]:
        """Make the rows of ``cv_results_``, by bracket, rung and trial."""
        trials, outcome = self.study.history.trials, self.study.history.problem.space.outcome
        args = self.context.resource.params, outcome, self.plan.by_folds
        return self.outputs.rows(trials, *args)

    def check_failures(self, outputs: list[Output]) -> None:
        """Warn about failed fits, or raise ValueError, with errors grouped, if all failed."""
        check_scorer(outputs)
        errors = [{"fit_error": output.fit_error} for output in outputs]
        try:
            warn_or_raise_about_fit_failures(errors, self.context.error_score)
        except ValueError as error:
            raise ValueError(explained(self.context, outputs, str(error))) from None
        history = self.study.history
        ids = {
            t.id for t in history.trials if any(math.isfinite(r.score) for r in t.results.values())
        }
        if ids == {0} and history.problem.has_baseline and len(history.trials) > N_ALIKE:
            warn(
                "No candidate but the first, the untuned estimator, has a score: what comes back "
                "is not tuned. See errors_, or report().",
                UserWarning,
                stacklevel=2,
            )
        if self._n_finite == 0:
            common = _most_common_error(outputs)
            text = f"No candidate has a finite score, so none is the best{common}: look at the "
            text += "scorer, or pass error_score='raise'."
            if not self.setup.is_namesake:
                # Data of a wrong type stay a TypeError, which scikit-learn's refit would raise.
                raise InvalidScoreError(text) if " (TypeError" in common else ValueError(text)
            warn(text, UserWarning, stacklevel=2)

    # ---- inside

    @contextmanager
    def _entered(self, executor: Executor) -> Iterator[None]:
        """A context with the executor; TypeError for what cannot be sent to workers.

        That of this thread would take BLAS threads away from a function.
        """
        if self.context.is_function and isinstance(executor, SerialExecutor):
            yield
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(executor)
            except (TypeError, AttributeError, PicklingError) as error:  # as pickle has it
                what = "func" if self.context.is_function else "the search"
                raise TypeError(
                    f"{what} cannot be sent to worker processes ({first_line(error)}): make what "
                    "cannot be pickled inside of it, or leave n_jobs and candidate_timeout out."
                ) from error
            yield

    def _ask_callback(self) -> None:
        """Ask the user's function whether the search ends here."""
        if self.stops.callback is not None:
            answer = self.stops.callback(self.study.history)
            if isinstance(answer, bool | np.bool_) and answer:  # and nothing else that is true
                self.done = self.heard_stop = True

    def _free(self, job: Job, score: float) -> None:
        """Drop the states that nobody goes on from, and predictions but those of the best."""
        history = self.study.history
        retired = self.study.scheduler.retired(history, job)
        for trial_id in retired:
            self.states.drop_trial(trial_id, len(self.context.splits))
        if self.best.size == 0:
            return
        gone = set(retired)
        if self._any_rung_wins or job.resource == self.top:
            gone.update(self.best.enter(history.trials[job.trial_id], job.resource, score))
        for trial_id in gone:
            if trial_id not in self.best:
                self.outputs.forget_predictions(history.trials[trial_id])

    def _may_be_averaged(self, job: Job) -> bool:
        """Whether a candidate may be averaged with others as it is after a job."""
        may_win = self._any_rung_wins or self.plan.by_folds or job.resource == self.top
        return self.best.size > 0 and may_win

    def _state_for(self, job: Job, fold: int) -> Kept | None:
        """The state to go on from; of a parent, which goes on, too, a copy."""
        if job.parent is None:
            return self.states.get(job.trial_id, fold)
        state = self.states.get(job.parent, fold)
        if not isinstance(state, State):  # a file or bytes, which nobody changes
            return state
        with suppress(Exception):  # without pickle, it is trained again
            return dump_state(state)
        return None

    def check_hope(self) -> None:
        """Raise ValueError if all has failed, and will."""
        if self.abort_rule.is_lost:
            outputs = self.outputs.all_new()
            if all(output.fit_error is not None for output in outputs):
                self.check_failures(outputs)
            raise ValueError(explained(self.context, outputs, outputs[0].error))

    def _check_results(self) -> None:
        """Raise TimeoutError or ValueError if nothing has a result."""
        seconds, history = self.seconds_to_stop(), self.study.history
        if seconds is not None and seconds <= 0 and not history.has_results:
            raise TimeoutError(
                f"No candidate had its score within timeout={self.time.timeout:g} and "
                f"overtime={self.time.overtime:g} seconds: pass more of either, or fewer rows."
            )
        if not history.trials:
            raise ValueError(
                "The scheduler has started no candidate: its next must return a Start for an "
                "empty history."
            )

    def _warn_of_folds_left_out(self) -> None:
        """Warn where the time did not suffice for all folds of a single candidate."""
        first = unfinished_first(self.study.history, self.top)
        if first is not None:
            is_untuned = first.id == 0 and self.study.history.problem.has_baseline
            warn(
                f"timeout={self.time.timeout:g} was up after {max(first.results)} of {self.top} "
                f"folds of the first candidate{', the untuned estimator' * is_untuned}: pass a "
                "larger timeout, fewer folds or fewer rows.",
                UserWarning,
                stacklevel=2,
            )

    def _warn_lost_state(self, error: str) -> None:
        """Warn once of states that could not be kept."""
        if error and not self._warned:
            self._warned = True
            warn(
                "A fitted estimator cannot travel from rung to rung, so it is trained again from "
                f"the beginning: {error}. Where it cannot be pickled at all, n_jobs=1 without "
                "checkpoint_dir keeps it in memory.",
                UserWarning,
                stacklevel=2,
            )


def _most_common_error(outputs: list[Output]) -> str:
    """The commonest error of scores, in brackets, "" if there is none."""
    errors = Counter(output.error for output in outputs if output.error)
    return f" ({errors.most_common(1)[0][0].rstrip('.')})" if errors else ""
