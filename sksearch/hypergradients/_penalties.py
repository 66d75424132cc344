"""A penalty for each feature, as a step before any linear or kernel model."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class FeaturePenalties(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Multiply the penalty of a model for each feature, or for each group of features.

    The transformer is placed directly before a model with a squared penalty, as in
    ``make_pipeline(StandardScaler(), FeaturePenalties(), Ridge())``. A feature with the factor 100
    is penalised 100 times as strongly, so the model hardly uses it. Factors of 1 leave the model
    unchanged.

    Parameters
    ----------
    penalties : float or array-like of shape (n_groups,), default=1.0
        Positive factors by which the penalty of the model is multiplied. A single number applies
        to all features.
    groups : array-like of shape (n_features,), default=None
        Index of the group of each feature, from 0. None: each feature is a group of its own.

    Attributes
    ----------
    scale_ : ndarray of shape (n_features,)
        Factors by which the columns are multiplied.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has feature names.

    See Also
    --------
    sksearch.search.HypergradientSearchCV : Searches hundreds of penalties.

    Notes
    -----
    A penalty ``p w**2`` on the weight of x is equivalent to ``v**2`` on the weight of
    ``x / sqrt(p)``. Columns are therefore divided by the square roots of the factors, and
    ``coef_ * scale_`` are the weights of the original features. Before an RBF kernel, the square
    roots are length-scales.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sksearch.hypergradients import FeaturePenalties
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 2))
    >>> model = make_pipeline(FeaturePenalties([1, 1e6]), Ridge()).fit(X, X.sum(axis=1))
    >>> (model[-1].coef_ * model[0].scale_).round(1).tolist()
    [1.2, 0.0]
    """

    def __init__(self, penalties: float | ArrayLike = 1.0, groups: ArrayLike | None = None):
        self.penalties = penalties
        self.groups = groups

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Compute the factor of each column.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.
        y : array-like, default=None
            Not used.

        Returns
        -------
        self : FeaturePenalties
            Fitted.

        Raises
        ------
        ValueError
            If a penalty is not positive, or if `penalties` or `groups` has the wrong length.
        """
        validate_data(self, X, accept_sparse=("csr", "csc"))
        groups = self.group_of(self.n_features_in_)
        penalties = np.asarray(self.penalties, dtype=float)
        n_groups = groups.max() + 1
        if (
            penalties.ndim > 1
            or penalties.size not in (1, n_groups)
            or not (np.isfinite(penalties) & (penalties > 0)).all()
        ):
            raise ValueError(
                f"penalties={self.penalties!r} must be a positive number, or {n_groups} of them: "
                f"one for each {'feature' if self.groups is None else 'group'}."
            )
        self.scale_ = np.broadcast_to(penalties, n_groups)[groups] ** -0.5
        return self

    def group_of(self, n_features: int) -> np.ndarray:
        """Return the index of the group of each feature.

        Parameters
        ----------
        n_features : int
            Number of features.

        Returns
        -------
        groups : ndarray of shape (n_features,), int
            From 0.

        Raises
        ------
        ValueError
            If `groups` is not an integer of at least 0 for each feature.
        """
        if self.groups is None:
            return np.arange(n_features)
        groups = np.asarray(self.groups)
        if groups.shape != (n_features,) or groups.dtype.kind not in "iu" or groups.min() < 0:
            raise ValueError(
                f"groups={self.groups!r} must have a group number, an integer from 0, for each of "
                f"{n_features} features."
            )
        return groups

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Multiply columns by `scale_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data.

        Returns
        -------
        X : ndarray or sparse matrix of shape (n_samples, n_features)
            Scaled.
        """
        check_is_fitted(self)
        data: Any = validate_data(self, X, reset=False, accept_sparse=("csr", "csc"))
        if issparse(data):
            return data.multiply(self.scale_).tocsr()
        return data * self.scale_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
