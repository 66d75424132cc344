"""Displays: pictures of searches and of their statistics, drawn with matplotlib."""

from sksearch.plotting._critical_difference import CriticalDifferenceDisplay
from sksearch.plotting._density import DensityDisplay
from sksearch.plotting._history import HistoryDisplay
from sksearch.plotting._profiles import ProfileDisplay
from sksearch.plotting._regret import RegretDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "DensityDisplay",
    "HistoryDisplay",
    "ProfileDisplay",
    "RegretDisplay",
]
