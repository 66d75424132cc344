"""One run of a search: jobs into tasks, outputs into results, and when to stop."""

import math
import warnings
from pathlib import Path

import numpy as np

from sksearch._clock import now
from sksearch._compat import warn_or_raise_about_fit_failures
from sksearch.history import Result
from sksearch.search._checks import why_all_failed
from sksearch.search._evaluation import Task


class Run:
    """The `Work` of one ``fit``: everything that lives no longer than it.

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
    """

    def __init__(self, study, context, plan, callbacks, timeout, target_score):
        self.study, self.context, self.plan = study, context, plan
        self.target_score = target_score
        self.deadline = None if timeout is None else now() + timeout
        self.outs: dict[tuple[int, int], list[dict]] = {}
        self.new_outs: dict[tuple[int, int], list[dict]] = {}
        self.states: dict[tuple[int, int], object] = {}
        self._used: dict[tuple[int, int], object] = {}
        self.done = False
        self.n_ok = 0
        self._rungs = _RungContexts(callbacks, plan, context)
        self._warned = False
        self._max_resources = study.history.problem.max_resources

    # ---- what the loop calls

    def tasks(self, job):
        """One task for each fold that the job evaluates."""
        tasks = []
        for fold in self._folds(job):
            key = (job.trial_id, fold)
            self._used[key] = self.states.pop(key, None)
            tasks.append(
                Task(
                    trial_id=job.trial_id,
                    fold=fold,
                    params=job.params,
                    resource=job.resource,
                    spent=job.spent,
                    state=self._used[key],
                    keep=job.resource < self._max_resources,
                    callbacks=self._rungs.leaf(job),
                )
            )
        return tasks

    def collect(self, job, outputs):
        """Keep outputs and states, and make the result."""
        self.new_outs[job.trial_id, job.resource] = outputs
        folds = self._folds(job)
        earlier = self.outs.get((job.trial_id, job.spent), [])[: folds.start]
        self.outs[job.trial_id, job.resource] = outs = earlier + outputs
        for fold, out in zip(folds, outputs, strict=True):
            key = (job.trial_id, fold)
            _unlink(self._used.pop(key))
            if (state := out.pop("state")) is not None:
                self.states[key] = state
            if lost := out.pop("lost_state"):
                self._warn_lost_state(lost)
            self.done |= out["stop"]
        return self._result(outs, outputs)

    def told(self, job):
        """Free states, report, and stop where there is nothing more to find."""
        history = self.study.history
        for trial_id in self.study.scheduler.retired(history, job):
            for fold in range(len(self.context.splits)):
                _unlink(self.states.pop((trial_id, fold), None))
        result = history.trials[job.trial_id].results[job.resource]
        self.n_ok += math.isfinite(result.score)
        if (
            self.target_score is not None
            and job.resource == self._max_resources
            and result.score >= self.target_score
        ):
            self.done = True
        if self._rungs.tell(job):
            self.done |= self._rungs.end(job)
            self._report(job)
            outs = [out for outs in self.new_outs.values() for out in outs]
            if len(self.plan.rungs) > 1 and all(out["fit_error"] is not None for out in outs):
                # Nothing can be promoted, and what comes after is likely to fail in this way.
                self.check_failures(outs)

    def seconds_left(self):
        """Until the deadline; 0 when a callback or the target score ends the search."""
        if self.done:
            return 0.0
        return None if self.deadline is None else self.deadline - now()

    # ---- afterwards

    def close(self):
        """End the contexts of rungs that were cut short."""
        self._rungs.close()

    def rows(self):
        """Rows of ``cv_results_``, by bracket, rung and trial."""
        trials = self.study.history.trials
        ladders: dict[int, list[int]] = {}
        for trial_id, resource in self.outs:
            ladders.setdefault(trials[trial_id].bracket, []).append(resource)
        ladders = {bracket: sorted(set(ladder)) for bracket, ladder in ladders.items()}
        rows = [
            {
                "params": self.context.resource.params(trials[trial_id].params, resource),
                "outs": outs,
                "new_outs": self.new_outs[trial_id, resource],
                "trial_id": trial_id,
                "bracket": trials[trial_id].bracket,
                "iter": ladders[trials[trial_id].bracket].index(resource),
                "n_resources": resource,
            }
            for (trial_id, resource), outs in self.outs.items()
        ]
        return sorted(rows, key=lambda row: (row["bracket"], row["iter"], row["trial_id"]))

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

    def _result(self, outs, outputs):
        cost = sum(out["fit_time"] + out["score_time"] for out in outputs)
        for out in outs:
            if out["status"] != "ok":
                return Result(math.nan, cost, out["status"], out["error"])
        score = float(np.mean([self._score_of(out["test_scores"]) for out in outs]))
        if not math.isfinite(score):
            return Result(math.nan, cost, "nan", f"the scorer returned {score}")
        return Result(score, cost)

    def _score_of(self, scores):
        if not isinstance(scores, dict):
            return scores
        metric = self.context.metric
        return scores[metric] if metric in scores else next(iter(scores.values()))

    def _folds(self, job):
        return self.context.resource.folds(len(self.context.splits), job.resource, job.spent)

    def _warn_lost_state(self, error):
        if not self._warned:
            self._warned = True
            warnings.warn(
                "A fitted estimator cannot travel between processes, so candidates are trained "
                f"from the beginning at each rung: {error}. Use n_jobs=1 to keep it in memory.",
                UserWarning,
                stacklevel=2,
            )

    def _report(self, job):
        if self.context.verbose < 1 or len(self.plan.rungs) == 1:
            return
        history = self.study.history
        ids = history.rung(job.bracket, job.resource)
        scores = [history.trials[i].results[job.resource].score for i in ids]
        best = f"{np.nanmax(scores):.4g}" if np.isfinite(scores).any() else "none"
        print(
            f"bracket {job.bracket}: {len(ids)} candidates at {job.resource} {self.plan.unit}, "
            f"best score {best}",
            flush=True,
        )


class _RungContexts:
    """Callback contexts: the search, its rungs where there are several, a leaf for each fit."""

    def __init__(self, callbacks, plan, context):
        self._search = context.search
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
                self._open[key] = self._begin(self._root, "rung", rung.n_fits, rung)
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
        if not self._several:
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


def _unlink(state):
    if isinstance(state, Path):
        state.unlink(missing_ok=True)
