"""``cv_results_`` of a fitted search, of ours or of scikit-learn, as rows of candidates."""

import math
import numbers
from collections.abc import Hashable
from typing import Any

import numpy as np

from sksearch.history import Params


def count_folds(results: dict[str, Any], metric: str) -> int:
    """Count the columns ``split<k>_test_<metric>``."""
    n = 0
    while f"split{n}_test_{metric}" in results:
        n += 1
    return n


def metric_of(search: Any, results: dict[str, Any]) -> str:
    """Name the metric that counts: that of ``refit``, else "score", else the first."""
    names = [name.removeprefix("mean_test_") for name in results if name[:10] == "mean_test_"]
    refit = getattr(search, "refit", None)
    if isinstance(refit, str) and refit in names:
        return refit
    return "score" if "score" in names or not names else names[0]


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
        As they are in ``cv_results_``, NaN in rows that failed.
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
        means = np.asarray(results[f"mean_test_{metric}"], dtype=float)
        self.statuses = getattr(search, "statuses_", None) or [
            "ok" if math.isfinite(mean) else "error" for mean in means
        ]
        self.errors = getattr(search, "errors_", None) or [""] * len(means)
        failed = np.array([status != "ok" for status in self.statuses], dtype=bool)
        self.scores[failed] = np.nan  # whatever error_score is
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
        keys: list[Hashable] = []
        seen: dict[Hashable, int] = {}
        for params, resource in zip(self.results["params"], self.resources, strict=True):
            key = tuple(sorted((k, key_of(v)) for k, v in self.own(params).items()))
            # A list may name a candidate twice: then it has two rows at one resource.
            seen[key, resource] = seen.get((key, resource), 0) + 1
            keys.append((key, seen[key, resource]))
        return keys

    def own(self, params: Params) -> Params:
        """Params without that which the resource sets."""
        resource = getattr(self.search, "resource", None)
        return {k: v for k, v in params.items() if k != resource}
