"""Checks of custom samplers, schedulers, engines, spaces, families and searches.

Each check is a function that raises an AssertionError with the violated requirement, like
scikit-learn's `check_estimator`. No test runner is needed.
"""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
