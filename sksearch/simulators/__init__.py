"""Simulated training in microseconds, to test a search before a model is trained."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
