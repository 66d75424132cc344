"""What to search of which estimator, and where to begin: for who has not said it."""

from ._default import default_space, own_candidate
from ._first import first_candidates

__all__ = ["default_space", "first_candidates", "own_candidate"]
