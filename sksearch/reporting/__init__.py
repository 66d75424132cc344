"""Report of a search, tables of candidates, and rules that select among equally good ones."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
