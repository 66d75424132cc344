"""Candidates that might have won a search, for comparison with the winner."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sksearch.estimators._model_choice import OneOf
from sksearch.history import WHICH, Params
from sksearch.reader._read import read
from sksearch.reader._search_table import SearchTable
from sksearch.reader._sources import FinishedSearch
from sksearch.reader._values import key_of


def outcomes_of(table: SearchTable, params: Params) -> Params:
    """Return values found by training for a candidate: number of iterations or threshold."""
    names = () if table.space is None else table.space.outcomes
    return {name: value for name, value in params.items() if name in names}


def read_results(search: FinishedSearch) -> SearchTable:
    """Read a finished search; ValueError if nothing was evaluated, otherwise as `read`."""
    table = read(search)
    if not table.rows:
        raise ValueError("This search has no result yet.")
    return table


def is_allowed(table: SearchTable) -> np.ndarray:
    """Return for each candidate whether it breaks bounds no more than the winner does."""
    most = 0.0 if table.best is None else table.violations[table.best]
    return table.violations <= most


def finalists(table: SearchTable) -> np.ndarray:
    """Return for each candidate whether it may win: it has all folds and the winner's resource."""
    any_resource = table.any_rung_wins or not table.has_resources
    top = 0 if table.winner is None else table.winner.resource
    rows = [candidate.row for candidate in table.candidates]
    is_there = [row.is_complete and (any_resource or row.resource == top) for row in rows]
    return is_allowed(table) & np.array(is_there)


def aligned(table: SearchTable) -> np.ndarray:
    """Return scores extrapolated to the top rung, shape (n_candidates, n_folds).

    The average gain from one rung to the next is added to the scores of candidates stopped below,
    since these also took part in the selection.
    """
    scores = table.scores.copy()
    if not table.rungs or table.races:
        return scores
    shift = np.zeros(table.n_folds)
    done: set[int] = set(table.rungs[-1].ids.tolist())
    for low, high in zip(table.rungs[-2::-1], table.rungs[:0:-1], strict=True):
        _, i, j = np.intersect1d(low.ids, high.ids, return_indices=True)
        gains = high.scores[j] - low.scores[i]
        gains = gains[np.isfinite(gains).all(axis=1)]
        shift = shift + (gains.mean(axis=0) if len(gains) else 0.0)
        for k, row in zip(low.ids.tolist(), low.scores, strict=True):
            if k not in done:
                scores[k] = row + shift
                done.add(k)
    if table.best is not None:
        scores[table.best] = table.scores[table.best]
    return scores


def rivals(table: SearchTable) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that might have won by chance, and their scores.

    The scores have shape (n_rivals, n_folds).
    """
    allowed = is_allowed(table)
    if not (table.rungs and table.any_rung_wins):
        rows = np.array([candidate.row.index for candidate in table.candidates])
        return rows[allowed], aligned(table)[allowed]
    rows = np.concatenate([rung.rows for rung in table.rungs])
    scores = np.concatenate([rung.scores for rung in table.rungs])
    kept = allowed[np.concatenate([rung.ids for rung in table.rungs])]
    return rows[kept], scores[kept]


@dataclass(frozen=True)
class Untuned:
    """The untuned estimator among the candidates.

    Parameters
    ----------
    index : int
        Index of the candidate.
    scores : ndarray of shape (n_folds,)
        With its own number of iterations; NaN if it has no fold.
    name : str
        Label of the scores, with the number of iterations if training did not reach its own.
    """

    index: int
    scores: np.ndarray
    name: str

    @property
    def mean(self) -> float:
        """Mean score over the folds that it has."""
        return float(np.nanmean(self.scores))


def untuned(table: SearchTable) -> Untuned | None:
    """Return the untuned estimator; None if it has no score.

    For several models it is the winner's model, or if that one was not evaluated untuned, the best
    untuned model.
    """
    values = table.estimator.get_params()
    ids = [i for i in table.order.tolist() if _is_untuned(table, i, values)]
    if not ids:
        return None
    index, model = ids[0], "estimator"
    if isinstance(table.estimator, OneOf):
        index, model = _of_winner(table, ids)
    row, name = table.candidates[index].row, f"the untuned {model}"
    own = getattr(table.source, "_untuned_scores", None)
    if own is not None and row.trial_id == 0:
        return Untuned(index, np.r_[own, np.full(len(row.scores) - len(own), np.nan)], name)
    problem = table.history.problem
    outcome = problem.space.outcome(row.params) if problem.has_baseline else None
    count = row.params.get(outcome[0]) if outcome else None
    if outcome and count is not None and not _has(values, outcome[0], count):
        name += f" with {outcome[0]}={count}"
    return Untuned(index, row.scores, name)


def _is_untuned(table: SearchTable, index: int, own: Params) -> bool:
    """True if a candidate with a score has the `own` parameters of the estimator or its model.

    In a search that begins with the untuned estimator, values may be found by training.
    """
    if not math.isfinite(table.means[index]):
        return False
    params, several = table.candidates[index].params, isinstance(table.estimator, OneOf)
    others = {WHICH} if several else set()
    if table.history.problem.has_baseline:
        if index == 0 or not several:
            return index == 0
        others |= outcomes_of(table, params).keys()
    return all(name in others or _has(own, name, value) for name, value in params.items())


def _of_winner(table: SearchTable, ids: list[int]) -> tuple[int, str]:
    """The first of the untuned candidates of the winner's model, otherwise the first of all."""
    wanted = None if table.best is None else _model(table, table.best)
    mine = [i for i in ids if _model(table, i) == wanted]
    index = (mine or ids)[0]
    return index, _model(table, index) + ("" if mine else ", the best untuned model")


def _model(table: SearchTable, index: int) -> str:
    """Name of the model of a candidate."""
    one = table.estimator
    return str(table.candidates[index].params.get(WHICH) or one.model or one.named[0][0])


def _has(own: dict[str, Any], name: str, value: Any) -> bool:
    """True if a parameter of the estimator itself has this value."""
    return name in own and key_of(value) == key_of(own[name])


def audited(table: SearchTable) -> np.ndarray:
    """Return the indices of candidates stopped and brought to the end by an audit."""
    trials = getattr(table.source, "audited_", [])
    return np.flatnonzero([candidate.row.trial_id in trials for candidate in table.candidates])


def cut_off(table: SearchTable) -> set[int]:
    """Return the indices of candidates that the end of the search cut, not its scheduler."""
    trials = getattr(table.source, "_cut", ())
    return {i for i, each in enumerate(table.candidates) if each.row.trial_id in trials}


def fold_ratio(table: SearchTable) -> float | None:
    """Return the rows of a test fold for each of its training fold; None: 1 / (n_folds - 1)."""
    cv = getattr(table.source, "cv", None)
    n_repeats = getattr(cv, "n_repeats", None)
    if isinstance(n_repeats, int) and table.n_folds > n_repeats:
        return 1 / (table.n_folds / n_repeats - 1)
    # An attribute of ShuffleSplit and similar splitters
    default = getattr(cv, "_default_test_size", None)
    if default is not None:
        share = getattr(cv, "test_size", None)
        share = share if isinstance(share, float) else default
        return share / (1 - share)
    return None
