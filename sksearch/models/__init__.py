"""Surrogate models on the unit cube, which take and return arrays."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
