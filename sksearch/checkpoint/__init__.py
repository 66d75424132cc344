"""What a search has done, on disk: one line for each event, and files beside it."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
