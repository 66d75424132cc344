"""The history of a fitted search; of one of scikit-learn it is made of ``cv_results_``."""

import math
from typing import Any

from sksearch.history import History, Params, Problem, Result
from sksearch.space import Space
from sksearch.stats._rows import ResultRows, key_of_params


def history_of(search: Any) -> History:
    """Return the history of a fitted search, made of ``cv_results_`` where it has none.

    Raises
    ------
    TypeError
        If it is no search.
    ValueError
        If it is not fitted.
    """
    history = search
    for name in ("history_", "history"):
        history = getattr(search, name, history)
    if isinstance(history, History):
        return history
    if not hasattr(search, "cv_results_"):
        if hasattr(search, "get_params"):
            raise ValueError(f"This {type(search).__name__} is not fitted: call fit first.")
        raise TypeError(f"{type(search).__name__} is no search: pass a fitted one.")
    rows = ResultRows(search)
    resources = [1] * len(rows.means) if rows.resources is None else rows.resources
    history = History(Problem(_AnySpace(), max_resources=int(max(resources))))
    known: set[int] = set()
    scored = zip(
        rows.results["params"], rows.means, resources, rows.trial_ids.tolist(), strict=True
    )
    for params, score, resource, trial_id in scored:
        if trial_id in known:
            history.resume(trial_id, int(resource))
        else:
            history.start(rows.own(params), 0, int(resource))
            known.add(trial_id)
        failed = not math.isfinite(score)
        result = Result(math.nan, status="nan") if failed else Result(float(score))
        history.tell(trial_id, int(resource), result)
    return history


class _AnySpace(Space):
    """Stands in for the space of a search of scikit-learn: tells candidates apart, no more."""

    def __init__(self):
        pass

    def key(self, params: Params) -> tuple:
        return (key_of_params(params),)
