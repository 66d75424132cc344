"""Recorded curves: any params have the curve of the nearest recorded ones."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr

from sksearch.simulators._index import Index
from sksearch.simulators._problem import CurveProblem
from sksearch.space import Space, When
from sksearch.space._values import equal

_ABSENT = object()


@dataclass(frozen=True)
class ApproximationError:
    """How well recorded curves stand for each other.

    Parameters
    ----------
    distances : ndarray of shape (n_curves,)
        Distance between the params of each recorded curve and of the nearest other one: the
        root of the mean over parameters of squared differences, from 0 to 1.
    errors : ndarray of shape (n_curves,)
        Difference of the two curves: the root of the mean over epochs of squared differences.
        NaN where a training failed.
    mean, median, sd : float
        Of `errors`, without those that are NaN.
    correlation : float
        Spearman's, between each last loss and the one that stands for it.
    """

    distances: np.ndarray
    errors: np.ndarray
    mean: float
    median: float
    sd: float
    correlation: float


class NearestCurves(CurveProblem):
    """A problem made of recorded curves: the nearest one stands for that of any params.

    Numbers are compared by their places between the bounds, logarithmic where they are drawn
    from a logarithmic distribution; choices that are not numbers in order, and parameters that
    are active in only one of two candidates, differ by 1.

    Parameters
    ----------
    space : dict
        What searches draw from: names of parameters and their choices or distributions, with
        `sksearch.When` for those that are active only at times.
    params : sequence of dict
        Recorded candidates, inactive parameters absent; n_curves of them.
    curves : array-like of shape (n_curves, max_resources)
        Their losses after each epoch; not finite where training had failed.
    seconds : array-like of shape (n_curves, max_resources), default=None
        Seconds that training took up to the end of each epoch, made non-decreasing. None: one
        second an epoch.

    Attributes
    ----------
    space : dict
        As given.
    max_resources : int
        Count of epochs.
    minimum : float or None
        Lowest of the last losses; None if all trainings failed.
    params : list of dict
        The recorded candidates.
    curves : ndarray of shape (n_curves, max_resources)
        Their losses; NaN where training had failed.

    Raises
    ------
    TypeError
        If `space` is no dict.
    ValueError
        If `params` is empty or does not fit the space, or arrays have the wrong shape.

    See Also
    --------
    load_mnist_curves : Recorded curves that come with the package.
    TabularProblem : A table of which only the entries can be tried.

    Notes
    -----
    This is the closest known loss function of [1]_, whose mean square error is read with its
    square, divided by the number of parameters, on each parameter's own scale. The k-d tree's
    cost is logarithmic in the number of curves.

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

    def __init__(self, space, params, curves, seconds=None):
        self.space = space
        self.params = list(params)
        self._index = Index(space, self.params)
        self.curves = finite_or_nan(table_of(curves, "curves", len(self.params)))
        self.max_resources = self.curves.shape[1]
        self.minimum = lowest(self.curves[:, -1])
        self._seconds = seconds_of(seconds, *self.curves.shape)

    @classmethod
    def from_arrays(cls, space, X, curves, seconds=None):
        """Make a problem of params that are rows of an array.

        Parameters
        ----------
        space : dict
            Names of parameters and their choices or distributions.
        X : array-like of shape (n_curves, n_params)
            Values, columns in the order of `space`; NaN or None where a conditional parameter
            is inactive.
        curves : array-like of shape (n_curves, max_resources)
            Losses after each epoch.
        seconds : array-like of shape (n_curves, max_resources), default=None
            Seconds up to the end of each epoch. None: one second an epoch.

        Returns
        -------
        problem : NearestCurves

        Raises
        ------
        ValueError
            If `X` has another count of columns, or as the class.
        """
        # A list of rows keeps its numbers beside strings.
        X = X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if X.ndim != 2 or X.shape[1] != len(space):
            raise ValueError(f"X has the shape {X.shape}: it needs {len(space)} columns.")
        return cls(space, rows_of(space, dict(zip(space, X.T, strict=True))), curves, seconds)

    @classmethod
    def from_frame(cls, frame, space, curves):
        """Make a problem of a DataFrame with a row for each recorded candidate.

        Parameters
        ----------
        frame : DataFrame
            Of pandas or any other library whose columns are had by ``frame[name]``.
        space : dict
            Names of parameters and their choices or distributions. Each is a column; NaN or
            None where a conditional parameter is inactive.
        curves : list of str
            Names of the columns with the losses after each epoch, first epoch first.

        Returns
        -------
        problem : NearestCurves

        Raises
        ------
        KeyError
            If there is no such column.
        ValueError
            As the class.
        """
        losses = np.column_stack([np.asarray(frame[name], dtype=float) for name in curves])
        columns = {name: np.asarray(frame[name], dtype=object) for name in space}
        return cls(space, rows_of(space, columns), losses)

    @classmethod
    def from_search(cls, search, incomplete="extend"):
        """Make a problem of what a search has found out.

        A trial's curve is linear between the resources that it was scored at, and constant
        before the first one. After a failed job it is NaN.

        Parameters
        ----------
        search : SearchCV
            Fitted. A search with resources has curves; one without gives curves of length 1.
        incomplete : {"extend", "drop"}, default="extend"
            What becomes of trials that were stopped before the largest resource: their last
            loss stays, or they are left out, and then candidates that had been bad have the
            curve of a good neighbour.

        Returns
        -------
        problem : NearestCurves
            Losses are the negative of scores.

        Raises
        ------
        TypeError
            If the search is not fitted, or not one of sksearch, or its space is a list of
            dicts.
        ValueError
            If `incomplete` is neither, or no trial is left.
        """
        if incomplete not in ("extend", "drop"):
            raise ValueError(f"incomplete={incomplete!r} must be 'extend' or 'drop'.")
        if not hasattr(search, "history_"):
            raise TypeError(f"{type(search).__name__} has no history_: fit a search of sksearch.")
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

    def losses(self, params, seed=0):
        """Look up the curves of the nearest recorded candidates; `seed` has no effect."""
        return self.curves[self._index.nearest(params)[0]]

    def seconds(self, params):
        """Look up the seconds of the nearest recorded candidates."""
        if self._seconds is None:
            return super().seconds(params)
        return self._seconds[self._index.nearest(params)[0]]

    def distances(self, params):
        """Measure how far the nearest recorded candidates are.

        Parameters
        ----------
        params : sequence of dict
            Candidates, inactive parameters absent.

        Returns
        -------
        distances : ndarray of shape (len(params),)
            Root of the mean over parameters of squared differences, from 0 to 1.
        """
        return self._index.nearest(params)[1]

    def approximation_error(self):
        """Take each recorded curve for unknown, and compare it with the nearest other one.

        Returns
        -------
        error : ApproximationError
            Distances, errors and their summary.

        Raises
        ------
        ValueError
            If there is one curve only.
        """
        rows, distances = self._index.nearest_other()
        errors = np.sqrt(((self.curves - self.curves[rows]) ** 2).mean(axis=1))
        known = errors[~np.isnan(errors)]
        last = np.column_stack([self.curves[:, -1], self.curves[rows, -1]])
        last = last[np.isfinite(last).all(axis=1)]
        varies = len(last) > 1 and (np.ptp(last, axis=0) > 0).all()
        return ApproximationError(
            distances,
            errors,
            *(float(f(known)) if len(known) else math.nan for f in (np.mean, np.median, np.std)),
            correlation=float(spearmanr(*last.T).statistic) if varies else math.nan,
        )


def table_of(values, name, n_rows, n_columns=None):
    """Losses or seconds as an array of floats of the right shape, else a ValueError."""
    table = np.asarray(values, dtype=float)
    ok = table.ndim == 2 and len(table) == n_rows and table.shape[1] > 0
    if not ok or n_columns not in (None, table.shape[1]):
        wanted = "n_epochs" if n_columns is None else n_columns
        raise ValueError(
            f"{name} has the shape {table.shape}: it needs ({n_rows}, {wanted}), a row for each "
            "recorded candidate and a column for each epoch."
        )
    return table


def finite_or_nan(losses):
    """A copy in which a training that diverged has failed."""
    return np.where(np.isfinite(losses), losses, np.nan)


def seconds_of(seconds, n_rows, n_epochs):
    """Recorded seconds that never go back, None if there are none."""
    if seconds is None:
        return None
    seconds = table_of(seconds, "seconds", n_rows, n_epochs)
    if not ((seconds >= 0) & (seconds < math.inf)).all():
        raise ValueError(
            "seconds has values that are negative or not finite: where training had failed, give "
            "the seconds up to then."
        )
    return np.maximum.accumulate(seconds, axis=1)


def lowest(losses):
    """The least loss, None if all are NaN."""
    known = losses[~np.isnan(losses)]
    return float(known.min()) if len(known) else None


def rows_of(space, columns):
    """Candidates from a column of values for each parameter.

    Parameters
    ----------
    space : dict
        Names of parameters and their choices or distributions.
    columns : dict of str to array of shape (n,)
        NaN or None where a conditional parameter is inactive. Values may be of another type
        than those of the space, as arrays and tables have one type for a column.

    Returns
    -------
    params : list of dict
        Inactive parameters absent.
    """
    converted = []
    for dimension in Space(space).dimensions:
        name, values = dimension.name, np.asarray(columns[dimension.name]).tolist()
        conditional = isinstance(space[name], When)
        converted.append(
            [
                _ABSENT if conditional and _is_missing(value) else _converted(dimension, value)
                for value in values
            ]
        )
    names = [dimension.name for dimension in Space(space).dimensions]
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not _ABSENT}
        for row in zip(*converted, strict=True)
    ]


def _is_missing(value):
    """Whether it is None, NaN or pandas' NA, which can be compared with nothing."""
    nan = isinstance(value, float) and math.isnan(value)
    return nan or value is None or type(value).__name__ == "NAType"


def _converted(dimension, value):
    """The value of the dimension that equals it, as far as there is one."""
    if dimension.kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if dimension.kind == "categorical" and not dimension.contains(value):
        value = None if _is_missing(value) else value  # what tables make of None
        return next((choice for choice in dimension.choices if equal(choice, value)), value)
    return value


def _completed(results, last):
    """The curve of a trial that was scored at some resources, shape (last,)."""
    resources = np.array(sorted(results))
    losses = np.array([-results[resource].score for resource in resources.tolist()])
    known = ~np.isnan(losses)
    if not known.any():
        return np.full(last, np.nan)
    curve = np.interp(np.arange(1, last + 1), resources[known], losses[known])
    if not known[-1]:
        curve[resources[known][-1] :] = np.nan
    return curve
