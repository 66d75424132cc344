"""Fitted models averaged into one, for the best candidates of a search."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from sksearch._utils._compat import to_numpy
from sksearch._utils._typing import Samples
from sksearch.estimators._pipeline import own_rows
from sksearch.fitting.run._predictions import WITHIN, Classes, labels_of, logarithms, shares_of


class _Averaged(BaseEstimator):
    """Base class of both kinds."""

    def __init__(self, models: list, weights: Sequence[float] | None = None) -> None:
        self.models = models
        self.weights = weights

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: the models are fitted.

        Parameters
        ----------
        X, y : array-like
            Ignored.

        Returns
        -------
        self : object
            The model itself.
        """
        return self

    def _mean(self, parts: Sequence[Any]) -> Any:
        """Weighted mean of the models' outputs."""
        weights = np.ones(len(parts)) if self.weights is None else np.asarray(self.weights)
        total: Any = 0.0
        whole = 0.0  # summed in the same order: a mean of probabilities never exceeds 1
        for weight, part in zip(weights, parts, strict=True):
            total, whole = total + weight * part, whole + weight
        return total / whole

    def _each(self, X: Samples) -> Iterator[tuple[Any, Any]]:
        """Yield each model with rows that no other model has changed."""
        for model in self.models:
            inner = model.estimator if isinstance(model, FrozenEstimator) else model
            yield model, own_rows(getattr(inner, "model", inner), X)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.models[0])
        tags.input_tags = inner.input_tags
        tags.target_tags = inner.target_tags
        return tags

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the models have it."""
        return self.models[0].n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, if the models have them."""
        return self.models[0].feature_names_in_


def _has_probabilities(self: Any) -> bool:
    return hasattr(self, "predict_proba")


def _has_one_column_of_probabilities(self: Any) -> bool:
    return _has_probabilities(self) and len(self._known()) == 1


class Voting(ClassifierMixin, BaseEstimator):
    """Base class of classifiers that predict by class probabilities."""

    def _known(self) -> Classes:
        """Labels of each column of the target."""
        raise NotImplementedError

    def _shares(self, X: Samples) -> list[np.ndarray]:
        """Shares of the classes of each column of the target, for each row."""
        raise NotImplementedError

    @property
    def classes_(self) -> Any:
        """Labels, a list of arrays if the target has several columns."""
        known = self._known()
        return known[0] if len(known) == 1 else known

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest mean probability, or the most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any data that the models accept.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Labels; the first label in sorted order wins ties.
        """
        return labels_of(self._shares(X), self._known())

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithms of mean probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any data that the models accept.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes), or list of ndarray
            Finite; in the order of `classes_`, a list if the target has several columns.
        """
        return logarithms(self.predict_proba(X))

    @available_if(_has_one_column_of_probabilities)
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the logarithm of the odds of two classes, or of probabilities of more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any data that the models accept.

        Returns
        -------
        decisions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column for two classes, for the second one.
        """
        (shares,) = self._shares(X)
        if shares.shape[1] == 2:  # only the second class, so that equal probabilities stay equal
            return logit(np.clip(shares[:, 1], *WITHIN))
        return logarithms(shares)


def _all_have_probabilities(self: Any) -> bool:
    return all(hasattr(model, "predict_proba") for model in self.models)


class AveragedClassifier(Voting, _Averaged):
    """Fitted classifiers, their probabilities averaged.

    The prediction of a model without ``predict_proba`` counts as a probability of 1. A class
    unknown to a model gets the probability 0 from it.

    Parameters
    ----------
    models : list of estimator objects
        Fitted classifiers. They are not trained again. A search wraps them in a
        ``FrozenEstimator``, so that ``clone`` keeps them.
    weights : sequence of float or None, default=None
        Weight of each model; None for equal weights.
    classes : list of ndarray or None, default=None
        Labels of each column of the target. None: the labels seen by at least one model.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        Labels; a list if the target has several columns.
    n_features_in_ : int
        Number of features, if the models have it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the models have them.

    See Also
    --------
    AveragedRegressor : The same for numbers.

    Notes
    -----
    scikit-learn's ``VotingClassifier`` takes fitted models only if they have the same classes,
    which must be 0, 1, 2, ... for voting.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sksearch.fitting.finish._averaged import AveragedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [LogisticRegression(max_iter=1000), DecisionTreeClassifier(random_state=0)]
    >>> both = AveragedClassifier([model.fit(X, y) for model in models], weights=[3, 1])
    >>> bool(both.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        models: list,
        weights: Sequence[float] | None = None,
        classes: list[np.ndarray] | None = None,
    ) -> None:
        super().__init__(models, weights)
        self.classes = classes

    @available_if(_all_have_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Return mean probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any data that the models accept.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), or list of ndarray
            In the order of `classes_`; a list if the target has several columns.
        """
        shares = self._shares(X)
        return shares[0] if len(shares) == 1 else shares

    def _known(self) -> Classes:
        if self.classes is not None:
            return self.classes
        known = [model.classes_ for model in self.models]
        known = [each if isinstance(each, list) else [each] for each in known]
        columns = zip(*known, strict=True)
        return [np.unique(np.concatenate([*map(to_numpy, column)])) for column in columns]

    def _shares(self, X: Samples) -> list[np.ndarray]:
        known = self._known()
        given = [shares_of(*each, known) for each in self._each(X)]
        return [self._mean(column) for column in zip(*given, strict=True)]


class AveragedRegressor(RegressorMixin, _Averaged):
    """Fitted regressors, their predictions averaged.

    Parameters
    ----------
    models : list of estimator objects
        Fitted regressors, of one target column or several. They are not trained again. A search
        wraps them in a ``FrozenEstimator``, so that ``clone`` keeps them.
    weights : sequence of float or None, default=None
        Weight of each model; None for equal weights.

    Attributes
    ----------
    n_features_in_ : int
        Number of features, if the models have it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the models have them.

    See Also
    --------
    AveragedClassifier : The same for class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> from sksearch.fitting.finish._averaged import AveragedRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> both = AveragedRegressor([Lasso().fit(X, y), Ridge().fit(X, y)])
    >>> both.predict(X[:2]).shape
    (2,)
    """

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any data that the models accept.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            In double precision.
        """
        given = [to_numpy(model.predict(rows)) for model, rows in self._each(X)]
        return self._mean([each.astype(np.float64) for each in given])
