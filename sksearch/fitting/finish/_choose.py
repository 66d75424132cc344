"""Rules that choose among candidates tied with the best: ``refit=`` by name."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import get_scorer_names

from sksearch._utils._numerics import own_numerics
from sksearch._utils._terminal import warn
from sksearch.estimators._family import families
from sksearch.fitting.run._results import best_of_last_iteration, chosen_index
from sksearch.history import Params
from sksearch.reader._read import fold_scores
from sksearch.reader._values import is_finite


def has_simplicity(names: Iterable[str]) -> bool:
    """Return whether any of these parameters measures complexity."""
    names = list(names)
    return any(_direction(name, names) for name in names)


def complexity(params: Sequence[Params]) -> np.ndarray:
    """Rank candidates by how complex their models are.

    Parameters
    ----------
    params : sequence of dict
        Candidates.

    Returns
    -------
    complexity : ndarray of shape (n,)
        The mean over parameters of ranks between 0, the simplest, and 1; all 0 if no parameter
        measures complexity.
    """
    names = sorted({name for each in params for name in each})
    columns = []
    for name in names:
        if direction := _direction(name, names):
            x = direction * np.array([_amount(each.get(name), direction) for each in params])
            known = ~np.isnan(x)
            if len(np.unique(x[known])) > 1:
                ranks = np.full(len(x), 0.5)
                ranks[known] = (rankdata(x[known]) - 1) / (known.sum() - 1)
                columns.append(ranks)
    return np.mean(columns, axis=0) if columns else np.zeros(len(params))


@own_numerics()
def one_standard_error(results: dict[str, Any], *, metric: str = "score") -> int:
    """Choose the simplest candidate within one standard error of the best.

    Parameters
    ----------
    results : dict
        ``cv_results_`` of a search.
    metric : str, default="score"
        Metric to compare.

    Returns
    -------
    index : int
        Row of the candidate.

    Raises
    ------
    ValueError
        If there are fewer than two folds, no candidate has a score, or no parameter measures
        complexity.

    See Also
    --------
    simplest : The simplest candidate that a paired test does not distinguish from the best.

    Notes
    -----
    The standard error is computed for the best candidate's mean over the folds. A model is simpler
    if parameters such as ``C``, ``max_depth`` and ``n_estimators`` are smaller, and if parameters
    such as ``alpha``, ``min_samples_leaf`` and ``n_neighbors`` are larger. If several of them
    vary, their ranks are averaged.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch.reporting import one_standard_error
    >>> search = GridSearchCV(
    ...     DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 4, 5]},
    ...     refit=one_standard_error,
    ... ).fit(*load_iris(return_X_y=True))
    >>> search.best_params_
    {'max_depth': 3}
    """
    return _one_standard_error(results, metric)


@own_numerics()
def simplest(results: dict[str, Any], *, metric: str = "score") -> int:
    """Choose the simplest candidate of those tied with the best.

    Parameters
    ----------
    results : dict
        ``cv_results_`` of a search.
    metric : str, default="score"
        Metric to compare.

    Returns
    -------
    index : int
        Row of the candidate.

    Raises
    ------
    ValueError
        If no candidate has a score, or no parameter measures complexity.

    See Also
    --------
    one_standard_error : Uses a fixed distance instead of a test; explains which models are simple.

    Examples
    --------
    >>> from sksearch.reporting import simplest
    >>> simplest({
    ...     "params": [{"max_depth": 9}, {"max_depth": 2}, {"max_depth": 1}],
    ...     "split0_test_score": [0.90, 0.91, 0.50], "split1_test_score": [0.81, 0.79, 0.40],
    ...     "rank_test_score": [1, 2, 3],
    ... })
    1
    """
    return _simplest(results, metric)


@own_numerics()
def fastest(results: dict[str, Any], *, metric: str = "score") -> int:
    """Choose the fastest candidate, in training and scoring, of those tied with the best.

    Parameters
    ----------
    results : dict
        ``cv_results_`` of a search.
    metric : str, default="score"
        Metric to compare.

    Returns
    -------
    index : int
        Row of the candidate.

    Raises
    ------
    ValueError
        If no candidate has a score.

    Examples
    --------
    >>> from sksearch.reporting import fastest
    >>> fastest({
    ...     "params": [{"max_depth": 9}, {"max_depth": 2}],
    ...     "split0_test_score": [0.90, 0.91], "split1_test_score": [0.81, 0.79],
    ...     "rank_test_score": [1, 2], "mean_fit_time": [2.0, 1.0], "mean_score_time": [0.1, 0.1],
    ... })
    1
    """
    return _fastest(results, metric)


@own_numerics()
def _one_standard_error(results: Mapping[str, Any], metric: str, row_scores: Any = None) -> int:
    rows, scores, best = _finalists(results, metric)
    if scores.shape[1] < 2:
        raise ValueError("The standard error needs at least two folds: pass another cv or refit.")
    means = scores.mean(axis=1)
    error = scores[best].std(ddof=1) / math.sqrt(scores.shape[1])
    near = means >= means[best] - error
    if row_scores is not None:  # with few folds, the error may be too large, so also test
        near &= _tied(rows, scores, best, row_scores)
    return _first(rows, means, near, _complexity_of(results))


@own_numerics()
def _simplest(results: Mapping[str, Any], metric: str, row_scores: Any = None) -> int:
    rows, scores, best = _finalists(results, metric)
    tied = _tied(rows, scores, best, row_scores)
    return _first(rows, scores.mean(axis=1), tied, _complexity_of(results))


@own_numerics()
def _fastest(results: Mapping[str, Any], metric: str, row_scores: Any = None) -> int:
    rows, scores, best = _finalists(results, metric)
    seconds = np.asarray(results["mean_fit_time"]) + np.asarray(results["mean_score_time"])
    tied = _tied(rows, scores, best, row_scores)
    return _first(rows, scores.mean(axis=1), tied, seconds)


def _tied(rows: np.ndarray, scores: np.ndarray, best: int, row_scores: Any) -> np.ndarray:
    """Mask of the tied rows of ``cv_results_``, by the rows of data if known."""
    from sksearch.stats._ties import find_ties  # imported here, because most searches need no rule

    if row_scores is None:
        return find_ties(scores, best).tied
    z = row_scores.contributions[rows]
    return find_ties(scores, best, z, n_samples=row_scores.n_samples).tied


def index_by_rule(rule: Callable, results: dict[str, Any], row_scores: Any) -> int:
    """Return the row that a rule or a user's function chooses.

    Parameters
    ----------
    rule : callable
        One of `RULES`, which compare row by row, or a function of ``cv_results_``.
    results : dict
        ``cv_results_`` of a search.
    row_scores : RowScores or None
        Contributions of rows of data to the deciding metric.
    """
    by_rows: dict[Callable, Callable[..., int]] = {
        one_standard_error: _one_standard_error, simplest: _simplest, fastest: _fastest,
    }  # fmt: skip
    if row_scores is not None and rule in by_rows and "mean_test_score" in results:
        return by_rows[rule](results, "score", row_scores)
    return chosen_index(rule, results)


#: Rules of ``refit``.
RULES: dict[str, Callable[..., int]] = {
    "1se": one_standard_error,
    "simplest": simplest,
    "fastest": fastest,
}


def rule_of(refit: Any, scoring: Any) -> Any:
    """Return the rule that `refit` names, or `refit` itself; of several metrics it names one."""
    named = isinstance(refit, str) and not isinstance(scoring, list | tuple | set | dict)
    return RULES.get(refit, refit) if named else refit


def check_rule(refit: Any, scoring: Any, names: Iterable[str], n_folds: int) -> None:
    """Raise ValueError for a `refit` with an unknown name, or a rule that cannot be applied.

    Parameters
    ----------
    refit, scoring : object
        As the user gave them.
    names : iterable of str
        Parameters searched.
    n_folds : int
        Number of folds.
    """
    if not isinstance(refit, str):
        return
    rule = rule_of(refit, scoring)
    if rule is one_standard_error and n_folds < 2:
        raise ValueError("refit='1se' needs at least two folds, but cv has one: pass another cv.")
    if rule in (one_standard_error, simplest) and not has_simplicity(names):
        raise ValueError(f"refit={refit!r}: {no_simplicity(names)}")
    is_single = scoring is None or isinstance(scoring, str)
    known = ("score", scoring, *get_scorer_names())
    if isinstance(rule, str) and is_single and rule not in known:
        raise ValueError(
            f"refit={refit!r} is neither a metric nor a rule: pass True, False, one of "
            f"{sorted(RULES)}, or a function of cv_results_ that returns the index of a row."
        )
    own = (scoring,) if scoring else ("score", "accuracy", "r2")
    if isinstance(rule, str) and is_single and rule not in own:
        warn(
            f"refit={refit!r} has no effect with the single metric scoring={scoring!r}: pass "
            f"scoring={refit!r}.",
        )


def _finalists(results: Mapping[str, Any], metric: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Rows that may win, their scores on the folds, and the index of the best row."""
    if f"rank_test_{metric}" not in results:
        known = [name.removeprefix("rank_test_") for name in results if name[:10] == "rank_test_"]
        raise ValueError(
            f"metric={metric!r} is not in cv_results_: pass a function with one of {known}, such "
            "as functools.partial(simplest, metric=...)."
        )
    ranks = np.asarray(results[f"rank_test_{metric}"])
    scores = fold_scores(results, metric)
    may_win = np.isfinite(scores).all(axis=1)
    leader = int(np.argmin(ranks))
    if "iter" in results and "bracket" not in results:
        leader = best_of_last_iteration(results, metric)
        may_win &= results["iter"] == results["iter"][leader]
    if "n_resources" in results:
        resources = np.asarray(results["n_resources"])
        may_win &= resources == resources[leader]
    if "violation" in results:
        may_win &= results["violation"] <= results["violation"][leader]
    if not may_win[leader]:
        raise ValueError("No candidate has a score on every fold, so none can be chosen.")
    rows = np.flatnonzero(may_win)
    return rows, scores[rows], int(np.searchsorted(rows, leader))


def _complexity_of(results: Mapping[str, Any]) -> np.ndarray:
    """Complexity of each row; ValueError if no parameter measures it."""
    names = {name for params in results["params"] for name in params}
    if not has_simplicity(names):
        raise ValueError(no_simplicity(names))
    return complexity(results["params"])


def no_simplicity(names: Iterable[str]) -> str:
    """Return the error if no parameter measures complexity."""
    return (
        f"None of the parameters {sorted(names)} shows which of two models is simpler: pass "
        "refit='fastest', or a function of cv_results_ that returns the index of a row."
    )


def _first(rows: np.ndarray, means: np.ndarray, allowed: np.ndarray, cost: Any) -> int:
    """The allowed row with the smallest cost; the best one if several are equal."""
    cost = np.asarray(cost)[rows]
    order = np.lexsort((-means, cost))
    return int(rows[next(i for i in order if allowed[i])])


def _direction(name: str, names: Sequence[str]) -> int:
    """1 if a smaller value is simpler, -1 if a larger one is, 0 if unknown."""
    prefix, _, leaf = name.rpartition("__")
    if any(leaf in family.smaller for family in families()):
        return 1
    if leaf == "gamma":  # gamma of a kernel; in boosting it has a different meaning
        start = f"{prefix}__" if prefix else ""
        return int(any(start + other in names for other in ("C", "nu", "kernel")))
    return -int(any(leaf in family.larger for family in families()))


def _amount(value: Any, direction: int) -> float:
    """A value as a number; None is infinity if larger is more complex, and a str is NaN."""
    if isinstance(value, tuple | list) and all(map(is_finite, value)):
        return float(np.sum(value))
    if value is None and direction > 0:
        return math.inf
    return float(value) if is_finite(value) else math.nan
