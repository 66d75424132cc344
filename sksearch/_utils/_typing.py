"""Types of what users pass that is not an object of this package, each written once.

=========  ====================================================================================
Estimator  what has scikit-learn's params
Predictor  what predicts
Samples    X: an array, a list, or a table of any library, sparse ones included
Targets    y: the like, or None where there is none
Splitter   what makes folds
Folding    what `cv` may be: a splitter, a count of folds, or the folds themselves
Seed       what `random_state` may be
Scorer     what is called with an estimator, X and y
Scores     what a scorer returns: a number, or several by metric
Scoring    what `scoring` may be: a scorer or its name, several of them, or None
=========  ====================================================================================
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike


class Estimator(Protocol):
    """What has scikit-learn's params."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all params by name."""

    def set_params(self, **params: Any) -> Self:
        """Set some of them."""


class Predictor(Protocol):
    """What predicts."""

    def predict(self, X: Any) -> Any:
        """Predict the targets of rows."""


class Shaped(Protocol):
    """A table that need not be a sequence, such as a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns."""


class Splitter(Protocol):
    """What makes folds."""

    def get_n_splits(self, *args: Any, **params: Any) -> int:
        """Count the folds."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Any, Any]]:
        """Return training and test rows of each fold."""


Samples = ArrayLike | Shaped
Targets = Samples | None
Folding = int | Splitter | Iterable[Any] | None
Seed = int | np.random.RandomState | None
Scorer = Callable[..., Any]
Scores = float | dict[str, float]
Scoring = str | Scorer | Collection[str] | Mapping[str, Any] | None
