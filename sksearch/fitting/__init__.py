"""One fit: its preparation, its run, and its outcome.

`prepare` checks options and data and makes the plan, `run` evaluates candidates, and `finish`
chooses the winner and fits it on all rows.
"""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.fitting.finish._averaged import AveragedClassifier, AveragedRegressor
    from sksearch.fitting.run._objectives import Bound
    from sksearch.fitting.run._plan import PlannedRung, SearchPlan
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = ["AveragedClassifier", "AveragedRegressor", "Bound", "PlannedRung", "SearchPlan"]
