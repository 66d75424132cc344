"""Statistics that tell optimizers apart, what mattered in a search, and the winner."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
