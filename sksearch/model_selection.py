"""Searches with the names, candidates, scores and rows of scikit-learn's searches.

To use them in place of ``sklearn.model_selection``, change only the import.
"""

from sksearch.search import (
    GridSearchCV,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    RandomizedSearchCV,
)

__all__ = [
    "GridSearchCV",
    "HalvingGridSearchCV",
    "HalvingRandomSearchCV",
    "RandomizedSearchCV",
]
