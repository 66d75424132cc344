"""``cv_results_``: scikit-learn's columns, one row for each candidate and resource."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sksearch._utils._compat import masked_param_columns, normalize_score_results
from sksearch._utils._numerics import own_numerics
from sksearch._utils._terminal import warn
from sksearch.fitting.run._curves import settle, value_of
from sksearch.fitting.run._objectives import Aims
from sksearch.fitting.run._setup import Setup
from sksearch.fitting.run._tasks import Output
from sksearch.history import History, Params, Result, Span, Trial
from sksearch.reader._values import rank

KINDS = ("test", "train")  # of scores
#: Columns that distinguish rows of different resources, after `ResultRow`.
COLUMNS: tuple[str, ...] = ("iter", "n_resources", "bracket", "trial_id")


@dataclass(slots=True)
class ResultRow:
    """A row of ``cv_results_``."""

    params: Params
    outputs: list[Output]  # outputs of all folds evaluated so far, in order
    new_outputs: list[Output]  # outputs of the folds evaluated for this row
    trial_id: int
    bracket: int
    iter: int
    n_resources: int


@dataclass(slots=True)
class Outputs:
    """Outputs of all evaluations of a search, by trial and resource."""

    #: Outputs of all folds that the trial was evaluated on so far.
    reached: dict[tuple[int, int], list[Output]] = field(default_factory=dict)
    #: Outputs of the folds evaluated for this resource.
    new: dict[tuple[int, int], list[Output]] = field(default_factory=dict)
    #: Numbers of iterations that training found.
    counts: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(
        self,
        trial_id: int,
        resource: int,
        kept: list[Output],
        new: list[Output],
        metric: str | None = None,
    ) -> None:
        """Enter the outputs of a job, after the `kept` outputs of earlier jobs.

        If training finds the number of iterations, the scores are taken at the best count for
        `metric` over all folds so far.
        """
        count, reached = settle(kept + new, metric)
        if count is not None:
            self.counts[trial_id, resource] = count
        self.new[trial_id, resource] = reached[len(kept) :]
        self.reached[trial_id, resource] = reached

    def forget_predictions(self, trial: Trial) -> None:
        """Free the predictions of a trial that is no longer among the best."""
        for resource in trial.results:
            key = trial.id, resource
            for output in (*self.reached[key], *self.new[key]):
                output.predictions = None

    def all_new(self) -> list[Output]:
        """List the outputs of all evaluations, in the order of the jobs."""
        return [output for new in self.new.values() for output in new]

    def rows(
        self,
        trials: Sequence[Trial],
        params_at: Callable[[Params, int], Params],
        outcome: Callable[[Params], tuple[str, Any] | None] = lambda params: None,
        by_folds: bool = False,
    ) -> list[ResultRow]:
        """Make the rows of ``cv_results_``, by bracket, rung and trial.

        If `by_folds`, units are folds: the last row of a trial includes its first folds, so it is
        the only row, and rows are in the order of the trials.
        """
        rungs: dict[int, set[int]] = {}
        for trial_id, resource in self.reached:
            rungs.setdefault(trials[trial_id].bracket, set()).add(resource)
        iters = {
            (bracket, resource): i
            for bracket, resources in rungs.items()
            for i, resource in enumerate(sorted(resources))
        }
        rows = []
        for (trial_id, resource), reached in self.reached.items():
            trial = trials[trial_id]
            if by_folds and resource < max(trial.results, default=0):
                continue
            if resource in trial.results:  # missing if Ctrl-C interrupted `tell`
                params, new = params_at(trial.params, resource), self.new[trial_id, resource]
                new = reached if by_folds else new
                count = self.counts.get((trial_id, resource))
                if count is not None and (found := outcome(trial.params)):
                    params = {**params, found[0]: found[1].value(count)}
                i = iters[trial.bracket, resource]
                rows.append(ResultRow(params, reached, new, trial_id, trial.bracket, i, resource))
        if by_folds:
            return sorted(rows, key=lambda row: row.trial_id)
        return sorted(rows, key=lambda row: (row.bracket, row.iter, row.trial_id))


@own_numerics()
def job_result(reached: list[Output], new: list[Output], metric: str | None, aims: Aims) -> Result:
    """Return the mean score over folds, their scores and the cost; NaN if a fold failed.

    `reached` are the outputs of all evaluated folds of the trial, `new` the outputs of this job,
    which determine its cost; `metric` is the deciding one, None for the first or only one; `aims`
    are the objectives and bounds.
    """
    # A clock set back makes differences negative, which must not raise an error.
    cost = max(0.0, sum([output.fit_time + output.score_time for output in new]))
    first = len(reached) - len(new)
    spans = tuple([Span(first + i, *out.span) for i, out in enumerate(new) if out.span])
    for output in reached:
        if output.status != "ok":
            return Result(math.nan, cost, output.status, output.error, spans=spans)
    scores = [value_of(output.test_scores, metric) for output in reached]
    # If a plain function takes no time, this does; np.mean takes four times as long.
    score = float(scores[0] if len(scores) == 1 else np.add.reduce(scores) / len(scores))
    if not math.isfinite(score):
        return Result(math.nan, cost, "nan", f"the scorer returned {score}", spans=spans)
    objectives, slacks = aims.vectors(reached)
    if (objectives or slacks) and not all(map(math.isfinite, (*objectives, *slacks))):
        error = f"objectives or bounds are not finite: {objectives}, {slacks}"
        return Result(math.nan, cost, "nan", error, spans=spans)
    fold_scores = tuple(map(float, scores))
    return Result(
        score, cost, fold_scores=fold_scores, objectives=objectives, slacks=slacks, spans=spans
    )


def warn_if_none_keeps_bounds(results: Sequence[Result]) -> None:
    """Warn if each result with a score violates a bound."""
    violations = [result.violation for result in results if not math.isnan(result.score)]
    if violations and min(violations) > 0:
        warn(text_of_violation(min(violations)))


def text_of_violation(violation: float, unmet: str = "No candidate satisfies all bounds") -> str:
    """Describe the choice of the candidate with the smallest violation, in units of the bounds."""
    return (
        f"{unmet}: the candidate with the smallest violation, {violation:.3g} in units of the "
        "bounds, is chosen. Relax the bounds, or widen the space."
    )


def name_error_scores(outputs: list[Output]) -> None:
    """Give all outputs the same metrics, if any of them has names.

    A callable scorer names its metrics only when called. Failed outputs have their one score for
    each metric, and others NaN for those that they lack; a score that came without a name is
    called "score".
    """
    plain = [o.status == "ok" and not isinstance(o.test_scores, dict) for o in outputs]
    for attribute in ("test_scores", "train_scores"):
        scores = [getattr(output, attribute) for output in outputs]
        metrics = {name: math.nan for each in scores if isinstance(each, dict) for name in each}
        if not metrics or None in scores:
            continue
        if any(plain):
            metrics.setdefault("score", math.nan)
        for output, each, is_plain in zip(outputs, scores, plain, strict=True):
            if is_plain:
                each = {"score": each}
            elif not isinstance(each, dict):
                each = dict.fromkeys(metrics, each)
            setattr(output, attribute, metrics | each)


def cv_results(
    rows: list[ResultRow],
    n_splits: int,
    return_train_score: bool,
    columns: Sequence[str] = (),
    any_rung_wins: bool = False,
    violations: ArrayLike | None = None,
    by_folds: bool = False,
    is_namesake: bool = False,
) -> dict[str, Any]:
    """Build the dict of columns; columns of folds that a row has not reached are NaN.

    Rows that differ in resource begin with `columns`, of `COLUMNS`; `any_rung_wins` is for their
    ranks, see `rank`. If `columns` lacks brackets, ranks are by score alone, as in scikit-learn.
    Other measures have columns like ``mean_fit_time``; `violations` of bounds are the column
    ``violation``, and such rows rank behind all others. If `by_folds`, units are folds: a mean
    over fewer folds than others have is NaN. With the names of scikit-learn's searches infinite
    scores rank as there, as numbers.
    """
    table = _Table(rows, n_splits)
    results: dict[str, Any] = {}
    for name in columns:
        results[name] = np.array([getattr(row, name) for row in rows], dtype=np.int64)
    for name in ("fit_time", "score_time"):
        table.store(results, name, table.column(name))
    for name in table.measures():
        table.store(results, name, table.measure(name))
    resources = [row.n_resources for row in rows]
    levels = resources if "bracket" in columns else [0] * len(rows)
    failed = [any(map(_has_failed, row.outputs)) for row in rows]
    params = [row.params for row in rows]
    results.update(masked_param_columns(params))
    results["params"] = params
    test = table.scores("test_scores")
    train = table.scores("train_scores") if return_train_score else {}
    for name in test:
        table.store(results, f"test_{name}", test[name], splits=True)
        _warn_if_not_finite(results, "test", name)
        # A number as error_score is only displayed: a failed candidate is never the best.
        means = np.where(failed, np.nan, results[f"mean_test_{name}"])
        means = means if is_namesake else np.where(np.isinf(means), np.nan, means)
        results[f"rank_test_{name}"] = rank(means, levels, any_rung_wins, violations)
        if return_train_score:
            table.store(results, f"train_{name}", train[name], splits=True)
            _warn_if_not_finite(results, "train", name)
        if by_folds:
            _hide_partial_means(results, name, np.array(resources), np.isfinite(means))
    if violations is not None:
        results["violation"] = np.asarray(violations, dtype=float)
    return results


def table_of(setup: Setup, history: History, rows: list[ResultRow]) -> dict[str, Any]:
    """Build ``cv_results_`` of rows of a search."""
    results = results_of(history, rows)
    violations = [each.violation for each in results] if setup.context.aims.bounds else None
    shown = len(setup.context.splits), setup.context.return_train_score, setup.columns
    wins, by_folds = setup.plan.any_rung_wins, setup.plan.by_folds
    return cv_results(rows, *shown, wins, violations, by_folds, setup.is_namesake)


def results_of(history: History, rows: list[ResultRow]) -> list[Result]:
    """Return the known facts about the candidate of each row, at its resource."""
    return [history.trials[row.trial_id].results[row.n_resources] for row in rows]


def chosen_index(refit: Callable, results: dict[str, Any]) -> int:
    """Return the row chosen by the user's function; TypeError or IndexError if invalid."""
    index = refit(results)
    n_rows = len(results["params"])
    kept = "The results are kept in cv_results_."
    if not isinstance(index, Integral):
        raise TypeError(
            f"best_index_ returned is not an integer: refit={refit} returned {index!r}, but must "
            f"return the index of a row of cv_results_. {kept}"
        )
    if not 0 <= int(index) < n_rows:
        raise IndexError(
            f"best_index_ index out of range: refit={refit} returned {index}, but the rows of "
            f"cv_results_ are 0 to {n_rows - 1}. {kept}"
        )
    return int(index)


def best_of_last_iteration(results: Mapping[str, Any], metric: str | None) -> int:
    """Return the winning row of a halving scikit-learn search, with ranks by score.

    If `metric` is None, the row with the best mean score wins.
    """
    last = np.flatnonzero(results["iter"] == np.max(results["iter"]))
    if metric is None:
        losses = np.nan_to_num(-results["mean_test_score"], nan=np.inf)
    else:
        losses = results[f"rank_test_{metric}"]
    return int(last[np.argmin(losses[last])])


def try_rule(refit: Callable, results: dict[str, Any]) -> None:
    """Call the user's function once with the first results; raise if it can never succeed.

    Problems that more rows may solve, such as an index that is too large, are ignored.
    """
    cure = "pass a function of cv_results_ that returns the index of a row"
    try:
        index = refit(results)
    except KeyError as error:
        if error.args and error.args[0] not in results:
            raise ValueError(
                f"refit={refit} uses the column {error}, which cv_results_ does not contain "
                f"({', '.join(results)}): {cure}."
            ) from error
        return
    except (AttributeError, NameError) as error:
        raise ValueError(
            f"refit={refit} failed on the first results ({error}): {cure}."
        ) from error
    except Exception:  # a larger size may succeed
        return
    told = f"refit={refit} returned {index!r} for the first results: {cure}."
    if not isinstance(index, Integral):
        raise TypeError(f"best_index_ returned is not an integer: {told}")
    if index < 0:
        raise IndexError(f"best_index_ index out of range: {told}")


def _hide_partial_means(
    results: dict[str, Any], name: str, n_folds: np.ndarray, is_finite: np.ndarray
) -> None:
    """Replace means over a part of the folds by NaN, because they are not comparable.

    If no candidate has all folds when the time is up, keep the means over the most folds.
    """
    is_partial = n_folds < n_folds[is_finite].max(initial=0)
    for column in (f"{what}_{kind}_{name}" for what in ("mean", "std") for kind in KINDS):
        if column in results:
            results[column][is_partial] = np.nan


def _has_failed(output: Output) -> bool:
    """True if no candidate has a score; a single one of several metrics may fail."""
    single = not isinstance(output.test_scores, dict)
    return output.fit_error is not None or (single and output.status != "ok")


class _Table:
    """Outputs of folds as arrays of shape (n_rows, n_splits), NaN if a fold is missing."""

    def __init__(self, rows: list[ResultRow], n_splits: int) -> None:
        self.outputs = [output for row in rows for output in row.outputs]
        counts = [len(row.outputs) for row in rows]
        self.at = (
            np.repeat(np.arange(len(rows)), counts),
            np.concatenate([np.arange(count) for count in counts]),
        )
        self.shape = (len(rows), n_splits)
        self.complete = all(count == n_splits for count in counts)

    def column(self, name: str) -> np.ndarray:
        return self._place([getattr(output, name) for output in self.outputs])

    def measures(self) -> list[str]:
        """Names of the measures, except the training time, which has its own column."""
        names = {name for output in self.outputs for name in output.measures or ()}
        return sorted(names - {"fit_time"})

    def measure(self, name: str) -> np.ndarray:
        return self._place([(out.measures or {}).get(name, np.nan) for out in self.outputs])

    def scores(self, name: str) -> dict[str, np.ndarray]:
        by_metric = normalize_score_results([getattr(output, name) for output in self.outputs])
        return {metric: self._place(values) for metric, values in by_metric.items()}

    def _place(self, values: ArrayLike) -> np.ndarray:
        array = np.full(self.shape, np.nan)
        array[self.at] = values
        return array

    @own_numerics()
    def store(
        self, results: dict[str, Any], name: str, array: np.ndarray, splits: bool = False
    ) -> None:
        """Add the columns of one quantity."""
        if splits:
            for i in range(self.shape[1]):
                results[f"split{i}_{name}"] = array[:, i]
        seen = np.zeros(self.shape, dtype=bool)
        seen[self.at] = True
        count = seen.sum(axis=1)
        with np.errstate(invalid="ignore"):  # inf - inf, if a score is infinite
            if self.complete:
                mean = np.average(array, axis=1)
                std = np.sqrt(np.average((array - mean[:, np.newaxis]) ** 2, axis=1))
            else:
                mean = np.where(seen, array, 0).sum(axis=1) / count
                deviation = np.where(seen, array - mean[:, np.newaxis], 0)
                std = np.sqrt((deviation**2).sum(axis=1) / count)
        results[f"mean_{name}"], results[f"std_{name}"] = mean, std


def _warn_if_not_finite(results: dict[str, Any], kind: str, name: str) -> None:
    means = results[f"mean_{kind}_{name}"]
    if not np.isfinite(means).all():
        warn(
            f"One or more of the {kind} scores are non-finite: {means}",
        )
