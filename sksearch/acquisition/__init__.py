"""Acquisition functions, and their maximisation over mixed spaces."""

from sksearch.acquisition._functions import UCB, LogEI, LogPI

__all__ = ["UCB", "LogEI", "LogPI"]
