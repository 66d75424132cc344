"""Recorded curves: any candidate has the curve of the nearest recorded one."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import spearmanr

from sksearch._utils._compat import BaseSearchCV
from sksearch.simulators._index import Index
from sksearch.simulators._problem import CurveProblem
from sksearch.space import Space
from sksearch.space._conditions import When
from sksearch.space._values import equal

_ABSENT = object()


@dataclass(frozen=True)
class ApproximationError:
    """Differences between recorded curves and their nearest neighbours.

    Parameters
    ----------
    distances : ndarray of shape (n_curves,)
        Distance between the parameters of each recorded curve and the nearest other one: the root
        of the mean over parameters of squared differences, from 0 to 1.
    errors : ndarray of shape (n_curves,)
        Difference of the two curves: the root of the mean over epochs of squared differences. NaN
        for failed fits.
    mean, median, sd : float
        Mean, median and standard deviation of `errors`, ignoring NaN.
    correlation : float
        Spearman's correlation between the last losses of the curves and of their neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import uniform
    >>> from sksearch.simulators import NearestCurves
    >>> params = [{"x": x} for x in np.linspace(0, 1, 11)]
    >>> curves = [[1.0, 1 - p["x"] / 2] for p in params]
    >>> error = NearestCurves({"x": uniform()}, params, curves).approximation_error()
    >>> round(error.median, 3), round(error.correlation, 2)
    (0.035, 0.95)
    """

    distances: np.ndarray
    errors: np.ndarray
    mean: float
    median: float
    sd: float
    correlation: float


class NearestCurves(CurveProblem):
    """Problem made of recorded curves; any candidate has the curve of the nearest recorded one.

    For distances, numbers are scaled to [0, 1], on a logarithmic scale if their distribution has
    one. Two different choices of a parameter differ by 1, unless the choices are ordered numbers.
    A parameter that is active in only one of two candidates also differs by 1.

    Parameters
    ----------
    space : dict
        Names of parameters and their choices or distributions, with `sksearch.When` for
        conditional parameters. Searches draw candidates from it.
    params : sequence of dict
        The n_curves recorded candidates, without inactive parameters.
    curves : array-like of shape (n_curves, max_resources)
        Losses of the recorded candidates after each epoch; non-finite after a failure.
    seconds : array-like of shape (n_curves, max_resources), default=None
        Training seconds up to the end of each epoch, made non-decreasing. None: one second per
        epoch.

    Attributes
    ----------
    space : dict
        Names of parameters and their choices or distributions.
    max_resources : int
        Number of epochs.
    minimum : float or None
        Lowest final loss; None if all fits failed.
    params : list of dict
        Recorded candidates.
    curves : ndarray of shape (n_curves, max_resources)
        Losses of the recorded candidates; NaN after a failure.

    Raises
    ------
    TypeError
        If `space` is not a dict.
    ValueError
        If `params` is empty or does not fit the space, or arrays have the wrong shape.

    See Also
    --------
    load_mnist_curves : Recorded curves included in the package.
    TabularProblem : Problem whose only candidates are the rows of a table.

    Notes
    -----
    This is the "closest known loss function" of [1]_. Its mean squared error is interpreted as the
    mean over parameters of the squared differences of scaled values. Neighbours are found by a k-d
    tree.

    References
    ----------
    .. [1] C. Matache, "Efficient design of machine learning hyperparameter optimizers", 2019,
       chapter 8.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sksearch.simulators import NearestCurves
    >>> space = {"rate": loguniform(1e-4, 1), "loss": ["hinge", "log_loss"]}
    >>> params = [{"rate": 1e-3, "loss": "hinge"}, {"rate": 1e-1, "loss": "hinge"}]
    >>> problem = NearestCurves(space, params, [[0.9, 0.8], [0.5, 0.1]])
    >>> problem.losses([{"rate": 0.02, "loss": "hinge"}])
    array([[0.5, 0.1]])
    """

    def __init__(
        self,
        space: dict[str, Any],
        params: Sequence[dict[str, Any]],
        curves: ArrayLike,
        seconds: ArrayLike | None = None,
    ):
        self.space = space
        self.params = list(params)
        self._index = Index(space, self.params)
        self.curves = finite_or_nan(check_table(curves, "curves", len(self.params)))
        self.max_resources = self.curves.shape[1]
        self.minimum = lowest(self.curves[:, -1])
        self._seconds = check_seconds(seconds, *self.curves.shape)

    @classmethod
    def from_arrays(
        cls,
        space: dict[str, Any],
        X: ArrayLike,
        curves: ArrayLike,
        seconds: ArrayLike | None = None,
    ) -> Self:
        """Create a problem from arrays.

        Parameters
        ----------
        space : dict
            Names of parameters and their choices or distributions.
        X : array-like of shape (n_curves, n_params)
            Recorded candidates, with columns in the order of `space`; NaN or None for inactive
            parameters.
        curves : array-like of shape (n_curves, max_resources)
            Losses after each epoch.
        seconds : array-like of shape (n_curves, max_resources), default=None
            Seconds up to the end of each epoch. None: one second per epoch.

        Returns
        -------
        problem : NearestCurves

        Raises
        ------
        ValueError
            If the number of columns of `X` is wrong, or another argument is invalid.
        """
        # A list of rows keeps numbers next to strings.
        X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if X.ndim != 2 or X.shape[1] != len(space):
            raise ValueError(f"X has shape {X.shape}: it must have {len(space)} columns.")
        return cls(space, rows_of(space, dict(zip(space, X.T, strict=True))), curves, seconds)

    @classmethod
    def from_frame(cls, frame: Any, space: dict[str, Any], curves: Sequence[str]) -> Self:
        """Create a problem from a DataFrame with a row for each recorded candidate.

        Parameters
        ----------
        frame : DataFrame
            pandas DataFrame, or any other table in which ``frame[name]`` is a column.
        space : dict
            Names of parameters and their choices or distributions. Each parameter is a column of
            `frame`, with NaN or None if inactive.
        curves : list of str
            Names of the columns with the losses after each epoch, in order.

        Returns
        -------
        problem : NearestCurves

        Raises
        ------
        KeyError
            If a column is missing.
        ValueError
            If the values of a column are invalid.
        """
        losses = np.column_stack([np.asarray(frame[name], dtype=float) for name in curves])
        columns = {name: np.asarray(frame[name], dtype=object) for name in space}
        return cls(space, rows_of(space, columns), losses)

    @classmethod
    def from_search(cls, search: BaseSearchCV, incomplete: str = "extend") -> Self:
        """Create a problem from the trials of a search.

        The curve of a trial is interpolated linearly between its rungs, constant before the first
        rung, and NaN after a failed job.

        Parameters
        ----------
        search : SearchCV
            Fitted search. For a search without a resource, curves have length 1.
        incomplete : {"extend", "drop"}, default="extend"
            Treatment of trials stopped before the largest resource. "extend": the last loss is
            repeated. "drop": these trials are omitted, so a bad candidate gets the curve of a
            better neighbour.

        Returns
        -------
        problem : NearestCurves
            Problem with losses equal to minus the scores.

        Raises
        ------
        TypeError
            If the search is not fitted, is not an sksearch search, or has a list of dicts as its
            space. ValueError If `incomplete` is unknown, or no trial is left.
        """
        if incomplete not in ("extend", "drop"):
            raise ValueError(f"incomplete={incomplete!r} must be 'extend' or 'drop'.")
        if not hasattr(search, "history_"):
            raise TypeError(
                f"{type(search).__name__} has no history_: pass a fitted search of sksearch."
            )
        last = search.history_.problem.max_resources
        trials = [trial for trial in search.history_.trials if trial.results]
        if incomplete == "drop":
            trials = [trial for trial in trials if last in trial.results]
        if not trials:
            raise ValueError(
                f"no trial has a result{' at the largest resource' * (incomplete == 'drop')}: "
                "search for longer."
            )
        space = search.param_distributions
        space = space[0] if not isinstance(space, dict) and len(space) == 1 else space
        curves = [_completed(trial.results, last) for trial in trials]
        return cls(space, [trial.params for trial in trials], curves)

    def losses(self, params: Sequence[Mapping[str, Any]], seed: int = 0) -> np.ndarray:
        """Return the curves of the nearest recorded candidates; `seed` has no effect."""
        return self.curves[self._index.nearest(params)[0]]

    def seconds(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Return the seconds of the nearest recorded candidates."""
        if self._seconds is None:
            return super().seconds(params)
        return self._seconds[self._index.nearest(params)[0]]

    def distances(self, params: Sequence[Mapping[str, Any]]) -> np.ndarray:
        """Return the distances to the nearest recorded candidates.

        Parameters
        ----------
        params : sequence of dict
            Candidates, without inactive parameters.

        Returns
        -------
        distances : ndarray of shape (len(params),)
            Root mean square, over all parameters, of the differences between a candidate and the
            nearest recorded one, from 0 to 1.
        """
        return self._index.nearest(params)[1]

    def approximation_error(self) -> ApproximationError:
        """Compare each recorded curve with the nearest other curve.

        Returns
        -------
        error : ApproximationError
            Distances and errors, with a summary.

        Raises
        ------
        ValueError
            If there is only one curve.
        """
        rows, distances = self._index.nearest_other()
        errors = np.sqrt(((self.curves - self.curves[rows]) ** 2).mean(axis=1))
        known = errors[~np.isnan(errors)]
        last = np.column_stack([self.curves[:, -1], self.curves[rows, -1]])
        last = last[np.isfinite(last).all(axis=1)]
        varies = len(last) > 1 and (np.ptp(last, axis=0) > 0).all()
        statistics = (np.mean, np.median, np.std)
        mean, median, sd = (float(f(known)) if len(known) else math.nan for f in statistics)
        correlation = float(spearmanr(*last.T).statistic) if varies else math.nan
        return ApproximationError(distances, errors, mean, median, sd, correlation)


def check_table(
    values: ArrayLike, name: str, n_rows: int, n_columns: int | None = None
) -> np.ndarray:
    """Return losses or seconds as an array of floats; raise if it has the wrong shape."""
    table = np.asarray(values, dtype=float)
    ok = table.ndim == 2 and len(table) == n_rows and table.shape[1] > 0
    if not ok or n_columns not in (None, table.shape[1]):
        wanted = "n_epochs" if n_columns is None else n_columns
        raise ValueError(
            f"{name} has shape {table.shape}, expected ({n_rows}, {wanted}): a row for each "
            "recorded candidate and a column for each epoch."
        )
    return table


def finite_or_nan(losses: np.ndarray) -> np.ndarray:
    """Return a copy with NaN after divergence."""
    return np.where(np.isfinite(losses), losses, np.nan)


def check_seconds(seconds: ArrayLike | None, n_rows: int, n_epochs: int) -> np.ndarray | None:
    """Return recorded seconds, made non-decreasing; None if not recorded."""
    if seconds is None:
        return None
    seconds = check_table(seconds, "seconds", n_rows, n_epochs)
    if not ((seconds >= 0) & (seconds < math.inf)).all():
        raise ValueError(
            "seconds contains negative or non-finite values: if training failed, pass the seconds "
            "up to the failure."
        )
    return np.maximum.accumulate(seconds, axis=1)


def lowest(losses: np.ndarray) -> float | None:
    """Return the lowest loss, None if all are NaN."""
    known = losses[~np.isnan(losses)]
    return float(known.min()) if len(known) else None


def rows_of(space: dict[str, Any], columns: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Create candidates from a column of values for each parameter.

    Parameters
    ----------
    space : dict
        Names of parameters and their choices or distributions.
    columns : dict of str to array of shape (n,)
        Values of each parameter, NaN or None if it is inactive. Their type may differ from the
        space's, as arrays and tables have one type per column.

    Returns
    -------
    params : list of dict
        Candidates, without inactive parameters.
    """
    converted = []
    dimensions = Space(space).all_dimensions
    for dimension in dimensions:
        name, values = dimension.name, np.asarray(columns[dimension.name]).tolist()
        conditional = isinstance(space[name], When)
        converted.append(
            [
                _ABSENT if conditional and _is_missing(value) else _converted(dimension, value)
                for value in values
            ]
        )
    names = [dimension.name for dimension in dimensions]
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not _ABSENT}
        for row in zip(*converted, strict=True)
    ]


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or pandas' NA, which supports no comparison."""
    nan = isinstance(value, float) and math.isnan(value)
    return nan or value is None or type(value).__name__ == "NAType"


def _converted(dimension: Any, value: Any) -> Any:
    """Return the equal value of the dimension if it exists, otherwise the value itself."""
    if dimension.kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if dimension.kind == "categorical" and not dimension.contains(value):
        value = None if _is_missing(value) else value  # the form of None in tables
        return next((choice for choice in dimension.choices if equal(choice, value)), value)
    return value


def _completed(results: Mapping[int, Any], last: int) -> np.ndarray:
    """Return the curve of a trial scored at some resources, shape (last,)."""
    resources = np.array(sorted(results))
    losses = np.array([-results[resource].score for resource in resources.tolist()])
    known = ~np.isnan(losses)
    if not known.any():
        return np.full(last, np.nan)
    curve = np.interp(np.arange(1, last + 1), resources[known], losses[known])
    if not known[-1]:
        curve[resources[known][-1] :] = np.nan
    return curve
