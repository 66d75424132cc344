"""One reader of a finished search, whoever made it: for reports, pictures, statistics."""

from sksearch._reader._read import chosen_metric, fold_scores, read
from sksearch._reader._row import Candidate, Row, amount, folds_text
from sksearch._reader._search_table import Rung, SearchTable
from sksearch._reader._sources import FinishedSearch, FittedSearch
from sksearch._reader._values import is_finite, is_number, key_of, key_of_params

__all__ = [
    "Candidate",
    "FinishedSearch",
    "FittedSearch",
    "Row",
    "Rung",
    "SearchTable",
    "amount",
    "chosen_metric",
    "fold_scores",
    "folds_text",
    "is_finite",
    "is_number",
    "key_of",
    "key_of_params",
    "read",
]
