"""Types of user inputs that are not objects of this package, each defined once.

=========  ====================================================================================
Estimator  an object with scikit-learn's parameters
Predictor  an object that predicts
Samples    X: an array, a list, or a table of any library, sparse ones included
Targets    y: the like, or None
Splitter   an object that makes folds
Folding    values of `cv`: a splitter, a number of folds, or the folds themselves
Seed       values of `random_state`
Scorer     called with an estimator, X and y
Scores     return value of a scorer: a number, or several by metric
Scoring    values of `scoring`: a scorer or its name, several of them, or None
Converged  the value of `stop` that is short for a dict
=========  ====================================================================================
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self, TypedDict

import numpy as np
from numpy.typing import ArrayLike


class Estimator(Protocol):
    """An object with scikit-learn's parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name."""

    def set_params(self, **params: Any) -> Self:
        """Set some of them."""


class Predictor(Protocol):
    """An object that predicts."""

    def predict(self, X: Any) -> Any:
        """Predict the targets of rows."""


class Shaped(Protocol):
    """A table that need not be a sequence, such as a sparse matrix."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns."""


class Splitter(Protocol):
    """An object that makes folds."""

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
Converged = Literal["converged"]


class WorkersDict(TypedDict, total=False):
    """Values of `workers`."""

    timeout: float | None
    memory: int | None
    retries: int
    devices: Sequence[int | str] | None


class BatchWorkersDict(WorkersDict, total=False):
    """Values of `workers` of a search that learns."""

    batch_size: int | Literal["auto"]


class StopDict(TypedDict, total=False):
    """Values of `stop`."""

    score: float | None
    patience: int | None
    converged: bool
    overtime: float | None


class KnownDict(TypedDict, total=False):
    """Values of `known`."""

    params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | Literal["auto"] | None
    results: Any
    prior: Mapping[str, Any] | None
    constraints: Any


class CallsDict(TypedDict, total=False):
    """Values of `workers` of `minimize`."""

    timeout: float | None
    batch_size: int | Literal["auto"]
