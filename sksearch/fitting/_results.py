"""``cv_results_``: scikit-learn's columns, one row for each candidate and resource."""

import math
import warnings

import numpy as np
from scipy.stats import rankdata

from sksearch._compat import masked_param_columns, normalize_score_results
from sksearch.history import Result


def job_result(outs, outputs, metric):
    """What a job brought.

    Parameters
    ----------
    outs : list of dict
        Outputs of all folds that the trial has reached, earlier jobs' included.
    outputs : list of dict
        Those of this job, which are what it cost.
    metric : str or None
        The one of several metrics that counts; None for the first, or the only one.

    Returns
    -------
    result : Result
        Its score is the mean over folds; NaN if one of them failed.
    """
    # A clock that is set back makes differences negative, and that is no reason to fail.
    cost = max(0.0, sum(out["fit_time"] + out["score_time"] for out in outputs))
    for out in outs:
        if out["status"] != "ok":
            return Result(math.nan, cost, out["status"], out["error"])
    scores = [_score_of(out["test_scores"], metric) for out in outs]
    score = float(np.add.reduce(scores) / len(scores))  # np.mean takes four times as long
    if not math.isfinite(score):
        return Result(math.nan, cost, "nan", f"the scorer returned {score}")
    return Result(score, cost)


def _score_of(scores, metric):
    if not isinstance(scores, dict):
        return scores
    return scores[metric] if metric in scores else next(iter(scores.values()))


def make_rows(trials, outs, new_outs, params_at):
    """Rows of ``cv_results_``, by bracket, rung and trial.

    Parameters
    ----------
    trials : list of Trial
        All of a history.
    outs, new_outs : dict of tuple (int, int) to list of dict
        By trial and resource: outputs of all folds that it has reached, and those that were
        evaluated for this resource.
    params_at : callable
        ``params_at(params, resource) -> dict``: what a row shows.

    Returns
    -------
    rows : list of dict
        For `cv_results`.
    """
    ladders: dict[int, set[int]] = {}
    for trial_id, resource in outs:
        ladders.setdefault(trials[trial_id].bracket, set()).add(resource)
    places = {
        (bracket, resource): place
        for bracket, ladder in ladders.items()
        for place, resource in enumerate(sorted(ladder))
    }
    rows = [
        {
            "params": params_at(trials[trial_id].params, resource),
            "outs": reached,
            "new_outs": new_outs[trial_id, resource],
            "trial_id": trial_id,
            "bracket": trials[trial_id].bracket,
            "iter": places[trials[trial_id].bracket, resource],
            "n_resources": resource,
        }
        for (trial_id, resource), reached in outs.items()
        if resource in trials[trial_id].results  # else Ctrl-C came between two lines
    ]
    return sorted(rows, key=lambda row: (row["bracket"], row["iter"], row["trial_id"]))


def name_error_scores(outs):
    """Give failed outputs the metrics of those that did not fail, which name them.

    A scorer that is a function names its metrics only when it is called.

    Parameters
    ----------
    outs : list of dict
        Changed in place.
    """
    metrics = next(
        (out["test_scores"] for out in outs if isinstance(out["test_scores"], dict)), ()
    )
    for out in outs if metrics else ():
        for kind in {"test_scores", "train_scores"} & out.keys():
            if not isinstance(out[kind], dict):
                out[kind] = dict.fromkeys(metrics, out[kind])


def cv_results(rows, n_splits, return_train_score, with_resources):
    """Build the dict of columns.

    Parameters
    ----------
    rows : list of dict
        ``params``, ``outs`` (outputs of the folds that were evaluated, first folds first),
        ``trial_id``, ``bracket``, ``iter`` and ``n_resources``.
    n_splits : int
        Count of folds; columns of folds that a row has not reached are NaN.
    return_train_score : bool
        Whether outputs hold train scores.
    with_resources : bool
        Whether rows differ in resource: adds the columns ``iter``, ``n_resources``, ``bracket``
        and ``trial_id``.

    Returns
    -------
    results : dict of str to array
        Each of length ``len(rows)``.
    """
    table = _Table(rows, n_splits)
    results = {}
    if with_resources:
        for name in ("iter", "n_resources", "bracket", "trial_id"):
            results[name] = np.array([row[name] for row in rows], dtype=np.int64)
    table.store(results, "fit_time", table.column("fit_time"))
    table.store(results, "score_time", table.column("score_time"))
    resources = [row["n_resources"] for row in rows]
    failed = [any(_has_failed(out) for out in row["outs"]) for row in rows]
    params = [row["params"] for row in rows]
    results.update(masked_param_columns(params))
    results["params"] = params
    test = table.scores("test_scores")
    train = table.scores("train_scores") if return_train_score else {}
    for name in test:
        table.store(results, f"test_{name}", test[name], splits=True)
        _warn_if_not_finite(results, "test", name)
        # A number as error_score is for the eye: what cannot be trained is never the best.
        means = np.where(failed, np.nan, results[f"mean_test_{name}"])
        results[f"rank_test_{name}"] = rank(means, resources)
        if return_train_score:
            table.store(results, f"train_{name}", train[name], splits=True)
            _warn_if_not_finite(results, "train", name)
    return results


def rank(means, resources):
    """Ranks by resource first, then by mean score; ties share the smallest, NaN comes last.

    A score at 1 epoch must not outrank one at 81: everybody's first line is
    ``sort_values("rank_test_score")``.

    Parameters
    ----------
    means : ndarray of shape (n_rows,)
        Greater is better. Infinite ones are no scores: they rank with NaN.
    resources : array-like of shape (n_rows,)
        Counts of units.

    Returns
    -------
    ranks : ndarray of shape (n_rows,), int32
        1 is the best.
    """
    means = np.asarray(means, dtype=float)
    finite = np.isfinite(means)
    ranks = np.full(len(means), finite.sum() + 1, dtype=np.int32)
    if finite.any():
        _, level = np.unique(np.asarray(resources)[finite], return_inverse=True)
        within = rankdata(means[finite], method="dense")
        keys = level * (within.max() + 1) + within
        ranks[finite] = rankdata(-keys, method="min")
    return ranks


def _has_failed(out):
    """Whether there is no score at all; of several metrics one alone may have failed."""
    single = not isinstance(out["test_scores"], dict)
    return out["fit_error"] is not None or (single and out["status"] != "ok")


class _Table:
    """Fold outputs as arrays of shape (n_rows, n_splits), NaN where a fold is missing."""

    def __init__(self, rows, n_splits):
        self.outs = [out for row in rows for out in row["outs"]]
        counts = [len(row["outs"]) for row in rows]
        self.at = (
            np.repeat(np.arange(len(rows)), counts),
            np.concatenate([np.arange(count) for count in counts]),
        )
        self.shape = (len(rows), n_splits)
        self.complete = all(count == n_splits for count in counts)

    def column(self, key):
        return self._place([out[key] for out in self.outs])

    def scores(self, key):
        by_name = normalize_score_results([out[key] for out in self.outs])
        return {name: self._place(values) for name, values in by_name.items()}

    def _place(self, values):
        array = np.full(self.shape, np.nan)
        array[self.at] = values
        return array

    def store(self, results, name, array, splits=False):
        """Add the columns of one quantity."""
        if splits:
            for i in range(self.shape[1]):
                results[f"split{i}_{name}"] = array[:, i]
        seen = np.zeros(self.shape, dtype=bool)
        seen[self.at] = True
        count = seen.sum(axis=1)
        with np.errstate(invalid="ignore"):  # inf - inf, where a score is infinite
            if self.complete:
                mean = np.average(array, axis=1)
                std = np.sqrt(np.average((array - mean[:, np.newaxis]) ** 2, axis=1))
            else:
                mean = np.where(seen, array, 0).sum(axis=1) / count
                deviation = np.where(seen, array - mean[:, np.newaxis], 0)
                std = np.sqrt((deviation**2).sum(axis=1) / count)
        results[f"mean_{name}"], results[f"std_{name}"] = mean, std


def _warn_if_not_finite(results, kind, name):
    means = results[f"mean_{kind}_{name}"]
    if not np.isfinite(means).all():
        warnings.warn(
            f"One or more of the {kind} scores are non-finite: {means}",
            category=UserWarning,
            stacklevel=2,
        )
