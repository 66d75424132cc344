"""``cv_results_``: scikit-learn's columns, one row for each candidate and resource."""

import warnings

import numpy as np
from scipy.stats import rankdata

from sksearch._compat import aggregate_score_dicts, masked_param_columns, normalize_score_results


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
        by_name = normalize_score_results(aggregate_score_dicts(self.outs)[key])
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
