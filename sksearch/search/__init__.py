"""Search estimators, with their results and errors, and helpers for custom searches."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
