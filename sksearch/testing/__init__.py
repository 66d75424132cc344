"""Checks of custom samplers, schedulers, engines, spaces, families and searches, as functions.

Each raises an AssertionError that names the broken promise, as scikit-learn's `check_estimator`
does. They need no test runner.
"""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
