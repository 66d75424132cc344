"""The search estimators."""

from sksearch.search._fidelity import HyperbandSearchCV, SuccessiveHalvingSearchCV
from sksearch.search._full import QuasiRandomSearchCV, RandomSearchCV, SearchCV
from sksearch.search._plan import SearchPlan

__all__ = [
    "HyperbandSearchCV",
    "QuasiRandomSearchCV",
    "RandomSearchCV",
    "SearchCV",
    "SearchPlan",
    "SuccessiveHalvingSearchCV",
]
