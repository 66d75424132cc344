"""``cv_results_`` of a fitted search, of ours or of scikit-learn, as rows of candidates."""

import math
import numbers
from collections.abc import Hashable
from functools import cached_property
from typing import Any

import numpy as np

from sksearch.fitting._results import metric_that_counts
from sksearch.history import Params


def count_folds(results: dict[str, Any], metric: str) -> int:
    """Count the columns ``split<k>_test_<metric>``."""
    n = 0
    while f"split{n}_test_{metric}" in results:
        n += 1
    return n


def metric_of(search: Any, results: dict[str, Any]) -> str:
    """Name the metric that counts: ``metric_`` of objectives, or that of ``refit``."""
    named = [getattr(search, "metric_", None), getattr(search, "refit", None)]
    wanted = next((name for name in named if f"mean_test_{name}" in results), None)
    return metric_that_counts(results, wanted)


def unit_of(search: Any) -> str:
    """Name the units of resource."""
    plan = getattr(search, "plan_", None)
    name = plan.unit if plan is not None else getattr(search, "resource", None) or "resource"
    return "rows" if name == "n_samples" else str(name)


def amount(resource: int, unit: str) -> str:
    """Say a count of units: "81 epochs"; "resource 81" where they have no name."""
    return f"resource {resource:,}" if unit == "resource" else f"{resource:,} {unit}"


def folds_text(n: int, of: int) -> str:
    """Say which folds a score is of: "mean of 5 folds", "mean of 2 of 3 folds"."""
    if n == of:
        return f"mean of {n} folds" if n > 1 else "one fold"
    return f"mean of {n} of {of} folds" if n > 1 else f"1 of {of} folds"


def is_number(value: Any) -> bool:
    """Tell whether a value is a number, and not True or False."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)


def key_of(value: Any) -> Hashable:
    """What is equal for equal values: types and texts, numbers by their values."""
    if isinstance(value, bool | np.bool_):
        return bool(value), "bool"
    if isinstance(value, int | float | np.integer | np.floating):
        return float(value)
    return type(value).__name__, repr(value)


def key_of_params(params: Params) -> Hashable:
    """What is equal for equal candidates."""
    return tuple((name, key_of(params[name])) for name in sorted(params))


class ResultRows:
    """The rows of ``cv_results_``, and which of them are of the same candidate.

    Parameters
    ----------
    search : estimator
        A fitted search.

    Attributes
    ----------
    metric : str
        Name of the metric that counts.
    scores : ndarray of shape (n_rows, n_folds)
        NaN where a fold is missing, and everywhere in rows that failed.
    means : ndarray of shape (n_rows,)
        Means over the folds that rows have, which may be a part of them; NaN in rows that failed.
    n_folds : ndarray of shape (n_rows,)
        Count of the folds that rows have a score on.
    resources : ndarray of shape (n_rows,) or None
        Counts of units; None where there is one resource only.
    by_candidate : list of list of int
        Rows of each candidate, that of the largest resource last, in the order of first rows.
    """

    def __init__(self, search: Any):
        self.search, self.results = search, search.cv_results_
        results = self.results
        self.metric = metric = metric_of(search, results)
        n = count_folds(results, metric)
        self.scores = np.column_stack([results[f"split{k}_test_{metric}"] for k in range(n)])
        self.scores = np.where(np.isfinite(self.scores), self.scores, np.nan)
        self.ranks = results[f"rank_test_{metric}"]
        means = np.array(results[f"mean_test_{metric}"], dtype=float)
        self.statuses = getattr(search, "statuses_", None) or [
            "ok" if math.isfinite(mean) else "error" for mean in means
        ]
        self.errors = getattr(search, "errors_", None) or [""] * len(means)
        failed = np.array([status != "ok" for status in self.statuses], dtype=bool)
        self.scores[failed] = np.nan  # whatever error_score is
        self.n_folds = np.isfinite(self.scores).sum(axis=1)
        # Of a part of the folds ``cv_results_`` has no mean.
        partial = ~np.isfinite(means) & (self.n_folds > 0)
        means[partial] = np.nansum(self.scores[partial], axis=1) / self.n_folds[partial]
        self.means = np.where(failed, np.nan, means)
        self.resources = results.get("n_resources")
        keys = self._keys()
        groups: dict[Hashable, list[int]] = {}
        for i, key in enumerate(keys):
            groups.setdefault(key, []).append(i)
        # The last row of a candidate is that with the largest resource.
        self.by_candidate = [
            sorted(rows, key=lambda i: (0 if self.resources is None else self.resources[i], i))
            for rows in groups.values()
        ]

    def _keys(self) -> list[Hashable]:
        """What is equal for rows of the same candidate."""
        if "trial_id" in self.results:
            return list(self.results["trial_id"])
        if self.resources is None:
            return list(range(len(self.ranks)))
        if hasattr(self.search, "_trial_ids"):
            return self.search._trial_ids
        keys: list[Hashable] = []
        seen: dict[Hashable, int] = {}
        for params, resource in zip(self.results["params"], self.resources, strict=True):
            key = key_of_params(self.own(params))
            # A list may name a candidate twice: then it has two rows at one resource.
            seen[key, resource] = seen.get((key, resource), 0) + 1
            keys.append((key, seen[key, resource]))
        return keys

    def own(self, params: Params) -> Params:
        """Params without that which the resource sets."""
        resource = getattr(self.search, "resource", None)
        return {k: v for k, v in params.items() if k != resource}

    @cached_property
    def trial_ids(self) -> np.ndarray:
        """Position of each row's candidate in ``history_of(search)``, shape (n_rows,)."""
        if hasattr(self.search, "history_"):
            return np.asarray(self.results.get("trial_id", self.search._trial_ids))
        of = {row: i for i, rows in enumerate(self.by_candidate) for row in rows}
        return np.array([of[row] for row in range(len(self.means))])

    @cached_property
    def winner(self) -> int | None:
        """The row that won, which is ``best_index_`` if there is one; None without a score."""
        row = getattr(self.search, "best_index_", None)
        if row is None:
            row = np.argmin(self.ranks)
        return int(row) if self.n_folds[row] else None
