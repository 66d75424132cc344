"""The models of a search side by side, and which of their own parameters matter."""

import math
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sksearch._utils._numerics import own_numerics
from sksearch._utils._on_demand import missing
from sksearch._utils._terminal import counted
from sksearch.estimators._model_choice import named_of
from sksearch.estimators._pipeline import last_step
from sksearch.history import WHICH, Params
from sksearch.reader._search_table import SearchTable
from sksearch.reader._sources import FinishedSearch
from sksearch.reader._values import default_metric, model_of
from sksearch.reporting import _words as words
from sksearch.reporting._rivals import aligned, fold_ratio, is_allowed, read_results
from sksearch.stats._candidates import Candidates
from sksearch.stats._importance import Importance, importance_of_candidates
from sksearch.stats._selection import selected_score

if TYPE_CHECKING:
    from pandas import DataFrame

#: Metrics from 0 to 1, or prefixes of their names.
SHARES = (
    *("accuracy", "balanced_accuracy", "top_k", "f1", "precision", "recall"),
    *("roc_auc", "jaccard", "average_precision"),
)
EXPLAINED = 0.1  # share of the variance that a model of the scores must explain


@dataclass(frozen=True)
class Standing:
    """A row of a leaderboard.

    Parameters
    ----------
    rank : int
        1 is the model of the best candidate.
    model : str
        Name of the model.
    score : float
        Best score of its candidates; NaN if none has one.
    low, high : float
        Ends of an interval of 95 % for the score of this candidate on new data, corrected for the
        choice of the best one. NaN if a single fold gives no interval.
    n_candidates : int
        Number of its candidates.
    seconds : float
        Seconds of training and scoring of all of them.
    in_average : bool
        True if one of its candidates is in the average of ``ensemble=True``.
    folds : str, default=""
        Which folds the score is of, if not all.
    """

    rank: int
    model: str
    score: float
    low: float
    high: float
    n_candidates: int
    seconds: float
    in_average: bool
    folds: str = ""


@own_numerics()
def leaderboard(search: FinishedSearch) -> "DataFrame":
    """Return a row for each model of a fitted search, the best first.

    Parameters
    ----------
    search : object
        A fitted search, of several models or of one.

    Returns
    -------
    frame : pandas.DataFrame
        The fields of `Standing`, with the rank as its index.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise missing("leaderboard needs pandas", "tables") from error
    found = standings(read_results(search))
    return DataFrame([asdict(each) for each in found]).drop(columns="folds").set_index("rank")


def standings(table: SearchTable) -> list[Standing]:
    """Return the models of a search, the best first; those without a score are last."""
    seconds: dict[str, float] = defaultdict(float)
    for trial in table.history.trials:
        seconds[_model_of(table, trial.params)] += sum(r.cost for r in trial.results.values())
    source: Any = table.source
    rows = getattr(getattr(source, "ensemble_", None), "weights", {})
    averaged = {_model_of(table, source.cv_results_["params"][row]) for row in rows}
    found = []
    for rank, (name, ids) in enumerate(_candidates_by_model(table).items(), 1):
        score = float(table.means[ids[0]]) if ids else np.nan
        low, high = _interval(table, ids)
        row = table.candidates[ids[0]].row if ids else None
        folds = row.folds if row is not None and row.n_folds and not row.is_complete else ""
        args = len(ids), seconds[name], name in averaged, folds
        found.append(Standing(rank, name, score, low, high, *args))
    return found


def _model_of(table: SearchTable, params: Params) -> str:
    """Name of the model of a candidate."""
    if named_of(table.estimator):
        return str(params.get(WHICH))
    return model_of(params) or type(last_step(table.estimator)).__name__


def _candidates_by_model(table: SearchTable) -> dict[str, list[int]]:
    """Indices of the candidates of each model, best first, the best model first."""
    found: dict[str, list[int]] = defaultdict(list)
    for i in table.order.tolist():
        found[_model_of(table, table.candidates[i].params)].append(i)
    # A saved search lacks its estimator, and has the models of its candidates.
    names = [name for name, _ in named_of(table.estimator)] or list(found)
    return {name: found[name] for name in sorted(names, key=lambda n: _place(table, found[n]))}


def _place(table: SearchTable, ids: list[int]) -> int:
    """Rank of the best candidate among all; last without a score."""
    if not ids or not np.isfinite(table.means[ids[0]]):
        return len(table.candidates)
    return table.order.tolist().index(ids[0])


def _interval(table: SearchTable, ids: list[int]) -> tuple[float, float]:
    """Interval for the score of the best of some candidates on new data."""
    if not ids or not np.isfinite(table.means[ids[0]]):
        return np.nan, np.nan
    could_win = np.where(is_allowed(table)[:, np.newaxis], aligned(table), np.nan)[ids]
    could_win[0] = table.scores[ids[0]]
    found = selected_score(could_win, chosen=0, test_ratio=fold_ratio(table))
    lowest, highest = limits_of(table)
    return max(found.low, lowest), min(found.high, highest)


def limits_of(table: SearchTable) -> tuple[float, float]:
    """Return the smallest and the largest value of the metric, if known from its name."""
    name = getattr(table.source, "scoring", None)
    if name is None:
        name = default_metric(table.estimator) or getattr(table.source, "_own_metric", "")
    name = name if isinstance(name, str) else table.metric
    if name.startswith(SHARES):
        return 0.0, 1.0
    if name.startswith("neg_"):
        return -math.inf, 0.0
    # A history lacks its estimator, whose own score is accuracy or R² in nearly all cases.
    is_own = table.estimator is None and not name and not (table.means > 1).any()
    return -math.inf, 1.0 if is_own or name in ("r2", "explained_variance") else math.inf


def importance_by_model(table: SearchTable) -> dict[str, Importance]:
    """Return the importance of its own parameters for each model with enough candidates."""
    candidates, found = Candidates.of(table), {}
    for name in dict(named_of(table.estimator)):
        kept = [i for i, params in enumerate(candidates.params) if params.get(WHICH) == name]
        own = replace(
            candidates,
            params=[_own(candidates.params[i], name) for i in kept],
            scores=candidates.scores[kept],
            failed=[_own(each, name) for each in candidates.failed if each.get(WHICH) == name],
            space=None,
        )
        try:
            found[name] = importance_of_candidates(own)
        except ValueError:  # too few candidates, or nothing that was searched
            continue
    return found


def _own(params: Params, name: str) -> Params:
    """Parameters of a model by their own names."""
    return {key.removeprefix(f"{name}__"): v for key, v in params.items() if key != WHICH}


def lines_of(found: list[Standing]) -> list[str]:
    """A line of text for each model."""
    lines = []
    for each in found:
        if not each.n_candidates:
            lines.append(f"{each.rank}. {each.model}: not tried")
            continue
        n = counted(each.n_candidates, "candidate")
        of = f"{n}, {words.seconds(each.seconds)}" + ", in the average" * each.in_average
        if np.isnan(each.score):
            lines.append(f"{each.rank}. {each.model}: no score; {of}")
            continue
        error = (each.high - each.low) / 4
        score, *ends = (words.score(x, error) for x in (each.score, each.low, each.high))
        span = f" ({ends[0]} to {ends[1]})" if np.isfinite(error) else ""
        folds = f", {each.folds}" if each.folds else ""
        lines.append(f"{each.rank}. {each.model}: {score}{span}{folds}; {of}")
    return lines


def bars_by_model(table: SearchTable, n_shown: int) -> list[tuple[str, float, str]]:
    """Names, shares and texts of the parameters of each model with a known importance."""
    bars = []
    given = importance_by_model(table)
    for model in (name for name in _candidates_by_model(table) if name in given):
        one = given[model]
        if one.explained < EXPLAINED:
            continue
        for name, share, low, high in list(
            zip(one.names, one.shares, one.low, one.high, strict=True)
        )[:n_shown]:
            text = f"{words.percent(share)} ({100 * low:.0f} to {100 * high:.0f})"
            bars.append((f"{model}: {name}", float(share), text))
    return bars
