"""Methods of fitted searches."""

import os
import sys
from collections.abc import Callable, Hashable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from sksearch._utils._advice import glance
from sksearch._utils._clock import wall_time
from sksearch._utils._compat import num_samples, to_numpy
from sksearch._utils._numerics import own_numerics
from sksearch._utils._on_demand import missing
from sksearch._utils._terminal import counted
from sksearch._utils._versions import WRITTEN, versions_of
from sksearch.fitting.finish._out_of_fold import METHODS, digest_of_folds, out_of_fold
from sksearch.fitting.run._tasks import RowSample
from sksearch.history import History, Params
from sksearch.progress._status_line import duration
from sksearch.reader._columns import INDEX, MEAN, MEASURES, PREFIX, is_reserved
from sksearch.reader._sources import FinishedSearch
from sksearch.reader._values import key_of_params
from sksearch.reporting._rivals import read_results
from sksearch.space._values import native

N_CLASSES = 3  # number of classes listed in the report

if TYPE_CHECKING:
    from pandas import DataFrame

    from sksearch.reporting._report import Report


class AfterSearch:
    """Methods of a fitted search that read its results; functions do it for other searches.

    See Also
    --------
    sksearch.report : The same for scikit-learn searches.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from sksearch import RandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomSearchCV(SVC(), {"C": [0.01, 1, 10]}, n_iter=3, random_state=0).fit(X, y)
    >>> search.best(2)
    [{'C': 10}, {'C': 1}]
    """

    # Results of ``fit``.
    cv_results_: dict[str, Any]
    history_: History
    _folds: str
    _sample: RowSample | None
    _prepare: Callable[..., Any]

    @own_numerics()
    def report(self, path: str | os.PathLike | None = None, *, full: bool = False) -> "Report":
        """Summarise the results of the search, and advise on the next step.

        Parameters
        ----------
        path : str, path-like or None, default=None
            HTML file to write, with pictures. None: no file.
        full : bool, default=False
            If True, list all tied candidates, parameters, rungs and failures.

        Returns
        -------
        report : Report
            Text if printed, HTML in a notebook; see `sksearch.report`.
        """
        from sksearch.reporting._report import report_of

        return report_of(self, path, full=full)

    @own_numerics()
    def show(self) -> Any:
        """Draw an overview sheet: curves, importance, slices, and rungs or two parameters.

        Returns
        -------
        display : SearchDisplay
            The display, with a matplotlib ``figure_``.

        Raises
        ------
        ValueError
            If the search is not fitted, or no candidate has a score.
        """
        from sksearch.plotting._sheet import SearchDisplay

        return SearchDisplay.from_search(self)

    def best(self, n: int = 10) -> list[Params]:
        """Return the best candidates, each once.

        Parameters
        ----------
        n : int, default=10
            Maximum number of candidates. Only candidates with a score are returned.

        Returns
        -------
        params : list of dict
            The winner first, then the others, best first. They can be ``known["params"]`` of
            another search.

        Raises
        ------
        ValueError
            If the search is not fitted, or `n` is not an integer of at least 1.
        """
        return best(self, n)

    def to_frame(self) -> "DataFrame":
        """Return the candidates as a pandas DataFrame, see `sksearch.reporting.to_frame`."""
        return to_frame(self)

    def leaderboard(self) -> "DataFrame":
        """Return a row for each model of a list, the best first, as a pandas DataFrame.

        Returns
        -------
        frame : pandas.DataFrame
            The index is the rank. ``model``; ``score`` of its best candidate, with ``low`` and
            ``high``, an interval of 95 % for new data; ``n_candidates``, its candidates;
            ``seconds`` of training and scoring; ``in_average``, True if one of them is in the
            average of ``ensemble=True``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If the search is not fitted.
        """
        from sksearch.reporting._leaderboard import leaderboard

        return leaderboard(self)

    def out_of_fold(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        n: int | None = None,
        method: str = "auto",
        **params: Any,
    ) -> np.ndarray:
        """Predict each row by a model trained without it.

        The candidates are trained on the folds of the search once more, with the same seeds and by
        the same path, so that the scores would be identical.

        Parameters
        ----------
        X, y : array-like
            The data that the search was fitted on.
        n : int or None, default=None
            Number of best candidates, with their predictions side by side, as features for
            stacking. None: the winner alone.
        method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            Method of the models. "auto" is the first of these that a classifier has, and
            "predict" of others.
        **params : dict of str to object
            The parameters passed to ``fit``.

        Returns
        -------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_columns)
            A column for each class if the models are classifiers, in the order of ``classes_``;
            with several candidates the columns of the best one come first. Rows tested by several
            folds have the mean.

        Raises
        ------
        ValueError
            If the search is not fitted, if the folds differ from the search's, if there are rows
            that no fold tests, or if a candidate has no such method.
        RuntimeError
            If a worker process dies.
        """
        if n is not None:
            check_count(n)
        if method not in ("auto", *METHODS):
            raise ValueError(f"method={method!r} must be one of 'auto', {str(METHODS)[1:-1]}.")
        table = read_results(self)
        setup = self._prepare(X, y, params, np.random.RandomState(0))
        if digest_of_folds(setup.context.splits) != self._folds:
            raise ValueError(
                "cv does not reproduce the folds of the search: pass the same data, and a "
                "reproducible cv, such as KFold(shuffle=True, random_state=0)."
            )
        history = self.history_
        setup.context.seed = history.problem.seed
        setup.context.sample = self._sample
        if table.best is None:
            raise ValueError("No candidate has a score, so none can predict.")
        ids = [table.best] if n is None else _best_ids(table, n)
        rows = [table.candidates[i].row for i in ids if np.isfinite(table.means[i])]
        chosen = [(history.trials[row.trial_id], row.resource, row.shown) for row in rows]
        predictions = out_of_fold(setup, history, chosen, method)
        if n is None:
            return predictions[0]
        return np.column_stack(predictions)


def about_fit(X: Any, y: Any, cv: Any, estimator: Any, seconds: float | None) -> dict[str, Any]:
    """Record the facts about data and environment for a report.

    Parameters
    ----------
    X, y : array-like
        Training data.
    cv : object
        As the search takes it.
    estimator : estimator object
        The estimator of the search.
    seconds : float or None
        How long it took.

    Returns
    -------
    about : dict
        Texts.
    """
    shape: Any = getattr(X, "shape", ())
    size = counted(num_samples(X), "row")
    return {
        "size": f"{size}, {counted(shape[1], 'column')}" if len(shape) == 2 else size,
        "target": "none" if y is None else glance(_target, y, estimator, otherwise="custom"),
        "split": glance(_split, cv, y, estimator, otherwise="folds as given"),
        "made": made_with([X, estimator, *estimator.get_params().values()], seconds),
    }


def made_with(values: list, seconds: float | None) -> str:
    """Name the versions that values depend on, the time, and how long it took."""
    own = getattr(sys.modules["sksearch"], "__version__", "")
    versions = [f"{WRITTEN.get(name, name)} {n}" for name, n in versions_of(values).items()]
    moment = datetime.fromtimestamp(wall_time()).strftime("%Y-%m-%d %H:%M")
    took = "" if seconds is None else f" in {duration(seconds)}"
    return f"{', '.join([f'sksearch {own}', *versions])}; fitted {moment}{took}"


def _target(y: Any, estimator: Any) -> str:
    """Name and kind of a target, with its classes or its range."""
    columns: Any = getattr(y, "columns", ())
    name = getattr(y, "name", None) or (columns[0] if len(columns) == 1 else None)
    head = f"{name}, " if name is not None else ""
    values = to_numpy(y)
    if values.ndim == 2 and values.shape[1] > 1:
        return f"{head}{values.shape[1]} columns"
    values = values.ravel()
    if not is_classifier(estimator):
        return f"{head}{values.min():.4g} to {values.max():.4g}"
    classes, counts = np.unique(values, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:N_CLASSES]
    shares = [f"{str(classes[i])[:20]} {100 * counts[i] / len(values):.0f} %" for i in order]
    more = ", ..." * (len(classes) > N_CLASSES)
    return f"{head}{len(classes)} classes ({', '.join(shares)}{more})"


def _split(cv: Any, y: Any, estimator: Any) -> str:
    """The splitter of a search."""
    text = " ".join(repr(check_cv(cv, y, classifier=is_classifier(estimator))).split())
    return text if len(text) <= 80 and " at 0x" not in text else "folds as given"


@own_numerics()
def best(search: FinishedSearch, n: int = 10) -> list[Params]:
    """Return the best candidates of a fitted search, without duplicates.

    Parameters
    ----------
    search : object
        A fitted search of this library or scikit-learn, or any other input that
        `sksearch.stats.importance` accepts.
    n : int, default=10
        Maximum number of candidates. Only candidates with a score are returned.

    Returns
    -------
    params : list of dict
        The winner first, then the others, best first: those that got most of the resource come
        before others, unless any rung may win. They can be ``known["params"]`` of another
        search.

    Raises
    ------
    TypeError
        If `search` is not a search.
    ValueError
        If it is not fitted, or `n` is not an integer of at least 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch.reporting import best
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> best(GridSearchCV(tree, {"max_depth": [1, 2, 3]}).fit(X, y), 2)
    [{'max_depth': 3}, {'max_depth': 2}]
    """
    check_count(n)
    table = read_results(search)
    return [dict(table.candidates[i].params) for i in _best_ids(table, n)]


def _best_ids(table, n):
    """Indices of the n best candidates with a score; of repeated draws the first."""
    distinct: dict[Hashable, int] = {}
    for i in table.order:
        if np.isfinite(table.means[i]):
            distinct.setdefault(key_of_params(table.candidates[i].params), i)
    return list(distinct.values())[: int(n)]


@own_numerics()
def to_frame(search: FinishedSearch) -> "DataFrame":
    """Return the candidates of a fitted search as a pandas DataFrame, the winner first.

    Parameters
    ----------
    search : object
        A fitted search of this library or scikit-learn, or any other input that
        `sksearch.stats.importance` accepts.

    Returns
    -------
    frame : pandas.DataFrame
        One row for each candidate, at its largest resource, or at its best rung if a candidate may
        win at any rung. The columns are the parameters, NaN if inactive; ``score`` and ``std``,
        the mean and standard deviation over ``n_folds`` folds (in a race not all folds);
        ``n_resources``; ``fit_seconds``, the mean over folds; ``status`` and ``error``;
        ``violation`` with bounds; and with several objectives the others, named as in
        ``cv_results_``. If a parameter has the name of another column, all parameters have the
        prefix ``"param_"``. The index is the order in which candidates were started.

    Raises
    ------
    ImportError
        If pandas is not installed.
    TypeError
        If `search` is not a search.
    ValueError
        If it is not fitted.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch.reporting import to_frame
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> to_frame(GridSearchCV(tree, {"max_depth": [1, 2, 3]}).fit(X, y))["max_depth"].tolist()
    [3, 2, 1]
    """
    try:
        from pandas import DataFrame, Index
    except ImportError as error:
        raise missing("to_frame needs pandas", "experiment") from error
    table = read_results(search)
    names = sorted({name for candidate in table.candidates for name in candidate.params})
    prefix = PREFIX if any(map(is_reserved, names)) else ""
    columns: dict[str, Any] = {
        f"{prefix}{name}": [each.params.get(name, np.nan) for each in table.candidates]
        for name in names
    }
    rows = [candidate.row for candidate in table.candidates]
    columns |= {
        "score": list(table.means),
        "std": [float(np.nanstd(row.scores)) if row.n_folds else np.nan for row in rows],
        "n_folds": [row.n_folds for row in rows],
        "n_resources": [row.resource for row in rows],
        "fit_seconds": [candidate.fit_seconds for candidate in table.candidates],
        "status": [candidate.status for candidate in table.candidates],
        "error": [candidate.error for candidate in table.candidates],
    }
    if "violation" in table.results or table.history.problem.bounds:
        columns["violation"] = table.violations
    columns |= _other_objectives(table, rows)
    made = {name: _series(values) for name, values in columns.items()}
    frame = DataFrame(made, index=Index(range(len(rows)), name=INDEX))
    return frame.iloc[table.order]


def _series(values):
    """Make a column without changing a value, such as 1 to 1.0, or None to NaN."""
    from pandas import Series

    values = [native(value) for value in values]
    try:
        made = Series(values)
        if list(map(type, made.tolist())) == list(map(type, values)):
            return made
    except Exception:  # values that pandas looks into, such as texts that it cannot encode
        pass
    return Series(values, dtype=object)


def _other_objectives(table, rows):
    """Columns of the objectives besides the score, in their own units; NaN after a failure."""
    front = getattr(table.source, "pareto_", getattr(table.source, "pareto", None))
    if front is None:
        return {}
    results = [table.history.trials[row.trial_id].results[row.resource] for row in rows]
    found = {}
    for j, (name, sign) in enumerate(zip(front.names, front.signs, strict=True)):
        column = f"mean_{name}" if f"mean_{name}" in MEASURES else f"{MEAN}{name}"
        if name != table.metric:
            known = (each.objectives for each in results)
            found[column] = [sign * values[j] if values else np.nan for values in known]
    return found


def check_count(n: Any) -> None:
    """Raise ValueError unless n is a valid number of candidates."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n={n!r} must be an integer of at least 1.")
