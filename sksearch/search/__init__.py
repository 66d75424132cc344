"""Search estimators, the types of their results, and the building blocks of custom searches."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
