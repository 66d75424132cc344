"""One run of a search: jobs into tasks, outputs into results, and when to stop."""

import math
import warnings
from contextlib import suppress
from sys import intern

from sksearch._clock import now
from sksearch._compat import warn_or_raise_about_fit_failures
from sksearch.executors import LostTask, Workload
from sksearch.fitting._best import Best, models_of
from sksearch.fitting._checks import why_all_failed
from sksearch.fitting._evaluation import Task, lost_output
from sksearch.fitting._results import job_result, make_rows
from sksearch.fitting._states import SavedState


class Run(Workload):
    """The `Workload` of one ``fit``: everything that lives no longer than it.

    Parameters
    ----------
    study : Study
        Asked and told by the loop.
    context : Context
        What all tasks share.
    plan : SearchPlan
        For messages and contexts of rungs.
    callbacks : CallbackContext
        Of the whole fit.
    timeout, target_score : float or None
        Seconds, and the score at full resource, after which the search stops.
    recorder : Recorder or None
        Keeps what happens.
    watch : Watch
        Shows what happens.
    ensemble_size : int or None
        Count of the best candidates whose models are kept.
    """

    def __init__(
        self, study, context, plan, callbacks, timeout, target_score, recorder, watch,
        ensemble_size,
    ):  # fmt: skip
        self.study, self.context, self.plan = study, context, plan
        self.target_score, self.recorder, self.watch = target_score, recorder, watch
        self.deadline = None if timeout is None else now() + timeout
        self.outs: dict[tuple[int, int], list[dict]] = {}
        self.new_outs: dict[tuple[int, int], list[dict]] = {}
        self.states: dict[tuple[int, int], object] = {}
        self._tasks: dict[int, list[Task]] = {}  # of the trials that run
        self.best = Best(ensemble_size)
        self.models: dict[tuple[int, int], object] = {}
        self.done = False
        self.n_ok = 0
        self._replays = self._ends = False
        self._rungs = _RungContexts(callbacks, plan, context, study.scheduler.asynchronous)
        self._warned = False
        self._max_resources = study.history.problem.max_resources
        self._top = max((rung.n_resources for rung in plan.rungs), default=0)

    # ---- what the loop calls

    def unfinished_jobs(self):
        """Jobs that an earlier process had asked for when it died."""
        return [] if self.recorder is None else self.recorder.unfinished_jobs

    def recorded_output(self, task):
        """The output of a task that an earlier process has run."""
        return None if self.recorder is None else self.recorder.recorded_output(task)

    def tasks(self, job):
        """One task for each fold that the job evaluates."""
        if self._notes():
            self.recorder.record_job(job, self.study.history.exhausted)
        rungs = tuple(self.study.history.trials[job.trial_id].results)
        tasks = self._tasks[job.trial_id] = [
            self.task(
                trial_id=job.trial_id,
                fold=fold,
                params=job.params,
                resource=job.resource,
                spent=job.spent,
                state=self.states.get((job.trial_id, fold)),
                rungs=rungs,
                keep=job.resource < self._max_resources,
                final=self.best.size > 0 and self._is_final(job, fold),
                callbacks=self._rungs.leaf(job),
            )
            for fold in self._folds(job)
        ]
        return tasks

    def task(self, trial_id, fold, spent, **rest):
        """A `Task`, which continues if what was spent has left steps of training."""
        earlier = self.outs.get((trial_id, spent), ())[fold : fold + 1]
        continues = any(out["n_steps"] > 0 for out in earlier)
        return Task(trial_id=trial_id, fold=fold, spent=spent, continues=continues, **rest)

    def collect(self, job, outputs):
        """Keep outputs and states, and make the result."""
        tasks = self._tasks.pop(job.trial_id)
        outputs = [
            lost_output(self.context, task, out) if isinstance(out, LostTask) else out
            for task, out in zip(tasks, outputs, strict=True)
        ]
        outputs = [self._as_kept(*pair) for pair in zip(tasks, outputs, strict=True)]
        if self._notes():
            self.recorder.record_outputs(job, tasks, outputs)
        self.new_outs[job.trial_id, job.resource] = outputs
        earlier = self.outs.get((job.trial_id, job.spent), [])[: tasks[0].fold]
        self.outs[job.trial_id, job.resource] = outs = earlier + outputs
        for task, out in zip(tasks, outputs, strict=True):
            self._keep_state(task, out.pop("state"))
            if lost := out.pop("lost_state"):
                self._warn_lost_state(lost)
            self.done |= out["stop"]
        return job_result(outs, outputs, self.context.metric)

    def on_interrupt(self):
        """Results that come now are kept, but not noted: another process would not have them yet.

        A search that goes on later finds them where their workers left them.
        """
        self._ends = True

    def replay(self, job, outputs):
        """Enter the outputs that a job had in an earlier process."""
        self._replays = True
        self.tasks(job)
        result = self.collect(job, [out | {"stop": False} for out in outputs])
        self.study.tell(job, result)
        self.on_result(job)
        self._replays = False

    def on_result(self, job):
        """Free states, report, and stop where there is nothing more to find."""
        history = self.study.history
        self.watch.update()
        trial = history.trials[job.trial_id]
        result = trial.results[job.resource]
        self._free(job, trial, result.score)
        self.n_ok += math.isfinite(result.score)
        if (
            self.target_score is not None
            and job.resource == self._max_resources
            and result.score >= self.target_score
        ):
            self.done = True
        if self._rungs.tell(job):
            stop = self._rungs.end(job)
            if self._replays or self._ends:
                return
            self.done |= stop
            outs = [out for outs in self.new_outs.values() for out in outs]
            if len(self.plan.rungs) > 1 and all(out["fit_error"] is not None for out in outs):
                # Nothing can be promoted, and what comes after is likely to fail in this way.
                self.check_failures(outs)

    def keep_models(self):
        """Have the models of the best in memory, while what is in files can be read."""
        if self.best.size:
            # Nobody may be at the top when the time is up.
            best = self.best if len(self.best) else Best.of(self.study.history, self.best.size)
            self.models = models_of(self.states, best)

    def seconds_left(self):
        """Until the deadline; 0 when a callback or the target score ends the search."""
        if self.done:
            return 0.0
        return None if self.deadline is None else self.deadline - now()

    # ---- afterwards

    def close(self, why):
        """End the contexts of rungs that were cut short, and note why there is no more to come."""
        self._rungs.close()
        if self.recorder is not None:
            kept = (state for (i, _), state in self.states.items() if i in self.best)
            files = {state.path.name for state in kept if isinstance(state, SavedState)}
            self.recorder.stop(why, keep=files)

    def rows(self):
        """Rows of ``cv_results_``, by bracket, rung and trial."""
        return make_rows(
            self.study.history.trials, self.outs, self.new_outs, self.context.resource.params
        )

    def check_failures(self, outs):
        """Warn about failures, or raise if there was nothing else.

        Parameters
        ----------
        outs : list of dict
            Outputs of all fits.

        Raises
        ------
        ValueError
            If all fits failed, with their errors grouped.
        """
        try:
            warn_or_raise_about_fit_failures(outs, self.context.error_score)
        except ValueError as error:
            note = why_all_failed(self.context.splits, self.context.strata)
            raise ValueError(f"{error}{note}") from None
        if self.n_ok == 0:
            warnings.warn(
                "No candidate has a finite score, so the best one is no better than any other: "
                "look at the scorer, or pass error_score='raise'.",
                UserWarning,
                stacklevel=2,
            )

    # ---- inside

    def _notes(self):
        """Whether what happens is news for the journal."""
        return self.recorder is not None and not (self._replays or self._ends)

    def _as_kept(self, task, out):
        """The output, its state in a file also where it came as bytes from another machine."""
        if isinstance(out["state"], bytes) and self.recorder is not None:
            with suppress(OSError):
                path = self.recorder.checkpoint.states / task.name
                out = out | {"state": SavedState.write(out["state"], path)}
        # Each output that was pickled has names of its own, more than all its numbers.
        return {intern(name): value for name, value in out.items()}

    def _keep_state(self, task, state):
        """Put the new state of a trial and fold in the place of the one that it came from."""
        key = (task.trial_id, task.fold)
        self._drop(self.states.pop(key, None))
        if state is not None:
            self.states[key] = state

    def _free(self, job, trial, score):
        """Drop the states that nobody goes on from, but for those of the best."""
        gone = set(self.study.scheduler.retired(self.study.history, job))
        if job.resource == self._top:
            gone.update(self.best.enter(trial, score))
        for trial_id in gone:
            if trial_id not in self.best:
                for fold in range(len(self.context.splits)):
                    self._drop(self.states.pop((trial_id, fold), None))

    def _is_final(self, job, fold):
        """Whether a candidate at the top has the model that it has on this fold now."""
        later = self.context.resource.folds(len(self.context.splits), self._top, job.resource)
        return job.resource == self._top or fold not in later

    def _drop(self, state):
        """Remove a state's file, unless a search that goes on later may need it."""
        if isinstance(state, SavedState) and not (self._replays or self._ends):
            state.path.unlink(missing_ok=True)

    def _folds(self, job):
        return self.context.resource.folds(len(self.context.splits), job.resource, job.spent)

    def _warn_lost_state(self, error):
        if not self._warned:
            self._warned = True
            warnings.warn(
                "A fitted estimator cannot travel from rung to rung, or into an ensemble, so it "
                f"is trained again from the beginning: {error}. Where it cannot be pickled at "
                "all, n_jobs=1 without checkpoint_dir keeps it in memory.",
                UserWarning,
                stacklevel=2,
            )


class _RungContexts:
    """Callback contexts: the search, its rungs where there are several, a leaf for each fit."""

    def __init__(self, callbacks, plan, context, asynchronous):
        self._search = context.search
        self._endless = asynchronous  # a rung may get more than was planned
        self._planned = {(r.bracket, r.n_resources): r for r in plan.rungs}
        self._several = len(plan.rungs) > 1
        n_tasks = len(plan.rungs) if self._several else sum(r.n_fits for r in plan.rungs)
        self._root = self._begin(callbacks, "search", n_tasks)
        self._open: dict[tuple[int, int], object] = {}
        self._n_leaves: dict[tuple[int, int], int] = {}
        self._n_told: dict[tuple[int, int], int] = {}

    def leaf(self, job):
        """A context for one more fit of this job."""
        key = (job.bracket, job.resource)
        if key not in self._open:
            self._n_leaves[key] = self._n_told[key] = 0
            self._open[key] = self._root
            if self._several:
                rung = self._planned[key]
                self._open[key] = self._begin(
                    self._root, "rung", None if self._endless else rung.n_fits, rung
                )
        self._n_leaves[key] += 1
        return self._open[key].subcontext(
            task_name="candidate-split-evaluation", task_id=self._n_leaves[key] - 1
        )

    def tell(self, job):
        """Count a job that ended; True if it was the last that was planned for its rung."""
        key = (job.bracket, job.resource)
        self._n_told[key] += 1
        return self._n_told[key] == self._planned[key].n_candidates

    def end(self, job):
        """End the context of a rung; True if a callback asks to stop."""
        if not self._several or self._endless:
            return False
        context = self._open.pop((job.bracket, job.resource))
        return context.call_on_fit_task_end(estimator=self._search)

    def close(self):
        """End what is still open."""
        if self._several:
            for context in self._open.values():
                context.call_on_fit_task_end(estimator=self._search)
        self._root.call_on_fit_task_end(estimator=self._search)

    def _begin(self, parent, name, n_tasks, rung=None):
        kwargs = {} if rung is None else {"task_id": list(self._planned.values()).index(rung)}
        context = parent.subcontext(
            task_name=name, max_subtasks=n_tasks, sequential_subtasks=False, **kwargs
        )
        return context.call_on_fit_task_begin(estimator=self._search)
