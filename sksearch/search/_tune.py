"""A search in a single call, with a printed summary."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sksearch._utils._terminal import counted, say
from sksearch.reader._read import read
from sksearch.reader._search_table import SearchTable
from sksearch.reporting._rivals import untuned
from sksearch.search._full import SearchCV


def tune(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    timeout: float = 60,
    verbose: int = 1,
    fit_params: dict[str, Any] | None = None,
    **params: Any,
) -> SearchCV:
    """Search for good hyperparameters of an estimator within a time limit.

    ``tune(estimator, X, y)`` is ``SearchCV(estimator, timeout=60).fit(X, y)`` with a status line
    during the search and a summary at the end.

    Parameters
    ----------
    estimator : estimator object
        Estimator to tune: anything with scikit-learn's interface, Pipelines included.
    X : array-like of shape (n_samples, n_features)
        Training data.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Target.
    timeout : float, default=60
        Time limit in seconds, including the final fit on all rows.
    verbose : int, default=1
        0 prints nothing.
    fit_params : dict of str to object, default=None
        Arguments of ``fit``, such as ``groups`` and ``sample_weight``.
    **params : dict of str to object
        Further parameters of `SearchCV`: ``scoring``, ``cv``, ``n_jobs``, ``random_state``,
        ``param_distributions``, ...

    Returns
    -------
    search : SearchCV
        Fitted search, with ``predict``, ``best_estimator_``, ``cv_results_`` and the other
        attributes of `SearchCV`.

    Raises
    ------
    ValueError, TypeError
        The same errors as raised by `SearchCV` and its ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sksearch import tune
    >>> X, y = load_iris(return_X_y=True)
    >>> tuned = tune(KNeighborsClassifier(), X, y, timeout=2, random_state=0, verbose=0)
    >>> untuned = tuned.history_.trials[0].results[5].score
    >>> bool(tuned.best_score_ >= untuned)
    True
    """
    is_data = hasattr(estimator, "__len__") and not isinstance(estimator, str | list | tuple)
    if is_data and (y is None or hasattr(y, "fit")) and not hasattr(estimator, "fit"):
        raise TypeError(
            f"tune got a {type(estimator).__name__} as its estimator, but no y: call "
            "tune(estimator, X, y), such as tune(RandomForestClassifier(), X, y)."
        )
    for name in ("groups", "sample_weight"):
        if name in params:
            raise TypeError(f"tune has no parameter {name}: pass fit_params={{{name!r}: ...}}.")
    search = SearchCV(estimator, timeout=timeout, verbose=verbose, **params)
    search.fit(X, y, **(fit_params or {}))
    if verbose > 0:
        say(summary(search))
    return search


def summary(search: SearchCV) -> str:
    """Summarise a fitted search in a few lines.

    Parameters
    ----------
    search : SearchCV
        Fitted.

    Returns
    -------
    text : str
        Best score, compared with the untuned estimator, and best parameters, one per line.
    """
    found = read(search)
    best = found.winner
    params = getattr(search, "best_params_", None)
    if best is None or params is None:
        n = len(search.history_.trials)
        return (
            f"{counted(n, 'candidate')}; refit={search.refit!r} selected a candidate without a "
            "score"
        )
    lines = [f"best score {best.score:.4g}, {best.folds}{_beside(found)}"]
    lines += [f"    {name}: {_text(value)}" for name, value in params.items()]
    if hasattr(search, "refit_time_"):
        lines.append(f"trained on all rows with these parameters in {search.refit_time_:.2g} s")
    return "\n".join(lines)


def _beside(found: SearchTable) -> str:
    """Return the score of the untuned estimator, if it was the first candidate."""
    own = untuned(found) if found.history.problem.has_baseline else None
    if own is None or np.isnan(own.scores).any():
        return ""
    n = len(found.history.trials)
    return f"; {own.mean:.4g} for {own.name}; {counted(n, 'candidate')}"


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
