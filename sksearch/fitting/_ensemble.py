"""Fitted models averaged into one: what becomes of the best candidates of a search."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from sksearch._compat import to_numpy
from sksearch._typing import Samples


class _Averaged(BaseEstimator):
    """What both kinds share."""

    def __init__(self, models: list) -> None:
        self.models = models

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: the models are fitted.

        Parameters
        ----------
        X, y : array-like
            Ignored.

        Returns
        -------
        self : object
            As it is.
        """
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.models[0]).input_tags
        return tags

    @property
    def n_features_in_(self) -> int:
        """Count of features, if the models know it."""
        return self.models[0].n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features, if the models know them."""
        return self.models[0].feature_names_in_


def _all_have_probabilities(self: Any) -> bool:
    return all(hasattr(model, "predict_proba") for model in self.models)


class AveragedClassifier(ClassifierMixin, _Averaged):
    """Fitted classifiers, their probabilities averaged.

    Where a model has no ``predict_proba`` each model has one vote instead. A class that a model
    has never seen gets nothing from it.

    Parameters
    ----------
    models : list of estimator objects
        Fitted classifiers of one target column. They are not trained again; inside of a
        ``FrozenEstimator``, where a search puts them, ``clone`` keeps them too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels that at least one model knows.
    n_features_in_ : int
        Count of features, if the models know it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the models know them.

    See Also
    --------
    AveragedRegressor : The same for numbers.

    Notes
    -----
    scikit-learn's ``VotingClassifier`` cannot take models that are fitted already, unless they
    know the same classes; and where they vote, these must be 0, 1, 2 and so on.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sksearch import RandomSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RandomSearchCV(
    ...     LogisticRegression(max_iter=1000), {"C": loguniform(1e-3, 1e3)}, cv=5,
    ...     ensemble_size=3, random_state=0,
    ... ).fit(X, y)
    >>> len(search.ensemble_.models)
    15
    >>> bool(search.ensemble_.score(X, y) > 0.9)
    True
    """

    @property
    def classes_(self) -> np.ndarray:
        """Labels that at least one model knows."""
        return np.unique(np.concatenate([to_numpy(model.classes_) for model in self.models]))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest mean probability, or the most votes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Anything that the models take.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Labels; of equals the one that is sorted first.
        """
        classes = self.classes_
        return classes[self._shares(X, classes).argmax(axis=1)]

    @available_if(_all_have_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return mean probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Anything that the models take.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        return self._shares(X, self.classes_)

    def _shares(self, X: Samples, classes: np.ndarray) -> np.ndarray:
        """Means of probabilities, or of votes, for each row and class."""
        total: Any = 0.0
        soft = _all_have_probabilities(self)
        for model in self.models:
            if soft:
                given = to_numpy(model.predict_proba(X))
                share = np.zeros((len(given), len(classes)))
                share[:, np.searchsorted(classes, to_numpy(model.classes_))] = given
            else:
                votes = np.searchsorted(classes, to_numpy(model.predict(X)).ravel())
                share = np.eye(len(classes))[votes]
            total = total + share
        return total / len(self.models)


class AveragedRegressor(RegressorMixin, _Averaged):
    """Fitted regressors, their predictions averaged.

    Parameters
    ----------
    models : list of estimator objects
        Fitted regressors, of one target column or several. They are not trained again; inside of
        a ``FrozenEstimator``, where a search puts them, ``clone`` keeps them too.

    Attributes
    ----------
    n_features_in_ : int
        Count of features, if the models know it.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the models know them.

    See Also
    --------
    AveragedClassifier : The same for class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Lasso, Ridge
    >>> from sksearch.fitting import AveragedRegressor
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
            Anything that the models take.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            In double precision.
        """
        total: Any = 0.0
        for model in self.models:
            total = total + to_numpy(model.predict(X)).astype(np.float64)
        return total / len(self.models)
