"""How to spend: start a new candidate, or bring an old one further."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
