"""Displays: pictures of searches and of their statistics, drawn with matplotlib."""

from typing import TYPE_CHECKING

from sksearch._utils._on_demand import on_demand

if TYPE_CHECKING:
    from sksearch.plotting._contour import ContourDisplay
    from sksearch.plotting._critical_difference import CriticalDifferenceDisplay
    from sksearch.plotting._density import DensityDisplay
    from sksearch.plotting._distribution import DistributionDisplay
    from sksearch.plotting._history import HistoryDisplay
    from sksearch.plotting._hypervolume import HypervolumeDisplay
    from sksearch.plotting._importance import ImportanceDisplay
    from sksearch.plotting._parallel import ParallelDisplay
    from sksearch.plotting._pareto import ParetoDisplay
    from sksearch.plotting._prediction import PredictionDisplay
    from sksearch.plotting._profiles import ProfileDisplay
    from sksearch.plotting._ranks import RankDisplay
    from sksearch.plotting._regret import RegretDisplay
    from sksearch.plotting._rungs import RungDisplay
    from sksearch.plotting._schedule import ScheduleDisplay
    from sksearch.plotting._sheet import SearchDisplay
    from sksearch.plotting._slices import SliceDisplay
    from sksearch.plotting._timeline import TimelineDisplay
else:
    __getattr__, __dir__ = on_demand(__name__)

__all__ = [
    "ContourDisplay",
    "CriticalDifferenceDisplay",
    "DensityDisplay",
    "DistributionDisplay",
    "HistoryDisplay",
    "HypervolumeDisplay",
    "ImportanceDisplay",
    "ParallelDisplay",
    "ParetoDisplay",
    "PredictionDisplay",
    "ProfileDisplay",
    "RankDisplay",
    "RegretDisplay",
    "RungDisplay",
    "ScheduleDisplay",
    "SearchDisplay",
    "SliceDisplay",
    "TimelineDisplay",
]
