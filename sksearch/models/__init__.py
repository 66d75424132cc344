"""Surrogate models on the unit cube: arrays in, arrays out, independent of trials."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
