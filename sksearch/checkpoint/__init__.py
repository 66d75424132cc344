"""Checkpoints of searches on disk: a journal with one line per event, and related files."""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
