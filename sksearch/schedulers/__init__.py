"""Schedulers: each decides whether to start a new candidate or to continue an earlier one."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
