"""Models that predict as they are told, for scorers of predictions that are known."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, is_classifier

from sksearch._typing import Samples
from sksearch.fitting._ensemble import Voting
from sksearch.fitting._predictions import Classes, as_classes, split_columns
from sksearch.fitting._tasks import Context


class KnownClassifier(Voting):
    """What stands for a classifier whose shares of classes are known for some rows."""

    def __init__(self, shares: Any, classes: Any) -> None:
        self.shares = shares
        self.classes = classes

    def predict_proba(self, X: Samples) -> Any:
        """Return them."""
        return self.shares[0] if len(self.shares) == 1 else self.shares

    def _known(self) -> Classes:
        return self.classes

    def _shares(self, X: Samples) -> list[np.ndarray]:
        return self.shares


class KnownRegressor(RegressorMixin, BaseEstimator):
    """What stands for a regressor whose predictions are known for some rows."""

    def __init__(self, predictions: Any) -> None:
        self.predictions = predictions

    def predict(self, X: Samples) -> Any:
        """Return them."""
        known = self.predictions
        return known[:, 0] if known.shape[1] == 1 else known


def known_model(context: Context, predictions: np.ndarray) -> Any:
    """Return what predicts as it is told, for a scorer."""
    if not is_classifier(context.estimator):
        return KnownRegressor(predictions)
    classes = as_classes(context.classes)
    return KnownClassifier(split_columns(predictions, classes), classes)
