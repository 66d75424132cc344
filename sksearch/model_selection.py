"""The searches with scikit-learn's names, candidates, scores and rows.

They replace those of ``sklearn.model_selection`` by a change of the import.
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
