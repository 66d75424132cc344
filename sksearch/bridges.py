"""Wrap sktime and skforecast estimators as scikit-learn estimators.

Neither package is imported here. A forecaster becomes a regressor with points in time as rows.
`fit` takes the series as y and the exogenous variables as X, or a table without columns. `predict`
forecasts one point for each row of its X, after the end of the series.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone

from sksearch._utils._compat import num_samples
from sksearch._utils._typing import Samples, Targets

__all__ = ["from_skforecast", "from_sktime"]


def from_sktime(
    estimator: Any,
) -> "SeriesClassifier | SeriesRegressor | SktimeForecaster":
    """Wrap an sktime classifier, regressor or forecaster as a scikit-learn estimator.

    Parameters
    ----------
    estimator : estimator of sktime
        Its parameters have the prefix ``estimator__``, or ``forecaster__`` for a forecaster.

    Returns
    -------
    wrapped : SeriesClassifier, SeriesRegressor or SktimeForecaster
        A scikit-learn estimator.

    Raises
    ------
    TypeError
        If it is not one of these.

    Examples
    --------
    A forecaster is scored on later points, so pass ``cv=TimeSeriesSplit()``::

        forecaster = from_sktime(ExponentialSmoothing(sp=12))
        space = {"forecaster__trend": ["add", None], "forecaster__damped_trend": [True, False]}
        search = SearchCV(forecaster, space, cv=TimeSeriesSplit(5), timeout=60)
        search.fit(pd.DataFrame(index=y.index), y)

    >>> from sklearn.linear_model import Ridge
    >>> from sksearch.bridges import from_sktime
    >>> from_sktime(Ridge())
    Traceback (most recent call last):
    TypeError: Ridge is not an sktime classifier, regressor or forecaster.
    """
    kinds: dict[str, Any] = {
        "classifier": SeriesClassifier,
        "regressor": SeriesRegressor,
        "forecaster": SktimeForecaster,
    }
    tag = getattr(estimator, "get_tag", lambda name, *args, **kwargs: None)("object_type")
    if tag not in kinds:
        raise TypeError(
            f"{type(estimator).__name__} is not an sktime classifier, regressor or forecaster."
        )
    return kinds[tag](estimator)


def from_skforecast(forecaster: Any) -> "SkforecastRegressor":
    """Wrap a skforecast forecaster as a scikit-learn estimator.

    Parameters
    ----------
    forecaster : forecaster of skforecast
        Forecaster of one series, such as ForecasterRecursive. Its parameters are ``lags`` and,
        with the prefix ``estimator__``, the parameters of its estimator.

    Returns
    -------
    wrapped : SkforecastRegressor
        A scikit-learn estimator.

    Raises
    ------
    TypeError
        If it lacks the methods of a skforecast forecaster.

    Examples
    --------
    Its folds must be in the order of time::

        forecaster = from_skforecast(ForecasterRecursive(Ridge(), lags=12))
        space = {"lags": [3, 12, 24], "estimator__alpha": loguniform(1e-3, 1e3)}
        search = SearchCV(forecaster, space, cv=TimeSeriesSplit(5), timeout=60)
        search.fit(pd.DataFrame(index=y.index), y)

    >>> from sklearn.linear_model import Ridge
    >>> from sksearch.bridges import from_skforecast
    >>> from_skforecast(Ridge())
    Traceback (most recent call last):
    TypeError: Ridge is not a forecaster of a single series.
    """
    if not all(hasattr(forecaster, name) for name in ("fit", "predict", "set_lags")):
        raise TypeError(f"{type(forecaster).__name__} is not a forecaster of a single series.")
    return SkforecastRegressor(forecaster)


class _Series(BaseEstimator):
    """Holds an estimator of whole series, of arrays of shape (n_series, n_channels, n_points)."""

    def __init__(self, estimator: Any):
        self.estimator = estimator

    def fit(self, X: Samples, y: Targets) -> Self:
        """Fit a clone of the estimator."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        return self


class SeriesClassifier(ClassifierMixin, _Series):
    """A classifier of whole time series.

    Parameters
    ----------
    estimator : classifier of sktime
        It takes arrays of shape (n_series, n_channels, n_points).

    Attributes
    ----------
    estimator_ : classifier of sktime
        The fitted estimator.
    classes_ : ndarray
        Labels.
    """

    def fit(self, X: Samples, y: Targets) -> Self:
        """Fit a clone of the estimator."""
        self.classes_ = np.unique(np.asarray(y))
        return super().fit(X, y)

    def predict(self, X: Samples) -> np.ndarray:
        """Return labels, shape (n_series,)."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: Samples) -> np.ndarray:
        """Return probabilities, shape (n_series, n_classes)."""
        return self.estimator_.predict_proba(X)


class SeriesRegressor(RegressorMixin, _Series):
    """A regressor of whole time series.

    Parameters
    ----------
    estimator : regressor of sktime
        It takes arrays of shape (n_series, n_channels, n_points).

    Attributes
    ----------
    estimator_ : regressor of sktime
        The fitted estimator.
    """

    def predict(self, X: Samples) -> np.ndarray:
        """Return values, shape (n_series,)."""
        return np.ravel(self.estimator_.predict(X))


class _Forecaster(RegressorMixin, BaseEstimator, ABC):
    """Continues a series; subclasses adapt a library."""

    def __init__(self, forecaster: Any):
        self.forecaster = forecaster

    def fit(self, X: Samples, y: Targets) -> Self:
        """Fit a copy of the forecaster to a series.

        Parameters
        ----------
        X : DataFrame of shape (n_points, n_columns)
            Exogenous variables of each point of the series; possibly without columns.
        y : Series of shape (n_points,)
            The series, in the order of time.
        """
        if num_samples(X) != num_samples(y):
            raise ValueError(f"X has {num_samples(X)} points, but y has {num_samples(y)}.")
        index: Any = getattr(y, "index", None)  # a list has one as well
        self.last_ = None if index is None or callable(index) else index[-1]
        self.forecaster_ = self._fitted(y, _columns(X))
        return self

    def predict(self, X: Samples) -> np.ndarray:
        """Return the next values, one for each row of X.

        Parameters
        ----------
        X : DataFrame of shape (n_points, n_columns)
            Exogenous variables of the points after the series of `fit`.

        Returns
        -------
        values : ndarray of shape (n_points,)
            The forecast.

        Raises
        ------
        ValueError
            If X has points not after the series of `fit`, as for scores on the training rows.
        """
        index: Any = getattr(X, "index", None)
        if self.last_ is not None and index is not None and not index[0] > self.last_:
            raise ValueError(
                f"X begins at {index[0]}, but the training series ended at {self.last_}: a "
                "forecaster only predicts later points. In a search, pass cv=TimeSeriesSplit(...)."
            )
        return np.ravel(np.asarray(self._forecast(num_samples(X), _columns(X))))

    @abstractmethod
    def _fitted(self, y: Any, X: Any) -> Any:
        """A fitted copy of the forecaster."""

    @abstractmethod
    def _forecast(self, n: int, X: Any) -> Any:
        """The next n values."""


class SktimeForecaster(_Forecaster):
    """An sktime forecaster as a regressor of points of time, see `from_sktime`.

    Parameters
    ----------
    forecaster : forecaster of sktime
        Forecaster of one series.

    Attributes
    ----------
    forecaster_ : forecaster of sktime
        The fitted estimator.
    """

    def _fitted(self, y: Any, X: Any) -> Any:
        return clone(self.forecaster).fit(y, X=X)

    def _forecast(self, n: int, X: Any) -> Any:
        return self.forecaster_.predict(fh=np.arange(1, n + 1), X=X)


class SkforecastRegressor(_Forecaster):
    """A skforecast forecaster as a regressor of points of time, see `from_skforecast`.

    Parameters
    ----------
    forecaster : forecaster of skforecast
        Forecaster of one series.

    Attributes
    ----------
    forecaster_ : forecaster of skforecast
        The fitted estimator.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the forecaster, its lags, and the parameters of its estimator."""
        params = {"forecaster": self.forecaster}
        if deep:
            own = self.forecaster.estimator.get_params()
            params |= {"lags": self.forecaster.lags}
            params |= {f"estimator__{name}": value for name, value in own.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters in place, as for nested scikit-learn estimators."""
        if "forecaster" in params:
            self.forecaster = params.pop("forecaster")
        if "lags" in params:
            self.forecaster.set_lags(params.pop("lags"))
        own = {name.removeprefix("estimator__"): value for name, value in params.items()}
        if wrong := [name for name in params if not name.startswith("estimator__")]:
            raise ValueError(
                f"Invalid parameter {wrong[0]!r}: the valid parameters are lags and estimator__..."
            )
        if own:
            self.forecaster.set_params(own)
        return self

    def _fitted(self, y: Any, X: Any) -> Any:
        fitted = clone(self.forecaster, safe=False)
        fitted.fit(y=y, exog=X)
        return fitted

    def _forecast(self, n: int, X: Any) -> Any:
        return self.forecaster_.predict(steps=n, exog=X)


def _columns(X: Any) -> Any:
    """X, or None if it has no columns."""
    return None if np.ndim(X) < 2 or np.shape(X)[1] == 0 else X
