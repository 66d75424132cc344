"""Parameters that mattered, and parameters that did not."""

from typing import Any

import numpy as np

from sksearch.reader._search_table import SearchTable
from sksearch.stats import importance
from sksearch.stats._candidates import Candidates

MIN_CANDIDATES = 15  # with a value of a parameter, for it to be accused
EXPLAINED = 0.3  # share of the variance that a model must explain before it accuses one
MANY = 500  # candidates
SMALL = 0.1  # share of a parameter from which on it is not suspected at all


def importance_of(table: SearchTable) -> Any:
    """Return `sksearch.stats.importance` of a search; None if unknown."""
    try:
        return importance(table)
    except (TypeError, ValueError):  # too few candidates, or no parameters
        return None


def useless_params(table: SearchTable, given: Any) -> list[str]:
    """Return the parameters that a model does not need to predict the scores of unseen candidates.

    Parameters
    ----------
    table : SearchTable
        The results.
    given : Importance or None
        Of the search.

    Returns
    -------
    names : list of str
        Names of the parameters; empty if uncertain.
    """
    if given is None or given.n_candidates < MIN_CANDIDATES or given.explained < EXPLAINED:
        return []
    suspects = [n for n, s in zip(given.names, given.shares, strict=True) if s <= SMALL]
    candidates = Candidates.of(table)
    names, y = list(candidates.axes), candidates.scores
    U = candidates.encode(candidates.params)
    n_values = dict(zip(names, np.isfinite(U).sum(axis=0), strict=True))
    suspects = [name for name in suspects if n_values[name] >= MIN_CANDIDATES]
    U = np.nan_to_num(U, nan=-1.0)
    if len(y) > MANY:  # enough for an estimate, and trees are slow
        rows = np.random.default_rng(0).choice(len(y), MANY, replace=False)
        U, y = U[rows], y[rows]
    y = np.maximum(y, np.median(y) - 3 * (np.max(y) - np.median(y)))  # diverged ones decide alone
    if not suspects or len(names) < 2:
        return []
    whole = _explained(U, y)
    return [
        name
        for name in suspects
        if whole > EXPLAINED and _explained(np.delete(U, names.index(name), axis=1), y) >= whole
    ]


def _explained(U, y):
    """Share of the variance explained out of bag by a forest."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(100, oob_score=True, max_features=1.0, random_state=0)
    return forest.fit(U, y).oob_score_
