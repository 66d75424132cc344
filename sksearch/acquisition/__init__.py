"""Acquisition functions, and their maximisation over mixed spaces."""

from sksearch.acquisition._criterion import Criterion, Interior, Penalty
from sksearch.acquisition._functions import UCB, Acquisition, LogEI, LogPI, log_h
from sksearch.acquisition._maximise import candidates, draw, listed, maximise, perturb

__all__ = [
    "UCB",
    "Acquisition",
    "Criterion",
    "Interior",
    "LogEI",
    "LogPI",
    "Penalty",
    "candidates",
    "draw",
    "listed",
    "log_h",
    "maximise",
    "perturb",
]
