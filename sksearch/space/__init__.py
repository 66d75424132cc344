"""Search spaces, their representation as unit cubes, and default spaces.

Default spaces are built by the estimators' families, which this package does not import.
"""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
