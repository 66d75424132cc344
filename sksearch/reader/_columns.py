"""Columns of the tables that `to_frame` writes and `read` reads back."""

from collections.abc import Iterable
from typing import Any

import numpy as np

PREFIX = "param_"  # of a parameter in ``cv_results_``
MEAN = "mean_test_"
INDEX = "candidate"  # number of a candidate, in the order of their starts
#: Columns of `to_frame` which are not parameters, and their names in ``cv_results_``.
OTHERS = {
    INDEX: "trial_id",
    "score": "mean_test_score",
    "std": "std_test_score",
    "n_folds": "n_folds",
    "n_resources": "n_resources",
    "fit_seconds": "mean_fit_time",
    "violation": "violation",
    "status": "status",
    "error": "error",
}
MEASURES = ("mean_fit_time", "mean_predict_time", "mean_model_size")  # may be objectives


def is_reserved(name: str) -> bool:
    """Return whether a column is not a parameter, or is one only after its prefix."""
    return name in (*OTHERS, *MEASURES, "params") or name.startswith((PREFIX, MEAN))


def parameters_of(columns: Iterable[str]) -> dict[str, str]:
    """Return the names of the parameters by column.

    If columns have the prefix of ``cv_results_``, only these are parameters: so a parameter may
    have the name of another column.
    """
    found = {key: key.removeprefix(PREFIX) for key in columns if key.startswith(PREFIX)}
    return found or {key: key for key in columns if not is_reserved(key)}


def from_frame(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Rename the columns of a table with a column "score" as in ``cv_results_``.

    Candidates are in the order of their starts, if it is known.
    """
    order = np.argsort(columns.get(INDEX, np.zeros(len(columns["score"]))), kind="stable")
    found = {OTHERS.get(key, key): [values[i] for i in order] for key, values in columns.items()}
    if set(found.get("n_resources", ())) == {1}:  # not searched by resource
        del found["n_resources"]
    if "error" in found:  # a text file has NaN for ""
        found["error"] = [text if isinstance(text, str) else "" for text in found["error"]]
    return found
