"""What to search of which estimator, and where to begin: for who has not said it."""

from sksearch.estimators import default_space, first_candidates, own_candidate

__all__ = ["default_space", "first_candidates", "own_candidate"]
