"""Acquisition functions, and their maximisation over mixed spaces."""

from sksearch.acquisition._functions import UCB, Acquisition, LogEI, LogPI

# Names written twice are for other packages of the house, not for users.
__all__ = ["UCB", "Acquisition", "LogEI", "LogPI"]
