"""Gradients of validation losses with respect to hyperparameters, and a penalty per feature."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
