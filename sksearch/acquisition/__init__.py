"""Acquisition functions, and their maximisation over mixed spaces."""

from sksearch.acquisition._functions import UCB, Acquisition, LogEI, LogPI

__all__ = ["UCB", "Acquisition", "LogEI", "LogPI"]
