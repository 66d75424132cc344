"""After a search: a report, the best candidates as a table, rules that choose among equals."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
