"""Acquisition functions, and their maximisation over mixed spaces."""

from sksearch.acquisition._criterion import Criterion, InteriorPrior, Penalty
from sksearch.acquisition._functions import UCB, Acquisition, LogEI, LogPI, log_h
from sksearch.acquisition._maximise import candidates, draw, enumerate_points, maximise, perturb

__all__ = [
    "UCB",
    "Acquisition",
    "Criterion",
    "InteriorPrior",
    "LogEI",
    "LogPI",
    "Penalty",
    "candidates",
    "draw",
    "enumerate_points",
    "log_h",
    "maximise",
    "perturb",
]
