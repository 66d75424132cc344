from sksearch.plotting._contour import ContourDisplay as ContourDisplay
from sksearch.plotting._critical_difference import (
    CriticalDifferenceDisplay as CriticalDifferenceDisplay,
)
from sksearch.plotting._density import DensityDisplay as DensityDisplay
from sksearch.plotting._history import HistoryDisplay as HistoryDisplay
from sksearch.plotting._hypervolume import HypervolumeDisplay as HypervolumeDisplay
from sksearch.plotting._importance import ImportanceDisplay as ImportanceDisplay
from sksearch.plotting._parallel import ParallelDisplay as ParallelDisplay
from sksearch.plotting._pareto import ParetoDisplay as ParetoDisplay
from sksearch.plotting._prediction import PredictionDisplay as PredictionDisplay
from sksearch.plotting._profiles import ProfileDisplay as ProfileDisplay
from sksearch.plotting._ranks import RankDisplay as RankDisplay
from sksearch.plotting._regret import RegretDisplay as RegretDisplay
from sksearch.plotting._schedule import ScheduleDisplay as ScheduleDisplay
from sksearch.plotting._slices import SliceDisplay as SliceDisplay
from sksearch.plotting._timeline import TimelineDisplay as TimelineDisplay
