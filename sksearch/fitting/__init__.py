"""One fit: its plan, its run, the evaluation of a candidate on a fold, and its results."""

from sksearch.fitting._aims import Bound
from sksearch.fitting._ensemble import AveragedClassifier, AveragedRegressor
from sksearch.fitting._plan import PlannedRung, SearchPlan

__all__ = ["AveragedClassifier", "AveragedRegressor", "Bound", "PlannedRung", "SearchPlan"]
