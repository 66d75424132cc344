"""Equality of values and candidates, and checks for numbers."""

import math
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import is_classifier, is_regressor

from sksearch.history import WHICH, Params
from sksearch.space._values import is_number


def is_finite(value: Any) -> bool:
    """Return whether a value is a finite number, and not True or False."""
    return is_number(value) and math.isfinite(value)


def key_of(value: Any) -> Hashable:
    """Key, equal for equal values: types and texts, numbers by their values."""
    if isinstance(value, bool | np.bool_):
        return bool(value), "bool"
    if is_number(value):
        return float(value)
    return type(value).__name__, repr(value)


def key_of_params(params: Params) -> Hashable:
    """Key, equal for equal candidates."""
    return tuple((name, key_of(params[name])) for name in sorted(params))


def metric_that_counts(results: Mapping[str, Any], wanted: object = None) -> str:
    """Name the deciding metric: `wanted` if it is one, then "score", then the first."""
    names = [name.removeprefix("mean_test_") for name in results if name[:10] == "mean_test_"]
    if isinstance(wanted, str) and wanted in names:
        return wanted
    return "score" if "score" in names or not names else names[0]


def rank(
    means: ArrayLike,
    resources: ArrayLike,
    any_rung_wins: bool = False,
    violations: ArrayLike | None = None,
) -> np.ndarray:
    """Rank by resource first, then by mean score; ties share the smallest, NaN comes last.

    If scores of different rungs cannot be compared, one at 1 must not outrank one at 81, since
    users sort by "rank_test_score" first. If they can, the score comes first, and the resource
    decides between equal scores. Candidates that violate a bound rank below all that satisfy the
    bounds, ordered by the size of the violation.
    """
    means = np.asarray(means, dtype=float)
    known = ~np.isnan(means)
    if violations is not None and (broken := known & (np.asarray(violations) > 0)).any():
        ranks = rank(np.where(broken, np.nan, means), resources, any_rung_wins)
        n_kept = np.count_nonzero(known & ~broken)
        ranks[broken] = n_kept + rankdata(np.asarray(violations)[broken], method="min")
        ranks[~known] = known.sum() + 1
        return ranks
    ranks = np.full(len(means), known.sum() + 1, dtype=np.int32)
    if known.any():
        _, level = np.unique(np.asarray(resources)[known], return_inverse=True)
        within = rankdata(means[known], method="dense")
        major, minor = (within, level) if any_rung_wins else (level, within)
        keys = major * (minor.max() + 1) + minor
        ranks[known] = rankdata(-keys, method="min")
    return ranks


def default_metric(estimator: object) -> str:
    """Return the metric of an estimator's own ``score``, "" if unknown."""
    if estimator is None:
        return ""
    return "accuracy" if is_classifier(estimator) else "r2" if is_regressor(estimator) else ""


def model_of(params: Params) -> str:
    """Name of a candidate's model in a search over several models; "" in any other search."""
    name = params.get(WHICH)
    is_one = isinstance(name, str) and all(k == WHICH or k.startswith(f"{name}__") for k in params)
    return str(name) if is_one else ""
