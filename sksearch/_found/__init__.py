"""One reader of a finished search, whoever made it: for reports, pictures, statistics."""

from sksearch._found._found import Found, Rung
from sksearch._found._read import chosen_metric, fold_scores, read
from sksearch._found._row import Candidate, Row, amount, folds_text
from sksearch._found._values import is_finite, is_number, key_of, key_of_params

__all__ = [
    "Candidate",
    "Found",
    "Row",
    "Rung",
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
