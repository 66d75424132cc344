"""What RandomizedSearchCV takes, as a unit cube and back; spaces where none is given.

The names of default spaces are those of the estimators' families, which stand above this room.
"""

from sksearch._utils._on_demand import on_demand

__getattr__, __dir__, __all__ = on_demand(__name__)
