from sksearch.fitting.finish._averaged import (
    AveragedClassifier as AveragedClassifier,
    AveragedRegressor as AveragedRegressor,
)
from sksearch.fitting.run._objectives import Bound as Bound
from sksearch.fitting.run._plan import PlannedRung as PlannedRung, SearchPlan as SearchPlan
