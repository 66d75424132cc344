"""The search estimators."""

from sksearch.search._named import (
    HyperbandSearchCV,
    QuasiRandomSearchCV,
    RandomSearchCV,
    SearchCV,
    SuccessiveHalvingSearchCV,
)
from sksearch.search._plan import SearchPlan

__all__ = [
    "HyperbandSearchCV",
    "QuasiRandomSearchCV",
    "RandomSearchCV",
    "SearchCV",
    "SearchPlan",
    "SuccessiveHalvingSearchCV",
]
