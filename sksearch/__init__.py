"""sksearch: hyperparameter search for scikit-learn users, one import away from GridSearchCV."""

from sksearch.search import (
    HyperbandSearchCV,
    QuasiRandomSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
)
from sksearch.space import When

__version__ = "0.1.0.dev0"

__all__ = [
    "HyperbandSearchCV",
    "QuasiRandomSearchCV",
    "RandomSearchCV",
    "SearchCV",
    "SuccessiveHalvingSearchCV",
    "When",
    "__version__",
]
