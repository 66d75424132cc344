"""Executors that run jobs, and the loop that submits jobs to them."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
