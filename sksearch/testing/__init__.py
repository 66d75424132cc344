"""What a sampler, scheduler, engine, space or search of one's own has to keep, as functions.

Each raises an AssertionError that says which promise is broken, as scikit-learn's
`check_estimator` does. They need no test runner.
"""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
